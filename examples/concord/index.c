/* index.c: which words stand in which documents; see index.h.
 *
 *     documents -> (a thread each) -> a table of each document's words
 *     tables    -> (a thread each) -> shards, documents in order
 *
 * No thread waits for another inside of a step, and the index is the same for any number of
 * threads. */
#include "index.h"

#include "workers.h"

#include <stdio.h>
#include <stdlib.h>

/* What one document holds. */
struct summary {
    struct arena arena;
    struct table table;
};

struct build {
    struct index *index;
    const struct corpus *corpus;
    struct summary *summaries; /* by document */
    uint32_t buckets;
};

static void summarize_document(void *context, size_t number) {
    struct build *build = context;
    const struct document *document = &build->corpus->documents[number];
    struct summary *summary = &build->summaries[number];
    struct reader reader = {document->text, document->text + document->size};
    struct token token;
    table_init(&summary->table, &summary->arena, build->buckets);
    while (next_token(&reader, &token)) {
        struct word *word = table_add(&summary->table, token.hash, token.text, token.length);
        word->count++;
        build->index->lengths[number]++;
    }
}

static uint32_t shard_of(uint32_t hash) {
    return hash >> 28 & (SHARDS - 1);
}

static void add_posting(struct shard *shard, struct word *word, uint32_t document, uint32_t count) {
    struct posting *posting = arena_alloc(&shard->arena, sizeof *posting);
    posting->document = document;
    posting->count = count;
    if (word->last)
        word->last->next = posting;
    else
        word->first = posting;
    word->last = posting;
    word->documents++;
    word->count += count;
}

static void fill_shard(void *context, size_t number) {
    struct build *build = context;
    struct shard *shard = &build->index->shards[number];
    table_init(&shard->table, &shard->arena, build->buckets);
    for (size_t i = 0; i < build->corpus->count; i++) {
        const struct word *from = build->summaries[i].table.oldest;
        for (; from; from = from->newer) {
            if (shard_of(from->hash) != number)
                continue;
            struct word *word = table_add(&shard->table, from->hash, from->text, from->length);
            add_posting(shard, word, (uint32_t)i, (uint32_t)from->count);
        }
    }
}

void build_index(struct index *index, const struct corpus *corpus, unsigned threads,
                 uint32_t buckets) {
    *index = (struct index){.document_count = corpus->count};
    struct build build = {.index = index, .corpus = corpus, .buckets = buckets};
    index->lengths = calloc(corpus->count + 1, sizeof *index->lengths);
    build.summaries = calloc(corpus->count + 1, sizeof *build.summaries);
    if (!index->lengths || !build.summaries) {
        fputs("concord: out of memory\n", stderr);
        exit(1);
    }
    share_work(threads, corpus->count, summarize_document, &build);
    share_work(threads, SHARDS, fill_shard, &build);
    for (size_t i = 0; i < corpus->count; i++) {
        index->word_count += index->lengths[i];
        arena_release(&build.summaries[i].arena);
    }
    free(build.summaries);
}

const struct word *find_word(const struct index *index, const struct token *token) {
    const struct shard *shard = &index->shards[shard_of(token->hash)];
    return table_find(&shard->table, token->hash, token->text, token->length);
}

void release_index(struct index *index) {
    for (size_t i = 0; i < SHARDS; i++)
        arena_release(&index->shards[i].arena);
    free(index->lengths);
    *index = (struct index){0};
}
