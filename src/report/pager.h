/* pager.h: shows long output on a terminal page by page, as git does. */
#ifndef QUIPU_REPORT_PAGER_H
#define QUIPU_REPORT_PAGER_H

#include <stdio.h>

/* If OUT is standard output, and a terminal that handles escape sequences, starts the user's pager:
 * what is written to OUT from now on goes to it. Colours and widths must be chosen before, since
 * OUT is no terminal then. */
void start_pager(FILE *out);

/* Gives the pager the end of its input, and waits until the user has left it. Standard output is
 * the terminal again. Does nothing if no pager runs. */
void end_pager(void);

#endif
