/* info_watch.h: what 'quipu info' tells of watched memory. */
#ifndef QUIPU_CMD_INFO_WATCH_H
#define QUIPU_CMD_INFO_WATCH_H

#include "report/json_writer.h"
#include "symbols/binary.h"

#include <stdio.h>
#include <sys/types.h>

/* Checks of stores, calls and pushes in BINARY. */
void write_text_checks(FILE *out, const struct binary *binary);
void write_json_checks(struct json_writer *json, const struct binary *binary);

/* What a process that runs shares of it. */
struct watching {
    const char *program;     /* path */
    pid_t process, consumer; /* who reads hits; 0: nobody */
    uint64_t regions;
    bool has_shadow;
};

/* Looks at the process named TEXT.  Ends the program, with an error, where it does not tell of
 * writes. */
struct watching look_at_watching(struct arena *arena, const char *text);

void write_text_watching(FILE *out, const struct watching *watching);
void write_json_watching(struct json_writer *json, const struct watching *watching);

#endif
