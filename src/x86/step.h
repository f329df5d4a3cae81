/* step.h: single steps that leave no trace in what the thread sees.
 *
 * The trap flag is part of the register of flags. An instruction that stores the flags would store
 * that one, too. */
#ifndef QUIPU_X86_STEP_H
#define QUIPU_X86_STEP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct single_step {
    bool is_step;      /* by PTRACE_SINGLESTEP or its like; a system call is to be continued to */
    bool pushes_flags; /* the instruction is a pushf */
    uint64_t address;  /* of the instruction */
};

/* THREAD, which is stopped, is about to be single-stepped. A call, in front of which it would stop
 * by itself, is not stepped: it would store the flags in %r11. */
struct single_step begin_step(pid_t thread);

/* THREAD has stopped behind the step. */
void finish_step(pid_t thread, const struct single_step *step);

#endif
