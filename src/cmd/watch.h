/* watch.h: the parts of quipu watch. */
#ifndef QUIPU_CMD_WATCH_H
#define QUIPU_CMD_WATCH_H

#include "report/table.h"
#include "watch/session.h"

struct named {
    const char *text;
    bool is_violation, is_guarded;
};

struct watch_options {
    struct arena arena;
    VECTOR(struct named) named;
    text_vector allowed;
    bool summary, longer, stop, backtrace, follow, fatal, guards;
    uint64_t limit;
    text_vector conditions;
    const char *log, *command, *format, *pid, *program, *process; /* NULL: none */
};

/* Opens the file that hits are written to. Ends the program with an error if that fails. */
int open_log(const char *path);

/* Sets in which format hits are written. */
void set_format(struct session *session, const struct watch_options *options);

/* Writes the table to the file for hits. */
void summarize(const struct session *session, const struct table_format *format);

/* Reports the writes that must not be, and allowed names that no writer had. */
void report_violations(const struct session *session);

/* watch_recording.c: tells of the writes in the recording at PATH. Returns the exit status. */
int watch_recording(const struct watch_options *options, const char *path);

#endif
