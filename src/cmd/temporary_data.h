/* temporary_data.h: a temporary data directory, for a run whose data is not kept. */
#ifndef QUIPU_CMD_TEMPORARY_DATA_H
#define QUIPU_CMD_TEMPORARY_DATA_H

/* Makes a directory in $TMPDIR or /tmp, with a name that begins with PREFIX. Programs that are run
 * from now on write their data there. It is removed when this program ends. Returns its path, which
 * the caller does not free. Ends the program with an error if it cannot be made. May be called only
 * once. */
char *use_temporary_data(const char *prefix);

#endif
