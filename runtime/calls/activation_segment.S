/* activation_segment.S: a function's entry and ends in executables; see activation.S.
 *
 * The thread's words have a fixed offset from the base of %fs, and its cells from the base of %gs
 * (core/segment.S). So two registers are enough, and they are free at nearly all entries.
 *
 * The linker takes this file from the archive only if inserted code refers to it, as in
 * executables. */
#include "runtime/calls/activation.h"

#define WORD(offset) %fs:quipu_calls_segment_words@tpoff+offset

/* Loads the thread's count into REGISTER. */
.macro  find_now register
        movq    WORD(WORDS_BASE), %\register
        .irp    lane, LANES
        addq    %gs:quipu_event_cells+8*\lane(%rip), %\register
        .endr
.endm

/* Jumps to OTHER if site and function differ from those of the link in %rax. Changes %r11. */
.macro  compare_call other
        movq    8(%rsp), %r11
        cmpq    %r11, LINK_SITE(%rax)
        jne     \other
        movq    (%rsp), %r11
        cmpq    %r11, LINK_PLACE(%rax)
        jne     \other
.endm

/* Loads the address of the entry for recent links of this call into REGISTER, whose low half is
 * HALF. */
.macro  find_recent register, half
        movl    8(%rsp), %\half
        addl    (%rsp), %\half
        addl    %esp, %\half
        andl    $8 * (CONTEXT_RECENTS - 1), %\half
        addq    WORD(WORDS_RECENT), %\register
.endm

/* A function's entry: 8(%rsp) is its return address. Changes %rax. */
        begin   quipu_calls_enter_segment
        movq    WORD(WORDS_CURRENT), %r11
        testq   %r11, %r11
        je      .Lenter_slow
        find_recent rax, eax
        movq    (%rax), %rax
        cmpq    %rsp, LINK_STACK(%r11) /* were links left by longjmp? */
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
.Lfold: movq    LINK_NODE(%rax), %rax /* already on the path: count one more call */
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

/* A function's end. Its stack pointer was DEPTH(%rsp) at its entry. Jumps to ELSEWHERE, with the
 * flags of the comparison, if the current link is another activation's, and to SLOW if there is
 * none. Changes LINK, FROM and %r11; FROM may be %r11. */
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

/* A function jumps here to return: 0(%rsp) is its return address. %r10 and %rsi are free. */
        begin   quipu_calls_return_segment
        leave_link -8, r10, rsi, 2f, 3f
1:      ret
2:      ja      1b                   /* it has not opened a node */
3:      jmp     quipu_calls_return_slowly
        end     quipu_calls_return_segment

/* A function is about to jump to another one. The stack pointer is as at its entry. */
        begin   quipu_calls_leave_segment
        save    rax, 16
        leave_link 8, rax, r11, 2f, 3f
1:      restore rax, 8
        ret
        .cfi_def_cfa_offset 16
        .cfi_offset rax, -16
2:      ja      1b                   /* it has not opened a node */
3:      restore rax, 8
        go_slowly quipu_calls_left
        end     quipu_calls_leave_segment

/* Returns the address of the calling thread's words. */
        begin   quipu_find_segment_words
        movq    %fs:0, %rax
        leaq    quipu_calls_segment_words@tpoff(%rax), %rax
        ret
        end     quipu_find_segment_words

        .section .tbss, "awT", @nobits
        .balign 8
        .globl  quipu_calls_segment_words
        .hidden quipu_calls_segment_words
        .type   quipu_calls_segment_words, @object
        .size   quipu_calls_segment_words, WORDS_SIZE
quipu_calls_segment_words:
        .zero   WORDS_SIZE

        .section .note.GNU-stack, "", @progbits
