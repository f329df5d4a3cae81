/* corpus.h: the documents: files, or text that is made up. */
#ifndef CONCORD_CORPUS_H
#define CONCORD_CORPUS_H

#include <stddef.h>
#include <stdint.h>

struct document {
    const char *name; /* owned */
    const char *text; /* owned, not NUL-terminated */
    size_t size;
};

struct corpus {
    struct document *documents; /* owned */
    size_t count;
};

/* Reads COUNT files.  One that cannot be read ends the program with a message. */
void read_corpus(struct corpus *corpus, char *const *paths, size_t count);

/* Makes COUNT documents up, the same ones each time, in THREADS threads. */
void generate_corpus(struct corpus *corpus, size_t count, unsigned threads);

void release_corpus(struct corpus *corpus);

#endif
