/* entry.S: entry points of inserted code: around stores that may touch watched memory, around
 * calls, and at the entry and the ends of functions with watched locals.
 *
 * format/watch.h, section 2, has the contract. The caller may be anywhere in a function. All
 * general registers and the flags are kept. The runtime does not use vector and x87 registers, and
 * saves them around the program's own handlers.
 *
 * Each module with watched stores links this file. So the pointer that starts the runtime is here,
 * too. */
#include "runtime/core/registers.inc"
#include "runtime/watch/running.h"
#include "runtime/watch/quick.h"

#define AREA_CALLING   0x6ff00004
#define AREA_NO_SHADOW 0x6ff00018
#define AREA_TRAPPING  0x6ff0003c
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
/* Some thread shall get SIGTRAP. If it is this thread, `trap` does not return here, but to the
 * return address of the frame %rbp, with stack pointer %rsi. */
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

/* Defines an entry that calls a C function with the frame's address. The frame has -8 flags, 0
 * %rbp, 8 the return address, 16 the word that was pushed last, then 24, 32. The second argument is
 * the stack pointer before PUSHED bytes were pushed. The return increases the stack pointer by
 * ROOM. */
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
        cmpl    $0, AREA_TRAPPING
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

        /* the return restores the stack pointer above the red zone */
        entry   quipu_watch_begin, quipu_watch_begun, 16, 128+16
        entry   quipu_watch_begin_more, quipu_watch_begun, 24, 128+24
        entry   quipu_watch_end, quipu_watch_ended, 0, 128
        entry   quipu_watch_return_described, quipu_watch_called, 8, 128+8
        entry   quipu_watch_call_begin_described, quipu_watch_call_begun
        entry   quipu_watch_call_end, quipu_watch_call_ended
        entry   quipu_watch_call_compare, quipu_watch_call_returned
        entry   quipu_watch_function_begin, quipu_watch_function_begun
        entry   quipu_watch_function_end, quipu_watch_function_ended
        entry   quipu_watch_function_back, quipu_watch_function_returned

/* A call stores its return address, below the pushed words and 128 bytes of red zone. Returns at
 * once if the shadow shows that nothing is watched there. */
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
        cmpl    $0, AREA_NO_SHADOW
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
        jmp     quipu_watch_return_described
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

/* If bit SIZE of %edi is set, compares SIZE bytes at (%rax) and (%rdx), through REGISTER. If they
 * differ, jumps to DIFFER. If not, moves both pointers behind them, except for SIZE 1, which is the
 * last. */
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

/* Loads the address of the calling thread's call records into REGISTER, whose low half is HALF.
 * Uses SCRATCH. Jumps to OTHER if the thread has none. */
.macro  find_running register, half, scratch, other
        movq    quipu_watch_own@gottpoff(%rip), %\register
        movzwl  %fs:(%\register), %\half
        testl   %\half, %\half
        je      \other
        imulq   $RUNNING_SIZE, %\register, %\register
        addq    $WATCH_RUNNING_AT - RUNNING_SIZE, %\register
        movq    %fs:0, %\scratch
        cmpq    %\scratch, RUNNING_THREAD(%\register)
        jne     \other
.endm

/* A call begins. Adds it to the thread's call records, and returns at once if nothing else is
 * needed. At the call, %rsp is 8 bytes above the words that the stub pushed. A handler may
 * interrupt anywhere, and use the same record: so the stack pointer is stored twice. */
        .balign 16
        .globl  quipu_watch_call_begin
        .hidden quipu_watch_call_begin
        .type   quipu_watch_call_begin, @function
quipu_watch_call_begin:
        .cfi_startproc
        _CET_ENDBR
        cmpl    $0, WATCH_QUICK_AT + QUICK_TRACKS
        je      quipu_watch_call_begin_described
        cmpl    $0, WATCH_QUICK_AT + QUICK_RANGES
        jne     quipu_watch_call_begin_described
        .cfi_remember_state
        save    rax
        save    rcx
        save    rdx
        movl    32(%rsp), %eax
        testl   $RUNNING_COMPARED, %eax
        je      .Ldescribed
        movzwl  %ax, %ecx
        cmpl    quipu_watch_plain_count(%rip), %ecx
        jae     .Ldescribed
        leaq    quipu_watch_plain_rows(%rip), %rdx
        cmpb    $0, (%rdx,%rcx)
        je      .Ldescribed
        find_running rdx, edx, rcx, .Ldescribed
        movl    RUNNING_DEPTH(%rdx), %ecx
        cmpl    $RUNNING_CALLS, %ecx
        jae     .Ldescribed
        leaq    40(%rsp), %rax
        leaq    (%rcx,%rcx,4), %rcx
        leaq    RUNNING_FIRST(%rdx,%rcx,8), %rcx
        cmpl    $0, RUNNING_DEPTH(%rdx)
        je      1f
        cmpq    %rax, -RUNNING_CALL_SIZE(%rcx)
        jbe     .Ldescribed              /* the recorded call was left */
1:      movq    %rax, (%rcx)
        incl    RUNNING_DEPTH(%rdx)
        movq    %rax, (%rcx)
        movq    24(%rsp), %rax
        movq    %rax, RUNNING_CALL_STUB(%rcx)
        movl    32(%rsp), %eax
        movl    %eax, RUNNING_CALL_DESCRIPTOR(%rcx)
        movq    $-1, RUNNING_CALL_LOW(%rcx)
        movq    $0, RUNNING_CALL_HIGH(%rcx)
        incq    RUNNING_EVENTS(%rdx)
        .cfi_remember_state
        restore rdx
        restore rcx
        restore rax
        ret
.Ldescribed: .cfi_restore_state
        restore rdx
        restore rcx
        restore rax
        jmp     quipu_watch_call_begin_described
        .cfi_restore_state
        .cfi_endproc
        .size   quipu_watch_call_begin, . - quipu_watch_call_begin

/* An unknown callee has returned. Returns at once if no call has a record, and all pieces have
 * their known bytes or no comparison is due. Also removes the call from the thread's call
 * records. */
        .balign 16
        .globl  quipu_watch_call_return
        .hidden quipu_watch_call_return
        .type   quipu_watch_call_return, @function
quipu_watch_call_return:
        .cfi_startproc
        _CET_ENDBR
        save_two
        cmpl    $0, AREA_CALLING
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
        find_running rdx, edx, rcx, .Ldiffer
        movl    RUNNING_DEPTH(%rdx), %ecx
        testl   %ecx, %ecx
        je      .Lout
        cmpl    $RUNNING_CALLS, %ecx
        ja      .Ldiffer
        leaq    48+8(%rsp), %rax
        leaq    (%rcx,%rcx,4), %rcx
        cmpq    %rax, RUNNING_FIRST - RUNNING_CALL_SIZE(%rdx,%rcx,8)
        ja      .Lout               /* the recorded call is an outer one */
        jb      .Ldiffer
        decl    RUNNING_DEPTH(%rdx)
        incq    RUNNING_EVENTS(%rdx)
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
        movq    16(%rsp), %rax      /* the stub */
        movq    %rax, WATCH_QUICK_AT + QUICK_CALL
        incl    WATCH_QUICK_AT + QUICK_SKIPPED
        movl    WATCH_QUICK_AT + QUICK_SKIPPED, %eax
        movl    %eax, WATCH_QUICK_AT + QUICK_NUMBER
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
