/* activation_segment.S: a function's begin and its ends in executables; see activation.S.
 *
 * The thread's words are at a known distance from the base of %fs, and its cells from the base of
 * %gs (core/segment.S), so two registers are enough, which are free at nearly all begins.
 *
 * The linker takes this file from its archive only where inserted code refers to it, which is in
 * executables. */
#include "runtime/calls/activation.h"

#define WORD(offset) %fs:quipu_calls_segment_words@tpoff+offset

/* What the thread has counted, to REGISTER. */
.macro  find_now register
        movq    WORD(WORDS_BASE), %\register
        .irp    lane, LANES
        addq    %gs:quipu_event_cells+8*\lane(%rip), %\register
        .endr
.endm

/* Goes to OTHER where the site and the function are not those of the link in %rax.  %r11 is
 * changed. */
.macro  compare_call other
        movq    8(%rsp), %r11
        cmpq    %r11, LINK_SITE(%rax)
        jne     \other
        movq    (%rsp), %r11
        cmpq    %r11, LINK_PLACE(%rax)
        jne     \other
.endm

/* Where a recent link of this call is, to REGISTER, whose low half is HALF. */
.macro  find_recent register, half
        movl    8(%rsp), %\half
        addl    (%rsp), %\half
        addl    %esp, %\half
        andl    $8 * (CONTEXT_RECENTS - 1), %\half
        addq    WORD(WORDS_RECENT), %\register
.endm

/* A function begins: 8(%rsp) is its return address.  %rax is changed. */
        begin   quipu_calls_enter_segment
        movq    WORD(WORDS_CURRENT), %r11
        testq   %r11, %r11
        je      .Lenter_slow
        find_recent rax, eax
        movq    (%rax), %rax
        cmpq    %rsp, LINK_STACK(%r11) /* links that are gone, by longjmp? */
        jbe     .Lenter_slow
        cmpq    %r11, LINK_OPENS(%rax)
        jne     .Lsearch
        compare_call .Lsearch
.Lopen: movq    %rsp, LINK_STACK(%rax)
        movq    %rax, WORD(WORDS_CURRENT)
        movq    %rsp, LINK_STACK(%rax)
        movq    LINK_NODE(%rax), %rax
        find_now r11
        incq    NODE_CALLS(%rax)
        subq    %r11, NODE_INCLUSIVE(%rax)
        ret
.Lsearch:
        movq    WORD(WORDS_CURRENT), %r11
        cmpq    %r11, LINK_FROM(%rax)
        jne     .Lbucket
        compare_call .Lbucket
.Lfold: movq    LINK_NODE(%rax), %rax /* on the way already: one call more */
        incq    NODE_CALLS(%rax)
        ret
.Lbucket:
        movl    8(%rsp), %eax
        addl    (%rsp), %eax
        shll    $3, %eax
        addl    WORD(WORDS_CURRENT), %eax
        movq    WORD(WORDS_THREAD), %r11
        andl    CONTEXT_MASK(%r11), %eax
        addq    CONTEXT_TABLE(%r11), %rax
        movq    (%rax), %rax
.Ltry:  testq   %rax, %rax
        je      .Lenter_slow
        movq    WORD(WORDS_CURRENT), %r11
        cmpq    %r11, LINK_FROM(%rax)
        jne     .Lother
        compare_call .Lother
        find_recent r11, r11d
        movq    %rax, (%r11)
        cmpq    $0, LINK_OPENS(%rax)
        jne     .Lopen
        jmp     .Lfold
.Lother:
        movq    LINK_NEXT(%rax), %rax
        jmp     .Ltry
.Lenter_slow:
        go_slowly quipu_calls_entered
        end     quipu_calls_enter_segment

/* A function ends that began with its stack pointer at DEPTH(%rsp).  Goes to ELSEWHERE where the
 * current link is another activation's, with the flags of the comparison, and to SLOW where there
 * is none.  LINK, FROM and %r11 are changed; FROM may be %r11. */
.macro  leave_link depth, link, from, elsewhere, slow
        movq    WORD(WORDS_CURRENT), %\link
        testq   %\link, %\link
        je      \slow
        leaq    \depth(%rsp), %r11
        cmpq    %r11, LINK_STACK(%\link)
        jne     \elsewhere
        movq    LINK_FROM(%\link), %\from
        movq    LINK_NODE(%\link), %\link
        movq    %\from, WORD(WORDS_CURRENT)
        find_now r11
        addq    %r11, NODE_INCLUSIVE(%\link)
.endm

/* A function jumps here to return: 0(%rsp) is its return address.  %r10 and %rsi are free. */
        begin   quipu_calls_return_segment
        leave_link -8, r10, rsi, 2f, 3f
1:      ret
2:      ja      1b                   /* it has opened no node */
3:      jmp     quipu_calls_return_slowly
        end     quipu_calls_return_segment

/* A function is about to jump to another: the stack pointer is what it was at its begin. */
        begin   quipu_calls_leave_segment
        save    rax, 16
        leave_link 8, rax, r11, 2f, 3f
1:      restore rax, 8
        ret
        .cfi_def_cfa_offset 16
        .cfi_offset rax, -16
2:      ja      1b                   /* it has opened no node */
3:      restore rax, 8
        go_slowly quipu_calls_left
        end     quipu_calls_leave_segment

/* The address of the calling thread's words. */
        begin   quipu_find_segment_words
        movq    %fs:0, %rax
        leaq    quipu_calls_segment_words@tpoff(%rax), %rax
        ret
        end     quipu_find_segment_words

        .section .tbss, "awT", @nobits
        .balign 8
        .hidden quipu_calls_segment_words
        .type   quipu_calls_segment_words, @object
        .size   quipu_calls_segment_words, WORDS_SIZE
quipu_calls_segment_words:
        .zero   WORDS_SIZE

        .section .note.GNU-stack, "", @progbits
