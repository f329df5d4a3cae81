# Text that a pushed subsection takes elsewhere: what stands around it goes on without it.
# with: parts/assembly_main.c
# left-alone: sum_to pick uses_r11 count_down
# variants: -O2; -O2 -static
    .text
    .globl sum_to
    .type sum_to, @function
sum_to:                         # long sum_to(long n)
    xor %eax, %eax
    test %rdi, %rdi
    jle 2f
    .pushsection .text, 1
2:  add $5, %rax
    jmp 3f
    .popsection
1:  add %rdi, %rax
    dec %rdi
    jnz 1b
3:  ret
    .size sum_to, .-sum_to

    .globl pick, uses_r11, count_down
    .type pick, @function
pick:
    mov $3, %eax
    ret
    .size pick, .-pick
    .type uses_r11, @function
uses_r11:
    mov %rdi, %rax
    ret
    .size uses_r11, .-uses_r11
    .type count_down, @function
count_down:
    mov %rdi, %rax
    ret
    .size count_down, .-count_down
    .section .note.GNU-stack, "", @progbits
