# Hand-written assembly with instructions in bytes, as for assemblers that do not know them.  Data
# that looks like instructions is data, and so are bytes that tell an address by its distance.
# with: parts/assembly_main.c
# left-alone: pick uses_r11
# variants: -O2; clang -O2; -O2 -static
    .text
    .globl sum_to
    .type sum_to, @function
sum_to:                         # long sum_to(long n)
    .byte 243,15,30,250         # endbr64
    xor %eax, %eax
    test %rdi, %rdi
    jle 2f
1:  .byte 0x48,0x01,0xF8        # add %rdi, %rax
    .byte 0xf3, 0x48, 0x0f, 0xb8, 0xd0 # popcnt %rax, %rdx
    dec %rdi
    jnz 1b
    nop
2:  .byte 0xf3,0xc3             # rep ret
    .size sum_to, .-sum_to

    .globl pick
    .type pick, @function
pick:                           # int pick(unsigned n), by a table whose rows look like code
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
1:  .byte 0xc3
    .size pick, .-pick

    .globl uses_r11
    .type uses_r11, @function
uses_r11:                       # long uses_r11(long n)
    test %rdi, %rdi
    jns 1f
    neg %rdi
1:  .byte 0x48,0x8b,0x05,0x04,0,0,0 # mov 4(%rip), %rax
    add %rdi, %rax
    ret
    .size uses_r11, .-uses_r11
    .quad 1000

    .globl count_down
    .type count_down, @function
count_down:                     # long count_down(long n): flags and registers are the bytes' own
    .byte 0xf3,0x0f,0x1e,0xfa
    xor %eax, %eax
    mov %rdi, -8(%rsp)
    xor %ecx, %ecx
1:  bt %rax, %rdi
    .byte 0x48,0x11,0xc9        # adc %rcx, %rcx
    jc 3f
    .byte 0x48,0x33,0x4c,0x24,0xf8 # xor -8(%rsp), %rcx
    inc %rax
    .byte 0xf0
    addl $3, -16(%rsp)
    .byte 0x0f,0x38,0xf1,0x44,0x24,0xf0 # movbe %eax, -16(%rsp)
    .byte 0x67
    cmp $40, %rax
    jb 1b
    .byte 0x48,0x89,0xc8        # mov %rcx, %rax
    .byte 0xf3,0xc3
3:  .byte 0x48,0x89,0xc8
    .byte 0xc3
    .size count_down, .-count_down
