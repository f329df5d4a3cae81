/* query.h: which documents answer a query best. */
#ifndef CONCORD_QUERY_H
#define CONCORD_QUERY_H

#include "index.h"

enum {
    ANSWERS_MAX = 5
};

struct answer {
    uint32_t document;
    double score;
};

struct answers {
    struct answer best[ANSWERS_MAX]; /* by score, the best first */
    size_t count;
    size_t matches; /* documents in which any word of the query stands */
};

/* Finds the best documents for the words of QUERY. */
void answer_query(const struct index *index, const char *query, struct answers *answers);

#endif
