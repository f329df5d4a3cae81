/* player.h: repeats a recorded run, without what was outside of it.
 *
 * The program's binary is executed again. Its system calls are not made: it gets their results and
 * what they wrote from the recording. Only those that change its own memory's layout are made.
 *
 *     player_begin(arena, path, &hooks, &player)    stopped in front of the first instruction
 *     player_go(player, step)                       to the next pause, until PAUSE_ENDED
 *     player_end(player)
 *
 * The time line of a run is its events (format/recording.h), in order, and between two of them the
 * instructions. An event is done in no time: it is the last step of the instructions in front of
 * it. */
#ifndef QUIPU_REPLAY_PLAYER_H
#define QUIPU_REPLAY_PLAYER_H

#include "replay/names.h"
#include "util/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum played {
    PLAYED_END,     /* the program has ended; `status`, of wait */
    PLAYED_CUT,     /* the recording was cut: it has no more */
    PLAYED_STOPPED, /* the recording ended while the program went on; `message` says why */
    PLAYED_DIFFERS, /* the run is another one; `message` says where */
    PLAYED_WRONG    /* it cannot be played, or no further; `message` says why, or is "" if it was
                     * already printed */
};

struct playing {
    enum played end; /* once it has ended */
    int status;
    uint64_t calls, signals; /* that were repeated */
    const char *left;    /* why a process, not the first one, was recorded no further, or NULL */
    const char *message; /* in the arena */
};

struct player;

/* Why a play pauses. */
enum play_pause {
    PAUSE_EVENT,       /* behind an event */
    PAUSE_SIGNAL,      /* in front of a signal, which the next player_go delivers */
    PAUSE_STEP,        /* behind one instruction */
    PAUSE_BREAKPOINT,  /* in front of an instruction that `is_breakpoint` knows */
    PAUSE_WRITE,       /* behind an instruction that accessed what debug registers watch */
    PAUSE_TICK,        /* behind an addition of ticks, as player_set_alarm wanted it */
    PAUSE_INTERRUPTED, /* anywhere, as `is_interrupted` said so */
    PAUSE_CALL,        /* in front of a system call that `catches` wants; not where one step is
                        * asked for */
    PAUSE_ENDED        /* there is no more; the process stands where it was last */
};

struct play_hooks {
    void *context;     /* of all */
    bool gives_inside; /* calls may be given inside of the program, without a pause at each */
    /* The program executes more than it did: registers that it does not use have other values, and
     * what it does is compared by its system calls alone. */
    bool is_armed;
    /* The data files of programs that count are kept: see player_data_files. Not with
     * `gives_inside`. */
    bool keeps_data;
    /* The first threads of the processes that lead to one, from the first process on; none: all
     * processes play. Only that one plays. What others do, which have a copy of its memory, is
     * passed by; what others do in its memory is done quietly. */
    thread_path path;
    /* The name of the first of them, if the recording begins with an image. NULL: the first
     * process, or any if that has ended. */
    const char *begin;
    /* Others are about to execute in the memory of the process: no breakpoint instructions may be
     * in it. NULL: there never are. */
    void (*prepare_others)(void *context);
    /* The program has written SIZE bytes to standard output, 1, or standard error, 2. */
    void (*write_output)(void *context, int stream, const void *bytes, size_t size);
    /* Whether the breakpoint instruction at ADDRESS is not the program's. NULL: none. */
    bool (*is_breakpoint)(void *context, uint64_t address);
    /* Whether to pause in front of the system call NUMBER. NULL: never. */
    bool (*catches)(void *context, uint64_t number);
    /* Asked at each SIGALRM while the process goes on. The caller has blocked that signal, and
     * SIGCHLD. NULL: never. */
    bool (*is_interrupted)(void *context);
};

/* Starts the recorded program anew, and goes to the begin of the process that is to be played.
 * Returns NULL, or a message, or "" if it was already printed; then there is no PLAYER. HOOKS must
 * live as long as the player. */
const char *player_begin(struct arena *arena, const char *path, const struct play_hooks *hooks,
                         struct player **player);
void player_end(struct player *player);

/* Continues up to the next pause, which an event always is. With STEP, by one instruction, or by
 * the event that this instruction is. */
enum play_pause player_go(struct player *player, bool step);

const struct playing *player_playing(const struct player *player);
pid_t player_process(const struct player *player);

/* Returns the number that the recorded process had. */
pid_t player_number(const struct player *player);

/* Returns the name of the process (names.h), in ARENA. */
const char *player_name(const struct player *player, struct arena *arena);

/* Returns the number that the thread which plays had. */
pid_t player_thread(const struct player *player);

/* Returns the path of the program that the process executes. */
const char *player_program(const struct player *player);

/* Returns the number of events behind which that program begins. */
uint64_t player_program_begin(const struct player *player);

/* Returns a descriptor of the file at PATH as it was in the recorded run, if the recording has it;
 * otherwise -1 with errno set, ENOENT if it has not. */
int player_file(struct player *player, const char *path);

/* Whether the recording has the files that the run has mapped. */
bool player_is_packed(const struct player *player);

/* Sets RECORDED to the number that the next thread of the process had, and NUMBER to its own one,
 * and AT, 0 at first, to the one behind it. Returns false if there is none. */
bool player_next_thread(const struct player *player, size_t *at, pid_t *recorded, pid_t *number);

/* Returns the name of the thread that had the number RECORDED (names.h), or "". */
const char *player_thread_name(const struct player *player, pid_t recorded);

/* Returns the own number of the thread that has made it, if that is in its process; otherwise 0. */
pid_t player_maker(const struct player *player, pid_t recorded);

/* Returns the number that the thread NAME had, and whether it HAS_ENDED; 0: it was not made yet. */
pid_t player_find_name(const struct player *player, const char *name, bool *has_ended);

/* Returns how many system calls it has begun. */
uint64_t player_calls(const struct player *player, pid_t recorded);

/* Returns the address in the program's own text of the instruction at ADDRESS, where it is in code
 * out of line that stops at ticks. */
uint64_t player_original_address(const struct player *player, uint64_t address);

/* Whether player_set_alarm has an effect in PROCESS, which is the debugged one, or a copy. */
bool player_has_alarms(struct player *player, pid_t process);

/* The thread that had the number THREAD will pause once at one of its next additions of ticks:
 * where the sum of its cells and their base is COUNT or more, and never behind the first such one.
 * Without effect where the program has no additions at which it can be stopped. THREAD 0: no
 * longer. */
void player_set_alarm(struct player *player, pid_t thread, uint64_t count);

/* Returns the number of the process in whose memory the thread executes that plays, and with
 * RECORDED sets what that had. A child of vfork has that of its maker. */
pid_t player_memory(const struct player *player, pid_t *recorded);

/* Returns a descriptor of the memory that all processes of the play have, by the same number. What
 * is behind player_shared_end is the caller's, who may make it longer. */
int player_shared(const struct player *player);
uint64_t player_shared_end(void);

/* Returns how many data files the processes have made. Number N, from 1, is in the shared memory
 * from player_data_place on. */
unsigned player_data_files(const struct player *player);
uint64_t player_data_place(unsigned number);

/* From now on the thread plays that player_go continues. Returns false if the play has ended. */
bool player_select(struct player *player);

/* Whether the thread that plays waits in a call. Its next event then is the next one of all, with
 * no instruction in front of it, and no copy of it can be made. */
bool player_is_waiting(const struct player *player);

/* Whether no other process has the memory of this one now. */
bool player_is_alone(const struct player *player);

/* Returns the number of events of the process that were done: the place on its time line, up to
 * instructions. */
uint64_t player_events(const struct player *player);

/* Whether the last event was a system call with its result, of NUMBER. */
bool player_call(const struct player *player, uint64_t *number);

/* Returns the address of the instruction that the last event was: a call, or one that faulted. A
 * signal behind an event is none: 0. */
uint64_t player_event_address(const struct player *player);

/* Returns the number that the thread of the last event had. */
pid_t player_event_thread(const struct player *player);

/* Returns which of the objects that watch_accesses watches were accessed, at PAUSE_WRITE: bit n is
 * the n-th. */
unsigned player_written(const struct player *player);

/* Whether the last event has changed which memory the process has. */
bool player_has_mapped(const struct player *player);

/* Sets INFO to the siginfo of the signal that comes next, QUIPU_SIGINFO_SIZE bytes. Returns its
 * number, or 0 if the next event is none. */
int player_signal(struct player *player, uint8_t *info);

/* Whether the next event is a place in code without ticks. Sets SIZE to the bytes at ADDRESS that
 * the player replaces on the way there. */
bool player_place(struct player *player, uint64_t *address, uint64_t *size);

/* Makes the process stop so that calls can be injected (inject_call). */
bool player_settle(struct player *player);

/* ---- places on the time line, to come back to ---- */

/* The stacks of a thread, besides the one that it has from the begin. */
struct play_stacks {
    uint64_t start, end;  /* the alternate stack of signal handlers; equal: none */
    uint64_t interrupted; /* the stack pointer where a handler has gone to another stack last */
    uint64_t others;      /* of a play_state: the highest stack pointer of other threads, or 0 */
};

struct saved_thread;
struct program_file;

/* All of a player but its process. What it points to is the player's. */
struct play_state {
    struct recording_place place;
    struct play_stacks stacks; /* of the thread that plays */
    struct playing playing;
    uint64_t events, steps;
    bool announced, ended;
    bool has_result; /* of player_call, with the number */
    uint64_t result_of;
    pid_t process;
    const struct program_file *program; /* of the process */
    bool whole;                   /* the threads of the process are as they were, in it; in a copy
                                     only one is */
    size_t known, count, thread;  /* threads of the recording, of the process, the one that plays */
    struct saved_thread *threads; /* of the process */
};

struct play_state player_save(struct player *player);

/* PLAYER goes on from STATE with the process of NUMBER, the present thread's, which was copied
 * there, and is killed at the end. Its former process is the caller's. SITE is the address of an
 * instruction in it that makes a system call. NUMBER 0: it has none until the next player_restore.
 * Returns NULL, or a message. */
const char *player_restore(struct player *player, const struct play_state *state, pid_t number,
                           uint64_t site);

/* ---- a whole play ---- */

/* Plays the recording at PATH. What the program writes to standard output and standard error goes
 * there. */
enum played play_recording(struct arena *arena, const char *path, struct playing *playing);

#endif
