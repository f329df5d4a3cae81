/* watch.h: the contract of shim, runtime and 'quipu watch' on watched memory (Wahbe, Lucco
 * and Graham 1993).
 *
 * Four things are laid down here:
 *   1. where the shadow lies, which inserted code asks in front of every store,
 *   2. what inserted code tells the runtime about a store that may touch a region,
 *   3. what 'quipu watch' asks of a program, and
 *   4. the hits that the program tells it of.
 *
 * All numbers are little endian.  Did you change a format?  Bump QUIPU_WATCH_VERSION. */
#ifndef QUIPU_FORMAT_WATCH_H
#define QUIPU_FORMAT_WATCH_H

#include "format/data_file.h"

enum {
    QUIPU_WATCH_VERSION = 14
};

/* Holds QUIPU_WATCH_VERSION, 4 bytes, in each module whose stores can be watched. */
#define QUIPU_WATCH_SECTION "quipu_watch"

/* ---- 1. The shadow ---------------------------------------------------------------------------
 *
 * One byte for each granule of 64 bytes of the address space: that of address A lies at
 * QUIPU_WATCH_SHADOW + (A >> 6).  Both numbers stand in inserted code, so the shadow needs no base
 * register; it lies below all that the kernel maps by itself for position-independent programs.
 * The reservation costs no memory but where regions are.
 *
 * A byte is not 0 where a store of at most QUIPU_WATCH_SPAN bytes, whose first byte is in the
 * granule, may touch a region.  So region [A, A + N) marks the granules of [A - 63, A + N), and one
 * look at the first byte's granule is enough.
 *
 * What the modules of a process share stands in front of it.  Its first byte is not 0 where there
 * is any region: what cannot tell its addresses by one look asks that. */
#define QUIPU_WATCH_SHADOW         0x70000000
#define QUIPU_WATCH_SHADOW_SIZE    (1ull << 41) /* for addresses below 1 << 47 */
#define QUIPU_WATCH_BEHIND         0x1000       /* bytes behind it that can be read, and are 0 */
#define QUIPU_WATCH_HOME           0x6ff00000
#define QUIPU_WATCH_HOME_SIZE      0x100000
#define QUIPU_WATCH_LIBRARY_BEGINS (QUIPU_WATCH_HOME + 1) /* the byte `library_begins` */
#define QUIPU_WATCH_LIBRARY        (QUIPU_WATCH_HOME + 2) /* the byte `library` */
#define QUIPU_WATCH_BEGINS         (QUIPU_WATCH_HOME + 3) /* the byte `begins` */
#define QUIPU_WATCH_CALLING        (QUIPU_WATCH_HOME + 4) /* 4 bytes: calls that are under way */
#define QUIPU_WATCH_ALWAYS         (QUIPU_WATCH_HOME + 8) /* a byte that is not 0 */
#define QUIPU_WATCH_LOWEST         (QUIPU_WATCH_HOME + 0x6008) /* 8 bytes: all regions are in ... */
#define QUIPU_WATCH_HIGHEST        (QUIPU_WATCH_HOME + 0x6010) /* ... [LOWEST, HIGHEST) */
#define QUIPU_WATCH_FAR            (QUIPU_WATCH_HOME + 0x6018) /* 8 bytes: see "Far away" below */
#define QUIPU_WATCH_HIGHEST_WIDE   (QUIPU_WATCH_HOME + 0x6020) /* 8 bytes, likewise */
#define QUIPU_WATCH_WITHIN_BEGINS  (QUIPU_WATCH_HOME + 0x602c) /* the byte `within_begins` */
#define QUIPU_WATCH_RANGES_BEGIN   (QUIPU_WATCH_HOME + 0x6058) /* the byte `ranges_begin` */
#define QUIPU_WATCH_STACK_LOWEST   (QUIPU_WATCH_HOME + 0x6048) /* 8 bytes: see section 2 */
#define QUIPU_WATCH_STACK_HIGHEST  (QUIPU_WATCH_HOME + 0x6050) /* 8 bytes, likewise */
#define QUIPU_WATCH_HOME_MAGIC     0x3168637461772071          /* "q watch1" */

/* What the home begins with; tools read it out of a process that runs. */
struct quipu_watch_home {
    uint8_t armed;          /* not 0: there is a region */
    uint8_t library_begins; /* not 0: the begin of a call that writes that alone must be told */
    uint8_t library;        /* not 0: there is one that may be memory of the C library's own */
    uint8_t begins;         /* not 0: the begin of a call of unknown code must be told */
    uint32_t calling;       /*  4 */
    uint64_t magic;         /*  8  QUIPU_WATCH_HOME_MAGIC; written last */
    uint32_t version;       /* 16  QUIPU_WATCH_VERSION */
    uint32_t size;      /* 20  of all that the modules share: other builds may have other parts */
    uint32_t no_shadow; /* 24  1: the kernel refused the shadow's address space */
    uint32_t visited;   /* 28  set to 1 when a visit is over, see section 3 */
    uint64_t visit;     /* 32  address of the function for that; 0: no module is there */
    int64_t answer;     /* 40  of the visit: 0 or minus an error's number */
    uint64_t file;      /* 48  address of the struct quipu_watch_file; 0: none */
    uint32_t count;     /* 56  regions */
    uint32_t reserved1;
};

enum {
    QUIPU_WATCH_GRANULE_BITS = 6,
    QUIPU_WATCH_SPAN = 64,
    QUIPU_WATCH_ADDRESS_BITS = 47, /* of a program's memory */
};

/* ---- 2. Stores --------------------------------------------------------------------------------
 *
 * Where the shadow's byte is not 0, control goes out of line:
 *
 *         leaq    -128(%rsp), %rsp        below the red zone
 *         pushq   EXTRA                   for quipu_watch_begin_more alone; see below
 *         pushq   ADDRESS                 of the first byte
 *         pushq   $DESCRIPTION
 *         call    quipu_watch_begin       keeps every register, and the flags; the stack pointer
 *                                         comes back to above the red zone
 *         STORE                           a copy of the original
 *         leaq    -128(%rsp), %rsp
 *         call    quipu_watch_end         in the same way
 *         jmp     behind the original store
 *
 * A call's store of its return address is not copied:
 *
 *         leaq    -128(%rsp), %rsp
 *         pushq   DISTANCE                from the next call's return to the original's
 *         call    quipu_watch_return      stores it, and tells; in the same way
 *         jmp     to the original call
 *
 * What lies below the stack pointer, as what calls and pushes store, is compared first with all
 * that is watched and may be of a stack: nothing of that is below QUIPU_WATCH_STACK_LOWEST, nor
 * from QUIPU_WATCH_SPAN bytes below QUIPU_WATCH_STACK_HIGHEST on.
 *
 * quipu_watch_begin keeps what the touched regions held, quipu_watch_end tells what they hold now.
 * Between the two a signal handler may run, which has stores of its own, or may leave by longjmp:
 * the calls of one pair have the same stack pointer (128 bytes below the store's), which tells
 * pairs apart.
 *
 * A call of something that is not instrumented is a store, too: of ranges that are known by the
 * callee's name, and its format if it has one (format/watch_callees.h), or of whatever has changed.
 * In front of the call and behind it stand no-operations of 5 bytes, each within a line of 64
 * bytes:
 *
 *         nopl                            made a jump to 1
 *     2:  call    CALLEE
 *         nopl                            right behind the call: made a jump to 5
 *     4:
 * out of line
 *     1:  cmpb    $0, QUESTION            QUIPU_WATCH_HOME, or what the callee's row says
 *         je      2b
 *         movq    CALLEE, %r11            is it this module's own?
 *         subq    quipu_watch_text(%rip), %r11
 *         cmpq    quipu_watch_text+8(%rip), %r11
 *         jb      2b
 *         pushq   $QUIPU_CALL(NUMBER, SIZE)       the callee's row, 0: not known; the call's bytes
 *         call    quipu_watch_call_begin  keeps every register, and the flags
 *         leaq    8(%rsp), %rsp
 *         jmp     2b
 *     5:  cmpl    $0, QUIPU_WATCH_CALLING
 *         je      4b
 *     3:  call    quipu_watch_call_end    keeps every register, and the flags
 *         jmp     4b
 *
 * The no-operation behind the call is made a jump when a call that returns there is first told of.
 *
 * A row whose format the shim does not know has QUIPU_CALLEE_LOOKS added to its number: the runtime
 * sees whether it holds.  Nobody is told where the format has no 'n', and what follows says so.
 *
 * Where the row tells in front how far its ranges can go, what is asked first is whether they all
 * end in front of QUIPU_WATCH_LOWEST, or begin behind QUIPU_WATCH_HIGHEST: then nobody is told,
 * unless QUIPU_WATCH_RANGES_BEGIN says that the begin must be.
 *
 * Of a call through a pointer the module's own callees are asked for first, and in the text, where
 * no jump is needed for them:
 *
 *         movq    CALLEE, %r11
 *         subq    quipu_watch_callees(%rip), %r11
 *         cmpq    quipu_watch_callees+8(%rip), %r11
 *         jae     1f
 *     2:  call    *CALLEE
 *
 * quipu_watch_callees are address and size of code whose calls are not told: all addresses as long
 * as nothing is watched, then the module's own; none where the stack is, since the check of the
 * return address that the call stores stands in front of 1.
 *
 * Of a direct call of what is not known, nothing need be told in front but where QUIPU_WATCH_BEGINS
 * says so.  Behind it
 *
 *     5:  cmpb    $0, QUIPU_WATCH_HOME    in front of 1, QUIPU_SITE_RETURN_SIZE bytes in all
 *         jne     3f
 *         jmp     4b
 *     3:  ...                             as at 1
 *         jb      4b
 *         call    quipu_watch_call_return keeps every register
 *         jmp     4b
 *
 * This one is made a jump together with the one in front.  Where the callee turns out to be this
 * module's own both stay.  A direct call of what writes the library's own memory alone is like it,
 * but asks QUIPU_WATCH_LIBRARY_BEGINS in front, and QUIPU_WATCH_LIBRARY behind.
 *
 * What writes ranges and the library's own memory, too, is like what writes ranges alone where
 * QUIPU_WATCH_LIBRARY is 0; else it is told of in front where QUIPU_WATCH_WITHIN_BEGINS says so.
 * Behind it
 *
 *     5:  cmpb    $0, QUIPU_WATCH_LIBRARY
 *         jne     3f
 *         jmp     6f
 *     6:  cmpl    $0, QUIPU_WATCH_CALLING
 *         je      4b
 *     3:  ...                             as above
 *
 * Where the runtime is told in any case, and around instructions that enter the kernel, question 1
 * stands in front in the text and 5 behind it, their jumps the other way round.
 *
 * %rsp at 2 is the same as at 4, and the callee's arguments are where it will find them.  A jump
 * that ends a function is made a call out of line; behind it stands
 *
 *         call    quipu_watch_call_end
 *         leaq    8(%rsp), %rsp
 *         ret
 *         jmp     2b                      never run: tells where the jump is
 *
 * and the hit's pc is counted from behind the jump at 2.  Where the callee is not known it may have
 * arguments on the stack, and stays a jump.  Then the runtime is told of it with QUIPU_CALL_LEAVES,
 * and only told: what it writes is found by a later comparison, which then names it, too. */
enum quipu_store_kind {
    QUIPU_STORE_PLAIN = 0,   /* SIZE bytes */
    QUIPU_STORE_MASKED = 1,  /* elements of 1 << ELEMENT bytes, those whose bit is set in EXTRA */
    QUIPU_STORE_STRING = 2,  /* EXTRA elements of 1 << ELEMENT bytes, up or, if the direction flag
                                is set, down from the address */
    QUIPU_STORE_SCATTER = 3, /* elements of 1 << ELEMENT bytes; EXTRA is the address of a struct
                                quipu_scatter, which is between the red zone and what is pushed:
                                by so much lower is the pair's stack pointer, at both calls */
    QUIPU_STORE_STATE = 4,   /* xsave: as many bytes as the processor's state can have */
};

/* What is told of a call: NUMBER is less than 65536.  SIZE, in bytes, is 0 where what leads here
 * does not go back to the call.  With QUIPU_CALL_LEAVES it is a jump that ends the function, and
 * SIZE is the jump's.  With QUIPU_CALL_LEADS the runtime is to see that the no-operation behind the
 * call leads out of line. */
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
#define QUIPU_STORE_BY_GS                (1u << 29) /* flag: the address is counted from the base of %gs */

/* Addresses of a scatter's elements, those whose bit is set in mask. */
struct quipu_scatter {
    uint64_t mask;
    uint64_t count;
    uint64_t addresses[16];
};

/* Checks that are left out until they are needed (the paper's section 4): of stores whose address
 * is a variable's, or counted from the stack or frame pointer; calls and pushes among them.  There
 * stands a no-operation of 5 bytes, within a line of 64 bytes; the runtime makes it a jump to where
 * the check is.
 *
 * What calls and pushes of compiled code store, and what else is known to stay within a frame,
 * below its return address, never touches the frame of a function that is under way, but its own.
 * So these are told apart by functions: a function's locals need no more than its own, and what is
 * not known to stay in a frame.
 *
 * Likewise a function tells where it begins, ends, and is come back to, once its locals are
 * watched:
 *
 *   - BEGIN: in front of all but endbr64, where %rsp + 8 is the canonical frame address (CFA):
 *             pushq   $(1f - FUNCTION); call quipu_watch_function_begin
 *         1:  leaq    8(%rsp), %rsp
 *   - END: in front of a return, and of a jump that ends the function, where %rsp + 8 is the CFA:
 *             call    quipu_watch_function_end
 *   - BACK: at a landing pad and behind the call of setjmp and its like, where frames below the
 *     stack pointer may have been left without their ends:
 *             leaq    -128(%rsp), %rsp
 *             call    quipu_watch_function_back
 *             leaq    128(%rsp), %rsp
 *
 * All three keep every register and the flags.  Where the function begins with pushes, the begin's
 * place is that of their check, and its code goes on to that: checks of stores to the stack are put
 * back first.
 *
 * Section QUIPU_SITES_SECTION; all but size are counted from the field's own address. */
#define QUIPU_SITES_SECTION ".quipu.sites"

struct quipu_site {
    int32_t place;  /* the no-operation; 0: a row that says that stacks may lie anywhere */
    int32_t code;   /* the check */
    int32_t target; /* the variable's bytes that are stored to; 0: by the stack pointer, anywhere;
                       or the function's first byte */
    uint32_t size;  /* how many bytes; or QUIPU_SITE_FRAME, ..._FRAME_CALL, ..._BEGIN, ..._END,
                       ..._BACK, ..._TEXT: of the function */
};

/* Of a store in the function's frame; of a call's where `place` is also that of what is asked in
 * front of it, to which `code` goes on, or where `code` is 0: of a call through a pointer, which
 * asks quipu_watch_callees. */
#define QUIPU_SITE_FRAME      0xfffffff0u
#define QUIPU_SITE_FRAME_CALL 0xffffffefu

#define QUIPU_SITE_BEGIN 0xfffffff1u
#define QUIPU_SITE_END   0xfffffff2u
#define QUIPU_SITE_BACK  0xfffffff3u
#define QUIPU_SITE_TEXT  0xfffffff4u /* no no-operation: a hand-written function begins there */
/* Likewise, in front of a call of what may have no checks, by what is asked: QUIPU_WATCH_HOME,
 * ..._BEGINS, ..._LIBRARY, ..._LIBRARY_BEGINS, ..._WITHIN_BEGINS.  `target` is behind the
 * no-operation at its return; 0: it has none, but is a jump.  The check of the return address that
 * the call stores is at the same place, with a row of its own, and goes on to what is asked. */
#define QUIPU_SITE_CALL                0xfffffff5u
#define QUIPU_SITE_CALL_BEGINS         0xfffffff8u
#define QUIPU_SITE_CALL_LIBRARY        0xfffffff9u
#define QUIPU_SITE_CALL_LIBRARY_BEGINS 0xfffffffau
#define QUIPU_SITE_CALL_WITHIN         0xfffffffbu
#define QUIPU_SITE_LOOP                0xfffffff6u /* the last four bytes of a jump, see below */

/* Of QUIPU_SITE_CALL_BEGINS, ..._LIBRARY_BEGINS and ..._WITHIN: what is asked at the call's return
 * stands so many bytes in front of `code`. */
#define QUIPU_SITE_RETURN_SIZE 19

/* In builds that count, too, where checks are that stand in the text, for bench/run --elimination:
 * `code` is 0, `target` is an enum quipu_check_kind. */
#define QUIPU_SITE_CHECK 0xfffffff7u

enum quipu_check_kind {
    QUIPU_CHECK_ALWAYS = 0,
    QUIPU_CHECK_UNARMED = 1,   /* of a loop whose copy would run while nothing is watched ... */
    QUIPU_CHECK_INVARIANT = 2, /* ... or nothing that it writes; to one address */
    QUIPU_CHECK_MONOTONIC = 3, /* ... to addresses that go up or down */
};

/* Loops without checks.  A small loop that calls nothing has a copy without checks.  Where the loop
 * is entered the thread takes a word of its own, and only then looks what is watched:
 *
 *             cmpq    $0, WORD
 *             jne     2f
 *     1:      movq    %rsp, WORD
 *             cmpb    $0, QUIPU_WATCH_HOME
 *             je      COPY                    nothing is; else it looks at the shadow of what the
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
 * and makes the word 0 where it leaves the copy.  WORD is quipu_watch_loop, thread-local, of the
 * module.  Who makes a region marks the shadow first and looks at the words then, with a barrier
 * for all threads between.  If one is taken, the copies are closed: each backward jump, which has
 * its last four bytes within a line of 64 bytes, is made to lead out:
 *
 *             movq    $0, WORD
 *             call    quipu_watch_loop_left   may open the copies; keeps every register and the
 * flags jmp     to the same block of the checked loop
 *
 * Far away.  What a loop writes from A on, upwards, is not watched where A is not below
 * QUIPU_WATCH_HIGHEST, or ends far in front of QUIPU_WATCH_LOWEST: no loop writes as much as
 * QUIPU_WATCH_FAR_BYTES.  QUIPU_WATCH_FAR is that and HIGHEST - LOWEST, and a little more; so of
 * A - HIGHEST + FAR no carry tells of both.  Downwards, where B is behind the first store,
 * B - LOWEST - 1 is not below FAR.  Where 32 bits are counted, which may wrap around,
 * QUIPU_WATCH_HIGHEST_WIDE, that is QUIPU_WATCH_WIDE_BYTES above it, stands for HIGHEST.
 *
 * So at most the turn that is under way is without checks.  In a site of this kind `place` are
 * those four bytes, `code` is where the jump leads when closed, `target` where it does else. */
#define QUIPU_WATCH_FAR_BYTES  (1ull << 45)
#define QUIPU_WATCH_FAR_MORE   (1ull << 40) /* indices of 32 bits, and displacements */
#define QUIPU_WATCH_WIDE_BYTES (1ull << 37) /* 32 bits by 8 bytes each go up or down by less */
enum {
    QUIPU_LOOP_FREE = 0,
    QUIPU_LOOP_UNKNOWN = 1, /* a new thread's */
    QUIPU_LOOP_NEVER = 2,   /* there was no room for one more word */
};

/* ---- 3. The watch file ------------------------------------------------------------------------
 *
 * 'quipu watch' makes it, has it locked (flock) as long as it is there, names it in $QUIPU_WATCH,
 * and removes it.  The program maps it whole, shared.  A header page, allowed writers, requests,
 * ranges of code, then a ring of hits.  A program that finds $QUIPU_WATCH empty, or no such file,
 * runs as if nothing were asked. */
#define QUIPU_WATCH_MAGIC "\211qwatch\n" /* 8 bytes without its NUL */

struct quipu_watch_file {
    uint8_t magic[8];        /*   0  QUIPU_WATCH_MAGIC */
    uint32_t version;        /*   8  QUIPU_WATCH_VERSION */
    uint32_t request_count;  /*  12  may grow; what is counted is complete */
    uint64_t request_offset; /*  16  of the first struct quipu_watch_request; a multiple of 8 */
    uint64_t ring_offset;    /*  24  a multiple of QUIPU_PAGE */
    uint64_t ring_size;      /*  32  bytes, a power of 2, at least 64 KiB */
    uint32_t consumer;       /*  40  process that reads hits; 0, or ended: none are to be written */
    uint32_t waiting; /*  44  futex: 1 while the consumer sleeps; writers set it to 0 and wake */
    uint64_t range_offset;   /*  48  of the first struct quipu_watch_range; 0: there are none */
    uint64_t allowed_offset; /*  56  of the first struct quipu_allowed_writer */
    uint32_t allowed_count;  /*  64  entries, a power of 2; 0: there are none */
    uint32_t modules;        /*  68  numbers that modules have taken, ever; by atomic addition */
    uint8_t reserved0[56];   /*  72  zero */
    uint64_t head; /* 128  bytes that writers have taken, ever; taken by atomic addition */
    uint8_t reserved1[56];
    uint64_t tail; /* 192  bytes that the consumer has done with; it clears them first */
};

enum quipu_request_state {
    QUIPU_REQUEST_WANTED = 1, /* set by the consumer: the program is to make a region, as soon as
                                 the module is there */
    QUIPU_REQUEST_MADE = 2,
    QUIPU_REQUEST_FAILED = 3,   /* see error */
    QUIPU_REQUEST_UNWANTED = 4, /* set by the consumer: the region is to go */
    QUIPU_REQUEST_GONE = 5,
};

/* A program looks at requests when a module of it starts, and where an answer says so.  The state
 * is the file's, for all processes that map it: each makes a region of its own for a request that
 * is WANTED or MADE, and removes it where that is UNWANTED or GONE. */
struct quipu_watch_request {
    uint64_t address;                     /* as linked; absolute where there is no build id; of a
                                             block its first byte that is asked for; of a local its
                                             function's first byte */
    uint64_t size;                        /* bytes, not 0; of a block at most */
    int64_t offset;                       /* of a local, from its function's CFA; of what is
                                             thread-local, from the thread pointer */
    uint32_t flags;                       /* QUIPU_REQUEST_... */
    uint32_t build_id_size;               /* 0: of no module */
    uint8_t build_id[QUIPU_BUILD_ID_MAX]; /* of the module */
    uint32_t state;                       /* enum quipu_request_state */
    uint32_t error;                       /* why it failed, an errno; of blocks and threads, also
                                             where only some could not be watched */
    uint32_t first_range;                 /* of blocks: where the calls are ... */
    uint32_t range_count;                 /* ... in ranges that are apart, by their addresses */
    uint64_t blocks;                      /* that were allocated there, in all processes */
};

/* Code: [begin, end), as linked; absolute where the request has no build id. */
struct quipu_watch_range {
    uint64_t begin, end;
};

enum {
    QUIPU_REQUEST_WAITS = 1,    /* a thread that hit waits for the consumer's answer */
    QUIPU_REQUEST_CHANGES = 2,  /* tell only of writes that changed a byte */
    QUIPU_REQUEST_BLOCKS = 4,   /* not of one region, but of the blocks of the heap that calls in
                                   the ranges allocate: each from then on, and when it has been
                                   freed until its memory is allocated anew */
    QUIPU_REQUEST_LOCAL = 8,    /* of each call of a function, from its begin to its end */
    QUIPU_REQUEST_THREADS = 16, /* of each thread, from its begin to its end: of the one that makes
                                   it, and of those that begin later */
    QUIPU_REQUEST_MORE = 32,    /* up to QUIPU_TOLD_MORE bytes are told of a write: a condition is
                                   about any of them */
    QUIPU_REQUEST_GUARDED = 64, /* allowed writers are not told of, see below */
};

/* Nearly all writes to what is guarded are those of writers that are allowed, so these are told
 * once: the consumer then enters them in a hash table, in front of the requests, and the program
 * looks there before it tells of a hit of a request that is GUARDED.
 *
 * A writer is a module and a hit's pc in it.  A module takes a number when it is first told of in
 * the file, each time that it is loaded, and no number is taken twice.  So another program behind
 * exec, or another module at the address of one that was closed, never has its entries.  A forked
 * child has its parent's code and numbers, and its entries.
 *
 * Entries are never changed nor taken away: the consumer, which alone writes them, sets pc first,
 * and then module, by a store that releases.  Who has read that module, by a load that acquires,
 * reads its pc.  An entry stands at the first free one of the QUIPU_ALLOWED_TRIES places from
 * quipu_allowed_place on, modulo their number.  Where all are taken it is left out: that writer is
 * told of each time. */
struct quipu_allowed_writer {
    uint32_t module; /* the number of its module; 0: free */
    uint32_t reserved;
    uint64_t pc; /* as a hit's */
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
    QUIPU_ANSWER_LOOK = 4,   /* look at the requests first */
    QUIPU_ANSWER_END = 8,    /* end the process by SIGABRT */
    QUIPU_ANSWER_TAKEN = 16, /* set by the thread that has read its answer, with a wake of the
                                futex: the consumer clears the record only then */
};

/* A program that runs without a watch file gets one by a visit.  A debugger stops its threads while
 * the word at QUIPU_WATCH_LOCK is 0, writes the file's path to QUIPU_WATCH_PATH, and has one of the
 * threads call the home's `visit`, with the path's address as its argument and the stack that ends
 * at QUIPU_WATCH_STACK.  The function sets `answer` and then `visited`, and waits to be taken away.
 * It uses general registers only, and needs nothing of the thread.  Requests have absolute
 * addresses then: nothing is asked of the C library, whose locks may be held.
 *
 * With an empty path all regions of requests go, and the requests become GONE.  The file stays
 * mapped, for those that write to it; the consumer sets `consumer` to 0 and may empty the ring. */
#define QUIPU_WATCH_LOCK  (QUIPU_WATCH_HOME + 0x2000)
#define QUIPU_WATCH_PATH  (QUIPU_WATCH_HOME + 0xa0000)
#define QUIPU_WATCH_STACK (QUIPU_WATCH_HOME + 0xe0000)

enum {
    QUIPU_WATCH_PATH_MAX = 4096
};

/* ---- 4. Hits ----------------------------------------------------------------------------------
 *
 * Records lie one behind the other in the ring, at HEAD modulo its size, each whole: where one
 * would not fit in front of the ring's end, a record of kind QUIPU_RECORD_PAD fills it; of that
 * only size and kind are sure to be there.  A record's `size` is written last, so 0 means: not yet
 * there.  A writer that finds no room waits. */
enum quipu_record_kind {
    QUIPU_RECORD_PAD = 1,
    QUIPU_RECORD_MODULE = 2, /* an instrumented module is there: its hits follow */
    QUIPU_RECORD_HIT = 3,
};

struct quipu_record {
    uint32_t size; /* bytes, this header included; a multiple of 8 */
    uint32_t kind; /* enum quipu_record_kind */
    uint32_t pid;
    uint32_t thread; /* the kernel's number */
};

struct quipu_module_record {
    struct quipu_record record;
    uint64_t bias;  /* where it runs, less where it was linked */
    uint64_t begin; /* addresses of its segments: [begin, end) */
    uint64_t end;
    uint32_t number; /* of the module in this file, from 1; 0: it looks for no allowed writers */
    uint32_t build_id_size;
    uint8_t build_id[QUIPU_BUILD_ID_MAX];
    uint32_t name_size; /* of its path, which follows, with its NUL */
    uint32_t reserved;
};

enum quipu_cause {
    QUIPU_CAUSE_STORE = 0,  /* an instruction of instrumented code */
    QUIPU_CAUSE_CALLEE = 1, /* a call of a function that is known to write there */
    QUIPU_CAUSE_CHANGE = 2, /* a call, during which the bytes have changed */
};

/* Behind it stand `told` bytes as they were, filled up to a multiple of 8, and as many as they are
 * now.  They begin `offset` bytes into the region and hold all of the write that lies in it: the
 * whole region where that is short, else as much around the write as shows whole elements.  Where
 * that were more than QUIPU_TOLD_MAX, or _MORE, they begin with the first that changed.  A store
 * tells of a region once, whatever its elements. */
enum {
    QUIPU_TOLD_MAX = 4096,
    QUIPU_TOLD_MORE = 1 << 20 /* who asks for them has a ring that holds some such hits */
};

enum {
    QUIPU_HIT_BEHIND = 1, /* bytes that were, or are, may not be those that the write has replaced,
                             or left, and hits of the same place may stand in another order */
    QUIPU_HIT_UNDECIDED = 2, /* another call may have changed them: one of the candidates ... */
    QUIPU_HIT_MORE = 4,      /* ... or what is not known */
};

struct quipu_hit {
    struct quipu_record record;
    uint32_t request;   /* number of the struct quipu_watch_request */
    uint16_t cause;     /* enum quipu_cause */
    uint8_t flags;      /* QUIPU_HIT_... */
    uint8_t candidates; /* how many stand behind all else */
    uint64_t pc;        /* a store's: right behind the copy of its instruction; a call's: its return
                           address */
    uint64_t address;   /* of the write's first byte */
    uint64_t length;    /* of the write, bytes */
    uint64_t region;    /* address of the region's first byte */
    uint64_t offset;
    uint64_t told;
    uint64_t ticks; /* of the thread, behind the store or call, where they are counted; else 0 */
    uint32_t moment_thread; /* the thread's number in moments; 0: not counted */
    uint32_t answer;        /* futex of QUIPU_REQUEST_WAITS: 0 until the consumer has answered:
                               QUIPU_ANSWER_... */
};

/* Of a request for blocks, this stands behind the bytes. */
struct quipu_block {
    uint64_t number; /* how many the process had allocated there with it; a block that is moved
                        keeps its number */
    uint64_t address;
    uint64_t size;
    uint64_t
        freed; /* return address of the call that freed it; 1: it is under way; 0: it was not */
};

/* A call that was under way and may have changed the bytes, too. */
struct quipu_candidate {
    uint64_t pc; /* as a hit's, or near */
    uint32_t thread;
    uint32_t reserved;
};

enum {
    QUIPU_CANDIDATES_MAX = 7
};

#endif
