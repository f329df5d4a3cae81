/* recorder.h: runs a program and records all that comes to it from outside.
 *
 * One process of one thread. The program is stopped in front of and behind each system call
 * (ptrace). */
#ifndef QUIPU_REPLAY_RECORDER_H
#define QUIPU_REPLAY_RECORDER_H

#include "util/arena.h"

/* Runs ARGV, and writes the recording to the file at PATH. Sets STATUS to the program's status, of
 * wait. Returns NULL, or a message, or "" if the message was already printed; then the program was
 * not run. What cannot be recorded ends the recording with a warning, and the program goes on. */
const char *record_program(struct arena *arena, char **argv, const char *path, int *status);

#endif
