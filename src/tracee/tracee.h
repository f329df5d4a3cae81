/* tracee.h: a program that runs under our control (ptrace), with breakpoints.
 *
 * All threads go on together or one goes on alone.  Children that it forks are let go, without
 * breakpoints.  Should this program end, the tracee ends too. */
#ifndef QUIPU_TRACEE_TRACEE_H
#define QUIPU_TRACEE_TRACEE_H

#include "expression/memory.h"
#include "tracee/stop.h"
#include "util/arena.h"
#include "util/vector.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/types.h>

#define TRACEE_OPTIONS                                                                             \
    ((long)PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |    \
     PTRACE_O_TRACEVFORKDONE | PTRACE_O_TRACEEXEC)

struct tracee_thread {
    pid_t thread;
    bool running;
    bool stop_asked; /* a SIGSTOP of ours is on its way */
    bool unclaimed;  /* it stands; whether it is a thread or a child is yet to be told */
    bool ending;     /* it has stopped in front of its end; it stops no more */
    int pending;     /* status of a stop or end that was not looked at yet; 0: none */
};

struct breakpoint {
    uint64_t address;
    uint8_t byte;  /* that it replaces */
    bool over_nop; /* what it replaces does nothing: threads just go on */
};

struct tracee {
    struct arena arena;
    pid_t process;
    VECTOR(struct tracee_thread) threads;
    VECTOR(struct breakpoint) breakpoints;
    bool is_other; /* it has become another program, by exec */
    bool ended;
    int status; /* as of wait, where it has ended */
};

/* Starts ARGV, stopped before its first instruction, with no random addresses, where the system
 * lets us ask for that.  Returns NULL or what is wrong, "" where that was said. */
const char *start_tracee(struct tracee *tracee, char **argv);

/* Whether it has random addresses all the same.  It stands. */
bool has_random_addresses(const struct tracee *tracee);

/* What the kernel has told it of TYPE, such as AT_ENTRY; 0: nothing. */
uint64_t tracee_auxiliary(const struct tracee *tracee, uint64_t type);

/* Where the program was loaded, minus where ENTRY, its entry as linked, says. */
uint64_t tracee_bias(const struct tracee *tracee, uint64_t entry);

void put_breakpoint(struct tracee *tracee, uint64_t address, bool over_nop);
bool has_breakpoint(const struct tracee *tracee, uint64_t address);
void remove_breakpoints(struct tracee *tracee);

/* Puts all of them into memory again, which is PROCESS's, once another that shares it is gone. */
void set_breakpoints(const struct tracee *tracee, pid_t process);

/* Whether THREAD is one of PROCESS, and not a process of its own. */
bool is_thread_of(pid_t process, pid_t thread);

/* CHILD, which the program made, goes on without us. */
void release_child(struct tracee *tracee, pid_t child);

/* Does at STOP what the program's children need: one that was forked goes on without us, and the
 * breakpoints that were taken out of memory that it shared are put in again.  Returns whether it
 * was such a stop. */
bool follow_child(struct tracee *tracee, const struct thread_stop *stop);

/* Has each thread stop in front of its end. */
void stop_at_ends(const struct tracee *tracee);

/* Lets all go on until some thread comes to a breakpoint.  Returns the thread, and in ADDRESS the
 * breakpoint's, or 0 in front of the thread's end; 0 where the program has ended.  The thread
 * stands in front of the instruction; the others run. */
pid_t run_to_breakpoint(struct tracee *tracee, uint64_t *address);

/* Stops all threads, but those that are about to end. */
void stop_tracee(struct tracee *tracee);

/* Lets THREAD, which stands at a breakpoint, execute what is there. */
void step_over(struct tracee *tracee, pid_t thread, uint64_t address);

/* Reads SIZE bytes of a stopped process.  Returns false where not all of them are mapped. */
bool read_memory(pid_t process, uint64_t address, void *bytes, size_t size);

/* The same, to where they are written, also where the process itself may not write. */
bool write_memory(pid_t process, uint64_t address, const void *bytes, size_t size);

/* The memory of PROCESS, for expressions; the program's binary is at BIAS. */
struct process_memory {
    struct memory memory;
    pid_t process;
};
struct process_memory process_memory(pid_t process, uint64_t bias);

/* Whose number leads to the memory: the process's, or a thread's, once the first one has ended. */
pid_t tracee_memory(const struct tracee *tracee);

bool read_tracee(const struct tracee *tracee, uint64_t address, void *bytes, size_t size);
bool write_tracee(const struct tracee *tracee, uint64_t address, const void *bytes, size_t size);

/* Lets go of COPY, a process of one thread with the same breakpoints, in the same way. */
void release_copy(const struct tracee *tracee, pid_t copy);

/* Lets go of it, stopped, for another debugger.  It is killed by kill_tracee all the same. */
void leave_tracee(struct tracee *tracee);
void kill_tracee(struct tracee *tracee);

#endif
