/* watch.h: the contract on watched memory between shim, runtime and 'quipu watch' (Wahbe, Lucco and
 * Graham 1993).
 *
 * It defines four things:
 *   1. where the shadow is, which inserted code tests before every store,
 *   2. how inserted code reports to the runtime a store that may touch a region,
 *   3. how 'quipu watch' makes requests to a program, and
 *   4. the hits that the program reports.
 *
 * All numbers are little endian. Did you change a format? Increment QUIPU_WATCH_VERSION. */
#ifndef QUIPU_FORMAT_WATCH_H
#define QUIPU_FORMAT_WATCH_H

#include "format/data_file.h"

enum {
    QUIPU_WATCH_VERSION = 16
};

/* Contains QUIPU_WATCH_VERSION, 4 bytes, in each module whose stores can be watched. */
#define QUIPU_WATCH_SECTION "quipu_watch"

/* ---- 1. The shadow ---------------------------------------------------------------------------
 *
 * The shadow has one byte for each granule of 64 bytes of the address space. The byte for address A
 * is at QUIPU_WATCH_SHADOW + (A >> 6). Both numbers are constants in inserted code, so the shadow
 * needs no base register. It is below everything that the kernel maps by itself for
 * position-independent programs. The reservation uses memory only where regions are.
 *
 * A byte is not 0 if a store of at most QUIPU_WATCH_SPAN bytes, whose first byte is in the granule,
 * may touch a region. So region [A, A + N) marks the granules of [A - 63, A + N), and one test of
 * the first byte's granule is enough.
 *
 * The fixed area precedes the shadow. It has the data that the modules of a process share.
 * Its first byte is not 0 if there is any region. Code that cannot decide by one test of the shadow
 * tests that byte. */
#define QUIPU_WATCH_SHADOW         0x70000000
#define QUIPU_WATCH_SHADOW_SIZE    (1ull << 41) /* for addresses below 1 << 47 */
#define QUIPU_WATCH_BEHIND         0x1000       /* readable bytes behind it, which are 0 */
#define QUIPU_WATCH_AREA           0x6ff00000
#define QUIPU_WATCH_AREA_SIZE      0x100000
#define QUIPU_WATCH_LIBRARY_BEGINS (QUIPU_WATCH_AREA + 1) /* the byte `library_begins` */
#define QUIPU_WATCH_LIBRARY        (QUIPU_WATCH_AREA + 2) /* the byte `library` */
#define QUIPU_WATCH_BEGINS         (QUIPU_WATCH_AREA + 3) /* the byte `begins` */
#define QUIPU_WATCH_CALLING        (QUIPU_WATCH_AREA + 4) /* 4 bytes: calls that have a record */
#define QUIPU_WATCH_ALWAYS         (QUIPU_WATCH_AREA + 8) /* a byte that is not 0 */
#define QUIPU_WATCH_LOWEST         (QUIPU_WATCH_AREA + 0x6008) /* 8 bytes: all regions are in ... */
#define QUIPU_WATCH_HIGHEST        (QUIPU_WATCH_AREA + 0x6010) /* ... [LOWEST, HIGHEST) */
#define QUIPU_WATCH_FAR            (QUIPU_WATCH_AREA + 0x6018) /* 8 bytes: see "Far away" below */
#define QUIPU_WATCH_HIGHEST_WIDE   (QUIPU_WATCH_AREA + 0x6020) /* 8 bytes, likewise */
#define QUIPU_WATCH_WITHIN_BEGINS  (QUIPU_WATCH_AREA + 0x602c) /* the byte `within_begins` */
#define QUIPU_WATCH_RANGES_BEGIN   (QUIPU_WATCH_AREA + 0x6058) /* the byte `ranges_begin` */
#define QUIPU_WATCH_STACK_LOWEST   (QUIPU_WATCH_AREA + 0x6048) /* 8 bytes: see section 2 */
#define QUIPU_WATCH_STACK_HIGHEST  (QUIPU_WATCH_AREA + 0x6050) /* 8 bytes, likewise */
#define QUIPU_WATCH_AREA_MAGIC     0x3168637461772071          /* "q watch1" */

/* The begin of the fixed area. Tools read it in a running process. */
struct quipu_watch_area {
    uint8_t armed;          /* not 0: there is a region, or a request for blocks */
    uint8_t library_begins; /* not 0: report begins of calls that write only the library's memory */
    uint8_t library;        /* not 0: a region may be in the C library's own memory */
    uint8_t begins;         /* not 0: report begins of calls of unknown code */
    uint32_t calling;       /*  4 */
    uint64_t magic;         /*  8  QUIPU_WATCH_AREA_MAGIC; written last */
    uint32_t version;       /* 16  QUIPU_WATCH_VERSION */
    uint32_t size;          /* 20  of all shared data: other builds may have other members */
    uint32_t no_shadow;     /* 24  1: the kernel refused the shadow's address space */
    uint32_t visited;       /* 28  set to 1 when a visit has ended, see section 3 */
    uint64_t visit;         /* 32  address of the function for visits; 0: there is no module */
    int64_t answer;         /* 40  result of the visit: 0 or the negative error number */
    uint64_t file;          /* 48  address of the struct quipu_watch_file; 0: none */
    uint32_t count;         /* 56  regions */
    uint32_t reserved1;
};

enum {
    QUIPU_WATCH_GRANULE_BITS = 6,
    QUIPU_WATCH_SPAN = 64,
    QUIPU_WATCH_ADDRESS_BITS = 47, /* of a program's memory */
};

/* ---- 2. Stores --------------------------------------------------------------------------------
 *
 * If the shadow's byte is not 0, control continues out of line:
 *
 *         leaq    -128(%rsp), %rsp        below the red zone
 *         pushq   EXTRA                   only for quipu_watch_begin_more; see below
 *         pushq   ADDRESS                 of the first byte
 *         pushq   $DESCRIPTION
 *         call    quipu_watch_begin       keeps every register, and the flags; sets the stack
 *                                         pointer back to above the red zone
 *         STORE                           a copy of the original
 *         leaq    -128(%rsp), %rsp
 *         call    quipu_watch_end         likewise
 *         jmp     behind the original store
 *
 * A call's store of its return address is not copied:
 *
 *         leaq    -128(%rsp), %rsp
 *         pushq   DISTANCE                from the next call's return to the original's
 *         call    quipu_watch_return      stores it, and reports it; registers likewise
 *         jmp     to the original call
 *
 * Calls and pushes store below the stack pointer. Their address is first compared with the bounds
 * of all regions that may be in a stack, which are [QUIPU_WATCH_STACK_LOWEST,
 * QUIPU_WATCH_STACK_HIGHEST - QUIPU_WATCH_SPAN).
 *
 * quipu_watch_begin keeps the old bytes of the touched regions, and quipu_watch_end reports their
 * new ones. Between the two a signal handler may run. It may have stores of its own, or leave by
 * longjmp. The stack pointer identifies a pair: it is the same in both calls, 128 bytes below the
 * store's.
 *
 * A call of code without checks is a store, too. It writes ranges that the callee's name
 * determines, with its format if it has one (format/watch_callees.h), or whatever has changed.
 * No-operations of 5 bytes, each within a line of 64 bytes, are before and behind the call:
 *
 *         nopl                            becomes a jump to 1
 *     2:  call    CALLEE
 *         nopl                            directly behind the call: becomes a jump to 5
 *     4:
 * out of line
 *     1:  cmpb    $0, QUESTION            QUIPU_WATCH_AREA, or according to the callee's row
 *         je      2b
 *         movq    CALLEE, %r11            has it checks?
 *         subq    quipu_watch_text(%rip), %r11
 *         cmpq    quipu_watch_text+8(%rip), %r11
 *         jb      2b
 *         pushq   $QUIPU_CALL(NUMBER, SIZE)       the callee's row, 0: unknown; size of the call
 *         call    quipu_watch_call_begin  keeps every register, and the flags
 *         leaq    8(%rsp), %rsp
 *         jmp     2b
 *     5:  cmpl    $0, QUIPU_WATCH_CALLING
 *         je      4b
 *     3:  call    quipu_watch_call_end    keeps every register, and the flags
 *         jmp     4b
 *
 * The no-operation behind the call becomes a jump when a call that returns there is first reported.
 *
 * If the shim does not know a row's format, it adds QUIPU_CALLEE_LOOKS to the row's number, and the
 * runtime tests whether the row is right. Inserted code does not report the call if the format has
 * no 'n' and the rule of the next paragraph applies.
 *
 * If the row limits its ranges before the call, inserted code first tests whether they all end
 * below QUIPU_WATCH_LOWEST, or begin above QUIPU_WATCH_HIGHEST. Then it reports nothing, unless
 * QUIPU_WATCH_RANGES_BEGIN says that the begin must be reported.
 *
 * quipu_watch_text has address and size of the longest range of the module's code in which all has
 * checks. For a call through a pointer, code in the text first tests whether the callee is there,
 * which needs no jump in that case:
 *
 *         movq    CALLEE, %r11
 *         subq    quipu_watch_callees(%rip), %r11
 *         cmpq    quipu_watch_callees+8(%rip), %r11
 *         jae     1f
 *     2:  call    *CALLEE
 *
 * quipu_watch_callees has address and size of code whose calls need no report: all addresses while
 * nothing is watched, then quipu_watch_text. It is empty while the stack is watched, since the
 * check of the call's return address precedes 1.
 *
 * A direct call of an unknown function reports its begin only if QUIPU_WATCH_BEGINS says so. Behind
 * the call
 *
 *     5:  cmpb    $0, QUIPU_WATCH_AREA    before 1, QUIPU_SITE_RETURN_SIZE bytes in all
 *         jne     3f
 *         jmp     4b
 *     3:  ...                             as at 1
 *         jb      4b
 *         call    quipu_watch_call_return keeps every register
 *         jmp     4b
 *
 * This no-operation becomes a jump together with the one before the call. Both stay no-operations
 * if the callee is found to be in this module and to have checks. A direct call of a function that
 * writes only the library's own memory is similar, but tests QUIPU_WATCH_LIBRARY_BEGINS before the
 * call, and QUIPU_WATCH_LIBRARY behind it.
 *
 * A function that writes ranges and the library's own memory is treated like one that writes only
 * ranges while QUIPU_WATCH_LIBRARY is 0. Otherwise its begin is reported if
 * QUIPU_WATCH_WITHIN_BEGINS says so. Behind the call
 *
 *     5:  cmpb    $0, QUIPU_WATCH_LIBRARY
 *         jne     3f
 *         jmp     6f
 *     6:  cmpl    $0, QUIPU_WATCH_CALLING
 *         je      4b
 *     3:  ...                             as above
 *
 * For calls that are always reported, and around instructions that enter the kernel, query 1 is in
 * the text before the call and 5 behind it, with inverted jumps.
 *
 * %rsp at 2 is the same as at 4, and the callee's arguments are where it expects them. A jump that
 * ends a function becomes a call out of line. Behind that call is
 *
 *         call    quipu_watch_call_end
 *         leaq    8(%rsp), %rsp
 *         ret
 *         jmp     2b                      never executed: shows where the jump is
 *
 * and the hit's pc is the address behind the jump at 2. An unknown callee may have arguments on the
 * stack, so its jump stays a jump. It is reported to the runtime with QUIPU_CALL_LEAVES. What it
 * writes is found by a later comparison, which then names it as a candidate. */
enum quipu_store_kind {
    QUIPU_STORE_PLAIN = 0,   /* SIZE bytes */
    QUIPU_STORE_MASKED = 1,  /* elements of 1 << ELEMENT bytes whose bit is set in EXTRA */
    QUIPU_STORE_STRING = 2,  /* EXTRA elements of 1 << ELEMENT bytes, upwards from the address, or
                              * downwards if the direction flag is set */
    QUIPU_STORE_SCATTER = 3, /* elements of 1 << ELEMENT bytes; EXTRA is the address of a struct
                              * quipu_scatter between the red zone and the pushed words; the pair's
                              * stack pointer is lower by its size at both calls */
    QUIPU_STORE_STATE = 4,   /* xsave: as many bytes as the processor's state can have */
};

/* How a call is reported. NUMBER is less than 65536. SIZE is the size of the call in bytes, or 0 if
 * the code out of line does not jump back to the call. QUIPU_CALL_LEAVES: it is a jump that ends
 * the function, and SIZE is the jump's. QUIPU_CALL_LEADS: the runtime makes the no-operation behind
 * the call a jump. */
#define QUIPU_CALL(number, size) ((uint32_t)(number) | (uint32_t)(size) << 16)
#define QUIPU_CALL_LEADS         (1u << 24)
#define QUIPU_CALL_COMPARED      (1u << 25) /* quipu_watch_call_return is behind it */
#define QUIPU_CALL_LEAVES        (1u << 26)
#define QUIPU_CALL_NUMBER(call)  ((call)&0xffff)
#define QUIPU_CALL_SIZE(call)    ((call) >> 16 & 0xff)

/* DESCRIPTION, a positive number of 31 bits. */
#define QUIPU_STORE_DESCRIPTION(size, kind, element, length)                                       \
    ((uint32_t)(size) | (uint32_t)(kind) << 16 | (uint32_t)(element) << 20 |                       \
     (uint32_t)(length) << 24)
#define QUIPU_STORE_SIZE(description)    ((description)&0xffff)       /* bytes */
#define QUIPU_STORE_KIND(description)    ((description) >> 16 & 0xf)  /* enum quipu_store_kind */
#define QUIPU_STORE_ELEMENT(description) ((description) >> 20 & 0xf)  /* power of 2 */
#define QUIPU_STORE_LENGTH(description)  ((description) >> 24 & 0x1f) /* of the instruction */
#define QUIPU_STORE_BY_GS                (1u << 29) /* flag: address relative to %gs */

/* Addresses of a scatter's elements whose bit is set in `mask`. */
struct quipu_scatter {
    uint64_t mask;
    uint64_t count;
    uint64_t addresses[16];
};

/* Checks that are left out until they are needed (the paper's section 4). They belong to stores to
 * a variable, or to addresses relative to the stack or frame pointer, calls and pushes included. In
 * place of the check is a no-operation of 5 bytes, within a line of 64 bytes. The runtime makes it
 * a jump to the check.
 *
 * Calls and pushes of compiled code, and other stores that are known to stay in a frame below its
 * return address, cannot touch the frame of another active function. So their sites name their
 * function. If a function's locals are watched, only its own sites are armed, and those of stores
 * that may leave a frame.
 *
 * A function whose locals are watched also reports its entry, its ends, and points at which control
 * may return from frames that were left:
 *
 *   - BEGIN: before all but endbr64, where %rsp + 8 is the canonical frame address (CFA):
 *             pushq   $(1f - FUNCTION); call quipu_watch_function_begin
 *         1:  leaq    8(%rsp), %rsp
 *   - END: before a return, before a jump that ends the function, or before the instructions that
 *     free the frame in front of those. ADDRESS tells where the CFA is:
 *             leaq    -128(%rsp), %rsp; pushq $ADDRESS
 *             call    quipu_watch_function_end
 *             leaq    128+8(%rsp), %rsp
 *   - BACK: at a landing pad and behind the call of setjmp and similar functions, where frames
 *     below the stack pointer may have been left without their ends:
 *             leaq    -128(%rsp), %rsp
 *             call    quipu_watch_function_back
 *             leaq    128(%rsp), %rsp
 *
 * All three keep every register and the flags. If the function begins with pushes, BEGIN uses the
 * no-operation of their check, and its code continues at that check: so checks of stores to the
 * stack are armed first.
 *
 * The rows are in section QUIPU_SITES_SECTION. All fields but size are relative to their own
 * address. */
#define QUIPU_SITES_SECTION ".quipu.sites"

struct quipu_site {
    int32_t place;  /* the no-operation; 0: the row means that stacks may be anywhere */
    int32_t code;   /* the check */
    int32_t target; /* the bytes of the variable; 0: a store by the stack pointer to any address; or
                     * the function's first byte */
    uint32_t size;  /* of the store in bytes; or, for a site of the function, QUIPU_SITE_FRAME,
                     * ..._FRAME_CALL, ..._BEGIN, ..._END, ..._BACK, ..._CODE */
};

/* QUIPU_SITE_FRAME: a store in the function's frame. QUIPU_SITE_FRAME_CALL: the store of a call
 * whose `place` is also that of the query before the call, at which `code` continues; or, with a
 * `code` of 0, of a call through a pointer, which tests quipu_watch_callees. */
#define QUIPU_SITE_FRAME      0xfffffff0u
#define QUIPU_SITE_FRAME_CALL 0xffffffefu

/* The CFA's distance from %rsp, or from %rbp, at an END. */
#define QUIPU_FRAME_BY_RSP(distance) (2 * (distance))
#define QUIPU_FRAME_BY_RBP(distance) (2 * (distance) + 1)

#define QUIPU_SITE_BEGIN 0xfffffff1u
#define QUIPU_SITE_END   0xfffffff2u
#define QUIPU_SITE_BACK  0xfffffff3u
#define QUIPU_SITE_CODE                                                                            \
    0xfffffff4u /* code from `place` to `target` has checks; `code` is `target` if                 \
                 * it begins with the program's `main`, otherwise `place` */
/* Sites before a call of code that may have no checks, by the byte that is tested:
 * QUIPU_WATCH_AREA, ..._BEGINS, ..._LIBRARY, ..._LIBRARY_BEGINS, ..._WITHIN_BEGINS. `target` is
 * behind the no-operation at the call's return; 0: it has none, since it is a jump. The check of
 * the call's return address has the same `place` and its own row, and continues at the query. */
#define QUIPU_SITE_CALL                0xfffffff5u
#define QUIPU_SITE_CALL_BEGINS         0xfffffff8u
#define QUIPU_SITE_CALL_LIBRARY        0xfffffff9u
#define QUIPU_SITE_CALL_LIBRARY_BEGINS 0xfffffffau
#define QUIPU_SITE_CALL_WITHIN         0xfffffffbu
#define QUIPU_SITE_LOOP                0xfffffff6u /* the last four bytes of a jump, see below */

/* Sites of traces (format/trace.h). QUIPU_SITE_TRACE: `place` is a no-operation. ..._JUMP: it is
 * the distance at the end of a conditional jump, four bytes, which then leads to `code`. `target`
 * is the code of the record, at `code` or behind it; or the address of the site that takes a
 * ticket. */
#define QUIPU_SITE_TRACE      0xfffffffcu
#define QUIPU_SITE_TRACE_JUMP 0xfffffffdu

/* Loops that are unrolled while no trace is recorded. QUIPU_SITE_TRACE_LOOP: `place` is a
 * no-operation in front of the unrolled form, or the jump of five bytes at its end, which then
 * leads to `code`, the form that is recorded; so does `target`. QUIPU_SITE_TRACE_COPY is no site:
 * from `code` to `target` the unrolled form has the same instructions as the recorded one from
 * `place` on. */
#define QUIPU_SITE_TRACE_LOOP 0xfffffffeu
#define QUIPU_SITE_TRACE_COPY 0xffffffffu

/* For QUIPU_SITE_CALL_BEGINS, ..._LIBRARY_BEGINS and ..._WITHIN: the query at the call's return is
 * this many bytes before `code`. */
#define QUIPU_SITE_RETURN_SIZE 19

/* Only in builds that also count, for bench/run --elimination: shows where checks are that are
 * always armed. `code` is 0, and `target` is an enum quipu_check_kind. */
#define QUIPU_SITE_CHECK 0xfffffff7u

enum quipu_check_kind {
    QUIPU_CHECK_ALWAYS = 0,
    QUIPU_CHECK_UNARMED = 1,   /* in a loop whose copy would run while nothing is watched ... */
    QUIPU_CHECK_INVARIANT = 2, /* ... or nothing that it writes; to one address */
    QUIPU_CHECK_MONOTONIC = 3, /* ... to addresses that increase or decrease */
};

/* Loops without checks. A small loop without calls has a copy without checks. At the entry of the
 * loop, the thread sets its loop word, and only then tests what is watched:
 *
 *             cmpq    $0, WORD
 *             jne     2f
 *     1:      movq    %rsp, WORD
 *             cmpb    $0, QUIPU_WATCH_AREA
 *             je      COPY                    nothing is; otherwise it tests the shadow of what the
 *             movq    $0, WORD                loop will write
 *     CHECKED:
 *
 * out of line
 *     2:      cmpq    %rsp, WORD              left by longjmp: no two frames begin there
 *             je      1b
 *             cmpq    $1, WORD                the runtime does not know it
 *             jne     CHECKED
 *             call    quipu_watch_loop_first  makes it 0, or 2; keeps every register, and the flags
 *             ... and once more
 *
 * The copy sets the word to 0 where it is left. WORD is quipu_watch_loop, a thread-local variable
 * of the module. A thread that makes a region marks the shadow, makes all threads pass a barrier,
 * and then reads the words. If one is set, it closes the copies. The last four bytes of each
 * backward jump are within a line of 64 bytes; they are changed so that the jump leads to:
 *
 *             movq    $0, WORD
 *             call    quipu_watch_loop_left   may open the copies; keeps registers and flags
 *             jmp     to the same block of the checked loop
 *
 * Far away. A loop that writes from A upwards writes nothing watched if A is at or above
 * QUIPU_WATCH_HIGHEST, or far enough below QUIPU_WATCH_LOWEST: no loop writes as much as
 * QUIPU_WATCH_FAR_BYTES. QUIPU_WATCH_FAR is that plus HIGHEST - LOWEST, and a little more. So A -
 * HIGHEST + FAR has no carry in both cases. Downwards, if B is behind the first store, the test is
 * that B - LOWEST - 1 is not below FAR. If the index has 32 bits, which may wrap, the test uses
 * QUIPU_WATCH_HIGHEST_WIDE instead of HIGHEST; it is higher by QUIPU_WATCH_WIDE_BYTES.
 *
 * So at most the current iteration runs without checks. In a site of this kind, `place` is the
 * address of the four bytes, `code` is the jump's target when closed, and `target` the one when
 * open. */
#define QUIPU_WATCH_FAR_BYTES  (1ull << 45)
#define QUIPU_WATCH_FAR_MORE   (1ull << 40) /* for indices of 32 bits, and displacements */
#define QUIPU_WATCH_WIDE_BYTES (1ull << 37) /* above 32 bits times 8 bytes */
enum {
    QUIPU_LOOP_FREE = 0,
    QUIPU_LOOP_UNKNOWN = 1, /* of a new thread */
    QUIPU_LOOP_NEVER = 2,   /* there was no room for another word */
};

/* ---- 3. The watch file ------------------------------------------------------------------------
 *
 * 'quipu watch' makes the file, holds a lock on it (flock) while it runs, names it in $QUIPU_WATCH,
 * and removes it. The program maps the whole file, shared. It has a header page, allowed writers,
 * requests, ranges of code, then a ring of hits. If $QUIPU_WATCH is empty or names no such file,
 * the program runs without requests. */
#define QUIPU_WATCH_MAGIC "\211qwatch\n" /* 8 bytes without its NUL */

struct quipu_watch_file {
    uint8_t magic[8];        /*   0  QUIPU_WATCH_MAGIC */
    uint32_t version;        /*   8  QUIPU_WATCH_VERSION */
    uint32_t request_count;  /* 12  may increase; counted requests are complete */
    uint64_t request_offset; /*  16  of the first struct quipu_watch_request; a multiple of 8 */
    uint64_t ring_offset;    /*  24  a multiple of QUIPU_PAGE */
    uint64_t ring_size;      /*  32  bytes, a power of 2, at least 64 KiB */
    uint32_t consumer;       /* 40  process that reads hits; 0, or ended: write none */
    uint32_t waiting; /*  44  futex: 1 while the consumer sleeps; writers set it to 0 and wake */
    uint64_t range_offset;   /*  48  of the first struct quipu_watch_range; 0: there are none */
    uint64_t allowed_offset; /*  56  of the first struct quipu_allowed_writer */
    uint32_t allowed_count;  /*  64  entries, a power of 2; 0: there are none */
    uint32_t modules;        /*  68  numbers that modules have taken, ever; by atomic addition */
    uint8_t reserved0[56];   /*  72  zero */
    uint64_t head;           /* 128  bytes that writers have reserved, ever; by atomic operations */
    uint8_t reserved1[56];
    uint64_t tail; /* 192  bytes that the consumer has finished with, ever; it clears them first */
};

enum quipu_request_state {
    QUIPU_REQUEST_WANTED = 1, /* set by the consumer: the program makes a region as soon as the
                               * module is loaded */
    QUIPU_REQUEST_MADE = 2,
    QUIPU_REQUEST_FAILED = 3,   /* see error */
    QUIPU_REQUEST_UNWANTED = 4, /* set by the consumer: the program removes the region */
    QUIPU_REQUEST_GONE = 5,
};

/* A program handles requests when one of its modules starts, and when an answer requires it. The
 * state belongs to the file, for all processes that map it. Each process makes its own region for a
 * request that is WANTED or MADE, and removes it if the request is UNWANTED or GONE. */
struct quipu_watch_request {
    uint64_t address;                     /* as linked; absolute if there is no build id; for
                                           * blocks, the offset of the first requested byte; for a
                                           * local, its function's first byte */
    uint64_t size;                        /* bytes, not 0; for a block, the largest size */
    int64_t offset;                       /* of a local, from its function's CFA; of a thread-local
                                           * variable, from the thread pointer */
    uint32_t flags;                       /* QUIPU_REQUEST_... */
    uint32_t build_id_size;               /* 0: no module */
    uint8_t build_id[QUIPU_BUILD_ID_MAX]; /* of the module */
    uint32_t state;                       /* enum quipu_request_state */
    uint32_t error;                       /* an errno if it failed; for blocks and threads, also if
                                           * only some could not be watched */
    uint32_t first_range;                 /* of blocks: the ranges that contain the calls ... */
    uint32_t range_count;                 /* ... which are disjoint and sorted by address */
    uint64_t blocks;                      /* allocated there, in all processes */
};

/* A range of code, [begin, end), as linked; absolute if the request has no build id. */
struct quipu_watch_range {
    uint64_t begin, end;
};

enum {
    QUIPU_REQUEST_WAITS = 1,    /* a thread that causes a hit waits for the consumer's answer */
    QUIPU_REQUEST_CHANGES = 2,  /* report only writes that changed a byte */
    QUIPU_REQUEST_BLOCKS = 4,   /* for the blocks of the heap that calls in the ranges allocate:
                                 * each from its allocation on, also after it was freed, until its
                                 * memory is allocated again */
    QUIPU_REQUEST_LOCAL = 8,    /* for each call of a function, from its entry to its end */
    QUIPU_REQUEST_THREADS = 16, /* for each thread, from its start to its end: the one that makes
                                 * the region, and those that start later */
    QUIPU_REQUEST_MORE = 32,    /* show up to QUIPU_TOLD_MORE bytes of a write, because a condition
                                 * is about any of them */
    QUIPU_REQUEST_GUARDED = 64, /* do not report allowed writers, see below */
};

/* Nearly all writes to guarded memory are by allowed writers. So each of these is reported once.
 * The consumer then enters it in a hash table in front of the requests. The program looks there
 * before it reports a hit of a GUARDED request.
 *
 * A writer is a module and a hit's pc in it. A module takes a number when it is first reported in
 * the file, each time that it is loaded, and numbers are not reused. So another program behind
 * exec, or another module at the address of one that was closed, never has its entries. A forked
 * child has its parent's code, numbers and entries.
 *
 * Entries are never changed or removed. Only the consumer writes them: it sets pc first, and then
 * module, with release semantics. A reader that sees the module, by a load with acquire semantics,
 * also sees its pc. A writer has the first free one of the QUIPU_ALLOWED_TRIES entries from
 * quipu_allowed_place on, modulo the number of entries. If all are in use there is no entry, and
 * that writer is reported each time. */
struct quipu_allowed_writer {
    uint32_t module; /* number of its module; 0: free */
    uint32_t reserved;
    uint64_t pc; /* as in a hit */
};

enum {
    QUIPU_ALLOWED_TRIES = 16
};

static inline uint64_t quipu_allowed_place(uint32_t module, uint64_t pc) {
    return ((pc ^ module * 0xff51afd7ed558ccd) * 0x9e3779b97f4a7c15) >> 32;
}

enum {
    QUIPU_ANSWER_GO_ON = 1,
    QUIPU_ANSWER_TRAP = 2,   /* raise SIGTRAP first */
    QUIPU_ANSWER_LOOK = 4,   /* handle the requests first */
    QUIPU_ANSWER_END = 8,    /* end the process by SIGABRT */
    QUIPU_ANSWER_TAKEN = 16, /* set by the thread when it has read its answer, followed by a wake of
                              * the futex; only then the consumer clears the record */
};

/* A program that runs without a watch file gets one by a visit. A debugger stops its threads while
 * the word at QUIPU_WATCH_LOCK is 0. It writes the file's path to QUIPU_WATCH_PATH, and makes one
 * of the threads call the fixed area's `visit`, with the path's address as its argument, on the
 * stack that ends at QUIPU_WATCH_STACK. The function sets `answer`, then `visited`, and loops until
 * the debugger restores the thread. It uses general registers only, and needs nothing from the
 * thread. Requests have absolute addresses then, because the C library cannot be called: its locks
 * may be held.
 *
 * With an empty path, all regions of requests are removed, and the requests become GONE. The file
 * stays mapped for threads that are writing to it. The consumer sets `consumer` to 0 and may empty
 * the ring. */
#define QUIPU_WATCH_LOCK  (QUIPU_WATCH_AREA + 0x2000)
#define QUIPU_WATCH_PATH  (QUIPU_WATCH_AREA + 0xa0000)
#define QUIPU_WATCH_STACK (QUIPU_WATCH_AREA + 0xe0000)

enum {
    QUIPU_WATCH_PATH_MAX = 4096
};

/* ---- 4. Hits ----------------------------------------------------------------------------------
 *
 * Records follow each other in the ring, from HEAD modulo its size. Each is contiguous: if it does
 * not fit before the ring's end, a record of kind QUIPU_RECORD_PAD fills the rest, of which only
 * size and kind are valid. `size` is written last, so 0 means that the record is not complete. A
 * writer waits for room. */
enum quipu_record_kind {
    QUIPU_RECORD_PAD = 1,
    QUIPU_RECORD_MODULE = 2, /* an instrumented module is loaded: its hits follow */
    QUIPU_RECORD_HIT = 3,
};

struct quipu_record {
    uint32_t size; /* bytes, including this header; a multiple of 8 */
    uint32_t kind; /* enum quipu_record_kind */
    uint32_t pid;
    uint32_t thread; /* the kernel's number */
};

struct quipu_module_record {
    struct quipu_record record;
    uint64_t bias;  /* load address minus link address */
    uint64_t begin; /* addresses of its segments: [begin, end) */
    uint64_t end;
    uint32_t number; /* of the module in this file, from 1; 0: without allowed writers */
    uint32_t build_id_size;
    uint8_t build_id[QUIPU_BUILD_ID_MAX];
    uint32_t name_size; /* of its path, including the NUL; the path follows the record */
    uint32_t reserved;
};

enum quipu_cause {
    QUIPU_CAUSE_STORE = 0,  /* an instruction of instrumented code */
    QUIPU_CAUSE_CALLEE = 1, /* a call of a function that is known to write there */
    QUIPU_CAUSE_CHANGE = 2, /* a call during which the bytes have changed */
};

/* After the struct follow `told` old bytes, padded to a multiple of 8, and as many new ones. They
 * begin at `offset` in the region. They contain the whole write as far as it is in the region: all
 * of a short region, otherwise the write and enough bytes around it for whole elements. If these
 * were more than QUIPU_TOLD_MAX, or _MORE, they begin at the first changed one. A store is reported
 * once for each region, whatever its elements. */
enum {
    QUIPU_TOLD_MAX = 4096,
    QUIPU_TOLD_MORE = 1 << 20 /* a ring for such requests has room for several of these hits */
};

enum {
    QUIPU_HIT_BEHIND = 1, /* the old or new bytes may not be exactly those of the write, and hits of
                           * the same location may be in another order */
    QUIPU_HIT_UNDECIDED = 2, /* another call may have made the change: one of the candidates ... */
    QUIPU_HIT_MORE = 4,      /* ... or an unknown one */
    QUIPU_HIT_LATE = 8,      /* the change was found long after the call: the thread is elsewhere */
};

struct quipu_hit {
    struct quipu_record record;
    uint32_t request;   /* number of the struct quipu_watch_request */
    uint16_t cause;     /* enum quipu_cause */
    uint8_t flags;      /* QUIPU_HIT_... */
    uint8_t candidates; /* number of struct quipu_candidate at the end of the record */
    uint64_t pc;        /* of a store: address behind the copy of its instruction; of a call: its
                         * return address */
    uint64_t address;   /* of the write's first byte */
    uint64_t length;    /* of the write, bytes */
    uint64_t region;    /* address of the region's first byte */
    uint64_t offset;
    uint64_t told;
    uint64_t ticks;         /* of the thread, behind the store or call; 0 if not counted */
    uint32_t moment_thread; /* the thread's number in moments; 0: not counted */
    uint32_t answer;        /* futex for QUIPU_REQUEST_WAITS: 0 until the consumer has stored
                             * QUIPU_ANSWER_... */
};

/* In a hit of a request for blocks, this follows the bytes. */
struct quipu_block {
    uint64_t number; /* number of the block among all that the process allocated there, from 1; a
                      * moved block keeps its number */
    uint64_t address;
    uint64_t size;
    uint64_t freed; /* return address of the call that freed it; 1: it is being freed; 0: it is not
                       freed */
};

/* A call that was running and may have made the change, too. */
struct quipu_candidate {
    uint64_t pc; /* as in a hit, or near it */
    uint32_t thread;
    uint32_t reserved;
};

enum {
    QUIPU_CANDIDATES_MAX = 7
};

#endif
