/* quipu-trace.h: reads what 'quipu trace' recorded: each executed instruction of each thread, and
 * the memory that it accessed.
 *
 *     char message[QUIPU_TRACE_MESSAGE_SIZE];
 *     struct quipu_trace *trace = quipu_trace_open("quipu.trace", message, sizeof message);
 *     struct quipu_trace_reader *reader = quipu_trace_begin(trace, 0);
 *     for (const struct quipu_trace_record *record; (record = quipu_trace_next(reader));)
 *         use(record);
 *     quipu_trace_end(reader);
 *     quipu_trace_close(trace);
 *
 * Link with what 'pkg-config --libs quipu-trace' prints; --static for the static library. Only a
 * record is regenerated at a time, so a trace may be longer than memory. The binaries that were
 * recorded must be where they were, and be the same builds.
 *
 * Errors come back as text; no function ends the program or prints. A trace and its readers are for
 * one thread at a time; threads that work in parallel open the trace several times. */
#ifndef QUIPU_TRACE_H
#define QUIPU_TRACE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An open trace, and a place in one of its threads. */
struct quipu_trace;
struct quipu_trace_reader;

enum {
    QUIPU_TRACE_MESSAGE_SIZE = 512 /* bytes, with the NUL, in which an error fits; longer paths are
                                      cut */
};

/* Opens the trace at PATH. Returns NULL if it cannot be read, and then writes why, with a NUL, into
 * the SIZE bytes at MESSAGE. MESSAGE may be NULL if SIZE is 0. quipu_trace_close frees what is
 * returned. */
struct quipu_trace *quipu_trace_open(const char *path, char *message, size_t size);

/* Shows instructions with the address, size and bytes that they have in the binary at PATH: the
 * same code built without quipu, as 'quipu print --layout' takes it. Addresses of data stay. Call
 * it before quipu_trace_begin, once for each binary. Returns 0; 1 if some functions keep their
 * addresses, because the binary does not have them; or -1 for an error, and then TRACE can only be
 * closed. For 1 and -1, writes why, with a NUL, into the SIZE bytes at MESSAGE, which may be NULL
 * if SIZE is 0. */
int quipu_trace_set_layout(struct quipu_trace *trace, const char *path, char *message, size_t size);

/* Readers that begin behind this call give only what is between two moments: the instruction at
 * FROM is the first one, that at TO does not come any more. A moment is what 'quipu print
 * --moments', 'quipu watch' and quipu_print_moment tell, of a program that was built with
 * --quipu=moment,trace. NULL: from the begin, or to the end. Other threads than that of the moments
 * give nothing, but for a reader of all threads. Returns 0; or -1 for an error, and then TRACE can
 * only be closed: why is written, with a NUL, into the SIZE bytes at MESSAGE, which may be NULL if
 * SIZE is 0. */
int quipu_trace_set_between(struct quipu_trace *trace, const char *from, const char *to,
                            char *message, size_t size);

/* Frees TRACE and all that was returned for it. Its readers must have ended. NULL is allowed. */
void quipu_trace_close(struct quipu_trace *trace);

/* Returns 1 if TRACE has all that the programs executed; 0 if the file was cut, or a program had no
 * room to record. Then threads end early. */
int quipu_trace_is_complete(const struct quipu_trace *trace);

/* Return how many processes and threads TRACE has. */
size_t quipu_trace_processes(const struct quipu_trace *trace);
size_t quipu_trace_threads(const struct quipu_trace *trace);

/* What a thread was in the system when it ran. */
struct quipu_trace_identity {
    uint32_t process; /* number of its process, as getpid returned it */
    uint32_t thread;  /* its own, as gettid returned it */
};

/* Returns the identity of thread NUMBER, from 0. Both members are 0 if there is no such thread. */
struct quipu_trace_identity quipu_trace_identify(const struct quipu_trace *trace, size_t number);

/* A part of memory that an instruction accessed. */
struct quipu_trace_reference {
    uint64_t address;
    uint64_t size;  /* bytes */
    uint8_t writes; /* 1: it was written; 0: read */
    uint8_t sure;   /* 0: it may have been less, or the address is not known */
};

/* An executed instruction. All pointers are valid until the next call for the reader, but FUNCTION
 * and CODE until the trace is closed. */
struct quipu_trace_record {
    uint64_t address;     /* in the process, as the layout has it */
    const uint8_t *code;  /* its bytes; NULL: the binary does not have them */
    uint32_t size;        /* how many they are */
    uint32_t offset;      /* of the instruction in its function, as it was before instrumentation */
    const char *function; /* symbol of the function */
    size_t reference_count;
    const struct quipu_trace_reference *references; /* in the order of the accesses */
};

/* Begins to read thread NUMBER, from 0. Returns NULL if there is no such thread, or no memory.
 * There may be several readers, also for one thread. quipu_trace_end frees what is returned. */
struct quipu_trace_reader *quipu_trace_begin(struct quipu_trace *trace, size_t number);

/* The same for part NUMBER, from 0, of COUNT parts of thread THREAD. A part is read without those
 * in front of it, so several threads or machines can read parts at the same time, each with a trace
 * that it has opened itself. The records of all parts, one part after the other, are those of the
 * thread: none is lost or given twice. The parts are of about the same size; one may be empty. Also
 * returns NULL if there is no such part. */
struct quipu_trace_reader *quipu_trace_begin_part(struct quipu_trace *trace, size_t thread,
                                                  uint32_t number, uint32_t count);

/* Goes on by one instruction. Returns its record, which is valid until the next call; or NULL
 * behind the last one, or if the thread's records cannot be followed any further. */
const struct quipu_trace_record *quipu_trace_next(struct quipu_trace_reader *reader);

/* Returns why the last call of quipu_trace_next returned NULL in front of the end of the thread's
 * records; NULL if nothing is wrong. The text is valid until quipu_trace_end. */
const char *quipu_trace_fault(const struct quipu_trace_reader *reader);

/* Begins to read all threads of TRACE, in one order. It contradicts none of the order that their
 * synchronization made: atomic instructions, system calls, and calls of functions such as
 * pthread_mutex_lock. Within that, threads take turns of some instructions. Returns NULL if there
 * is no memory. quipu_trace_end frees what is returned. */
struct quipu_trace_reader *quipu_trace_begin_global(struct quipu_trace *trace);

/* Returns the number of the thread whose record READER has returned last, from 0. */
size_t quipu_trace_thread(const struct quipu_trace_reader *reader);

/* Returns 1 if the last record is known to be behind the one in front of it, which the same thread
 * or another one executed; 0 if no synchronization is between them, so that both may have run at
 * the same time, or in the other order. */
int quipu_trace_is_ordered(const struct quipu_trace_reader *reader);

/* Frees READER. NULL is allowed. */
void quipu_trace_end(struct quipu_trace_reader *reader);

/* Returns the name of code outside of the trace that ran in front of the last record, such as
 * "printf": what a call names, or "indirect call", "system call", "caller of FUNCTION", or "code
 * behind FUNCTION". If the last call of quipu_trace_next returned NULL, it ran behind all of them;
 * a reader of all threads does not tell that. NULL: there is no such gap. Valid until
 * quipu_trace_end. */
const char *quipu_trace_gap(struct quipu_trace_reader *reader);

/* Returns what that code is known to have accessed: of functions such as memcpy and read, whose
 * arguments and result tell it. Sets COUNT. `sure` is 0 where it may be less. Valid until the next
 * call for READER. */
const struct quipu_trace_reference *quipu_trace_gap_references(struct quipu_trace_reader *reader,
                                                               size_t *count);

/* ---- More about the last record of a reader ---- */

/* Return what is valid until the trace is closed; NULL or 0 if it is not known, as where the binary
 * has no debug information. They are slow the first time for an instruction: the source file, the
 * line, from 1, and the instruction as text in AT&T syntax. */
const char *quipu_trace_file(struct quipu_trace_reader *reader);
uint32_t quipu_trace_line(struct quipu_trace_reader *reader);
const char *quipu_trace_text(struct quipu_trace_reader *reader);

/* Returns the name of the moment in front of the record, valid until quipu_trace_end; NULL if it is
 * not known, or the program was not built with --quipu=moment,trace. */
const char *quipu_trace_moment(struct quipu_trace_reader *reader);

#ifdef __cplusplus
}
#endif

#endif
