/* temporary_data.h: a data directory for a run whose data nobody keeps. */
#ifndef QUIPU_CMD_TEMPORARY_DATA_H
#define QUIPU_CMD_TEMPORARY_DATA_H

/* Makes a directory in $TMPDIR or /tmp, its name beginning with PREFIX, and names it to programs
 * that are run from now on.  It is removed when this program ends.  Returns its path, which is not
 * the caller's; ends the program with an error where it cannot be made.  To be called once. */
char *use_temporary_data(const char *prefix);

#endif
