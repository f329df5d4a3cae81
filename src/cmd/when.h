/* when.h: the parts of quipu when. */
#ifndef QUIPU_CMD_WHEN_H
#define QUIPU_CMD_WHEN_H

#include "moment/search.h"

/* Sets FROM to the begin of the search. If TEXT is NULL, leaves it empty. Ends the program with an
 * error if TEXT is wrong. */
void find_begin(struct arena *arena, const struct binary *binary, const char *text,
                address_list *from);

/* when_recording.c: finds in the PROCESS with that name, NULL: in one that has debug information,
 * of the recording at PATH when the expression TEXT becomes true, from the place FROM on, if that
 * is not NULL. TELL prints the result and returns the exit status, which this function returns,
 * too. */
int when_in_recording(const char *text, const char *path, const char *process, const char *from,
                      int (*tell)(struct search *search, enum outcome outcome, const void *context),
                      const void *context);

#endif
