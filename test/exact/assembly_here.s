# Addresses that are told as the next instruction's, by `lea 0(%rip)`: a loop comes back to where it
# is, as GNU MP's mul_basecase does.
# with: parts/assembly_main.c
# left-alone: pick
# variants: -O2; clang -O2; -O2 -static
    .text
    .globl sum_to
    .type sum_to, @function
sum_to:                         # long sum_to(long n)
    xor %eax, %eax
    test %rdi, %rdi
    jle 2f
    lea 0(%rip), %rdx           # to come back to
    add %rdi, %rax
    dec %rdi
    jz 1f
    jmp *%rdx
1:  ; leaq  (%rip) , %rdx; inc %rax /* lea 0(%rip), %rdx */
    cmp $30, %rax
    jge 2f
    jmp *%rdx
2:  ret
    .size sum_to, .-sum_to

    .globl pick
    .type pick, @function
pick:                           # int pick(unsigned n): another distance is another thing
    mov $-1, %eax
    cmp $2, %edi
    ja 1f
    lea 1(%rip), %rdx
    nop
    mov %edi, %eax
1:  ret
    .size pick, .-pick

    .globl uses_r11
    .type uses_r11, @function
uses_r11:                       # long uses_r11(long n)
    mov %rdi, %r11
    test %rdi, %rdi
    js 3f
    lea 4f(%rip), %rax
    lea 0(%rip), %rcx           # 20 times from here, and then on behind the jump
    add $5, %r11
    cmp $200, %r11
    cmovge %rax, %rcx
    jmp *%rcx
4:  mov %r11, %rax
    ret
3:  lea 0(%rip),%rcx
    mov $7, %eax
    ret
    .size uses_r11, .-uses_r11

    .globl count_down
    .type count_down, @function
count_down:                     # long count_down(long n)
    xor %eax, %eax
    test %rdi, %rdi
    jle 2f
1:  add $3, %rax
    dec %rdi
    jnz 1b
2:  ret
    .size count_down, .-count_down
    .section .note.GNU-stack,"",@progbits
