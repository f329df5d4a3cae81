/* played.h: how a play of a recording has ended. */
#ifndef QUIPU_CMD_PLAYED_H
#define QUIPU_CMD_PLAYED_H

#include "replay/player.h"

/* Ends as the program of the recording at PATH did, by its signal, too; or returns its exit status.
 * If it was not played to its end, says why and returns 1. */
int end_played(const char *path, const struct playing *playing);

#endif
