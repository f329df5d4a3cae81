// Hand-written assembly in Intel syntax: branches that say how far they go, a jump table in brackets,
// jumps by registers, several statements on a line.
// with: parts/assembly_main.c
// variants: -O2; -O2 -fPIC
    .intel_syntax noprefix
    .text
    .globl sum_to
    .type sum_to, @function
sum_to:
    xor eax, eax; test rdi, rdi
    jz short 2f
    jl SHORT .Lsum_end
1:  add rax, rdi
    dec rdi
    jnz short 1b
    jmp near ptr 2f
    nop
2:
.Lsum_end:
    ret
    .size sum_to, .-sum_to

    .globl pick
    .type pick, @function
pick:
    cmp edi, 3
    ja .Lnone
    lea rdx, .Ltable[rip]
    movsxd rax, DWORD PTR [rdx+rdi*4]
    add rax, rdx
    jmp rax
.Lzero:
    mov eax, 10
    ret
.Lone:
    mov eax, 20
    jmp short .Lend
.Ltwo:
    mov eax, 30
.Lend:
    inc eax
    ret
.Lnone:
    mov eax, -1
    ret
    .size pick, .-pick
    .section .rodata
    .p2align 2
.Ltable:
    .long .Lzero-.Ltable, .Lone-.Ltable, .Ltwo-.Ltable, .Lone-.Ltable

    .text
    .globl uses_r11
    .type uses_r11, @function
uses_r11:
    mov r11, rdi
    shl r11, 2
    cmp rdi, 100
    jg 101f
    add r11, 5
101:
    lea rax, [r11+1]
    lea rcx, [rip+.Lback]
    jmp rcx
.Lback:
    ret
    .size uses_r11, .-uses_r11

    .globl count_down
    .type count_down, @function
count_down:
    push rbx
    mov rcx, rdi
    xor ebx, ebx
    jrcxz .Ldone
.Lagain:
    add rbx, 2
    loop .Lagain
.Ldone:
    mov rax, rbx
    call near ptr add_one
    pop rbx
    ret
    .size count_down, .-count_down

    .type add_one, @function
add_one:
    inc rax
    ret
    .size add_one, .-add_one
    .section .note.GNU-stack,"",@progbits
