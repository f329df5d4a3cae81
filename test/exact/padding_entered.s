# Padding that jump tables and other code lead to, past what stands above it: behind the last
# instruction of a function, between two labels of one table, between two entries, twice in a row.
# A label behind all instructions is the next function's begin.
# with: parts/padding_main.c
# variants: -O2; clang -O2; -O2 -static
    .text
    .globl to_end, to_label, to_entry, to_second
    .type to_end, @function
to_end:                         # long to_end(long which), by a table, to padding that ends it
    xor %eax, %eax
    lea 5f(%rip), %rdx
    jmp *(%rdx,%rdi,8)
1:  inc %rax
    ret
2:  add $2, %rax
3:  .p2align 6
    .size to_end, .-to_end
    .type behind_end, @function
behind_end:
    add $4, %rax
    ret
    .size behind_end, .-behind_end
    .section .data.rel.ro.local,"aw",@progbits
    .align 8
5:  .quad 1b, 2b, 3b
    .text

    .type to_label, @function
to_label:                       # the same, to padding and to what stands behind it
    .cfi_startproc
    push %rbx
    .cfi_def_cfa_offset 16
    xor %eax, %eax
    lea 5f(%rip), %rdx
    jmp *(%rdx,%rdi,8)
1:  inc %rax
    test %rdi, %rdi
    jz 4f
2:  .p2align 6
3:  .p2align 7
4:  add $8, %rax
    pop %rbx
    .cfi_def_cfa_offset 8
    ret
    .cfi_endproc
    .size to_label, .-to_label
    .section .data.rel.ro.local,"aw",@progbits
    .align 8
5:  .quad 1b, 2b, 3b, 4b
    .text

    .type to_entry, @function
to_entry:                       # long to_entry(long n), by jumps of other functions
    mov %rdi, %rax
    test $1, %dil
    jz away
    jmp away_behind
first:
    .p2align 5
second:
    add $16, %rax
    ret
    .size to_entry, .-to_entry
    .type away, @function
away:
    jmp first
    .size away, .-away
    .type away_behind, @function
away_behind:
    jmp second
    .size away_behind, .-away_behind

    .type to_second, @function
to_second:                      # the last case is the next function's begin
    .cfi_startproc
    push %rbx
    .cfi_def_cfa_offset 16
    xor %eax, %eax
    lea 5f(%rip), %rdx
    jmp *(%rdx,%rdi,8)
1:  inc %rax
    pop %rbx
    .cfi_def_cfa_offset 8
    ret
    .cfi_def_cfa_offset 16
2:  add $2, %rax
3:
    .cfi_endproc
    .size to_second, .-to_second
    .type third, @function
third:
    add $32, %rax
    pop %rbx
    ret
    .size third, .-third
    .section .data.rel.ro.local,"aw",@progbits
    .align 8
5:  .quad 1b, 2b, 3b
    .section .note.GNU-stack,"",@progbits
