/* activation.S: routines that inserted code calls at each function's entry and ends. They maintain
 * the thread's calling context tree (calls.h).
 *
 * Ammons, Ball and Larus 1997, section 4. A call's site is its return address, so the called
 * function does everything. When one of these routines is called, only the return address is on the
 * stack between it and the function's own frame. So the stack pointer identifies the activation. A
 * return is also done here: one jump instead of a call and two returns.
 *
 * If a signal arrives in between, functions of its handler may enter the same link. They also leave
 * it, but have changed its stack pointer. So that is stored a second time when the link is the
 * current one.
 *
 * Flags are not kept, and %r11 only where this is stated. */
#include "runtime/calls/activation.h"

/* Loads the address of the thread's words into %r11, and the current link into REGISTER. Sets the
 * zero flag if there is no current link: the thread has no tree, or is in another module. */
.macro  find_current register
        movq    quipu_calls_words@gottpoff(%rip), %r11
        movq    %fs:(%r11), %r11
        testq   %r11, %r11
        je      .Lfound\@
        movq    WORDS_CURRENT(%r11), %\register
        testq   %\register, %\register
.Lfound\@:
.endm

/* Loads the thread's count into REGISTER. Changes %r11. */
.macro  find_now register
        movq    WORDS_BASE(%r11), %\register
        movq    WORDS_CELLS(%r11), %r11
        .irp    lane, LANES
        addq    8*\lane(%r11), %\register
        .endr
.endm

/* Leaves the current link, LINK, which was not entered from another module. Changes it, NODE and
 * %r11. */
.macro  leave_link link, node
        movq    LINK_NODE(%\link), %\node
        movq    LINK_FROM(%\link), %\link
        movq    %\link, (%r11)
        find_now \link
        addq    %\link, NODE_INCLUSIVE(%\node)
.endm

/* Calls the C function whose address was pushed, with the address of this routine's own return
 * address, and returns. Keeps all registers. */
        begin   quipu_calls_slowly
        .cfi_def_cfa_offset 16       /* the function's address is on the stack */
        save    rbp, 24
        movq    %rsp, %rbp
        .cfi_def_cfa_register rbp
        pushq   %rax
        pushq   %rcx
        pushq   %rdx
        pushq   %rsi
        pushq   %rdi
        pushq   %r8
        pushq   %r9
        pushq   %r10
        pushq   %r11
        leaq    16(%rbp), %rdi
        andq    $-16, %rsp
        cld
        call    *8(%rbp)
        leaq    -72(%rbp), %rsp
        popq    %r11
        popq    %r10
        popq    %r9
        popq    %r8
        popq    %rdi
        popq    %rsi
        popq    %rdx
        popq    %rcx
        popq    %rax
        popq    %rbp
        .cfi_def_cfa rsp, 16
        .cfi_restore rbp
        leaq    8(%rsp), %rsp
        .cfi_def_cfa_offset 8
        ret
        end     quipu_calls_slowly

/* Jumps to OTHER if site and function differ from those of the link in %rax. Changes %r10. */
.macro  compare_call depth, other
        movq    \depth+8(%rsp), %r10
        cmpq    %r10, LINK_SITE(%rax)
        jne     \other
        movq    \depth(%rsp), %r10
        cmpq    %r10, LINK_PLACE(%rax)
        jne     \other
.endm

/* Loads the address of the entry for recent links of this call into REGISTER, whose low half is
 * HALF. */
.macro  find_recent depth, register, half
        leal    \depth(%rsp), %\half
        addl    \depth+8(%rsp), %\half
        addl    \depth(%rsp), %\half
        andl    $8 * (CONTEXT_RECENTS - 1), %\half
        addq    WORDS_RECENT(%r11), %\register
.endm

/* A function's entry: DEPTH(%rsp) is the return address into the function, and the function's own
 * is above it. Changes %rax, %r10 and %r11. Jumps to .Lslow\name if this is not enough, and to
 * .Lsearch\name, which search_link defines. */
.macro  enter_link name, depth
        find_current r10
        je      .Lslow\name
        leaq    \depth(%rsp), %rax
        cmpq    %rax, LINK_STACK(%r10) /* were links left by longjmp? */
        jbe     .Lslow\name
        find_recent \depth, rax, eax
        movq    (%rax), %rax
        cmpq    %r10, LINK_OPENS(%rax)
        jne     .Lsearch\name
        compare_call \depth, .Lsearch\name
.Lopen\name:
        leaq    \depth(%rsp), %r10
        movq    %r10, LINK_STACK(%rax)
        movq    %rax, (%r11)
        movq    %r10, LINK_STACK(%rax)
        movq    LINK_NODE(%rax), %r10
        find_now rax
        incq    NODE_CALLS(%r10)
        subq    %rax, NODE_INCLUSIVE(%r10)
.Lentered\name:
.endm

/* The recent link does not open a node for this call: it is a folded call's, or another call's. */
.macro  search_link name, depth
.Lsearch\name:
        movq    (%r11), %r10
        cmpq    %r10, LINK_FROM(%rax)
        jne     .Lbucket\name
        compare_call \depth, .Lbucket\name
.Lfold\name:
        movq    LINK_NODE(%rax), %r10 /* already on the path: count one more call */
        incq    NODE_CALLS(%r10)
        jmp     .Lentered\name
.Lbucket\name:
        movl    \depth+8(%rsp), %eax
        addl    \depth(%rsp), %eax
        shll    $3, %eax
        addl    (%r11), %eax
        movq    WORDS_THREAD(%r11), %r10
        andl    CONTEXT_MASK(%r10), %eax
        addq    CONTEXT_TABLE(%r10), %rax
        movq    (%rax), %rax
.Ltry\name:
        testq   %rax, %rax
        je      .Lslow\name
        movq    (%r11), %r10
        cmpq    %r10, LINK_FROM(%rax)
        jne     .Lother\name
        compare_call \depth, .Lother\name
        find_recent \depth, r10, r10d
        movq    %rax, (%r10)
        cmpq    $0, LINK_OPENS(%rax)
        jne     .Lopen\name
        jmp     .Lfold\name
.Lother\name:
        movq    LINK_NEXT(%rax), %rax
        jmp     .Ltry\name
.endm

/* A function's entry with %rax free: 8(%rsp) is its return address. */
        begin   quipu_calls_enter
        save    r10, 16
        enter_link plain, 8
        restore r10, 8
        ret
        .cfi_def_cfa_offset 16
        .cfi_offset r10, -16
        search_link plain, 8
.Lslowplain:
        restore r10, 8
        go_slowly quipu_calls_entered
        end     quipu_calls_enter

/* The same, but keeps %rax. */
        begin   quipu_calls_enter_keeping
        save    rax, 16
        save    r10, 24
        enter_link keeping, 16
        restore r10, 16
        restore rax, 8
        ret
        .cfi_def_cfa_offset 24
        .cfi_offset rax, -16
        .cfi_offset r10, -24
        search_link keeping, 16
.Lslowkeeping:
        restore r10, 16
        restore rax, 8
        go_slowly quipu_calls_entered
        end     quipu_calls_enter_keeping

/* A function's end: DEPTH(%rsp) is the return address into it. Changes %rax, %r10 and %r11. Jumps
 * to .Lslow\name if this is not enough. */
.macro  leave_function name, depth
        find_current rax
        je      .Lslow\name
        leaq    \depth(%rsp), %r10
        cmpq    %r10, LINK_STACK(%rax)
        jb      .Lslow\name
        ja      .Lleft\name          /* it has not opened a node */
        leave_link rax, r10
.Lleft\name:
.endm

/* A function is about to jump to another one. The stack pointer is as at its entry. */
        begin   quipu_calls_leave
        save    rax, 16
        save    r10, 24
        leave_function leave, 16
        restore r10, 16
        restore rax, 8
        ret
        .cfi_def_cfa_offset 24
        .cfi_offset rax, -16
        .cfi_offset r10, -24
.Lslowleave:
        restore r10, 16
        restore rax, 8
        go_slowly quipu_calls_left
        end     quipu_calls_leave

/* The same, but keeps %r11. */
        begin   quipu_calls_leave_keeping
        save    rax, 16
        save    r10, 24
        save    r11, 32
        leave_function leave_keeping, 24
        restore r11, 24
        restore r10, 16
        restore rax, 8
        ret
        .cfi_def_cfa_offset 32
        .cfi_offset rax, -16
        .cfi_offset r10, -24
        .cfi_offset r11, -32
.Lslowleave_keeping:
        restore r11, 24
        restore r10, 16
        restore rax, 8
        go_slowly quipu_calls_left
        end     quipu_calls_leave_keeping

/* A function jumps here to return: 0(%rsp) is its return address. %r10 and %rsi are free. */
        begin   quipu_calls_return
        find_current r10
        je      quipu_calls_return_slowly
        leaq    -8(%rsp), %rsi
        cmpq    %rsi, LINK_STACK(%r10)
        jb      quipu_calls_return_slowly
        ja      1f                   /* it has not opened a node */
        leave_link r10, rsi
1:      ret
        end     quipu_calls_return

        begin   quipu_calls_return_slowly
        call    1f                   /* a frame like that of the other routines */
        ret
1:      .cfi_def_cfa_offset 16
        pushq   quipu_calls_left@GOTPCREL(%rip)
        .cfi_def_cfa_offset 24
        jmp     quipu_calls_slowly
        end     quipu_calls_return_slowly

/* Control comes from elsewhere: by an exception, by longjmp, or from another stack. Activations
 * below the stack pointer, and below the red zone that the caller has skipped, have ended. Keeps
 * all registers. */
        begin   quipu_calls_pad
        save    rax, 16
        save    r11, 24
        find_current r11
        je      .Lpad_slow
        leaq    16+RED_ZONE(%rsp), %rax
        cmpq    %rax, LINK_STACK(%r11)
        jb      .Lpad_slow
        restore r11, 16
        restore rax, 8
        ret
        .cfi_def_cfa_offset 24
        .cfi_offset rax, -16
        .cfi_offset r11, -24
.Lpad_slow:
        restore r11, 16
        restore rax, 8
        go_slowly quipu_calls_arrived
        end     quipu_calls_pad

        .section .tbss, "awT", @nobits
        .balign 8
        .globl  quipu_calls_words
        .hidden quipu_calls_words
        .type   quipu_calls_words, @object
        .size   quipu_calls_words, 8
quipu_calls_words:
        .quad   0

        .section .note.GNU-stack, "", @progbits
