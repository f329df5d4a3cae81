/* program.h: the program that is watched. */
#ifndef QUIPU_WATCH_PROGRAM_H
#define QUIPU_WATCH_PROGRAM_H

#include "util/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct program {
    uint64_t entry; /* as linked */
    pid_t process;
    bool ended;
    int status;      /* as of wait, where it has ended; 0 where it is not ours */
    bool is_other;   /* it was already running */
    int handle;      /* then: becomes readable when it has ended */
    bool is_refused; /* its threads cannot be stopped, and the user was warned */
};

/* Starts ARGV with the watch file at PATH. Interrupts from the keyboard are for the program;
 * SIGTERM and SIGHUP that quipu gets are sent on to it. If STOP, an address as linked, is not 0,
 * the program is traced, and stopped there. Returns NULL or an error message in ARENA. */
const char *start_program(struct arena *arena, struct program *program, const char *file,
                          char **argv, const char *path, uint64_t stop);

/* Takes the running process PROCESS. From now on a signal that would end quipu makes is_leaving
 * true instead. Returns NULL or an error message. */
const char *take_program(struct program *program, pid_t process);

/* Whether a signal has asked quipu to leave the process. */
bool is_leaving(void);

/* Continues a program that is stopped at STOP, untraced. */
void release_program(const struct program *program);

/* Whether it has ended. */
bool look_at_program(struct program *program);

/* Appends the backtrace of THREAD, which is not stopped, to TEXT, from the function that contains
 * ADDRESS on. UNWINDER is that of its process, or NULL. */
struct buffer;
struct unwinder;
void add_calls(struct program *program, struct unwinder *unwinder, struct buffer *text,
               pid_t thread, uint64_t address);

#endif
