/* recording.h: the file that 'quipu record' writes and 'quipu replay' plays.
 *
 * All numbers are little endian; uleb is ULEB128, sleb a uleb of (value << 1 ^ value >> 63). Did
 * you change the format? Increment QUIPU_RECORDING_VERSION.
 *
 * The file is a struct quipu_recording_file, and then blocks. A block is a struct
 * quipu_recording_block and its bytes, which are events, one behind the other. No event continues
 * in another block. Only the last block is open: its events are stored as they come, up to the end
 * of the file, so whatever ends the recorder, they are there. When the block is full, it is
 * stored compressed in the same place. A file in which some process has neither QUIPU_EVENT_END nor
 * QUIPU_EVENT_STOPPED was cut.
 *
 * What is played begins at `begin`: with the start of the first program, or with an image of all
 * processes in the middle of the run. What is in front of it may be a hole in the file. The blocks
 * of an image are of a kind of their own; those of later images are passed over.
 * 'quipu pack' puts files in front of the first block of events: for each a block that describes
 * it, and blocks with its bytes.
 *
 * An event is
 *
 *     u8 kind; uleb thread, from 1 in the order in which they began; uleb size; SIZE bytes
 *
 * Threads are counted over all processes. Those that share memory which they may write form a
 * group, and of a group one thread at a time executes. The order of a group's events is their order
 * in time: a thread has executed what is in front of its event before the next event's thread
 * executes anything. Groups depend on each other in nothing but where a thread of one makes the
 * first thread of another.
 *
 * Where an event tells of registers, it is their hash (hash_registers, x86/call_stop.h). */
#ifndef QUIPU_FORMAT_RECORDING_H
#define QUIPU_FORMAT_RECORDING_H

#include <stdint.h>

#define QUIPU_RECORDING_MAGIC "\211qrec\r\n\032"

/* Bytes that a shared file has at most. */
#define QUIPU_SHARED_ROOM ((uint64_t)1 << 40)

enum {
    QUIPU_RECORDING_VERSION = 5,
    QUIPU_RECORDING_MEMORY_MAX = 1 << 18, /* bytes of a QUIPU_EVENT_MEMORY; what is longer is
                                             several events */
    QUIPU_RECORDING_EVENT_MAX = 1 << 22,  /* bytes of any event */
    QUIPU_RECORDING_BLOCK_FULL = 1 << 18, /* a block with so many bytes is compressed */
    QUIPU_RECORDING_BLOCK_MAX = QUIPU_RECORDING_BLOCK_FULL + QUIPU_RECORDING_EVENT_MAX + 32,
    QUIPU_RECORDING_FILE_PART = 1 << 20, /* bytes of a packed file in a block; fewer in its last */
};

struct quipu_recording_file {
    uint8_t magic[8]; /*  0  QUIPU_RECORDING_MAGIC without its NUL */
    uint32_t version; /*  8  QUIPU_RECORDING_VERSION */
    uint32_t unused;  /* 12 */
    uint64_t begin;   /* 16  place of the first block that is played */
};

enum quipu_recording_block_kind {
    QUIPU_RECORDING_COMPRESSED = 1, /* a frame of zstd with a checksum */
    QUIPU_RECORDING_OPEN = 2,       /* the events themselves, up to the end of the file */
    QUIPU_RECORDING_IMAGE = 3,      /* compressed, with events of an image only */
    QUIPU_RECORDING_FILE = 4,       /* of a packed file: u64 size, asciz path, asciz the name by
                                     * which the loader knows it or ""; its parts follow */
    QUIPU_RECORDING_PART = 5,       /* the next bytes of that file, a frame of zstd likewise */
};

struct quipu_recording_block {
    uint32_t kind;   /*  0  enum quipu_recording_block_kind */
    uint32_t stored; /*  4  bytes that follow; 0 of an open block */
    uint32_t size;   /*  8  bytes of its events, or of the file; 0 of an open block */
};

enum quipu_event_kind {
    /* The process, stopped in front of the first instruction of a program: its first thread, or one
     * that has executed another program. All other threads of the process have ended.
     *     u32 number of the process; u64 size of its stack at most (RLIMIT_STACK); u32 the
     *     processor that it was bound to, or UINT32_MAX; u64 identity of the processors
     *     (processor_identity, x86/processor.h); u64 each: its registers, as in struct
     *     user_regs_struct; u64 number of seconds since 1970 at which it began
     *     asciz path         of the program's file
     *     uleb mappings      then for each: u64 start, u64 end, u8 protection (PROT_READ, ...),
     *                        u64 hash of the contents, asciz path
     *     uleb size          then the bytes of the stack from the stack pointer upwards
     *     u64 size           of the program's file, if it was made since the recording began, as it
     *                        may be gone in a replay; or 0
     *     uleb count         of contents that are the file, one behind the other,
     *                        QUIPU_RECORDING_MEMORY_MAX bytes each; then for each: uleb number, or
     *                        0: zeros */
    QUIPU_EVENT_START = 1,
    /* Memory that the next event of the thread writes, other than this kind.
     *     u8 argument        of the call: the address; or QUIPU_MEMORY_ADDRESS, and u64 address;
     *                        or QUIPU_MEMORY_CONTENTS, u64 address, and uleb each: number of the
     *                        contents that have the bytes, place of the first one, how many;
     *                        or QUIPU_MEMORY_SHARED, u64 address, and uleb each: number of the
     *                        shared file, from 1, that the call maps there, from which place on,
     *                        how many bytes;
     *                        or QUIPU_MEMORY_FILE, and uleb each: number of a shared file, and a
     *                        place in it, at which the call has written the bytes; if there are
     *                        none, the file ends there
     *     the bytes */
    QUIPU_EVENT_MEMORY = 2,
    /* A system call.
     *     uleb number; u32 hash of the registers in front of it, exclusive-or that of the bytes
     *     that the call has written to a descriptor (format/event_hash.h); u8 where these bytes
     * went to: 1 or 2 is the first standard output or error, 0 something else; sleb result. A
     * result from -516 to -512 is that of an interrupted call; a signal follows. */
    QUIPU_EVENT_CALL = 3,
    /* A signal that is delivered, with the memory of its frame.
     *     u8 number; u8 enum quipu_signal_place; u8 1: it ends the process; u32 hash of the
     *     registers in front of the call, or at the fault, or 0; 128 bytes siginfo; if it does not
     *     end the process, the registers at the handler's first instruction: u64 each, uleb size,
     *     and the area of xsave */
    QUIPU_EVENT_SIGNAL = 4,
    /* The time stamp counter, a random number, or what cpuid tells is read.
     *     u32 hash of the registers in front of the instruction; u8 its size; its bytes; u64 value,
     *     of cpuid eax, and above it ebx; u64 the processor's number, or of rdrand and rdseed
     *     whether there was a number, or of cpuid ecx, and above it edx */
    QUIPU_EVENT_COUNTER = 5,
    /* The process of the thread has ended: u32 status, of wait. */
    QUIPU_EVENT_END = 6,
    /* The process of the thread is recorded no further; it went on: asciz why. */
    QUIPU_EVENT_STOPPED = 7,
    /* A system call of which the result comes later, behind events of other threads of the group,
     * with memory that it has written by now.
     *     uleb number; u32 hash of the registers in front of it */
    QUIPU_EVENT_ENTRY = 8,
    /* The thread begins, in a system call of another one, with the memory that the call has
     * written.
     *     uleb thread that makes the call; u32 hash of that one's registers in front of the call;
     *     u8 enum quipu_clone_kind; u32 number of the thread for the kernel; u64 each: its
     *     registers */
    QUIPU_EVENT_CLONE = 9,
    /* The thread has ended; its process may go on. With the memory that the kernel has written then
     * (set_tid_address, robust lists). No bytes. */
    QUIPU_EVENT_EXIT = 10,
    /* Contents that QUIPU_EVENT_MEMORY of any thread refer to: files that are mapped often.
     *     uleb number, one more than that of the contents before; the bytes */
    QUIPU_EVENT_CONTENTS = 11,
    /* The thread has executed an addition of ticks, and nothing behind it.
     *     u64 count of its cells and base; u64 address of the next instruction; u32 hash of the
     *     registers */
    QUIPU_EVENT_TICK = 12,
    /* The thread has executed some instructions since its last event, and waits then.
     *     uleb number of them; u64 address of the next one; u32 hash of the registers */
    QUIPU_EVENT_STEPS = 13,
    /* The thread is in a loop that changes nothing, in which it waits for others.
     *     u64 address; u32 hash of the registers there */
    QUIPU_EVENT_LOOP = 14,
    /* The recording begins in the middle of the run. Followed by the processes that there are.
     *     u32 the processor that they are bound to, or UINT32_MAX; u64 identity of the processors;
     *     u64 each, seconds since 1970: at which the run began, and at which the image was made;
     *     u64 each: system calls and signals in front of it; u32 number of the first process; u8 1:
     *     that has ended, u32 its status, of wait; uleb threads that had begun; asciz path of the
     *     first program; uleb words of its command, then for each: asciz; uleb processes */
    QUIPU_EVENT_IMAGE = 15,
    /* A process of the image. Followed by its memory, QUIPU_EVENT_MEMORY with addresses, or with
     * places in shared files, and its threads.
     *     u32 number; u8 1: it is the first; u8 1: the additions of its ticks are replaced by
     *     jumps; u64 RLIMIT_STACK; asciz path of its program; asciz name; QUIPU_IMAGE_LAYOUT u64:
     *     as in struct prctl_mm_map, from start_code to env_end; uleb size, and the auxiliary
     *     vector; uleb threads; uleb mappings, then for each: u64 start, u64 end, u8 protection, u8
     *     1: it grows downwards, uleb number of the shared file, or 0, uleb place in it */
    QUIPU_EVENT_IMAGE_PROCESS = 16,
    /* A thread of the image, in the program's code. One that is in a call is in front of that.
     *     u32 number for the kernel; asciz name; uleb each: processes and threads that it has made;
     *     u64 each: begin and end of its alternate stack, equal: none; u64 each: registers; uleb
     *     size, and the area of xsave */
    QUIPU_EVENT_IMAGE_THREAD = 17,
    /* An instruction that makes system calls, in the memory of the thread, has been replaced, so
     * that frequent calls are made inside of the process. A replay may do the same; nothing else
     * depends on it.
     *     u64 address; sleb place of 7 bytes of padding, relative to it, or 0; u8 number of bytes
     *     behind the instruction that were moved; the instruction and these bytes; if there is
     *     padding, its bytes */
    QUIPU_EVENT_SITE = 18,
    /* A file that any process has mapped, once. It has no place among the events.
     *     asciz path; u64 size; u64 seconds since 1970 and u32 nanoseconds of its last change */
    QUIPU_EVENT_FILE = 19,
    /* The thread stands somewhere in its code, in front of an instruction.
     *     u64 each: its registers; u64 hash of its vector registers (hash_vectors in
     *     x86/registers.h); u64 hash of all memory that it may write (tracee/memory_hash.h); u64
     *     address of the instruction that it has executed last
     *     uleb ranges        of memory that is left out of that, then for each: u64 start, u64 end
     *     some of the state, by which other passes of the instruction are told apart quickly: 16
     *     bytes each of %xmm0 to %xmm15; uleb count, and u64 words of the x87's registers that are
     *     in use; uleb count, and u64 words from 128 bytes below the stack pointer on
     *     uleb words         of memory, then for each: u64 address, u64 value
     *     u8 what of this is compared first (enum quick_kind in x86/state_check.h): 0 a general
     *     register, uleb its number, as instructions encode it; 1 a word of the stack, uleb its
     *     index; 2 another word, uleb its address
     *     u8 size            of the instructions there that may be moved to give room to a jump, or
     *     0; their bytes */
    QUIPU_EVENT_PLACE = 20,
};

enum quipu_clone_kind {
    QUIPU_CLONE_THREAD = 1, /* of the same process */
    QUIPU_CLONE_SHARED = 2, /* the first of a process that shares all memory, as by vfork */
    QUIPU_CLONE_COPY = 3,   /* the first of a process with a copy of the memory; what is mapped as
                             * shared is shared */
};

enum {
    QUIPU_EVENT_KINDS = 21,
    QUIPU_MEMORY_ADDRESS = 6,
    QUIPU_MEMORY_CONTENTS = 7,
    QUIPU_MEMORY_SHARED = 8,
    QUIPU_MEMORY_FILE = 9,
    QUIPU_SHARED_MAX = 4096, /* shared files */
    QUIPU_SIGINFO_SIZE = 128,
    QUIPU_REGISTERS = 27,              /* of struct user_regs_struct */
    QUIPU_IMAGE_LAYOUT = 11,           /* words of struct prctl_mm_map */
    QUIPU_IMAGE_THREADS_MAX = 1 << 24, /* that had begun in front of an image */
};

/* Where a signal came in. */
enum quipu_signal_place {
    QUIPU_SIGNAL_BEHIND = 1, /* behind the event before, with no instruction between */
    QUIPU_SIGNAL_BEFORE = 2, /* in front of the next system call */
    QUIPU_SIGNAL_FAULT = 3,  /* at an instruction that causes it */
};

#endif
