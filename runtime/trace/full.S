/* full.S: what inserted code of traces calls: where a thread's buffer has no room, and at the sites of
 * the order of threads. format/trace.h is the contract. */
#include "runtime/core/registers.inc"

/* As in format/trace.h; order.c compares them. */
#define TICKETS 8
#define UNREAD 16
#define TURNS 24
#define ORDERED 28
#define TIMES 32
#define CLOCK 4
#define PROCESSES -28
#define FULL_BIT (1 << 18)
#define ORDER 0xf1
#define SIZE 13

        .text
        .balign 16
        .globl  quipu_trace_full
        .hidden quipu_trace_full
        .type   quipu_trace_full, @function
/* Gets a record's size in %r10. Changes flags. Returns the end of such a record, in a new buffer, in
 * %r11, and the thread's data in %r10. Keeps the other registers. If nobody reads the records it goes back to the
 * begin of the same buffer, some times without the runtime: then a signal does not matter. Otherwise
 * signals are blocked here, so that those that arrive find the thread at quipu_trace_changed. From
 * there it goes back to quipu_trace_again (quipu_trace_interrupted): in front of
 * quipu_trace_changed the record is not there yet. */
quipu_trace_full:
        .cfi_startproc
        _CET_ENDBR
        movq    quipu_trace@gottpoff(%rip), %r11
        movq    %fs:(%r11), %r11
        cmpq    $0, UNREAD(%r11)
        je      quipu_trace_full_frame
        decl    TURNS(%r11)
        js      quipu_trace_full_frame
        addq    UNREAD(%r11), %r10
        movq    %r10, (%r11)
        xchgq   %r10, %r11
        ret
        .globl  quipu_trace_full_frame
        .hidden quipu_trace_full_frame
quipu_trace_full_frame:
        keep_registers
        subq    $80, %rsp
        movq    %r10, 24(%rsp)
        movq    %rbx, 32(%rsp)       /* struct full_frame */
        movq    %r12, 40(%rsp)
        movq    %r13, 48(%rsp)
        movq    %r14, 56(%rsp)
        movq    %r15, 64(%rsp)
        .globl  quipu_trace_again
        .hidden quipu_trace_again
quipu_trace_again:
        movq    $-1, (%rsp)
        movl    $2, %edi             /* SIG_SETMASK */
        movq    %rsp, %rsi
        leaq    8(%rsp), %rdx
        movl    $8, %r10d
        movl    $14, %eax            /* rt_sigprocmask */
        syscall
        movq    24(%rsp), %rdi
        movq    %rbp, %rsi
        leaq    32(%rsp), %rdx
        call    quipu_trace_make_room
        movq    %rax, 16(%rsp)
        movl    $2, %edi
        leaq    8(%rsp), %rsi
        xorl    %edx, %edx
        movl    $8, %r10d
        movl    $14, %eax
        syscall
        .globl  quipu_trace_changed
        .hidden quipu_trace_changed
quipu_trace_changed:
        movq    16(%rsp), %rax
        movq    quipu_trace@gottpoff(%rip), %rcx
        movq    %fs:(%rcx), %rcx
        leaq    -80(%rbp), %rsp
        popq    %r11
        movq    %rcx, (%rsp)         /* of %r10 */
        movq    %rax, %r11
        restore_registers
        .globl  quipu_trace_full_end
        .hidden quipu_trace_full_end
quipu_trace_full_end:
        .cfi_endproc
        .size   quipu_trace_full, . - quipu_trace_full
        .hidden quipu_trace_make_room

        .balign 16
        .globl  quipu_trace_order
        .hidden quipu_trace_order
        .type   quipu_trace_order, @function
/* Takes a ticket, and writes its record by the same instructions as inserted code, so that signal.c
 * can do with an interrupted record here what it does with any other. The locked addition is a
 * fence: it is behind all accesses in front of the site, and in front of those behind it. Keeps all
 * registers and flags. Once two processes record, the thread's other sites take tickets, too.
 *
 * Not perfect: if a signal arrives between the addition and the record, the handler's tickets are
 * in front of this one, which is lower. */
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
0:      movl    $1, %eax
        lock
        xaddq   %rax, (%r11)
        cmpq    $0, TIMES(%r10)
        je      3f
        pushq   %rax
        pushq   %rsi
        pushq   %rdi
        movl    %eax, %esi           /* its lowest 32 bits */
        shlq    $4, %rsi
        addq    TIMES(%r10), %rsi
        movl    $CLOCK, %edi
        movl    $228, %eax           /* clock_gettime */
        syscall                      /* changes %rcx and %r11 */
        popq    %rdi
        popq    %rsi
        popq    %rax
3:      movq    8(%rbp), %rcx        /* the site's address */
        movq    (%r10), %r11
        leaq    SIZE(%r11), %r11
        movq    %r11, (%r10)
        testl   $FULL_BIT, %r11d
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

        .balign 16
        .globl  quipu_trace_own
        .hidden quipu_trace_own
        .type   quipu_trace_own, @function
/* struct quipu_trace_thread **quipu_trace_own(void): the calling thread's quipu_trace. */
quipu_trace_own:
        .cfi_startproc
        _CET_ENDBR
        movq    quipu_trace@gottpoff(%rip), %rax
        addq    %fs:0, %rax
        ret
        .cfi_endproc
        .size   quipu_trace_own, . - quipu_trace_own

        .section .tdata, "awT", @progbits
        .balign 8
        .globl  quipu_trace
        .hidden quipu_trace
        .type   quipu_trace, @object
        .size   quipu_trace, 8
quipu_trace:
        .quad   quipu_trace_unattached
        .hidden quipu_trace_unattached

        .section .init_array.00000, "aw", @init_array
        .balign 8
        .quad   quipu_trace_start
        .hidden quipu_trace_start

        .section .note.GNU-stack, "", @progbits
