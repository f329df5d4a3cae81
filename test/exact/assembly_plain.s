# Hand-written assembly as it comes, with macros of the assembler, repetitions and data in text.
# Functions that a macro or a repetition wrote are left as they are; the others count.
# with: parts/assembly_main.c
# left-alone: sum_to
# variants: -O2; clang -O2
    .macro twice what:vararg
    \what
    \what
    .endm

    .text
    .globl sum_to
    .type sum_to, @function
sum_to:
    xor %eax, %eax
    test %rdi, %rdi
    jle 2f
1:  add %rdi, %rax
    dec %rdi
    jnz 1b
    twice nop
2:  ret
    .size sum_to, .-sum_to

    .globl pick
    .type pick, @function
pick:
    mov $-1, %eax
    cmp $2, %edi
    ja 1f
    lea table(%rip), %rdx
    movzbl (%rdx,%rdi), %eax
1:  ret
    .size pick, .-pick
table:
    .byte 11, 21, 31, 0

    .globl uses_r11
    .type uses_r11, @function
uses_r11:
    push %r12
    mov %rdi, %r12
    call helper
    lea (%rax,%r12), %rax
    pop %r12
    ret
    .size uses_r11, .-uses_r11

    .type helper, @function
helper:
    cmp $60, %rdi
    jae 1f
    mov $1, %eax
    ret
1:  mov $2, %eax
    rep ret
    .size helper, .-helper

    .globl count_down
    .type count_down, @function
count_down:
    mov %rdi, %rcx
    xor %eax, %eax
3:  add $3, %rax
    loop 3b
    jmp finish
    .size count_down, .-count_down

    .type finish, @function
finish:
    neg %rax
    ret
    .size finish, .-finish
    .section .note.GNU-stack,"",@progbits
