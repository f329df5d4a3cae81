/* query.c: which documents answer a query best; see query.h.
 *
 * Ranked by BM25 (Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework"): a word
 * weighs the more, the fewer documents have it; the tenth occurrence in a document weighs less than
 * the first; long documents count less. */
#include "query.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double K1 = 1.2, B = 0.75; /* the paper's constants, usual values */

static void add_scores(const struct index *index, const struct word *word, double *scores) {
    double documents = (double)index->document_count, having = word->documents;
    double weight = log1p((documents - having + 0.5) / (having + 0.5));
    double average = (double)index->word_count / documents;
    for (const struct posting *posting = word->first; posting; posting = posting->next) {
        double length = index->lengths[posting->document] / average;
        double count = posting->count;
        scores[posting->document] +=
            weight * count * (K1 + 1) / (count + K1 * (1 - B + B * length));
    }
}

/* Keeps the best ones, in order; of equal ones the first document. */
static void offer(struct answers *answers, struct answer answer) {
    size_t place = answers->count;
    while (place > 0 && answers->best[place - 1].score < answer.score)
        place--;
    if (place == ANSWERS_MAX)
        return;
    if (answers->count < ANSWERS_MAX)
        answers->count++;
    for (size_t i = answers->count - 1; i > place; i--)
        answers->best[i] = answers->best[i - 1];
    answers->best[place] = answer;
}

void answer_query(const struct index *index, const char *query, struct answers *answers) {
    *answers = (struct answers){0};
    double *scores = calloc(index->document_count + 1, sizeof *scores);
    if (!scores) {
        fputs("concord: out of memory\n", stderr);
        exit(1);
    }
    struct reader reader = {query, query + strlen(query)};
    struct token token;
    while (next_token(&reader, &token)) {
        const struct word *word = find_word(index, &token);
        if (word)
            add_scores(index, word, scores);
    }
    for (size_t i = 0; i < index->document_count; i++)
        if (scores[i] > 0) {
            answers->matches++;
            offer(answers, (struct answer){(uint32_t)i, scores[i]});
        }
    free(scores);
}
