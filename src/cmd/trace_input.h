/* trace_input.h: traces that a command reads: opened, and their threads selected. */
#ifndef QUIPU_CMD_TRACE_INPUT_H
#define QUIPU_CMD_TRACE_INPUT_H

#include "trace/trace.h"

/* What of a trace is read. */
struct trace_selection {
    uint32_t process;      /* its number in the system; 0: all */
    uint32_t thread;       /* the same */
    bool expand;           /* what untraced functions accessed is read as words of 8 bytes */
    const char *from, *to; /* moments between which it is read; NULL: the begin, and the end */
    bool ordered;          /* all threads are read in one order */
    uint32_t part, parts;  /* part number `part`, from 1, of `parts`; 0: all */
    text_vector layouts;   /* binaries whose addresses instructions get */
};

/* Opens the trace at PATH; what stays open is in ARENA. Ends the program with an error if it cannot
 * be read. Warns if it is incomplete. */
struct trace *open_trace(struct arena *arena, const char *path);

/* Returns the threads of TRACE that SELECTION selects, in ARENA, with NULL behind the last one, and
 * prepares the trace for the rest of SELECTION.
 * Ends the program with an error if there are none, though some are asked for. */
const struct traced_thread **select_threads(struct arena *arena, struct trace *trace,
                                            struct trace_selection selection);

/* Once the trace was read: ends the program with an error if nothing came to a moment of the
 * selection. */
void need_moments(struct trace *trace);

/* Reads the value WORD of --part, such as 1/4, into PART and PARTS. Ends the program with an error
 * if it is none.
 */
void read_part(uint32_t *part, uint32_t *parts, const char *word);

/* Reads WORD, such as 1/4, the first one of four, into NUMBER and COUNT. Returns false if it is
 * none.
 */
bool read_ratio(const char *word, uint32_t *number, uint32_t *count);

/* Ends quipu with an error if no module of TRACE has a function NAME. */
void need_function(const struct trace *trace, const char *name);

/* Ends quipu with an error if the file that runs as PROGRAM records, but has no function NAME. */
void need_recording_function(const char *program, const char *name);

/* Ends quipu with an error if TEXT, the value of --OPTION, is no moment; or if it is one of the
 * file that runs as PROGRAM, which records, but has no such moment. Returns the moment's thread. */
uint32_t need_recording_moment(const char *program, const char *option, const char *text);

/* Prints the error that the records of THREAD cannot be followed because of FAULT. */
void report_trace_fault(const struct trace *trace, const struct traced_thread *thread,
                        const char *fault);

/* Returns the number that is the value WORD of --OPTION. Ends the program with an error if it is
 * none, or larger than MOST. */
uint64_t read_number(const char *option, const char *word, uint64_t most);

#endif
