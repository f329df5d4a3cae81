/* activation.S: where inserted code comes at each function's begin and ends, to keep the thread's
 * calling context tree (calls.h).
 *
 * Ammons, Ball and Larus 1997, section 4.  The site of a call is its return address, so all is done
 * by the function that is called.  Between the call of one of these and the function's own
 * instructions nothing but the return address is on the stack, so the stack pointer tells
 * activations apart.  A return is done here, too: one jump instead of a call and two returns.
 *
 * Where a signal comes in between, its handler's functions may enter the same link; they leave it,
 * but have written to its stack.  So that is written once more when the link is the current one.
 *
 * Flags are not kept, and %r11 only where it is said. */
#include "runtime/calls/activation.h"

/* The address of the thread's words to %r11; the current link to REGISTER.  The zero flag is set
 * where there is none: the thread has no tree, or is in another module. */
.macro  find_current register
        movq    quipu_calls_words@gottpoff(%rip), %r11
        movq    %fs:(%r11), %r11
        testq   %r11, %r11
        je      .Lfound\@
        movq    WORDS_CURRENT(%r11), %\register
        testq   %\register, %\register
.Lfound\@:
.endm

/* What the thread has counted, to REGISTER.  %r11 is changed. */
.macro  find_now register
        movq    WORDS_BASE(%r11), %\register
        movq    WORDS_CELLS(%r11), %r11
        .irp    lane, LANES
        addq    8*\lane(%r11), %\register
        .endr
.endm

/* The current link, in LINK, is left, by a way that is no other module's.  It and NODE are changed,
 * as is %r11. */
.macro  leave_link link, node
        movq    LINK_NODE(%\link), %\node
        movq    LINK_FROM(%\link), %\link
        movq    %\link, (%r11)
        find_now \link
        addq    %\link, NODE_INCLUSIVE(%\node)
.endm

/* Calls FUNCTION of C with the address of this function's own return address, and returns.  All
 * registers are kept. */
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

/* Goes to OTHER where the site and the function are not those of the link in %rax.  %r10 is
 * changed. */
.macro  compare_call depth, other
        movq    \depth+8(%rsp), %r10
        cmpq    %r10, LINK_SITE(%rax)
        jne     \other
        movq    \depth(%rsp), %r10
        cmpq    %r10, LINK_PLACE(%rax)
        jne     \other
.endm

/* Where a recent link of this call is, to REGISTER, whose low half is HALF. */
.macro  find_recent depth, register, half
        leal    \depth(%rsp), %\half
        addl    \depth+8(%rsp), %\half
        addl    \depth(%rsp), %\half
        andl    $8 * (CONTEXT_RECENTS - 1), %\half
        addq    WORDS_RECENT(%r11), %\register
.endm

/* A function begins: DEPTH(%rsp) is the return address here, and the one of the function is above
 * it.  %rax, %r10 and %r11 are changed.  Goes to .Lslow\name where that does not do, and to
 * .Lsearch\name, which search_link makes. */
.macro  enter_link name, depth
        find_current r10
        je      .Lslow\name
        leaq    \depth(%rsp), %rax
        cmpq    %rax, LINK_STACK(%r10) /* links that are gone, by longjmp? */
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

/* The recent link opens none for this call: it is of a call that is folded, or of another one. */
.macro  search_link name, depth
.Lsearch\name:
        movq    (%r11), %r10
        cmpq    %r10, LINK_FROM(%rax)
        jne     .Lbucket\name
        compare_call \depth, .Lbucket\name
.Lfold\name:
        movq    LINK_NODE(%rax), %r10 /* on the way already: one call more */
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

/* A function begins, and %rax is free: 8(%rsp) is its return address. */
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

/* The same, and %rax is kept. */
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

/* A function ends: DEPTH(%rsp) is the return address here.  %rax, %r10 and %r11 are changed.  Goes to
 * .Lslow\name where that does not do. */
.macro  leave_function name, depth
        find_current rax
        je      .Lslow\name
        leaq    \depth(%rsp), %r10
        cmpq    %r10, LINK_STACK(%rax)
        jb      .Lslow\name
        ja      .Lleft\name          /* it has opened no node */
        leave_link rax, r10
.Lleft\name:
.endm

/* A function is about to jump to another: the stack pointer is what it was at its begin. */
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

/* The same, and %r11 is kept. */
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

/* A function jumps here to return: 0(%rsp) is its return address.  %r10 and %rsi are free. */
        begin   quipu_calls_return
        find_current r10
        je      quipu_calls_return_slowly
        leaq    -8(%rsp), %rsi
        cmpq    %rsi, LINK_STACK(%r10)
        jb      quipu_calls_return_slowly
        ja      1f                   /* it has opened no node */
        leave_link r10, rsi
1:      ret
        end     quipu_calls_return

        begin   quipu_calls_return_slowly
        call    1f                   /* as the other routines are called */
        ret
1:      .cfi_def_cfa_offset 16
        pushq   quipu_calls_left@GOTPCREL(%rip)
        .cfi_def_cfa_offset 24
        jmp     quipu_calls_slowly
        end     quipu_calls_return_slowly

/* Control comes from elsewhere: by an exception, by longjmp, or on another stack.  Activations below
 * the stack pointer, and below the red zone that the caller has left alone, are gone.  All registers
 * are kept. */
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
