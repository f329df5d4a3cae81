# A string instruction and a no-operation as one number, as OpenSSL's assembly has them, and
# no-operations by the number of their bytes.  Those that a table tells of stay as they are.
# with: parts/assembly_main.c
# left-alone: uses_r11
# variants: -O2; -O2 -static
    .text
    .globl sum_to
    .type sum_to, @function
sum_to:                         # long sum_to(long n)
    test %rdi, %rdi
    jle 2f
    mov %rdi, -8(%rsp)
    lea -8(%rsp), %rsi
    lea -16(%rsp), %rdi
    mov $4, %ecx
    cld
    .long 0x9066A4F3            # rep movsb
    mov $4, %ecx
    .long 0x9066a4f3
    lea -8(%rsp), %rsi
    lea -32(%rsp), %rdi
    mov $1, %ecx
    .long 0x90A548F3            # rep movsq
    mov %edx, %eax
    .long 0x90AB48F3            # rep stosq, not once
    mov -16(%rsp), %rdi
    xor %eax, %eax
    .nops 9
1:  add %rdi, %rax
    dec %rdi
    .nops 2
    jnz 1b
    ret
2:  xor %eax, %eax
    ret
    .size sum_to, .-sum_to

    .globl pick
    .type pick, @function
pick:                           # int pick(unsigned n)
    mov %edi, %edx
    lea -16(%rsp), %rdi
    lea -40(%rsp), %rsi
    mov $12, %ecx
    mov $1, %eax
    cld
    cmp $2, %edx
    ja 1f
    .nop
    .int 0xAAF39066             # rep stosb
    mov -8(%rsp), %eax
    ret
    .nops 20
1:  ; .4byte 0xa4f39066; mov $-1, %eax
    ret
    .size pick, .-pick

    .globl uses_r11
    .type uses_r11, @function
uses_r11:                       # long uses_r11(long n)
    lea (%rdi,%rdi), %rax
3:  .nops 5
    inc %rax
    ret
    .size uses_r11, .-uses_r11
    .section .places, "aw"
    .quad 3b
    .text

    .globl count_down
    .type count_down, @function
count_down:                     # long count_down(long n)
    mov %rdi, %rax
1:  dec %rax
    jg 1b
    ret
    .size count_down, .-count_down
    .section .note.GNU-stack, "", @progbits
