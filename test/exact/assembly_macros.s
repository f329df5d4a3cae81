# Macros are told from instructions, in whatever letters; what defines them puts nothing, and so do
# conditions around other sections.  A macro that puts data names labels of a table.
# with: parts/assembly_main.c
# left-alone: count_down uses_r11
# variants: -O2; -O2 -static
    .text
    .globl sum_to
    .type sum_to, @function
sum_to:                         # long sum_to(long n)
    .altmacro
    .macro Twice x
    incq \x
    incq \x
    .macro once y
    dec \y
    .endm
    .endm
    .macro note_ x
    .ifc 8, \x
    .ascii "f"
    .endif
    .ascii "\x"
    .endm
    .macro note x
    note_ %(\x+1)
    .endm
    xor %eax, %eax
    test %rdi, %rdi
    jle 2f
990: nop
    .pushsection .note.places, "", "note"
    .balign 4
    .4byte 992f-991f, 994f-993f, 3
991: .asciz "places"
992: .balign 4
993: .8byte 990b
    note 41
994: .balign 4
    .popsection
1:  add %rdi, %rax
    .ifndef base
    .pushsection .base, "aG", "progbits", base, comdat
    .weak base
    .hidden base
base: .space 1
    .size base, 1
    .popsection
    .endif
    .ifdef base
    .pushsection .seen, "a"
    .byte 1
    .popsection
    .else
    .pushsection .unseen, "a"
    .byte 2
    .popsection
    .endif
    dec %rdi
    .ifndef base
    .pushsection .base, "aG", "progbits", base, comdat
base: .space 1
    .popsection
    .endif
    jnz 1b
2:  ret
    .size sum_to, .-sum_to

    .macro row at
    .long \at - rows
    .endm
    .globl pick
    .type pick, @function
pick:                           # int pick(unsigned n)
    mov $-1, %eax
    cmp $2, %edi
    ja 4f
    lea rows(%rip), %rdx
    mov %edi, %edi
    movslq (%rdx,%rdi,4), %rcx
    add %rdx, %rcx
    jmp *%rcx
1:  mov $11, %eax
    ret
2:  add $20, %eax
3:  add $31, %eax
4:  ret
    .section .rodata
    .balign 4
rows:
    row 1b
    row 2b
    row 3b
    .text
    .size pick, .-pick

    .globl uses_r11
    .type uses_r11, @function
uses_r11:                       # long uses_r11(long n)
    mov %rdi, -8(%rsp)
    lea -8(%rsp), %rax
    TWICE(%rax)
    mov (%rax), %rax
    ret
    .size uses_r11, .-uses_r11

    .globl count_down
    .type count_down, @function
count_down:                     # long count_down(long n)
    mov %rdi, %rax
    .ifdef base
    add $3, %rax
    .endif
    ret
    .size count_down, .-count_down
    .section .note.GNU-stack, "", @progbits
