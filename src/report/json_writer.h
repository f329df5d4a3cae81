/* json_writer.h: writes JSON (RFC 8259) piece by piece to a stream.
 *
 *     struct json_writer json = json_start(stdout, 2);
 *     json_open_object(&json, NULL);
 *     json_open_array(&json, "functions");
 *     json_open_object(&json, NULL);
 *     json_string(&json, "name", "main");
 *     json_unsigned(&json, "calls", 1);
 *     json_close(&json);
 *     json_close(&json);
 *     json_close(&json);
 *     json_end(&json);
 *
 * writes
 *
 *     {
 *       "functions": [
 *         {"name": "main", "calls": 1}
 *       ]
 *     }
 *
 * In an object, every value has a KEY. In an array, and for the outermost value, KEY is NULL. Text
 * may contain any bytes. Invalid UTF-8 is written as U+FFFD, so the output is always valid. Numbers
 * are written to the last digit, but readers that keep numbers as doubles lose digits beyond 2^53.
 * Errors stay in the stream: test ferror at the end. */
#ifndef QUIPU_REPORT_JSON_WRITER_H
#define QUIPU_REPORT_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    JSON_DEPTH_MAX = 32
};

struct json_writer {
    FILE *out;                        /* not owned */
    unsigned line_depth;              /* containers at this depth and deeper are on one line */
    unsigned depth;                   /* open containers */
    bool used[JSON_DEPTH_MAX + 1];    /* whether the container at that depth has a member yet */
    char closing[JSON_DEPTH_MAX + 1]; /* '}' or ']' for each open container */
};

/* Returns a writer to OUT. Each member of a container at a depth below LINE_DEPTH is on its own
 * line. 0 puts everything on one line. */
struct json_writer json_start(FILE *out, unsigned line_depth);

/* Ends the text with a newline. Every container must be closed. */
void json_end(struct json_writer *json);

/* Open a container as the next value. json_close closes the innermost one. */
void json_open_object(struct json_writer *json, const char *key);
void json_open_array(struct json_writer *json, const char *key);
void json_close(struct json_writer *json);

/* Each writes one value. */
void json_string(struct json_writer *json, const char *key, const char *value);
void json_unsigned(struct json_writer *json, const char *key, uint64_t value);
void json_signed(struct json_writer *json, const char *key, int64_t value);
void json_bool(struct json_writer *json, const char *key, bool value);
void json_null(struct json_writer *json, const char *key);

/* Writes a number with DIGITS behind the point, or null if VALUE is infinite or not a number. */
void json_real(struct json_writer *json, const char *key, double value, int digits);

/* Writes TEXT as a JSON string with its quotes, outside of any writer. */
void json_write_string(FILE *out, const char *text);

#endif
