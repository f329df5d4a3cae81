/* state_stop.h: places in a run that have no name but the state of the thread there, and how a
 * thread is stopped at one.
 *
 * Mellor-Crummey and LeBlanc 1989, section 3, tell the passes of an instruction apart by a counter.
 * Code that counts nothing has its state: what registers and memory are. Where all of that is the
 * same, the run goes on in the same way, so it does not matter which of the passes it is. */
#ifndef QUIPU_TRACEE_STATE_STOP_H
#define QUIPU_TRACEE_STATE_STOP_H

#include "tracee/call_effects.h"
#include "tracee/memory_hash.h"
#include "x86/state_check.h"

enum {
    LEFT_OUT_MAX = 256 /* ranges */
};

struct state_place {
    struct user_regs_struct registers;
    uint64_t vectors, memory;       /* hashes */
    uint64_t last;                  /* address of the instruction that was executed last */
    address_range_list left_out;    /* of the memory */
    struct state_check_data data;   /* some of it, by which other passes are told apart quickly */
    struct quick_value quick;       /* is compared first */
    uint8_t size, bytes[MOVED_MAX]; /* of the instructions that give room to a jump; 0: none do */
};

/* Sets PLACE to that where THREAD stands, but for its instructions, the quick value, and the hash
 * of its memory. The memory that is left out is set before. EARLIER is a copy of the memory some
 * time before. Returns false if the state cannot be read. */
bool describe_state(pid_t thread, const range_list *earlier, struct state_place *place);

/* Sets the rest of it. FORMER is the pass of the instruction before, or NULL. */
bool complete_state(pid_t thread, const struct state_place *former, struct state_place *place);

/* Whether THREAD stands at PLACE. */
bool is_at_state_place(pid_t thread, const struct state_place *place);

/* A thread on its way to a place. */
struct state_stop {
    bool is_set; /* the text of the process is changed */
    uint64_t address;
    int shared;               /* the file that may be mapped there */
    struct state_check check; /* code 0: none; there is a breakpoint at the address alone */
    uint8_t changed;          /* bytes at the address that are changed */
    uint8_t bytes[MOVED_MAX]; /* that were there */
};

/* Makes THREAD, which is stopped anywhere but in front of a system call, stop at each pass of
 * PLACE's instruction, or only at those that may be PLACE. The process has other memory until
 * state_stop_end. SHARED is the file of which parts may be mapped there, where the process may not
 * write. */
void state_stop_begin(struct state_stop *stop, pid_t thread, int shared,
                      const struct state_place *place);

enum state_stopped {
    STATE_NONE,    /* it has stopped for another reason, and is in its own text */
    STATE_REACHED, /* it is stopped at the instruction, for that reason */
    STATE_ON_WAY   /* it is stopped without a reason, and is to go on */
};

/* THREAD has stopped with STATUS, of wait. The process has its own text and memory again. */
enum state_stopped state_stop_end(struct state_stop *stop, pid_t thread, int status);

#endif
