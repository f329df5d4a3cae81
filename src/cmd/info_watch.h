/* info_watch.h: what 'quipu info' shows of watched memory. */
#ifndef QUIPU_CMD_INFO_WATCH_H
#define QUIPU_CMD_INFO_WATCH_H

#include "report/json_writer.h"
#include "symbols/binary.h"

#include <stdio.h>
#include <sys/types.h>

/* Write the numbers of checks of stores, calls and pushes in BINARY. */
void write_text_checks(FILE *out, const struct binary *binary);
void write_json_checks(struct json_writer *json, const struct binary *binary);

/* The watched memory of a running process. */
struct watching {
    const char *program;     /* path */
    pid_t process, consumer; /* consumer: reads the hits; 0: none */
    uint64_t regions;
    bool has_shadow;
};

/* Looks at the process with the number in TEXT. Ends the program with an error if its writes cannot
 * be watched. */
struct watching look_at_watching(struct arena *arena, const char *text);

void write_text_watching(FILE *out, const struct watching *watching);
void write_json_watching(struct json_writer *json, const struct watching *watching);

#endif
