/* corpus.c: the documents; see corpus.h.
 *
 * Made-up text has words as a language has them: the word of rank r comes about 1/r as often as the
 * first (Zipf), and every document prefers some rare words, so that queries have something to find.
 * A word's rank is spelled in syllables. */
#include "corpus.h"

#include "workers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RANK_BITS = 15,       /* 32,768 words */
    WORDS = 6000,         /* in a document, and up to a quarter more */
    WORD_SIZE = 4 * 4,    /* letters at most */
    FAVOURITE_EVERY = 40, /* so often a document uses one of its own words */
};

static _Noreturn void fail(const char *name, const char *cause) {
    fprintf(stderr, "concord: cannot read '%s': %s\n", name, cause);
    exit(1);
}

static void *allocate(size_t count, size_t size) {
    void *result = calloc(count ? count : 1, size);
    if (!result) {
        fputs("concord: out of memory\n", stderr);
        exit(1);
    }
    return result;
}

/* ---- files ---- */

static void read_document(struct document *document, const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file)
        fail(path, strerror(errno));
    size_t capacity = 64 * 1024;
    char *text = allocate(capacity, 1);
    size_t count;
    while ((count = fread(text + document->size, 1, capacity - document->size, file)) > 0) {
        document->size += count;
        if (document->size < capacity)
            continue;
        char *larger = realloc(text, capacity *= 2);
        if (!larger)
            fail(path, "out of memory");
        text = larger;
    }
    if (ferror(file))
        fail(path, "read error");
    fclose(file);
    size_t name_size = strlen(path) + 1;
    document->text = text;
    document->name = memcpy(allocate(name_size, 1), path, name_size);
}

void read_corpus(struct corpus *corpus, char *const *paths, size_t count) {
    corpus->documents = allocate(count, sizeof *corpus->documents);
    corpus->count = count;
    for (size_t i = 0; i < count; i++)
        read_document(&corpus->documents[i], paths[i]);
}

/* ---- text that is made up ---- */

/* Marsaglia's xorshift64. */
static uint32_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)(*state >> 32);
}

/* Small ranks are drawn more often: each power of two as often as the next. */
static uint32_t draw_rank(uint64_t *state) {
    uint32_t bits = next_random(state) % (RANK_BITS + 1);
    return (1u << bits >> 1) + (bits ? next_random(state) & ((1u << (bits - 1)) - 1) : 0);
}

/* Writes the word of RANK to OUT.  Returns its end. */
static char *spell(char *out, uint32_t rank) {
    static const char consonants[] = "tnrslmdkgbpvfzch";
    static const char vowels[] = "eaoiuaeo";
    static const char endings[] = "rnl";
    do {
        *out++ = consonants[rank & 15];
        *out++ = vowels[rank >> 4 & 7];
        if (rank % 5 == 0)
            *out++ = endings[rank % 3];
        rank >>= 7;
    } while (rank);
    return out;
}

static void generate_document(void *context, size_t number) {
    struct corpus *corpus = context;
    struct document *document = &corpus->documents[number];
    uint64_t state = (number + 1) * 0x9e3779b97f4a7c15u;
    uint32_t favourite = 1u << (RANK_BITS - 1) | (next_random(&state) & 0x3ff);
    uint32_t words = WORDS + next_random(&state) % (WORDS / 4);
    char *text = allocate(words, WORD_SIZE + 1), *end = text;
    for (uint32_t i = 1; i <= words; i++) {
        uint32_t rank = i % FAVOURITE_EVERY ? draw_rank(&state) : favourite + i % 3;
        end = spell(end, rank);
        *end++ = i % 12 ? ' ' : '\n';
    }
    document->text = text;
    document->size = (size_t)(end - text);
    char *name = allocate(32, 1);
    snprintf(name, 32, "document %zu", number + 1);
    document->name = name;
}

void generate_corpus(struct corpus *corpus, size_t count, unsigned threads) {
    corpus->documents = allocate(count, sizeof *corpus->documents);
    corpus->count = count;
    share_work(threads, count, generate_document, corpus);
}

void release_corpus(struct corpus *corpus) {
    for (size_t i = 0; i < corpus->count; i++) {
        free((char *)corpus->documents[i].name);
        free((char *)corpus->documents[i].text);
    }
    free(corpus->documents);
    *corpus = (struct corpus){0};
}
