/* same_state.h: whether two stopped processes of the same run are at the same place.
 *
 * Between two events a run depends on nothing but its own state. So where all registers and all
 * memory are equal twice, the program would repeat the part between for ever. In a recording that
 * goes on, equal states are one place. */
#ifndef QUIPU_DEBUG_SAME_STATE_H
#define QUIPU_DEBUG_SAME_STATE_H

#include "replay/player.h"
#include "util/arena.h"
#include "util/vector.h"
#include "x86/registers.h"
#include "x86/saved_vectors.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The place of a stopped process, with which others are compared. */
struct wanted_state {
    struct arena arena;
    pid_t process;
    struct registers registers;
    bool at_call; /* its instruction is a system call, which overwrites rcx and r11 */
    struct play_stacks stacks;
    struct saved_vectors saved;
    bool knows_saved; /* they are looked for once memory is compared */
    /* Places in memory at which others differed. One look there tells most of them apart. */
    VECTOR(struct witness) witnesses;
};

struct witness {
    uint64_t address, value;
};

/* Describes PROCESS, which has STACKS, and stays where it is. Returns false if its registers cannot
 * be read. */
bool want_state(struct wanted_state *wanted, pid_t process, const struct play_stacks *stacks);
void forget_state(struct wanted_state *wanted);

/* Whether its general registers are the wanted ones, which tells most places apart. */
bool has_general_registers(const struct wanted_state *wanted, pid_t process);

/* Whether PROCESS has the wanted state. No breakpoint is in its data. */
bool has_state(struct wanted_state *wanted, pid_t process);

/* Sets ADDRESSES to at most MOST words of memory, at multiples of their size, at which PROCESS
 * differs from the wanted state. Returns their number. */
size_t find_differences(struct wanted_state *wanted, pid_t process, uint64_t *addresses,
                        size_t most);

#endif
