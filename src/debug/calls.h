/* calls.h: the system calls that a debugger's user catches. */
#ifndef QUIPU_DEBUG_CALLS_H
#define QUIPU_DEBUG_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CALLS_MAX = 512
};

/* Zeros: none. */
struct caught_calls {
    bool all;
    uint64_t numbers[CALLS_MAX];
    size_t count;
};

static inline bool catches_some(const struct caught_calls *calls) {
    return calls->all || calls->count;
}

static inline bool catches_call(const struct caught_calls *calls, uint64_t number) {
    bool found = calls->all;
    for (size_t i = 0; i < calls->count && !found; i++)
        found = calls->numbers[i] == number;
    return found;
}

#endif
