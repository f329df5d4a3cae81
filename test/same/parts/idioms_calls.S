// Ways in which hand-written code changes or reads the address that it returns to; as in idioms.S.

#include "idioms.h"

// left: a call is made for its return address
FUNCTION(calls_skip_at_once):
    SKIPPING(skip_at_once)
END(calls_skip_at_once)

HELPER(skip_at_once):
    addq $2, (%rsp)
    mov $8, %ecx
    ret
END(skip_at_once)

HELPER(skip_in_place):
    mov $1, %ecx
    addq $2, (%rsp)
    ret
END(skip_in_place)

// left: it calls what changes or reads the address that it returns to
FUNCTION(calls_skip_in_place):
    SKIPPING(skip_in_place)
END(calls_skip_in_place)

HELPER(skip_by_jump):
    mov %rax, %r8
    pop %rdx
    add $2, %rdx
    mov $7, %ecx
    jmp *%rdx
END(skip_by_jump)

// left: it calls what changes or reads the address that it returns to
FUNCTION(calls_skip_by_jump):
    SKIPPING(skip_by_jump)
END(calls_skip_by_jump)

HELPER(skip_by_push):
    test %rax, %rax
    js 1f
    pop %rdx
    lea 2(%rdx), %rcx
    push %rcx
    mov $2, %ecx
    ret
1:  sub $8, %rsp
    mov 8(%rsp), %rcx
    inc %rcx
    inc %rcx
    mov %rcx, 8(%rsp)
    add $8, %rsp
    mov $3, %ecx
    ret
END(skip_by_push)

// left: it calls what changes or reads the address that it returns to
FUNCTION(calls_skip_by_push):
    SKIPPING(skip_by_push)
END(calls_skip_by_push)

HELPER(skip_in_frame):
    push %rbp
    mov %rsp, %rbp
    and $-16, %rsp
    sub $32, %rsp
    mov 8(%rbp), %rdx
    mov %rdx, -8(%rbp)
    addq $2, 8(%rbp)
    mov $4, %ecx
    leave
    ret
END(skip_in_frame)

// left: it calls what changes or reads the address that it returns to
FUNCTION(calls_skip_in_frame):
    SKIPPING(skip_in_frame)
END(calls_skip_in_frame)

HELPER(skip_by_tail):
    inc %rax
    jmp skip_by_jump
END(skip_by_tail)

// left: it calls what changes or reads the address that it returns to
FUNCTION(calls_skip_by_tail):
    SKIPPING(skip_by_tail)
END(calls_skip_by_tail)

HELPER(exchange_return):
    mov %rax, %r8
    xchg %rdx, (%rsp)
    add $2, %rdx
    xchg %rdx, (%rsp)
    mov $5, %ecx
    ret
END(exchange_return)

// left: it calls what changes or reads the address that it returns to
FUNCTION(calls_exchange_return):
    SKIPPING(exchange_return)
END(calls_exchange_return)

// It calls its caller, two bytes behind the call, and comes back to it then.
HELPER(split_stack):
    mov %rax, %r8
    mov (%rsp), %rcx
    inc %rcx
    inc %rcx
    call *%rcx
    ret
END(split_stack)

// left: it calls what changes or reads the address that it returns to
FUNCTION(calls_split_stack):
    WORK
    call split_stack
    nop
    ret
    jmp 7f
    ud2
7:  inc %rax
    cmp $3, %rax
    je 8f
    inc %rax
8:  ret
END(calls_split_stack)

HELPER(read_behind_call):
    mov %rax, %r8
    pop %rsi
    cld
    xor %ecx, %ecx
1:  lodsb
    add %al, %cl
    test %al, %al
    jns 1b
    jmp *%rsi
END(read_behind_call)

// left: it calls what changes or reads the address that it returns to
FUNCTION(calls_read_behind_call):
    WORK
    mov %rax, %rdx
    call read_behind_call
    nopl 0(%rax)
    nop
    movzbl %cl, %eax
    add %rdx, %rax
    ret
END(calls_read_behind_call)

// left: it calls what changes or reads the address that it returns to
FUNCTION(calls_local_skip):
    xor %eax, %eax
    test %rdi, %rdi
    jle 2f
1:  call 3f
    ud2
    dec %rdi
    jnz 1b
2:  ret
3:  inc %rax
    addq $2, (%rsp)
    ret
END(calls_local_skip)

HELPER(keep_return):
    mov %rax, %r8
    mov (%rsp), %rdx
    mov %rdx, -16(%rsp)
    pop %rcx
    push %rcx
    cmp %rcx, %rdx
    jne 1f
    pop %rcx
    mov $6, %edx
    test %rax, %rax
    jns 2f
1:  push %rcx
    ret
2:  jmp *%rcx
END(keep_return)

// counted
FUNCTION(calls_keep_return):
    WORK
    call keep_return
    test %rdx, %rdx
    jz 1f
    inc %rax
1:  ret
END(calls_keep_return)

    .section .note.GNU-stack, "", @progbits
