# Instructions in bytes where a table, a function's begin or the address of a label lead to them, or
# a call returns, prefixes in bytes, filling behind a jump, padding that is gone through, two names
# for one function, and a cold piece that holds nothing: all of it counts.  Data behind a label
# whose address is taken is data where no instruction follows.
# with: parts/assembly_main.c
# left-alone: pick
# variants: -O2; clang -O2; -O2 -static
    .text
    .globl sum_to
    .type sum_to, @function
sum_to:                         # long sum_to(long n)
    .byte 0x67                  # a prefix of the next instruction
    mov %rdi, %rdx
    xor %eax, %eax
    and $3, %edx
    lea 9f(%rip), %rcx
    movslq (%rcx,%rdx,4), %rdx
    add %rcx, %rdx
    notrack jmp *%rdx
    .byte 0x90
    .byte 0x90
1:  .byte 0x48,0x83,0xc0,0x05   # add $5, %rax; a table leads there
    add %rdi, %rax
2:  .byte 0x48,0xff,0xc0        # inc %rax
    add %rdi, %rax
    jmp 4f
    .byte 0x90,0x90,0x66,0x90,0x0f,0x1f,0x04,0x00
3:  .byte 0x67,0x67             # prefixes behind a table's label
    add $11, %rax
    .byte 0x67
    .byte 0x48,0xff,0xc0        # a prefix of an instruction in bytes
    .byte 0x67
    .byte 0x67
    add %rdi, %rax
4:  lea 5f(%rip), %rcx
    test $4, %dil
    jnz 6f
    lea 7f(%rip), %rcx
6:  jmp *%rcx
5:  .byte 0x48,0x83,0xc0,0x07   # add $7, %rax; the address of its label is taken
    add %rdi, %rax
    jmp 8f
7:  .byte 0x48,0xff,0xc0
    add $3, %rax
8:  .byte 0xf3,0xc3
    .size sum_to, .-sum_to
    .section .rodata
    .align 4
9:  .long 1b-9b, 2b-9b, 3b-9b, 4b-9b
    .text

    .globl pick
    .type pick, @function
pick:                           # int pick(unsigned n): a table whose row looks like code
    mov $-1, %eax
    cmp $2, %edi
    ja 1f
    lea 2f(%rip), %rdx
    mov %edi, %edi
    movzbl (%rdx,%rdi), %eax
    jmp 1f
2:  .byte 0x90
    .byte 0x98
    .byte 0x99
1:  ret
    .size pick, .-pick

    .globl other_name
    .hidden other_name
other_name:
    .globl uses_r11
    .type uses_r11, @function
uses_r11:                       # long uses_r11(long n)
    cmp $60, %rdi
    ja uses_r11.cold.label
    lea 3(%rdi), %rax
    ret
    .section .text.unlikely,"ax",@progbits
    .type uses_r11.cold, @function
uses_r11.cold:
uses_r11.cold.label:
    .text
    .size uses_r11, .-uses_r11
    .section .text.unlikely
    .type behind_cold, @function
behind_cold:                    # what stands behind the empty piece is what is come to
    lea 7(%rdi), %rax
    ret
    .size behind_cold, .-behind_cold
    .text

    .globl count_down
    .type count_down, @function
count_down:                     # long count_down(long n), by the other name
    .byte 0x4c,0x8d,0x04,0x24   # lea (%rsp), %r8; at the begin, and the next one moves the stack
    .byte 0x48,0x83,0xec,0x18   # sub $24, %rsp
    mov %rdi, 8(%rsp)
    mov %rbx, 16(%rsp)
    mov %rdi, %rbx
    call other_name
    .byte 0x48,0x8d,0x04,0x18   # lea (%rax,%rbx), %rax; behind a call
    .byte 0x31,0xc9             # xor %ecx, %ecx
    cmp $5, %rbx
    jle 1f
    mov $3, %ecx
    lea -16(%rsp), %rdi
    lea 8(%rsp), %rsi
    .byte 0xf3,0xa4             # rep movsb
1:  test %rcx, %rcx
    .balign 32
    .byte 0x48,0x8b,0x5c,0x24,0x10 # mov 16(%rsp), %rbx; behind padding
    add %rcx, %rax
    mov %r8, %rsp
    ret
    .size count_down, .-count_down
    .section .note.GNU-stack,"",@progbits
