/* unfinished.h: files that get their names only when they are complete. If quipu ends before, by an
 * error or a signal, nothing half written is left, and what was there before stays. */
#ifndef QUIPU_REPORT_UNFINISHED_H
#define QUIPU_REPORT_UNFINISHED_H

#include <stdbool.h>

/* Returns the name under which the file PATH is written until it is complete. This is PATH itself
 * if it is not a regular file, or if its directory takes no other file. */
const char *begin_unfinished(const char *path);

/* Gives the file its name, if it was complete and closed. Otherwise removes it. Returns false, with
 * errno set, if it could not be renamed. */
bool end_unfinished(const char *path, bool complete);

/* For a child of fork: the files are its parent's. */
void forget_unfinished(void);

#endif
