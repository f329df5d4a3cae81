// Hand-written assembly, preprocessed: local labels, numeric labels, alignment, a jump table,
// r11 in use, several statements on a line, comments of both kinds, a macro of the preprocessor.
// with: parts/assembly_main.c
// variants: -O2; clang -O2; -O2 -fPIC; -O2 -static
#define PAIR(a, b) a, b

    .text
    .globl sum_to
    .type sum_to, @function
sum_to:                         /* long sum_to(long n) */
    xor %eax, %eax; test PAIR(%rdi, %rdi)
    jle 2f
    .p2align 4
1:  add %rdi, %rax              # a comment
    dec %rdi
    jnz 1b
2:  ret
    .size sum_to, .-sum_to

    .globl pick
    .type pick, @function
pick:                           /* int pick(unsigned n), by a table of differences */
    cmp $3, %edi
    ja .Lnone
    lea .Ltable(%rip), %rdx
    movslq (%rdx,%rdi,4), %rax
    add %rdx, %rax
    jmp *%rax
.Lzero:
    mov $10, %eax
    ret
.Lone:
    mov $20, %eax
    jmp .Lend
.Ltwo:
    mov $30, %eax
.Lend:
    inc %eax
    ret
.Lnone:
    mov $-1, %eax
    ret
    .size pick, .-pick
    .section .rodata
    .p2align 2
.Ltable:
    .long .Lzero-.Ltable, .Lone-.Ltable, .Ltwo-.Ltable, .Lone-.Ltable

    .text
    .globl uses_r11
    .type uses_r11, @function
uses_r11:                       /* long uses_r11(long n): r11 lives over branches */
    mov %rdi, %r11
    shl $2, %r11
    cmp $100, %rdi
    jg 1f
    add $5, %r11
1:  lea 1(%r11), %rax
    cmp $3, %rdi
    setb %cl
    movzx %cl, %ecx
    add %rcx, %rax
    ret
    .size uses_r11, .-uses_r11

    .globl count_down
    .type count_down, @function
count_down:                     /* long count_down(long n): all registers in use, flags live */
    .cfi_startproc
    push %rbx
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rbx, 0
    mov %rdi, %rcx
    xor %ebx, %ebx
    stc
.Lagain:
    adc $0, %rbx
    dec %rcx
    lea 2(%rbx), %rbx
    jnz .Lagain
    mov %rbx, %rax
    pop %rbx
    .cfi_adjust_cfa_offset -8
    .cfi_restore %rbx
    ret
    .cfi_endproc
    .size count_down, .-count_down
    .section .note.GNU-stack,"",@progbits
