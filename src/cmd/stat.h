/* stat.h: declarations that the files of 'quipu stat' share. */
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
    ROWS_OF_EVENTS, /* all processes together */
};

struct stat_options {
    const struct table_format *format;
    const char *output; /* NULL: standard error; for data and running processes, standard output */
    const char *sort;
    enum stat_rows rows;
    bool human;
    bool wide; /* text may be wider than the terminal */
    bool data;
    const char *pid;        /* NULL: none */
    const char *baseline;   /* NULL: none */
    const char *max_growth; /* as given; NULL: 0% */
};

/* stat_table.c */

/* Writes the counts of PROFILE in the requested format. */
void write_counts(struct profile *profile, const struct stat_options *options, FILE *out);

/* Returns the name with that INDEX: first the kinds, then the classes that PROFILE has. Returns
 * NULL behind the last one. */
const char *event_name_at(const struct profile *profile, size_t index);

/* Sets SUM to the number of events of kind or class NAME in all of PROFILE. Returns false if
 * nothing counts them. */
bool sum_events(const struct profile *profile, const char *name, uint64_t *sum);

/* stat_pid.c */

/* Opens the data of the running process with the number in TEXT. The events of its threads are
 * those of one instant, and STOPPED describes where they were stopped then. The caller releases the
 * arena of STOPPED. Ends the program with an error if this fails. */
struct profile *open_process(const char *text, struct stopped_process *stopped);

/* stat_baseline.c */

struct baseline;

/* Reads the counts that an earlier 'quipu stat --format=json' wrote to PATH. Ends the program with
 * an error if it is not such a file, or if MAX_GROWTH (may be NULL) is not a percentage. */
struct baseline *read_baseline(const char *path, const char *max_growth);

/* Compares the counts. Writes those that grew by more than is allowed to standard error, and
 * returns whether there are any. Ends the program with an error if the kinds are not the same. */
bool check_growth(const struct baseline *baseline, struct profile *profile, bool human);

void free_baseline(struct baseline *baseline);

#endif
