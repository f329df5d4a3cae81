/* json_reader.h: reads JSON (RFC 8259) piece by piece, in the order of the text.
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
 * The caller reads the members that it knows, and skips the rest. The first fault is kept. After it
 * nothing is read: there are no more members and elements, and values are 0 and "". */
#ifndef QUIPU_UTIL_JSON_READER_H
#define QUIPU_UTIL_JSON_READER_H

#include "util/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct json_reader {
    struct arena *arena; /* for texts */
    const char *next;
    unsigned line;
    const char *fault; /* NULL: none yet */
    bool fresh;        /* a value is next; if it is a container, it is not open yet */
};

/* Returns a reader of the NUL-terminated TEXT. */
struct json_reader json_read(struct arena *arena, const char *text);

/* Returns the key of the object's next member, or NULL behind the last one. The first call opens
 * the object. The value of each member must be read or skipped. */
const char *json_member(struct json_reader *json);

/* Whether the array has one more element. The first call opens the array. Each element must be read
 * or skipped. */
bool json_element(struct json_reader *json);

/* Each reads or skips one value. */
const char *json_string_value(struct json_reader *json);
uint64_t json_unsigned_value(struct json_reader *json);
void json_skip(struct json_reader *json);

/* Sets a fault unless only blanks follow. */
void json_finish(struct json_reader *json);

#endif
