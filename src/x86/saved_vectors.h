/* saved_vectors.h: the vectors that the loader saves on the stack while it binds a function.
 *
 * Its xsavec leaves out components whose registers are all 0, if the processor knows that;
 * otherwise it stores zeros. Whether the processor knows depends on switches of context, so two
 * processes at the same place may have other bytes there. None of them are read: the area's header
 * tells which components are stored. */
#ifndef QUIPU_X86_SAVED_VECTORS_H
#define QUIPU_X86_SAVED_VECTORS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

struct saved_vectors {
    uint64_t start, end; /* equal: there are none */
    bool is_written;     /* false: xsavec comes yet, and all of it is dead */
    uint64_t stored, asked;
};

/* Finds those of the thread PROCESS, which is stopped with REGISTERS. */
void find_saved_vectors(pid_t process, const struct user_regs_struct *registers,
                        struct saved_vectors *saved);

bool is_in_saved_vectors(const struct saved_vectors *saved, uint64_t address);

/* Whether the word at ADDRESS, a multiple of its size, may differ in ONE, which has SAVED, and
 * OTHER where both have the same vectors. Where all words that differ are such ones, they have. */
bool is_same_saved_vector(const struct saved_vectors *saved, pid_t one, pid_t other,
                          uint64_t address);

#endif
