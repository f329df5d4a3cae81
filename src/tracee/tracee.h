/* tracee.h: a program under our control (ptrace), with breakpoints.
 *
 * All threads continue together, or one alone. Forked children are released, without breakpoints.
 * If quipu ends, the tracee ends, too. */
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
    bool stop_asked; /* quipu has sent a SIGSTOP that has not arrived yet */
    bool unclaimed;  /* it is stopped; whether it is a thread or a child is not known yet */
    bool ending;     /* it has stopped in front of its end, and does not stop again */
    int pending;     /* status of a stop or end that was not handled yet; 0: none */
};

struct breakpoint {
    uint64_t address;
    uint8_t byte;  /* the original byte */
    bool over_nop; /* the original instruction is a nop, so a thread just continues */
};

struct tracee {
    struct arena arena;
    pid_t process;
    VECTOR(struct tracee_thread) threads;
    VECTOR(struct breakpoint) breakpoints;
    bool is_other; /* it has executed another program */
    bool ended;
    int status; /* from wait, once it has ended */
};

/* Starts ARGV, stopped in front of its first instruction. Address randomization is off, if the
 * system allows that. Returns NULL, or a message, or "" if the message was already printed. */
const char *start_tracee(struct tracee *tracee, char **argv);

/* The same, but executes the file at PATH with ENVIRONMENT. */
const char *start_tracee_as(struct tracee *tracee, const char *path, char **argv,
                            char **environment);

/* Whether its addresses are random all the same. It is stopped. */
bool has_random_addresses(const struct tracee *tracee);

/* Returns the auxiliary value of TYPE, such as AT_ENTRY, of PROCESS, or 0 if it has none. */
uint64_t auxiliary_value(pid_t process, uint64_t type);

/* Returns the load address of the program of PROCESS minus its address as linked. ENTRY is its
 * entry as linked. */
uint64_t program_bias(pid_t process, uint64_t entry);

void put_breakpoint(struct tracee *tracee, uint64_t address, bool over_nop);
bool has_breakpoint(const struct tracee *tracee, uint64_t address);
void remove_breakpoints(struct tracee *tracee);
/* Forgets the breakpoints from START to END, where memory has been unmapped. */
void forget_breakpoints(struct tracee *tracee, uint64_t start, uint64_t end);

/* Writes all breakpoints into the memory of PROCESS again, once a child that shared the memory is
 * gone. */
void set_breakpoints(const struct tracee *tracee, pid_t process);

/* Whether THREAD is a thread of PROCESS, and not a process of its own. */
bool is_thread_of(pid_t process, pid_t thread);

/* Releases CHILD, which the program made, without breakpoints. */
void release_child(struct tracee *tracee, pid_t child);

/* Handles a stop that is about the program's children. A forked child is released. Breakpoints that
 * were removed from memory which it shared are set again. Returns whether STOP was such a stop. */
bool follow_child(struct tracee *tracee, const struct thread_stop *stop);

/* Makes each thread stop in front of its end. */
void stop_at_ends(const struct tracee *tracee);

/* Continues all threads until one reaches a breakpoint or its end. Returns that thread, or 0 if the
 * program has ended. ADDRESS becomes that of the breakpoint, or 0 in front of the thread's end. The
 * thread is stopped in front of the instruction; the others run. */
pid_t run_to_breakpoint(struct tracee *tracee, uint64_t *address);

/* Stops all threads, except those that are about to end. */
void stop_tracee(struct tracee *tracee);

/* Executes the original instruction of a breakpoint in THREAD, which is stopped there. */
void step_over(struct tracee *tracee, pid_t thread, uint64_t address);

/* Reads SIZE bytes of a stopped process. Returns false if not all of them are mapped. */
bool read_memory(pid_t process, uint64_t address, void *bytes, size_t size);

/* The same, by more calls. For read_memory the kernel gives the process pages of its own, which it
 * shared with copies; here it does not. */
bool peek_memory(pid_t process, uint64_t address, void *bytes, size_t size);

/* Writes SIZE bytes, by one call, where the process itself may write. */
bool write_data(pid_t process, uint64_t address, const void *bytes, size_t size);

/* The same, also to pages that the process itself may not write. */
bool write_memory(pid_t process, uint64_t address, const void *bytes, size_t size);

/* The memory of PROCESS, for expressions. BIAS is that of the program's binary. */
struct process_memory {
    struct memory memory;
    pid_t process;
};
struct process_memory process_memory(pid_t process, uint64_t bias);

/* Returns the number by which the memory is accessed: the process's, or another thread's once the
 * first thread has ended. */
pid_t tracee_memory(const struct tracee *tracee);

bool read_tracee(const struct tracee *tracee, uint64_t address, void *bytes, size_t size);
bool write_tracee(const struct tracee *tracee, uint64_t address, const void *bytes, size_t size);

/* Releases COPY, a process of one thread with the same breakpoints, as leave_tracee does. */
void release_copy(const struct tracee *tracee, pid_t copy);

/* Releases the process, stopped, for another debugger. kill_tracee still kills it. */
void leave_tracee(struct tracee *tracee);
void kill_tracee(struct tracee *tracee);

#endif
