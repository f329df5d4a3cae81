/* main.c: concord: an index of text, built by several threads, and queries on it.
 *
 *     concord [--threads=N] [--buckets=N] [--query=WORDS] [FILE...]
 *
 * With no file it makes up a corpus of its own, the same one each time.  What it prints, and how
 * many instructions that takes, does not depend on the number of threads but for starting them. */
#include "corpus.h"
#include "index.h"
#include "query.h"
#include "workers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DOCUMENTS = 128,
    TOP = 5,
    QUERIES_MAX = 16,
};

struct options {
    unsigned threads;
    uint32_t buckets;
    const char *queries[QUERIES_MAX];
    size_t query_count;
    char **files;
    size_t file_count;
};

static _Noreturn void refuse(const char *argument) {
    fprintf(stderr,
            "concord: '%s': usage: concord [--threads=1...%d] [--buckets=POWER-OF-TWO] "
            "[--query=WORDS] [FILE...]\n",
            argument, WORKERS_MAX);
    exit(1);
}

static unsigned long parse_number(const char *argument, const char *digits, unsigned long limit) {
    char *end;
    unsigned long value = strtoul(digits, &end, 10);
    if (end == digits || *end || value < 1 || value > limit)
        refuse(argument);
    return value;
}

static void parse_option(struct options *options, const char *argument) {
    const char *value = strchr(argument, '=');
    if (!value++)
        refuse(argument);
    if (strncmp(argument, "--threads=", 10) == 0)
        options->threads = (unsigned)parse_number(argument, value, WORKERS_MAX);
    else if (strncmp(argument, "--buckets=", 10) == 0)
        options->buckets = (uint32_t)parse_number(argument, value, 1u << 24);
    else if (strncmp(argument, "--query=", 8) == 0 && options->query_count < QUERIES_MAX)
        options->queries[options->query_count++] = value;
    else
        refuse(argument);
    if (options->buckets & (options->buckets - 1))
        refuse(argument);
}

static void parse_options(struct options *options, int argc, char **argv) {
    int i = 1;
    while (i < argc && strncmp(argv[i], "--", 2) == 0)
        parse_option(options, argv[i++]);
    options->files = argv + i;
    options->file_count = (size_t)(argc - i);
}

static int compare_words(const void *left, const void *right) {
    const struct word *a = *(struct word *const *)left, *b = *(struct word *const *)right;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    uint32_t shorter = a->length < b->length ? a->length : b->length;
    int order = memcmp(a->text, b->text, shorter);
    return order ? order : (int)a->length - (int)b->length;
}

static void print_top_words(const struct index *index) {
    size_t count = 0, next = 0;
    for (size_t i = 0; i < SHARDS; i++)
        count += index->shards[i].table.word_count;
    const struct word **words = calloc(count + 1, sizeof(struct word *));
    if (!words) {
        fputs("concord: out of memory\n", stderr);
        exit(1);
    }
    for (size_t i = 0; i < SHARDS; i++)
        for (const struct word *w = index->shards[i].table.oldest; w; w = w->newer)
            words[next++] = w;
    qsort(words, count, sizeof(struct word *), compare_words);
    printf("%zu documents, %" PRIu64 " words, %zu different ones\n", index->document_count,
           index->word_count, count);
    for (size_t i = 0; i < count && i < TOP; i++)
        printf("%10" PRIu64 "  %.*s, in %" PRIu32 " documents\n", words[i]->count,
               (int)words[i]->length, words[i]->text, words[i]->documents);
    free(words);
}

static void print_answers(const struct index *index, const struct corpus *corpus,
                          const char *query) {
    struct answers answers;
    answer_query(index, query, &answers);
    printf("\"%s\": %zu documents\n", query, answers.matches);
    for (size_t i = 0; i < answers.count; i++)
        printf("%10.4f  %s\n", answers.best[i].score,
               corpus->documents[answers.best[i].document].name);
}

int main(int argc, char **argv) {
    struct options options = {.threads = 4, .buckets = 64};
    struct corpus corpus;
    struct index index;
    parse_options(&options, argc, argv);
    if (options.file_count)
        read_corpus(&corpus, options.files, options.file_count);
    else
        generate_corpus(&corpus, DOCUMENTS, options.threads);
    build_index(&index, &corpus, options.threads, options.buckets);
    print_top_words(&index);
    for (size_t i = 0; i < options.query_count; i++)
        print_answers(&index, &corpus, options.queries[i]);
    release_index(&index);
    release_corpus(&corpus);
    return 0;
}
