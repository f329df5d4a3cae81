/* entry.S: where inserted code comes around a store that may touch watched memory, and at the
 * begin and the ends of a function whose locals are watched.
 *
 * The contract stands in format/watch.h, section 2.  The caller is anywhere in a function:
 * every register and the flags are kept; vector and x87 registers are not touched by the runtime,
 * and kept around the program's own handlers.
 *
 * All modules with watched stores have this, so the start of all stands here, too. */
#include "runtime/core/registers.inc"
#include "runtime/watch/lane.h"
#include "runtime/watch/quick.h"

#define HOME_CALLING   0x6ff00004
#define HOME_NO_SHADOW 0x6ff00018
#define HOME_TRAPPING  0x6ff0003c
#define SHADOW         0x70000000

.macro  save register
        pushq   %\register
        .cfi_adjust_cfa_offset 8
.endm
.macro  restore register
        popq    %\register
        .cfi_adjust_cfa_offset -8
.endm

        .text
        .balign 16
        .type   trap, @function
/* A thread is to get SIGTRAP.  If it is this one it does not return here, but goes to where the frame of
 * %rbp returns to, with the stack pointer %rsi. */
trap:
        .cfi_startproc
        save    rbx                  /* struct watch_kept */
        save    r12
        save    r13
        save    r14
        save    r15
        movq    %rbp, %rdi
        movq    %rsp, %rdx
        call    quipu_watch_trap_here
        addq    $40, %rsp
        .cfi_adjust_cfa_offset -40
        ret
        .cfi_endproc
        .size   trap, . - trap
        .hidden quipu_watch_trap_here

/* A function of C that gets the frame's address: it finds there
 *     -8 flags, 0 %rbp, 8 the return address, 16 what was pushed last, 24, 32
 * and the stack pointer before PUSHED bytes were pushed.  The stack pointer goes up by ROOM when it
 * returns. */
.macro  entry name, function, pushed=0, room=0
        .text
        .balign 16
        .globl  \name
        .hidden \name
        .type   \name, @function
\name:
        .cfi_startproc
        _CET_ENDBR
        keep_registers
        movq    %rbp, %rdi
        leaq    16+\pushed(%rbp), %rsi
        call    \function
        cmpl    $0, HOME_TRAPPING
        je      1f
        leaq    16+\room(%rbp), %rsi
        call    trap
1:      leaq    -80(%rbp), %rsp
        popq    %r11
        restore_registers \room
        .cfi_endproc
        .size   \name, . - \name
        .hidden \function
.endm

        /* back to where the stack pointer was above the red zone */
        entry   quipu_watch_begin, quipu_watch_begun, 16, 128+16
        entry   quipu_watch_begin_more, quipu_watch_begun, 24, 128+24
        entry   quipu_watch_end, quipu_watch_ended, 0, 128
        entry   quipu_watch_return_told, quipu_watch_called, 8, 128+8
        entry   quipu_watch_call_begin_told, quipu_watch_call_begun
        entry   quipu_watch_call_end, quipu_watch_call_ended
        entry   quipu_watch_call_compare, quipu_watch_call_returned
        entry   quipu_watch_function_begin, quipu_watch_function_begun
        entry   quipu_watch_function_end, quipu_watch_function_ended
        entry   quipu_watch_function_back, quipu_watch_function_returned

/* A call stores its return address, below what was pushed and 128 bytes of red zone.  Comes by where
 * the shadow says that nothing is watched there. */
        .balign 16
        .globl  quipu_watch_return
        .hidden quipu_watch_return
        .type   quipu_watch_return, @function
quipu_watch_return:
        .cfi_startproc
        _CET_ENDBR
        save    rax
        save    rcx
        lahf
        seto    %al
        cmpl    $0, HOME_NO_SHADOW
        jne     1f
        leaq    16+16+128-8(%rsp), %rcx
        shrq    $6, %rcx
        cmpb    $0, SHADOW(%rcx)
        jne     1f
        addb    $0x7f, %al
        sahf
        .cfi_remember_state
        restore rcx
        restore rax
        ret     $128+8
1:      .cfi_restore_state
        addb    $0x7f, %al
        sahf
        restore rcx
        restore rax
        jmp     quipu_watch_return_told
        .cfi_endproc
        .size   quipu_watch_return, . - quipu_watch_return

.macro  save_four
        save    rcx
        save    rsi
        save    rdi
        save    r8
.endm
.macro  restore_four
        restore r8
        restore rdi
        restore rsi
        restore rcx
.endm
.macro  save_two
        save    rax
        save    rdx
.endm
.macro  restore_two
        restore rdx
        restore rax
.endm

/* Where bit SIZE of %edi is set, compares as many bytes of (%rax) with (%rdx), through REGISTER; the
 * same ones go to DIFFER, all others leave both pointers behind them. */
.macro  compare_rest size, suffix, register, differ
        testb   $\size, %dil
        je      1f
        mov\suffix (%rax), %\register
        cmp\suffix (%rdx), %\register
        jne     \differ
        .if     \size > 1
        addq    $\size, %rax
        addq    $\size, %rdx
        .endif
1:
.endm

/* The calling thread's lane to REGISTER, whose low half is HALF, through SCRATCH; goes to OTHER where
 * it has none. */
.macro  find_lane register, half, scratch, other
        movq    quipu_watch_own@gottpoff(%rip), %\register
        movzwl  %fs:(%\register), %\half
        testl   %\half, %\half
        je      \other
        imulq   $LANE_SIZE, %\register, %\register
        addq    $WATCH_LANE_AT - LANE_SIZE, %\register
        movq    %fs:0, %\scratch
        cmpq    %\scratch, LANE_THREAD(%\register)
        jne     \other
.endm

/* A call begins.  Comes by where it only has to stand in the thread's lane.  Below what told of it,
 * %rsp was 8 bytes above.  A handler may come anywhere: so the stack pointer is written twice. */
        .balign 16
        .globl  quipu_watch_call_begin
        .hidden quipu_watch_call_begin
        .type   quipu_watch_call_begin, @function
quipu_watch_call_begin:
        .cfi_startproc
        _CET_ENDBR
        cmpl    $0, WATCH_QUICK_AT + QUICK_TRACKS
        je      quipu_watch_call_begin_told
        cmpl    $0, WATCH_QUICK_AT + QUICK_RANGES
        jne     quipu_watch_call_begin_told
        .cfi_remember_state
        save    rax
        save    rcx
        save    rdx
        movl    32(%rsp), %eax
        testl   $LANE_COMPARED, %eax
        je      .Ltold
        movzwl  %ax, %ecx
        cmpl    quipu_watch_plain_count(%rip), %ecx
        jae     .Ltold
        leaq    quipu_watch_plain_rows(%rip), %rdx
        cmpb    $0, (%rdx,%rcx)
        je      .Ltold
        find_lane rdx, edx, rcx, .Ltold
        movl    LANE_DEPTH(%rdx), %ecx
        cmpl    $LANE_CALLS, %ecx
        jae     .Ltold
        leaq    40(%rsp), %rax
        leaq    (%rcx,%rcx,4), %rcx
        leaq    LANE_FIRST(%rdx,%rcx,8), %rcx
        cmpl    $0, LANE_DEPTH(%rdx)
        je      1f
        cmpq    %rax, -LANE_CALL_SIZE(%rcx)
        jbe     .Ltold              /* that one was left */
1:      movq    %rax, (%rcx)
        incl    LANE_DEPTH(%rdx)
        movq    %rax, (%rcx)
        movq    24(%rsp), %rax
        movq    %rax, LANE_CALL_STUB(%rcx)
        movl    32(%rsp), %eax
        movl    %eax, LANE_CALL_TOLD(%rcx)
        movq    $-1, LANE_CALL_LOW(%rcx)
        movq    $0, LANE_CALL_HIGH(%rcx)
        incq    LANE_EVENTS(%rdx)
        .cfi_remember_state
        restore rdx
        restore rcx
        restore rax
        ret
.Ltold: .cfi_restore_state
        restore rdx
        restore rcx
        restore rax
        jmp     quipu_watch_call_begin_told
        .cfi_restore_state
        .cfi_endproc
        .size   quipu_watch_call_begin, . - quipu_watch_call_begin

/* A callee that is not known has returned.  Comes by where no call has a record, and all pieces are
 * as they are known, or it is not time yet; and takes the call out of the thread's lane. */
        .balign 16
        .globl  quipu_watch_call_return
        .hidden quipu_watch_call_return
        .type   quipu_watch_call_return, @function
quipu_watch_call_return:
        .cfi_startproc
        _CET_ENDBR
        save_two
        cmpl    $0, HOME_CALLING
        jne     .Lask
        cmpq    $0, WATCH_QUICK_AT + QUICK_UNTIL
        jne     .Llook_at_time
        .cfi_remember_state
        save_four
        cmpl    $0, WATCH_QUICK_AT + QUICK_COUNT
        je      .Ldiffer
        movl    WATCH_QUICK_AT + QUICK_SKIPPED, %eax
        cmpl    WATCH_QUICK_AT + QUICK_COMPARED, %eax
        jne     .Ldiffer
        movq    WATCH_QUICK_AT + QUICK_BREAK, %rax
        movq    (%rax), %rax
        cmpq    WATCH_QUICK_AT + QUICK_HEAP_END, %rax
        jb      .Ldiffer
        movl    WATCH_QUICK_AT + QUICK_WORDS, %ecx
        testl   %ecx, %ecx
        je      .Lno_words
        movl    $(WATCH_QUICK_AT + QUICK_WHOLE), %esi
.Lwhole:
        movq    (%rsi), %rax
        movq    PIECE_KNOWN(%rsi), %rdx
        movq    (%rax), %r8
        cmpq    (%rdx), %r8
        jne     .Ldiffer
        addq    $PIECE_SIZE, %rsi
        decl    %ecx
        jne     .Lwhole
.Lno_words:
        movl    WATCH_QUICK_AT + QUICK_REST, %ecx
        testl   %ecx, %ecx
        je      .Lsame
        movl    $(WATCH_QUICK_AT + QUICK_PIECES), %esi
.Lpiece:
        movq    (%rsi), %rax
        movq    PIECE_KNOWN(%rsi), %rdx
        movl    %eax, %edi
        shrq    $PIECE_BITS, %rax
        andl    $((1 << PIECE_BITS) - 1), %edi
        subl    $8, %edi
        jb      .Lrest
.Lword:
        movq    (%rax), %r8
        cmpq    (%rdx), %r8
        jne     .Ldiffer
        addq    $8, %rax
        addq    $8, %rdx
        subl    $8, %edi
        jae     .Lword
.Lrest:
        compare_rest 4, l, r8d, .Ldiffer
        compare_rest 2, w, r8w, .Ldiffer
        compare_rest 1, b, r8b, .Ldiffer
        addq    $PIECE_SIZE, %rsi
        decl    %ecx
        jne     .Lpiece
.Lsame:
        cmpl    $0, WATCH_QUICK_AT + QUICK_TRACKS
        jne     .Ltracks
        movq    WATCH_QUICK_AT + QUICK_ALONE, %rax
        cmpb    $0, (%rax)
        je      .Ldiffer
.Lout:
        .cfi_remember_state
        restore_four
        restore_two
        ret
        .cfi_restore_state
        .cfi_remember_state
.Ltracks:
        find_lane rdx, edx, rcx, .Ldiffer
        movl    LANE_DEPTH(%rdx), %ecx
        testl   %ecx, %ecx
        je      .Lout
        cmpl    $LANE_CALLS, %ecx
        ja      .Ldiffer
        leaq    48+8(%rsp), %rax
        leaq    (%rcx,%rcx,4), %rcx
        cmpq    %rax, LANE_FIRST - LANE_CALL_SIZE(%rdx,%rcx,8)
        ja      .Lout               /* one that this is in */
        jb      .Ldiffer
        decl    LANE_DEPTH(%rdx)
        incq    LANE_EVENTS(%rdx)
        jmp     .Lout
.Ldiffer:
        restore_four
        jmp     .Lask
        .cfi_restore_state
.Llook_at_time:
        rdtsc
        shlq    $32, %rdx
        orq     %rdx, %rax
        cmpq    WATCH_QUICK_AT + QUICK_UNTIL, %rax
        jae     .Lask
        cmpl    $0, WATCH_QUICK_AT + QUICK_TRACKS
        jne     .Lask
        movq    WATCH_QUICK_AT + QUICK_ALONE, %rax
        cmpb    $0, (%rax)
        je      .Lask
        incl    WATCH_QUICK_AT + QUICK_SKIPPED
        .cfi_remember_state
        restore_two
        ret
        .cfi_restore_state
.Lask:
        restore_two
        jmp     quipu_watch_call_compare
        .cfi_endproc
        .size   quipu_watch_call_return, . - quipu_watch_call_return

        entry   quipu_watch_loop_first, quipu_watch_loop_began
        entry   quipu_watch_loop_left, quipu_watch_loop_ended

        .section .init_array.00000, "aw", @init_array
        .balign 8
        .quad   quipu_watch_start
        .hidden quipu_watch_start

        .section .note.GNU-stack, "", @progbits
