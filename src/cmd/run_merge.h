/* run_merge.h: runs a program, and adds up the data files of its processes as they end. */
#ifndef QUIPU_CMD_RUN_MERGE_H
#define QUIPU_CMD_RUN_MERGE_H

/* Runs ARGV with DIRECTORY, an absolute path, as its data directory. Each process that ends is
 * added to DIRECTORY/merged.quipu, and its own file is removed. Files that were there before stay.
 * Returns the program's exit status; if a signal has ended it, the same signal ends quipu. */
int run_merging(const char *directory, char *const *argv);

#endif
