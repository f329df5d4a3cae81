/* watch_page.h: the hits of 'quipu watch --to=html' as a page for a browser. */
#ifndef QUIPU_CMD_WATCH_PAGE_H
#define QUIPU_CMD_WATCH_PAGE_H

#include <stddef.h>
#include <stdio.h>

/* The page that is being written. The hits are lines of JSON, written to the file itself. */
struct watch_page {
    FILE *out, *data;
};

/* Writes to FD all that stands in front of the hits: what runs, and the EXPRESSIONS that are
 * watched. COMMAND ends with NULL. If it is empty, the process is the one with the number PID. */
struct watch_page begin_watch_page(int fd, char *const *command, const char *pid,
                                   const char *const *expressions, size_t count);

/* Writes what stands behind the hits. PATH is the file, for an error. */
void end_watch_page(struct watch_page *page, const char *path);

#endif
