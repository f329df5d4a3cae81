# The Linux kernel's way to tell types and sizes: no comma, and a local name for the size.  Where
# something else than .size has that name, the code keeps its length.  What finds a function for the
# linker runs too early for counters.
# with: parts/assembly_main.c
# left-alone: uses_r11 pick
# variants: -O2; -O2 -static
    .text
    .globl sum_to
    .balign 16, 0x90
sum_to:                         # long sum_to(long n)
    xor %eax, %eax
    test %rdi, %rdi
    jle 2f
1:  add %rdi, %rax
    dec %rdi
    jnz 1b
2:  ret
    .type sum_to STT_FUNC ; .set .L__sym_size_sum_to, .-sum_to ; .size sum_to, .L__sym_size_sum_to

pick_one:
    add $10, %eax
    ret
    .type pick_one STT_FUNC ; .set .L__sym_size_pick_one, .-pick_one ; .size pick_one, .L__sym_size_pick_one

    .globl pick
pick:
    xor %ecx, %ecx
1:  inc %ecx
    cmp $4, %ecx
    jb 1b
    lea pick_any(%rip), %rax
    ret
    .type pick STT_GNU_IFUNC ; .set .L__sym_size_pick, .-pick ; .size pick, .L__sym_size_pick

pick_any:                       # int pick(unsigned n)
    mov $-1, %eax
    cmp $2, %edi
    ja 1f
    mov %edi, %eax
    call pick_one
1:  ret
    .type pick_any, "function"
    .L__sym_size_pick_any = .-pick_any
    .size pick_any, .L__sym_size_pick_any

    .globl uses_r11
uses_r11:                       # long uses_r11(long n)
    test %rdi, %rdi
    jns 1f
    neg %rdi
1:  lea (%rdi,%rdi,2), %rax
    add $.L__sym_size_uses_r11, %rax
    ret
    .type uses_r11 STT_FUNC ; .set .L__sym_size_uses_r11, .-uses_r11 ; .size uses_r11, .L__sym_size_uses_r11

    .globl count_down
count_down:                     # long count_down(long n)
    mov %rdi, %rax
1:  dec %rax
    jg 1b
    ret
    .type count_down @function
    .set .Lsize, .-count_down
    .size count_down, .Lsize
    .section .note.GNU-stack, "", @progbits
