/* pack.h: puts the files that a recorded run has mapped into its recording, so that it can be
 * played where they do not exist. */
#ifndef QUIPU_REPLAY_PACK_H
#define QUIPU_REPLAY_PACK_H

#include "util/arena.h"
#include "util/vector.h"

#include <stdbool.h>

struct packing {
    bool packed_before;   /* nothing was to be done */
    text_vector left_out; /* libraries that are not the recorded ones any more */
};

/* Writes the recording at PATH with its files to OUTPUT, which is replaced when the new one is
 * whole; it may be PATH. Returns NULL, or a message in ARENA. */
const char *pack_recording(struct arena *arena, const char *path, const char *output,
                           struct packing *packing);

#endif
