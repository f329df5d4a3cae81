/* activation_segment.S: a function's begin and its return in executables; see activation.S.
 *
 * The thread's word is at a known distance from the base of %fs, and its cells from the base of %gs
 * (segment.S), so two registers are enough, which are free at nearly all begins.
 *
 * The linker takes this file from its archive only where inserted code refers to it, which is in
 * executables. */
#include "activation.h"

/* The current link's thread to REGISTER. */
.macro  load_thread register
        movq    %fs:quipu_context@tpoff, %\register
.endm

/* What is in the thread's cells, added to REGISTER. */
.macro  add_cells register
        .irp    lane, 0, 1, 2, 3
        addq    %gs:quipu_event_cells+8*\lane(%rip), %\register
        .endr
.endm

/* Goes to OTHER where the link in %rax is not of this call; %r11 is the current link, and changed. */
.macro  compare_call other
        cmpq    %r11, LINK_FROM(%rax)
        jne     \other
        movq    8(%rsp), %r11
        cmpq    %r11, LINK_SITE(%rax)
        jne     \other
        movq    (%rsp), %r11
        cmpq    %r11, LINK_PLACE(%rax)
        jne     \other
.endm

/* A function begins: 8(%rsp) is its return address.  %rax is changed. */
        begin   quipu_context_enter_segment
        load_thread r11
        testq   %r11, %r11
        je      .Lenter_slow
        movl    8(%rsp), %eax
        addl    (%rsp), %eax
        andl    $CONTEXT_RECENTS - 1, %eax
        movq    CONTEXT_RECENT(%r11,%rax,8), %rax
        movq    CONTEXT_CURRENT(%r11), %r11
        cmpq    %rsp, LINK_STACK(%r11) /* activations that are gone, by longjmp? */
        jbe     .Lenter_slow
        compare_call .Lsearch
.Lfound:
        movq    LINK_CALL(%rax), %r11
        incq    NODE_CALLS(%r11)
        cmpq    $0, LINK_OPENED(%rax)
        je      1f
        load_thread r11
        movq    %rsp, LINK_STACK(%rax)
        movq    %rax, CONTEXT_CURRENT(%r11)
        movq    %rsp, LINK_STACK(%rax)
        movq    CONTEXT_BASE(%r11), %r11
        add_cells r11
        movq    LINK_OPENED(%rax), %rax
        movl    $1, NODE_DEPTH(%rax)
        subq    %r11, NODE_INCLUSIVE(%rax)
1:      ret
.Lsearch:
        load_thread r11
        movl    8(%rsp), %eax
        addl    (%rsp), %eax
        shll    $3, %eax
        addl    CONTEXT_CURRENT(%r11), %eax
        andl    CONTEXT_MASK(%r11), %eax
        addq    CONTEXT_TABLE(%r11), %rax
        movq    (%rax), %rax
.Ltry:  testq   %rax, %rax
        je      .Lenter_slow
        load_thread r11
        movq    CONTEXT_CURRENT(%r11), %r11
        compare_call .Lother
        movl    8(%rsp), %r11d
        addl    (%rsp), %r11d
        andl    $CONTEXT_RECENTS - 1, %r11d
        shll    $3, %r11d
        addq    %fs:quipu_context@tpoff, %r11
        movq    %rax, CONTEXT_RECENT(%r11)
        jmp     .Lfound
.Lother:
        movq    LINK_NEXT(%rax), %rax
        jmp     .Ltry
.Lenter_slow:
        go_slowly quipu_context_entered
        end     quipu_context_enter_segment

/* A function is about to return: %r10 and %rsi are free. */
        begin   quipu_context_return_segment
        load_thread r11
        testq   %r11, %r11
        je      .Lreturn_slow
        movq    CONTEXT_CURRENT(%r11), %r10
        cmpq    %rsp, LINK_STACK(%r10)
        jne     2f
        movq    LINK_OPENED(%r10), %rsi
        movq    LINK_FROM(%r10), %r10
        movq    %r10, CONTEXT_CURRENT(%r11)
        movq    CONTEXT_BASE(%r11), %r11
        add_cells r11
        addq    %r11, NODE_INCLUSIVE(%rsi)
        movl    $0, NODE_DEPTH(%rsi)
1:      ret
2:      ja      1b                   /* it has opened no node */
.Lreturn_slow:
        go_slowly quipu_context_left
        end     quipu_context_return_segment

        .section .note.GNU-stack, "", @progbits
