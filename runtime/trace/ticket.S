/* ticket.S: what sites of the order of threads call (format/trace.h).
 *
 * It takes a ticket and writes its record by the same instructions as inserted code, so that
 * signal.c can do with an interrupted record here what it does with any other. The locked addition
 * is a fence: it is behind all accesses in front of the site, and in front of those behind it.
 *
 * Not perfect: if a signal arrives between the addition and the record, the handler's tickets are
 * in front of this one, which is lower. */
#ifdef __CET__
#include <cet.h>
#else
#define _CET_ENDBR
#endif

/* As in format/trace.h; order.c compares them. */
#define TICKETS 8
#define ORDERED 28
#define PROCESSES -28
#define FULL (1 << 18)
#define ORDER 0xf1
#define SIZE 13

.macro  keep register, offset
        pushq   %\register
        .cfi_offset \register, \offset
.endm

        .text
        .balign 16
        .globl  quipu_trace_order
        .hidden quipu_trace_order
        .type   quipu_trace_order, @function
/* Keeps all registers and flags. Once two processes record, the thread's other sites take tickets,
 * too. */
quipu_trace_order:
        .cfi_startproc
        _CET_ENDBR
        .globl  quipu_trace_order_frame
        .hidden quipu_trace_order_frame
quipu_trace_order_frame:
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register rbp
        pushfq
        keep    rax, -32
        keep    rcx, -40
        keep    r10, -48
        keep    r11, -56
        movq    quipu_trace@gottpoff(%rip), %r10
        movq    %fs:(%r10), %r10
        movq    TICKETS(%r10), %r11
        testq   %r11, %r11
        jz      2f
        cmpl    $1, PROCESSES(%r11)
        jbe     0f
        movb    $1, ORDERED(%r10)
0:      movq    8(%rbp), %rcx        /* the site's address */
        movl    $1, %eax
        lock
        xaddq   %rax, (%r11)
        movq    (%r10), %r11
        leaq    SIZE(%r11), %r11
        movq    %r11, (%r10)
        testl   $FULL, %r11d
        jz      1f
        movl    $SIZE, %r10d
        call    quipu_trace_full
1:      movb    $ORDER, -SIZE(%r11)
        movl    %ecx, 1-SIZE(%r11)
        movq    %rax, 5-SIZE(%r11)
2:      popq    %r11
        popq    %r10
        popq    %rcx
        popq    %rax
        popfq
        popq    %rbp
        .cfi_def_cfa rsp, 8
        ret
        .globl  quipu_trace_order_end
        .hidden quipu_trace_order_end
quipu_trace_order_end:
        .cfi_endproc
        .size   quipu_trace_order, . - quipu_trace_order
        .hidden quipu_trace_full, quipu_trace

        .section .note.GNU-stack, "", @progbits
