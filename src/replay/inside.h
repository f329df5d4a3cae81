/* inside.h: a process whose frequent system calls are made, or given, inside of it: its memory for
 * that (format/inside.h), and its sites.
 *
 * A site is an instruction of the program that makes system calls. When it has been used a few
 * times, it becomes a jump into that memory. A call that is left there is made by the site's own
 * instruction in it; inside_enter then makes the thread look as if the program's had made it, so
 * nobody else need know. */
#ifndef QUIPU_REPLAY_INSIDE_H
#define QUIPU_REPLAY_INSIDE_H

#include "format/inside.h"
#include "replay/inside_plan.h"
#include "replay/inside_rows.h"
#include "x86/registers.h"

enum {
    INSIDE_RESTART_FIRST = 512, /* results of interrupted calls, negative */
    INSIDE_RESTART_AGAIN = 513, /* that are made again in any case */
    INSIDE_RESTART_LAST = 516,
    INSIDE_OWNER_UNKNOWN = 0x7fffffff /* the number of no thread */
};

struct inside_site {
    uint64_t address;
    const struct inside_plan *plan;
    uint32_t slot;   /* its trampoline */
    uint8_t visits;  /* calls until it is replaced */
    bool is_retired; /* it is never replaced, or not again */
    bool is_passed;  /* a handler has come in behind it, and will go on there */
    bool has_slot, is_patched;
};

/* A part of a file that is mapped as code. */
struct inside_code {
    uint64_t start, end, offset;
    const char *path;
};

/* One of zeros has no such memory yet. */
struct inside {
    bool is_mapped, is_refused;
    bool is_shared; /* another process has the same memory for now: nothing changes, all is left */
    bool passes;    /* threads pass the turn to each other there */
    uint32_t owner; /* that is in the memory, if it does not */
    uint32_t slots; /* trampolines that are used */
    uint32_t left;  /* bits that are in the memory */
    VECTOR(struct inside_site) sites;
    VECTOR(struct inside_code) code;
    uint8_t streams[QUIPU_INSIDE_DESCRIPTORS]; /* that are in the memory */
};

/* An instruction that is to be replaced. */
struct inside_visit {
    struct arena *arena; /* of the process */
    uint64_t address;
    const struct inside_plan *plan; /* lives as long as the process; NULL: it cannot be replaced */
    uint32_t mode;                  /* enum quipu_inside_mode */
    bool may_move;                  /* no other thread stands behind the instruction */
};

/* A thread is behind a system call at ADDRESS that may be made inside. Returns whether the
 * instruction has made so many that it is to be replaced. ARENA is the process's. */
bool inside_is_due(struct inside *inside, struct arena *arena, uint64_t address);

/* Returns how the instruction at ADDRESS can be replaced, or NULL if it cannot. */
const struct inside_plan *inside_plan_at(struct inside *inside, struct arena *arena,
                                         struct inside_files *files, pid_t thread,
                                         uint64_t address);

/* Replaces an instruction. THREAD is not within a call. Returns whether it was replaced; if THREAD
 * is behind it, it may then go on in what was moved. */
bool inside_replace(struct inside *inside, pid_t thread, const struct inside_visit *visit);

/* Sets FUNCTIONS to the addresses of the kernel's functions that read the clock in PROCESS, or to
 * 0. */
void inside_find_clock(pid_t process, uint64_t functions[QUIPU_INSIDE_CLOCKS]);

/* Sets TO to a copy of what a process has, in ARENA, for a child that begins with its memory. */
void inside_copy(struct arena *arena, const struct inside *from, struct inside *to);

/* The process executes another program. */
void inside_forget(struct inside *inside);

/* Whether ADDRESS is in the memory. */
static inline bool is_inside(uint64_t address) {
    return address - QUIPU_INSIDE < QUIPU_INSIDE_END - QUIPU_INSIDE;
}

/* REGISTERS of a thread that is stopped in front of a system call become what they would be in the
 * program. */
void inside_look(const struct inside *inside, struct user_regs_struct *registers);

/* THREAD is stopped in front of a system call, with REGISTERS. If it was left by the memory, the
 * registers become what they would be in the program. Where instructions were moved, the thread's
 * own ones still lead to these. Returns whether it was left. */
bool inside_enter(const struct inside *inside, pid_t thread, struct user_regs_struct *registers);

/* THREAD, which is stopped, is about to enter a handler. It will go on in the program if it is in
 * what was moved, or in front of it; and so will all others. ARENA is the process's. */
void inside_return(struct inside *inside, struct arena *arena, pid_t thread);

/* Whether THREAD was stopped while the code there makes a call, so the log may be about to change.
 */
bool inside_is_busy(const struct inside *inside, pid_t thread);

/* Whether RAX is the result of a call that was interrupted. */
bool inside_is_restart(uint64_t rax);

/* Whether a call of the code with these registers, which are those behind it, was interrupted. */
bool inside_is_interrupted(const struct user_regs_struct *registers);

/* Returns the site of the instruction at ADDRESS, or NULL. */
struct inside_site *inside_find_site(const struct inside *inside, uint64_t address);

/* Returns where a thread goes on that has made its call at SITE. */
uint64_t inside_behind(const struct inside_site *site);

/* ---- inside_take.c ---- */

/* If THREAD is stopped in a call that the code there makes for the program, and that was
 * interrupted, it is now in that call as if the program had made it: with REGISTERS, but that it
 * may go on in what was moved. Returns whether it is. */
bool inside_take_call(const struct inside *inside, pid_t thread,
                      struct user_regs_struct *registers);

/* The same if THREAD, which is stopped, waits in a place of its own. If it has the
 * result of the call, it is behind that: then the registers' orig_rax is negative, and CALL is the
 * number. */
bool inside_take_waiter(struct inside *inside, pid_t thread, struct user_regs_struct *registers,
                        uint64_t *call);

/* ---- inside_turn.c ---- */

/* OWNER has the turn. THREAD is any with the memory that lives. With PASSES, threads pass the turn
 * to each other from now on. */
void inside_give_turn(struct inside *inside, pid_t thread, pid_t owner, bool passes);

/* Threads no longer pass it. Sets OWNER to the thread that has it, or to 0. Returns false if the
 * memory cannot be read. */
bool inside_take_turn(struct inside *inside, pid_t thread, pid_t *owner);

/* THREAD is stopped. Returns what it says there about the turn, of enum quipu_inside_stand, or
 * another number if it has said that; 0: it does not stand there. */
uint64_t inside_stand(struct inside *inside, pid_t thread);

/* THREAD is the only one of a process that begins with the memory of another one. */
void inside_forget_places(struct inside *inside, pid_t thread);

/* ---- inside.c ---- */

/* THREAD is stopped by SIGNAL, which is blocked, while the code makes a call. Continues to behind
 * that. Returns 0, or the status of wait of another stop in which that has ended. */
int inside_run_out(const struct inside *inside, pid_t thread, int signal);

/* If THREAD is within what was moved, it steps to the program. Returns as inside_run_out. */
int inside_step_out(const struct inside *inside, pid_t thread);

/* With ON false, all memory is as the program has it, until a call with ON true. */
void inside_show(const struct inside *inside, pid_t process, bool on);

/* All instructions are the program's again. */
void inside_restore(struct inside *inside, pid_t thread);

/* Write what has changed. */
void inside_set_left(struct inside *inside, pid_t thread, uint32_t left);
void inside_set_streams(struct inside *inside, pid_t thread, const uint8_t *streams);

/* What descriptors lead to may have changed. */
void inside_forget_descriptors(struct inside *inside, pid_t thread);

#endif
