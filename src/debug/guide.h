/* guide.h: tells, of places in one slice, which is in front of a wanted one, and how far.
 *
 * A loop that is passed some 100 million times a second cannot be looked at each pass. But most
 * loops have a word, in a register or in memory, that only grows, or only falls. Where such words
 * are found, a place is taken for one in front of the wanted one by them. That is a guess. It only
 * serves to come closer; the wanted place is known by its state alone. */
#ifndef QUIPU_DEBUG_GUIDE_H
#define QUIPU_DEBUG_GUIDE_H

#include "debug/same_state.h"
#include "debug/timeline.h"

enum {
    GUIDE_SAMPLES = 12,
    GUIDE_WORDS = 1 /* that are used: the most even one */
};

/* A part of a register or of memory. */
struct guide_word {
    uint64_t address; /* 0: of a register */
    uint8_t number;   /* of the register */
    uint8_t shift, bits;
    bool falls;
    uint64_t wanted;                /* its value at the wanted place */
    uint64_t values[GUIDE_SAMPLES]; /* at places that follow each other */
};

struct guide {
    size_t count, samples;
    struct guide_word words[GUIDE_WORDS];
    double deviation;            /* of the word, from growing evenly */
    double times[GUIDE_SAMPLES]; /* seconds from the first sample, about */
};

/* Makes a guide to WANTED, which is behind the present place. Goes forwards for that, and comes
 * back. Returns false if there is none. */
bool make_guide(struct timeline *timeline, struct wanted_state *wanted, double seconds,
                struct guide *guide);

/* Whether the present place is in front of the wanted one, as far as the words tell. */
bool is_in_front(const struct timeline *timeline, const struct guide *guide);

/* The present place is surely in front of the wanted one. Words that tell otherwise are dropped. */
void correct_guide(const struct timeline *timeline, struct guide *guide);

/* Returns the seconds from the present place to the wanted one, about. */
double guide_distance(const struct timeline *timeline, const struct guide *guide);

#endif
