/* entry.S: where a system call of the program comes in, and goes on; see format/inside.h.
 *
 * A trampoline comes here with the number of its site in %ecx. All other registers and the flags are
 * the program's, and nothing is written below its stack pointer. Behind the call %rcx and %r11 are
 * what the instruction leaves there: the address behind it, and the flags. */
#include "format/inside.h"
#include "inside/inside.h"

        .text
        .globl inside_call_kernel
inside_call_kernel: /* the kernel does not report it */
        syscall
        ret
        nop

        .org    QUIPU_INSIDE_STAND - QUIPU_INSIDE
        .globl  inside_stand
inside_stand: /* the kernel reports it */
        syscall
        ret

        .org    QUIPU_INSIDE_EXIT - QUIPU_INSIDE
inside_exit:
        jmp     *QUIPU_INSIDE_CONTINUE

        .org    QUIPU_INSIDE_ENTER - QUIPU_INSIDE
inside_enter:
        movq    %rsp, QUIPU_INSIDE_SAVED_STACK
        movl    $QUIPU_INSIDE_STACK_END - 8, %esp /* aligned to 16 bytes for the call */
        pushfq
        cld
        pushq   %r15
        pushq   %r14
        pushq   %r13
        pushq   %r12
        pushq   %r10
        pushq   %r9
        pushq   %r8
        pushq   %rdi
        pushq   %rsi
        pushq   %rbp
        pushq   %rbx
        pushq   %rdx
        pushq   %rcx
        pushq   %rax
        movq    %rsp, %rdi
        call    inside_make_call
        cmpl    $INSIDE_WAITS, %eax
        jne     1f
        movq    QUIPU_INSIDE_OWN_PLACE, %rsp
        movq    %rsp, %rdi
        call    inside_wait
1:      testl   %eax, %eax
        popq    %rax
        popq    %rcx
        popq    %rdx
        popq    %rbx
        popq    %rbp
        popq    %rsi
        popq    %rdi
        popq    %r8
        popq    %r9
        popq    %r10
        popq    %r12
        popq    %r13
        popq    %r14
        popq    %r15
        jz      2f
        movq    (%rsp), %r11
        popfq
        movq    QUIPU_INSIDE_SAVED_STACK, %rsp
        jmp     inside_exit
2:      popfq
        movq    QUIPU_INSIDE_SAVED_STACK, %rsp
        jmp     *QUIPU_INSIDE_LEAVE

        /* Nor does it report this one, of threads that do not have the turn. They store the result
         * at %rbx, and 1 behind it: up to there the recorder finds it in %rax. */
        .org    QUIPU_INSIDE_WAIT - QUIPU_INSIDE
        .globl  inside_wait_in_kernel
inside_wait_in_kernel:
        syscall
        movq    %rax, (%rbx)
        movl    $1, 8(%rbx)
        .org    QUIPU_INSIDE_WAIT_MADE - QUIPU_INSIDE
        ret

        .section .note.GNU-stack, "", @progbits
