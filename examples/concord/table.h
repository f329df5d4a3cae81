/* table.h: words by their text.
 *
 * A table has as many buckets as it is made with and does not grow. */
#ifndef CONCORD_TABLE_H
#define CONCORD_TABLE_H

#include "arena.h"
#include "tokens.h"

/* One document that a word stands in. */
struct posting {
    struct posting *next; /* a later document */
    uint32_t document;
    uint32_t count; /* how often it stands there */
};

struct word {
    struct word *next;  /* in the same bucket */
    struct word *newer; /* the word that was added to the table after this one */
    uint32_t hash;
    uint32_t length;
    const char *text;      /* in the table's arena, not NUL-terminated */
    uint64_t count;        /* occurrences */
    uint32_t documents;    /* how many postings there are */
    struct posting *first; /* by document, ascending */
    struct posting *last;
};

struct table {
    struct arena *arena; /* of words and their texts */
    struct word **buckets;
    uint32_t bucket_count; /* a power of two */
    uint32_t word_count;
    struct word *oldest, *newest;
};

/* Makes an empty table. */
void table_init(struct table *table, struct arena *arena, uint32_t bucket_count);

/* The word of that hash and text; NULL: it is not in the table. */
struct word *table_find(const struct table *table, uint32_t hash, const char *text,
                        uint32_t length);

/* The same, added where it is not in the table.  TEXT is copied. */
struct word *table_add(struct table *table, uint32_t hash, const char *text, uint32_t length);

#endif
