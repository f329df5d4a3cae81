/* open.h: what the readers of traces in this folder begin and end with. */
#include <quipu-trace.h>

#include <stdio.h>
#include <stdlib.h>

/* Opens the trace that the only argument names. Ends the program, which is called NAME, with a
 * message if that cannot be read. */
static struct quipu_trace *open_argument(int argc, char **argv, const char *name) {
    char message[QUIPU_TRACE_MESSAGE_SIZE] = "wants the name of a trace";
    struct quipu_trace *trace =
        argc == 2 ? quipu_trace_open(argv[1], message, sizeof message) : NULL;
    if (!trace) {
        fprintf(stderr, "%s: %s\n", name, message);
        exit(1);
    }
    return trace;
}

/* Frees READER, that of thread NUMBER. Ends the program with a message if there was none, or the
 * thread was not read to its end. */
static void end_reader(struct quipu_trace_reader *reader, size_t number) {
    if (!reader || quipu_trace_fault(reader)) {
        fprintf(stderr, "thread %zu: %s\n", number,
                reader ? quipu_trace_fault(reader) : "out of memory");
        exit(1);
    }
    quipu_trace_end(reader);
}
