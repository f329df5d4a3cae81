/* index.h: which words stand in which documents. */
#ifndef CONCORD_INDEX_H
#define CONCORD_INDEX_H

#include "arena.h"
#include "corpus.h"
#include "table.h"

enum {
    SHARDS = 16 /* a power of two */
};

/* Words are divided among shards by their hash, so that threads can build them side by side. */
struct shard {
    struct arena arena;
    struct table table;
};

struct index {
    struct shard shards[SHARDS];
    size_t document_count;
    uint32_t *lengths;   /* words of each document; owned */
    uint64_t word_count; /* of all documents */
};

/* Builds the index of CORPUS in THREADS threads; tables have BUCKETS buckets (a power of two). */
void build_index(struct index *index, const struct corpus *corpus, unsigned threads,
                 uint32_t buckets);

/* The word; NULL: it stands nowhere. */
const struct word *find_word(const struct index *index, const struct token *token);

void release_index(struct index *index);

#endif
