/* measure_site.S: what sites in front of calls of known functions call, to record what these will access
 * (format/trace.h). */
#include "runtime/core/registers.inc"

/* As in format/trace.h and measure.h; measure.c compares them. */
#define TICKETS 8
#define FULL_BIT (1 << 18)
#define MEASURED 0xf2
#define SIZE 22
#define RANGE 24
#define RANGES 12
#define SAVED (RANGE * RANGES)
#define ROOM (SAVED + 64)
#define MARK 0x7175697075207472

        .text
        .balign 16
        .globl  quipu_trace_measure
        .hidden quipu_trace_measure
        .type   quipu_trace_measure, @function
/* Writes each range by the same instructions as inserted code, so that signal.c can do with an
 * interrupted record here what it does with any other. Keeps all registers and flags. The word at
 * -96(%rbp) is MARK while the frame is %rbp's, also in quipu_trace_find_ranges: so signal.c knows a
 * thread that was interrupted there. */
quipu_trace_measure:
        .cfi_startproc
        _CET_ENDBR
        .globl  quipu_trace_measure_frame
        .hidden quipu_trace_measure_frame
quipu_trace_measure_frame:
        keep_registers
        movq    quipu_trace@gottpoff(%rip), %r10
        movq    %fs:(%r10), %r10
        cmpq    $0, TICKETS(%r10)    /* nothing is recorded */
        je      4f
        subq    $ROOM, %rsp
        movq    %rbx, SAVED(%rsp)
        movq    %r12, SAVED+8(%rsp)
        movq    %r13, SAVED+16(%rsp)
        movq    %r14, SAVED+24(%rsp)
        movabsq $MARK, %rax
        movq    %rax, -96(%rbp)
        xorl    %ebx, %ebx           /* ranges so far */
1:      movq    %rbp, %rdi
        movl    %ebx, %esi
        movq    %rsp, %rdx
        call    quipu_trace_find_ranges
        movl    %eax, %r14d
        movl    %eax, %r13d
        addl    %eax, %ebx
        movq    %rsp, %r12
2:      decl    %r13d
        js      3f
        movq    quipu_trace@gottpoff(%rip), %r10
        movq    %fs:(%r10), %r10
        movl    8(%rbp), %ecx        /* the site's address */
        movl    (%r12), %edx
        movq    8(%r12), %rax
        movq    16(%r12), %rsi
        movq    (%r10), %r11
        leaq    SIZE(%r11), %r11
        movq    %r11, (%r10)
        testl   $FULL_BIT, %r11d
        jz      0f
        movl    $SIZE, %r10d
        call    quipu_trace_full
0:      movb    $MEASURED, -SIZE(%r11)
        movl    %ecx, 1-SIZE(%r11)
        movl    %edx, 5-SIZE(%r11)   /* one byte, and three of the address */
        movq    %rax, 6-SIZE(%r11)
        movq    %rsi, 14-SIZE(%r11)
        addq    $RANGE, %r12
        jmp     2b
3:      cmpl    $RANGES, %r14d
        je      1b
        movq    SAVED(%rsp), %rbx
        movq    SAVED+8(%rsp), %r12
        movq    SAVED+16(%rsp), %r13
        movq    SAVED+24(%rsp), %r14
        movq    $0, -96(%rbp)
4:      leaq    -80(%rbp), %rsp
        popq    %r11
        restore_registers
        .globl  quipu_trace_measure_end
        .hidden quipu_trace_measure_end
quipu_trace_measure_end:
        .cfi_endproc
        .size   quipu_trace_measure, . - quipu_trace_measure
        .hidden quipu_trace_find_ranges
        .hidden quipu_trace_full
        .hidden quipu_trace

        .section .note.GNU-stack, "", @progbits
