/* json_reader.h: JSON (RFC 8259) read piece by piece, as its writer wrote it.
 *
 *     struct json_reader json = json_read(&arena, text);
 *     const char *key;
 *     while ((key = json_member(&json)))
 *         if (strcmp(key, "rows") == 0)
 *             while (json_element(&json))
 *                 sum += json_unsigned_value(&json);
 *         else
 *             json_skip(&json);
 *     json_finish(&json);
 *     if (json.fault) error_at(file, json.line, "%s", json.fault);
 *
 * A reader asks for what it knows and skips the rest.  The first fault stays; after it nothing is
 * read: no member, no element, 0 and "". */
#ifndef QUIPU_UTIL_JSON_READER_H
#define QUIPU_UTIL_JSON_READER_H

#include "util/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct json_reader {
    struct arena *arena; /* of texts */
    const char *next;
    unsigned line;
    const char *fault; /* NULL: none yet */
    bool fresh;        /* a value comes next, so a container is still to be opened */
};

/* A reader of TEXT, which ends in NUL. */
struct json_reader json_read(struct arena *arena, const char *text);

/* The key of the next member of the object that is read, which is opened by the first call; NULL
 * behind the last.  Every member's value must be read or skipped. */
const char *json_member(struct json_reader *json);

/* Whether the array has one more element, likewise. */
bool json_element(struct json_reader *json);

/* One value each. */
const char *json_string_value(struct json_reader *json);
uint64_t json_unsigned_value(struct json_reader *json);
void json_skip(struct json_reader *json);

/* Nothing but blanks may follow. */
void json_finish(struct json_reader *json);

#endif
