# Constants behind the last instruction of a function, in front of its .size or without one, and a
# table of its labels there: the function counts.  What the processor runs into is code, and stays.
# with: parts/assembly_main.c
# left-alone: pick
# variants: -O2; clang -O2; -O2 -static
    .text
    .globl sum_to
    .type sum_to, @function
sum_to:                         # long sum_to(long n)
    mov %rdi, %rax
    and $3, %eax
    lea .Ltable(%rip), %rdx
    movslq (%rdx,%rax,4), %rcx
    add %rdx, %rcx
    mov .Lconstants+8(%rip), %rax
    jmp *%rcx
1:  add %rdi, %rax
2:  inc %rax
    ret
3:  add $7, %rax
    jmp 2b
.Lend:
    .p2align 4
.Ltable:
    .long 1b-.Ltable, 2b-.Ltable, 3b-.Ltable, 1b-.Ltable
    .p2align 3
.Lconstants:
    .octa 0x12345678000000001111111122222222
    .byte 1
    .asciz "no code"
    .size sum_to, .Lend-sum_to    # of the code, so that the oracle disassembles nothing else

    .globl pick
    .type pick, @function
pick:                           # int pick(unsigned n): ends in code that is not understood
    mov $-1, %eax
    cmp $2, %edi
    ja 1f
    mov %edi, %eax
    ret
1:  .byte 0x90,0xc3
    .size pick, .-pick

    .globl uses_r11
    .type uses_r11, @function
uses_r11:                       # long uses_r11(long n)
    mov %rdi, %r11
    test %rdi, %rdi
    js 2f
1:  add .Lfive(%rip), %r11
    mov %r11, %rax
    ret
2:  neg %r11
    jmp 1b
.Lfive:
    .quad 5

    .globl count_down           # of no type, and what ends it is the section's end
count_down:                     # long count_down(long n)
    xor %eax, %eax
    test %rdi, %rdi
    jle 2f
1:  add .Lstep(%rip), %rax
    dec %rdi
    jnz 1b
2:  ret
    .p2align 4
.Lstep:
    .quad 3
    .section .note.GNU-stack,"",@progbits
