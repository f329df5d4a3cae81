/* activation.S: where inserted code comes at each function's begin and ends, to keep the thread's
 * calling context tree (context.h).
 *
 * Ammons, Ball and Larus 1997, section 4.  The site of a call is its return address, so all is done
 * by the function that is called.  Between the call of one of these and the function's own
 * instructions nothing but the return address is on the stack, so the stack pointer tells
 * activations apart.
 *
 * Where a signal comes in between, its handler's functions overwrite what is above the top.  So an
 * activation is written once more when it is the top.
 *
 * Flags are not kept, and %r11 only where it is said. */
#include "context.h"

#ifdef __CET__
#include <cet.h>
#else
#define _CET_ENDBR
#endif

.macro  begin name
        .text
        .balign 32
        .globl  \name
        .hidden \name
        .type   \name, @function
\name:
        .cfi_startproc
        _CET_ENDBR
.endm

.macro  end name
        .cfi_endproc
        .size   \name, . - \name
.endm

.macro  save register, depth
        pushq   %\register
        .cfi_def_cfa_offset \depth
        .cfi_offset \register, -\depth
.endm

.macro  restore register, depth
        popq    %\register
        .cfi_def_cfa_offset \depth
        .cfi_restore \register
.endm

/* The thread's state to %r11; the zero flag is set where it has none, or is in another module. */
.macro  find_thread
        movq    quipu_context@gottpoff(%rip), %r11
        movq    %fs:(%r11), %r11
        testq   %r11, %r11
.endm

/* What the thread has counted, to REGISTER. */
.macro  find_now register
        movq    CONTEXT_CELL(%r11), %\register
        movq    (%\register), %\register
        addq    CONTEXT_BASE(%r11), %\register
.endm

/* Ends the top, at %rcx, which is changed, as is NODE. */
.macro  end_top node
        movq    8(%rcx), %\node
        subq    $ACTIVATION, %rcx
        movq    %rcx, CONTEXT_TOP(%r11)
        decl    NODE_DEPTH(%\node)
        jne     .Lended\@
        find_now rcx
        addq    %rcx, NODE_INCLUSIVE(%\node)
.Lended\@:
.endm

/* Calls FUNCTION of C with the activation's stack as its first argument; %rax and %rcx are saved at
 * (%rsp), and all other registers are kept. */
.macro  call_slow function
        save    rbp, 32
        leaq    8(%rsp), %rbp
        .cfi_def_cfa rbp, 24
        pushq   %rdx
        pushq   %rsi
        pushq   %rdi
        pushq   %r8
        pushq   %r9
        pushq   %r10
        movq    %rbp, %rdi
        andq    $-16, %rsp
        cld
        call    \function
        leaq    -56(%rbp), %rsp
        popq    %r10
        popq    %r9
        popq    %r8
        popq    %rdi
        popq    %rsi
        popq    %rdx
        popq    %rbp
        .cfi_def_cfa rsp, 24
        .cfi_restore rbp
.endm

/* A function begins: 8(%rsp) is its return address. */
        begin   quipu_context_enter
        save    rax, 16
        save    rcx, 24
        find_thread
        je      .Lenter_slow
        movq    CONTEXT_TOP(%r11), %rcx
        cmpq    %rsp, (%rcx)         /* activations that are gone, by longjmp? */
        jbe     .Lenter_slow
        cmpq    CONTEXT_LIMIT(%r11), %rcx
        jae     .Lenter_slow
        movq    8(%rcx), %rcx
        movl    %ecx, %eax
        shrl    $3, %eax
        addl    24(%rsp), %eax
        addl    16(%rsp), %eax
        andl    $CONTEXT_BUCKETS - 1, %eax
        movq    CONTEXT_TABLE(%r11,%rax,8), %rax
        testq   %rax, %rax
        je      .Lenter_slow
        cmpq    %rcx, LINK_FROM(%rax)
        jne     .Lenter_slow
        movq    24(%rsp), %rcx
        cmpq    %rcx, LINK_SITE(%rax)
        jne     .Lenter_slow
        movq    16(%rsp), %rcx
        cmpq    %rcx, LINK_PLACE(%rax)
        jne     .Lenter_slow
        movq    LINK_CALL(%rax), %rcx
        movq    LINK_TO(%rax), %rax
        incq    NODE_CALLS(%rcx)
        incl    NODE_DEPTH(%rax)
        cmpl    $1, NODE_DEPTH(%rax)
        jne     1f
        find_now rcx
        subq    %rcx, NODE_INCLUSIVE(%rax)
1:      movq    CONTEXT_TOP(%r11), %rcx
        addq    $ACTIVATION, %rcx
        movq    %rsp, (%rcx)
        movq    %rax, 8(%rcx)
        movq    %rcx, CONTEXT_TOP(%r11)
        movq    %rsp, (%rcx)
        movq    %rax, 8(%rcx)
        restore rcx, 16
        restore rax, 8
        ret
        .cfi_def_cfa_offset 24
        .cfi_offset rax, -16
        .cfi_offset rcx, -24
.Lenter_slow:
        call_slow quipu_context_entered
        restore rcx, 16
        restore rax, 8
        ret
        end     quipu_context_enter

/* A function is about to return, or to jump to another: the stack pointer is what it was at its
 * begin. */
        begin   quipu_context_leave
        save    rax, 16
        save    rcx, 24
        find_thread
        je      .Lleave_slow
        movq    CONTEXT_TOP(%r11), %rcx
        cmpq    %rsp, (%rcx)
        jne     .Lleave_slow
        end_top rax
        restore rcx, 16
        restore rax, 8
        ret
        .cfi_def_cfa_offset 24
        .cfi_offset rax, -16
        .cfi_offset rcx, -24
.Lleave_slow:
        call_slow quipu_context_left
        restore rcx, 16
        restore rax, 8
        ret
        end     quipu_context_leave

/* The same, and %r11 is kept. */
        begin   quipu_context_leave_keeping
        save    rax, 16
        save    rcx, 24
        save    r11, 32
        find_thread
        je      .Lkeeping_slow
        movq    CONTEXT_TOP(%r11), %rcx
        leaq    8(%rsp), %rax
        cmpq    %rax, (%rcx)
        jne     .Lkeeping_slow
        end_top rax
        restore r11, 24
        restore rcx, 16
        restore rax, 8
        ret
        .cfi_def_cfa_offset 32
        .cfi_offset rax, -16
        .cfi_offset rcx, -24
        .cfi_offset r11, -32
.Lkeeping_slow:
        restore r11, 24
        call_slow quipu_context_left
        restore rcx, 16
        restore rax, 8
        ret
        end     quipu_context_leave_keeping

/* The same where %rcx and %rsi are free: in front of a return. */
        begin   quipu_context_return
        find_thread
        je      quipu_context_leave
        movq    CONTEXT_TOP(%r11), %rcx
        leaq    -16(%rsp), %rsi
        cmpq    %rsi, (%rcx)
        jne     quipu_context_leave
        end_top rsi
        ret
        end     quipu_context_return

/* Control comes from elsewhere: by an exception, by longjmp, or on another stack.  Activations below
 * the stack pointer, and below the red zone that the caller has left alone, are gone.  All registers
 * are kept. */
        begin   quipu_context_pad
        save    rax, 16
        save    rcx, 24
        save    r11, 32
        find_thread
        je      .Lpad_slow
        movq    CONTEXT_TOP(%r11), %rcx
        leaq    -24+32+128(%rsp), %rax
        cmpq    %rax, (%rcx)
        jae     5f
.Lpad_slow:
        restore r11, 24
        call_slow quipu_context_arrived
        restore rcx, 16
        restore rax, 8
        ret
        .cfi_def_cfa_offset 32
        .cfi_offset rax, -16
        .cfi_offset rcx, -24
        .cfi_offset r11, -32
5:      restore r11, 24
        restore rcx, 16
        restore rax, 8
        ret
        end     quipu_context_pad

        .section .tbss, "awT", @nobits
        .balign 8
        .globl  quipu_context
        .hidden quipu_context
        .type   quipu_context, @object
        .size   quipu_context, 8
quipu_context:
        .quad   0
        .globl  quipu_context_known
        .hidden quipu_context_known
        .type   quipu_context_known, @object
        .size   quipu_context_known, 8
quipu_context_known:
        .quad   0

        .hidden quipu_context_entered
        .hidden quipu_context_left
        .hidden quipu_context_arrived
        .section .note.GNU-stack, "", @progbits
