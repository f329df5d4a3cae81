/* table.c: words by their text; see table.h.  A hash table with chains. */
#include "table.h"

#include <string.h>

void table_init(struct table *table, struct arena *arena, uint32_t bucket_count) {
    *table = (struct table){.arena = arena, .bucket_count = bucket_count};
    table->buckets = arena_alloc(arena, bucket_count * sizeof *table->buckets);
}

static struct word **bucket_of(const struct table *table, uint32_t hash) {
    return &table->buckets[hash & (table->bucket_count - 1)];
}

struct word *table_find(const struct table *table, uint32_t hash, const char *text,
                        uint32_t length) {
    struct word *word = *bucket_of(table, hash);
    while (word) {
        if (word->hash == hash && word->length == length && memcmp(word->text, text, length) == 0)
            return word;
        word = word->next;
    }
    return NULL;
}

struct word *table_add(struct table *table, uint32_t hash, const char *text, uint32_t length) {
    struct word *word = table_find(table, hash, text, length);
    if (word)
        return word;
    struct word **bucket = bucket_of(table, hash);
    char *copy = arena_alloc(table->arena, length);
    word = arena_alloc(table->arena, sizeof *word);
    *word = (struct word){
        .next = *bucket, .hash = hash, .length = length, .text = memcpy(copy, text, length)};
    *bucket = word;
    if (table->newest)
        table->newest->newer = word;
    else
        table->oldest = word;
    table->newest = word;
    table->word_count++;
    return word;
}
