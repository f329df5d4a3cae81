/* stat.h: what the files of 'quipu stat' offer each other. */
#ifndef QUIPU_CMD_STAT_H
#define QUIPU_CMD_STAT_H

#include "data/profile.h"
#include "report/table.h"
#include "tracee/stopped.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum stat_rows {
    ROWS_OF_PROCESSES,
    ROWS_OF_THREADS,
    ROWS_OF_EVENTS, /* all processes in one */
};

struct stat_options {
    const struct table_format *format;
    const char *output; /* NULL: standard error; of data and running processes standard output */
    const char *sort;
    enum stat_rows rows;
    bool human;
    bool data;
    const char *pid;        /* NULL: none */
    const char *baseline;   /* NULL: none */
    const char *max_growth; /* as given; NULL: 0% */
};

/* stat_table.c */

/* Writes the counts of PROFILE in the format that is asked for. */
void write_counts(struct profile *profile, const struct stat_options *options, FILE *out);

/* The names of kinds, one after the other, then those of the classes that PROFILE has; NULL behind
 * the last. */
const char *event_name_at(const struct profile *profile, size_t index);

/* How many events of the kind or class NAME all of PROFILE had; false where nothing counts them. */
bool sum_events(const struct profile *profile, const char *name, uint64_t *sum);

/* stat_pid.c */

/* Opens the data of the running process that TEXT names.  Its threads have EVENTS, of one instant,
 * and STANDING tells where they stood; its arena is the caller's to release.  Ends the program with
 * an error where that cannot be. */
struct profile *open_process(const char *text, struct stopped_process *stopped);

/* stat_baseline.c */

struct baseline;

/* Reads the counts that an earlier 'quipu stat --format=json' wrote to PATH.  Ends the program with
 * an error where it is no such file, or MAX_GROWTH (may be NULL) no percentage. */
struct baseline *read_baseline(const char *path, const char *max_growth);

/* Compares, and writes what grew by more than is allowed to standard error.  Returns whether
 * anything did.  Ends the program with an error where the kinds are not the same. */
bool check_growth(const struct baseline *baseline, struct profile *profile, bool human);

void free_baseline(struct baseline *baseline);

#endif
