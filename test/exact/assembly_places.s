# Places that get their names by an assignment are labels.  A name that stands for one place, and
# then for another, is none.  A relocation is for the bytes right in front of it.
# with: parts/assembly_main.c
# left-alone: uses_r11 count_down
# variants: -O2; -O2 -static
    .text
    .globl sum_to
    .type sum_to, @function
sum_to:                         # long sum_to(long n)
    xor %eax, %eax
    test %rdi, %rdi
    jle leave
.Lagain = .
    add %rdi, %rax
    dec %rdi
    jnz .Lagain
    .set leave, .
    ret
    .size sum_to, .-sum_to

    .globl pick
    .type pick, @function
pick:                           # int pick(unsigned n)
    mov %edi, %eax
    .reloc ., R_X86_64_NONE, sum_to
    call ten
    cmp $2, %edi
    jbe to_end
    neg %eax
    .equ to_end,.
    ret
    .size pick, . - pick
    .type ten, @function
ten=.
    add $10, %eax
    ret
    .size ten, .-ten

    .globl uses_r11
    .type uses_r11, @function
uses_r11:                       # long uses_r11(long n)
    mov %rdi, %rax
    test %rdi, %rdi
    jns to
    neg %rax
to = .
    add $3, %rax
    cmp $50, %rax
    jg next
    dec %rax
next:
    .set to, .
    ret
    .size uses_r11, .-uses_r11

    .globl count_down
    .type count_down, @function
count_down:                     # long count_down(long n)
    lea 1(%rdi), %rax
    .equiv .Ltop, .
    mov $0, %ecx
    .reloc .-4, R_X86_64_NONE, sum_to
    dec %rax
    jg .Ltop
    ret
    .size count_down, .-count_down
    .section .note.GNU-stack, "", @progbits
