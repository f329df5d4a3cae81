// More ways in which hand-written code computes with addresses, with its own text and with the stack
// pointer, and some in which it only seems to; as in idioms.S.

#include "idioms.h"

// Its constant is written at run time, through a label in a register.
    .section .written, "awx", @progbits
// left: its instructions are read or written as data
WRITTEN_FUNCTION(patched):
    lea 1f(%rip), %rdx
    mov %edi, 1(%rdx)
    test %rdi, %rdi
    jle 1f
    nop
1:  mov $0x11111111, %eax
    test %rax, %rax
    jz 2f
    inc %rax
2:  ret
END(patched)

// counted
WRITTEN_FUNCTION(patches_another):
    lea .Lpatch(%rip), %rdx
    mov %edi, 1(%rdx)
    jmp patched_by_another
END(patches_another)
    .type patched_by_another, @function
patched_by_another:
    test %rdi, %rdi
    jle .Lpatch
    nop
.Lpatch:
    mov $0x11111111, %eax
    test %rax, %rax
    jz 2f
    inc %rax
2:  ret
END(patched_by_another)
    .text

// left: a jump goes to an address that it computes
FUNCTION(copied_code):
    WORK
    mov %rax, %r8
    lea .Lcopy_begin(%rip), %rsi
    lea .Lcopy_end(%rip), %rcx
    sub %rsi, %rcx
    lea copy_room(%rip), %rdi
    mov %rdi, %rdx
    cld
    rep movsb
    mov %r8, %rdi
    call *%rdx
    ret
END(copied_code)
HELPER(copy_source):
.Lcopy_begin:
    mov %rdi, %rax
    test %rax, %rax
    jle 1f
2:  add $3, %rax
    dec %rdi
    jnz 2b
1:  ret
.Lcopy_end:
END(copy_source)
    .section .written, "awx", @progbits
copy_room: .skip 512, 0x90
    .text

// counted
FUNCTION(fixed_copy):
    WORK
    mov %rax, %r8
    lea fixed_source(%rip), %rsi
    mov $16, %ecx
    lea copy_room(%rip), %rdi
    mov %rdi, %rdx
    cld
    rep movsb
    mov %r8, %rdi
    call *%rdx
    ret
END(fixed_copy)
HELPER(fixed_source):
    mov %rdi, %rax
    test %rax, %rax
    jle 1f
    add $3, %rax
1:  ret
END(fixed_source)

// Another function computes where it jumps to.
// left: code without a label stands behind a jump
FUNCTION(jump_to_others_address):
    WORK
    and $1, %eax
    mov %eax, %edi
    call compute_address
    jmp *%rax
    .balign 8
.Leven_spaced:
    mov $10, %eax
    jmp 1f
    .balign 8
    mov $20, %eax
    jmp 1f
    .balign 8
1:  add $3, %eax
    ret
END(jump_to_others_address)
HELPER(compute_address):
    test %edi, %edi
    lea .Leven_spaced(%rip), %rax
    lea (%rax,%rdi,8), %rax
    jz 1f
    nop
1:  ret
END(compute_address)

// left: an address in it is computed
FUNCTION(jump_to_others_label):
    WORK
    and $1, %eax
    mov %eax, %edi
    call compute_label
    jmp *%rax
    .balign 8
.Lbefore_label:
    inc %edi
    .balign 8
1:  lea 5(%rdi), %rax
    jz 1b
    ret
END(jump_to_others_label)
HELPER(compute_label):
    lea .Lbefore_label(%rip), %rax
    test %edi, %edi
    lea (%rax,%rdi,8), %rax
    jz 1f
    nop
1:  ret
END(compute_label)

// left: code without a label stands behind a jump
FUNCTION(jump_behind_jump):
    WORK
    and $1, %edi
    call entry_of_table
    jmp *%rcx
    .balign 8
.Lfirst_entry:
    add $10, %rax
    ret
    .balign 8
    add $20, %rax
    ret
END(jump_behind_jump)
HELPER(entry_of_table):
    mov %rax, %rdi
    and $1, %edi
    mov first_entry(%rip), %rcx
    lea (%rcx,%rdi,8), %rcx
    ret
END(entry_of_table)
    .data
first_entry: .quad .Lfirst_entry
    .text

// counted
FUNCTION(fillings_behind_jumps):
    WORK
    jmp 1f
    int3
    .balign 8
    nopl 0(%rax)
1:  inc %rax
    jz 2f
    ret
    lfence
    ud2
2:  dec %rax
    ret
    nop
END(fillings_behind_jumps)

// left: its stack pointer points to no stack
FUNCTION(stack_pointer_as_number):
    mov %rsp, saved_sp(%rip)
    xor %eax, %eax
    mov %rdi, %rsp
    mov $0x55, %ecx
    mov $0x56, %edx
    mov $0x57, %esi
    mov %rsi, %r8
    mov %rsi, %r9
    mov %rsi, %r10
    mov %rsi, %r11
1:  rol $3, %rsp
    add %rsp, %rax
    xor %rcx, %rax
    xor %rdx, %rax
    sub $1, %rdi
    jg 1b
    adc $0, %rax
    add %r8, %rax
    adc %r9, %rax
    jc 2f
    adc %r10, %rax
2:  adc %r11, %rax
    adc %rsi, %rax
    mov saved_sp(%rip), %rsp
    ret
END(stack_pointer_as_number)

// left: its stack pointer points to no stack
FUNCTION(stack_pointer_all_registers):
    SAVE
    mov %rsp, saved_sp(%rip)
    mov $1, %ecx; mov $2, %edx; mov $3, %esi; mov $4, %ebx; mov $5, %ebp
    mov $6, %r8d; mov $7, %r9d; mov $8, %r10d; mov $9, %r11d; mov $10, %r12d; mov $11, %r13d; mov $12, %r14d; mov $13, %r15d
    mov $0x100, %esp
    mov $20, %eax
    test %rdi, %rdi
1:  adc %rcx, %rax; adc %rdx, %rax; adc %rsi, %rax; adc %rbx, %rax; adc %rbp, %rax
    jc 3f
    adc %r8, %rax; adc %r9, %rax; adc %r10, %rax; adc %r11, %rax; adc %r12, %rax; adc %r13, %rax; adc %r14, %rax; adc %r15, %rax
    jo 3f
    adc %rsp, %rax
    lea -1(%rdi), %rdi
    xchg %rdi, %rcx
    jrcxz 2f
    xchg %rdi, %rcx
    test %rdi, %rdi
    jg 1b
    xchg %rdi, %rcx
2:  xchg %rdi, %rcx
3:  adc %rcx, %rax; adc %rdx, %rax; adc %rsi, %rax; adc %rbx, %rax; adc %rbp, %rax
    adc %r8, %rax; adc %r9, %rax; adc %r10, %rax; adc %r11, %rax; adc %r12, %rax; adc %r13, %rax; adc %r14, %rax; adc %r15, %rax
    mov saved_sp(%rip), %rsp
    RESTORE
    ret
END(stack_pointer_all_registers)

// left: its stack pointer points to no stack
FUNCTION(pops_an_array):
    SAVE
    mov %rsp, saved_sp(%rip)
    lea array_of_words(%rip), %rsp
    mov $0, %eax
    mov $1, %ecx; mov $2, %edx; mov $3, %esi; mov $4, %ebx; mov $5, %ebp
    mov $6, %r8d; mov $7, %r9d; mov $8, %r10d; mov $9, %r11d; mov $10, %r12d; mov $11, %r13d; mov $12, %r14d;
    and $7, %edi
    test %rdi, %rdi
1:  pop %r15
    adc %r15, %rax
    adc %rcx, %rax; adc %rdx, %rax; adc %rsi, %rax; adc %rbx, %rax; adc %rbp, %rax
    jc 2f
    adc %r8, %rax; adc %r9, %rax; adc %r10, %rax; adc %r11, %rax; adc %r12, %rax; adc %r13, %rax; adc %r14, %rax
2:  dec %rdi
    jg 1b
    adc %rcx, %rax; adc %rdx, %rax; adc %rsi, %rax; adc %rbx, %rax; adc %rbp, %rax
    adc %r8, %rax; adc %r9, %rax; adc %r10, %rax; adc %r11, %rax; adc %r12, %rax; adc %r13, %rax; adc %r14, %rax
    mov saved_sp(%rip), %rsp
    RESTORE
    lea below_array(%rip), %rdx
    mov $32, %ecx
3:  add -8(%rdx,%rcx,8), %rax
    dec %ecx
    jnz 3b
    ret
END(pops_an_array)

    .data
    .balign 16
below_array:
    .fill 32, 8, 3
array_of_words:
    .quad 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
saved_sp:
    .quad 0
other_stack:
    .fill 512, 8, 0
end_of_stack:
    .quad 0
    .text

// Another stack is one.
// counted
FUNCTION(other_stack_for_call):
    WORK
    mov %rsp, saved_sp(%rip)
    lea end_of_stack(%rip), %rsp
    mov %rax, %rdi
    call called_there
    mov saved_sp(%rip), %rsp
    jc 1f
    inc %rax
1:  ret
END(other_stack_for_call)
HELPER(called_there):
    lea 3(%rdi), %rax
    test %rdi, %rdi
    jz 1f
    stc
1:  ret
END(called_there)

// counted
FUNCTION(aligned_stack):
    mov %rsp, %rdx
    sub $64, %rsp
    and $-64, %rsp
    mov %rdx, 8(%rsp)
    WORK
    cmp $3, %rax
    jne 1f
    inc %rax
1:  mov 8(%rsp), %rcx
    lea (%rcx), %rsp
    ret
END(aligned_stack)

// counted
FUNCTION(here_without_number):
    xor %eax, %eax
    lea (%rip), %rcx
    inc %rax
    dec %rdi
    jle 1f
    jmp *%rcx
1:  ret
END(here_without_number)

// counted
FUNCTION(here_zero):
    xor %eax, %eax
    lea 0(%rip), %rcx
    add $2, %rax
    dec %rdi
    jle 1f
    jmp *%rcx
1:  ret
END(here_zero)

// counted
FUNCTION(cmov_labels):
    WORK
    lea 1f(%rip), %rcx
    lea 2f(%rip), %rdx
    test $1, %al
    cmovz %rdx, %rcx
    jmp *%rcx
1:  add $10, %rax
2:  inc %rax
    jz 1b
    ret
END(cmov_labels)

// counted
FUNCTION(near_branches):
    xor %eax, %eax
    mov %rdi, %rcx
    test %rdi, %rdi
    jle 9f
1:  jrcxz 9f
    add %rcx, %rax
    cmp $4, %rcx
    loope 1b
    jecxz 9f
    cmp $4, %rcx
    loopne 1b
    jecxz 9f
    addr32 loop 1b
9:  ret
END(near_branches)

// counted
FUNCTION(adc_chain):
    lea -64(%rsp), %rsi
    movq $-1, (%rsi)
    movq $-1, 8(%rsi)
    movq $7, 16(%rsi)
    movq $-1, 24(%rsi)
    mov $4, %ecx
    mov %rdi, %rdx
    clc
1:  adc %rdx, (%rsi)
    mov $0, %edx
    lea 8(%rsi), %rsi
    lea -1(%rcx), %rcx
    jrcxz 2f
    jmp 1b
2:  setc %al
    movzbl %al, %eax
    lea -64(%rsp), %rsi
    adc (%rsi), %rax
    adc 8(%rsi), %rax
    adc 16(%rsi), %rax
    adc 24(%rsi), %rax
    ret
END(adc_chain)

// counted
FUNCTION(fixup_section):
    xor %eax, %eax
    test %rdi, %rdi
    js 3f
1:  add %rdi, %rax
    dec %rdi
    jns 1b
2:  inc %rax
    ret
    .pushsection .fixup, "ax", @progbits
3:  mov $-14, %rax
    jmp 2b
    .popsection
END(fixup_section)

// counted
FUNCTION(branch_hints):
    xor %eax, %eax
    test %rdi, %rdi
    jle,pn 2f
1:  add %rdi, %rax
    dec %rdi
    jne,pt 1b
    jmp.d32 2f
    nop
2:  {disp32} jmp 3f
    nop
3:  ret
END(branch_hints)

// counted
FUNCTION(UPPER_CASE):
    XOR %EAX, %EAX
    TEST %RDI, %RDI
    JLE 2f
1:  ADD %RDI, %RAX
    DEC %RDI
    JNZ 1b
    CALL upper_callee
    JMP 3f
2:  MOV $5, %EAX
3:  RET
END(UPPER_CASE)
HELPER(upper_callee):
    INC %RAX
    CMP $3, %RAX
    JE 1f
    INC %RAX
1:  RET
END(upper_callee)

// counted
FUNCTION(upper_intel):
    .intel_syntax noprefix
    XOR EAX, EAX
    TEST RDI, RDI
    JLE SHORT 2f
1:  ADD RAX, RDI
    DEC RDI
    JNZ 1b
    CALL upper_callee
    JMP SHORT 3f
2:  MOV EAX, 5
3:  REP RET
    .att_syntax prefix
END(upper_intel)

// counted
FUNCTION(retpoline_lea):
    WORK
    lea 9f(%rip), %rdx
    call 1f
2:  pause
    jmp 2b
1:  lea 8(%rsp), %rsp
    jmp *%rdx
8:  inc %rax
9:  inc %rax
    jz 8b
    ret
END(retpoline_lea)

// counted
FUNCTION(push_label_return):
    WORK
    pushq $1f
    ret
    int3
1:  inc %rax
    ret
END(push_label_return)

// counted
FUNCTION(returns_popping):
    WORK
    push %rax
    push %rax
    call pop_two
    ret
END(returns_popping)
HELPER(pop_two):
    mov 8(%rsp), %rax
    add 16(%rsp), %rax
    jz 1f
    ret $16
1:  inc %rax
    ret $16
END(pop_two)

// counted
FUNCTION(falls_into_next):
    WORK
    add $3, %rax
END(falls_into_next)

// counted
FUNCTION(next_of_fall):
    mov %rdi, %rcx
    test %rdi, %rdi
    jle 1f
    dec %rdi
    jmp falls_into_next
1:  lea 1(%rcx), %rax
    ret
END(next_of_fall)

// counted
FUNCTION(long_return):
    WORK
    mov %cs, %ecx
    push %rcx
    lea 1f(%rip), %rcx
    push %rcx
    lretq
    int3
1:  inc %rax
    jz 1b
    ret
END(long_return)

// counted
FUNCTION(interrupt_return):
    WORK
    mov %rsp, %rdx
    mov %ss, %ecx
    push %rcx
    push %rdx
    pushfq
    mov %cs, %ecx
    push %rcx
    lea 1f(%rip), %rcx
    push %rcx
    iretq
1:  inc %rax
    jz 1b
    ret
END(interrupt_return)

// counted
FUNCTION(down_strings):
    std
    lea array_of_words+16(%rip), %rsi
    lea -72(%rsp), %rdi
    mov $3, %ecx
1:  lodsq
    add %rax, %rdx
    dec %ecx
    jnz 1b
    cld
    ret
END(down_strings)

    .section .note.GNU-stack, "", @progbits
