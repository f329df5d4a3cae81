/* registers.h: the registers of a thread that is traced and stopped.
 *
 * The general ones alone are one system call. All of them, with those of vectors and masks, are
 * two. */
#ifndef QUIPU_X86_REGISTERS_H
#define QUIPU_X86_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

enum {
    VECTOR_BYTES = 64, /* of %zmmN, which contains %ymmN and %xmmN */
    STATUS_FLAGS =
        0x8d5, /* in the register of flags: carry, parity, adjust, zero, sign, overflow */
    CARRY_FLAG = 1 << 0,
    SIGN_FLAG = 1 << 7,
    TRAP_FLAG = 1 << 8,          /* stop behind each instruction */
    VECTOR_STATE_MAX = 16 * 1024 /* with the tiles of AMX a processor has some 11,000 bytes */
};

struct registers {
    struct user_regs_struct general;   /* also the bases of %fs and %gs */
    size_t vector_size;                /* bytes of `vectors`; 0: the kernel gives none */
    uint8_t vectors[VECTOR_STATE_MAX]; /* as xsave stores them: x87, vectors, masks, tiles */
};

/* Sets the arguments of a system call. */
static inline void put_call_arguments(struct user_regs_struct *registers,
                                      const uint64_t arguments[6]) {
    registers->rdi = arguments[0];
    registers->rsi = arguments[1];
    registers->rdx = arguments[2];
    registers->r10 = arguments[3];
    registers->r8 = arguments[4];
    registers->r9 = arguments[5];
}

/* Reads all registers of THREAD. Returns false, with errno set, if the kernel does not give
 * them. */
bool get_registers(pid_t thread, struct registers *registers);

/* Sets all registers of THREAD to what get_registers has read, from it or from a thread of the same
 * machine. Returns as above. */
bool set_registers(pid_t thread, const struct registers *registers);

/* The same for the general registers alone. */
bool get_general_registers(pid_t thread, struct user_regs_struct *registers);
bool set_general_registers(pid_t thread, const struct user_regs_struct *registers);

/* The same for one general register, by its place in the structure, such as
 * offsetof(struct user_regs_struct, rip). */
bool get_register(pid_t thread, size_t place, uint64_t *value);
bool set_register(pid_t thread, size_t place, uint64_t value);

/* Returns the general register that instructions encode as NUMBER, less than GENERAL_REGISTERS. */
uint64_t general_register(const struct user_regs_struct *registers, unsigned number);

/* Sets that register to VALUE. */
void put_general_register(struct user_regs_struct *registers, unsigned number, uint64_t value);

/* Sets the general registers in the structure to VALUES, GENERAL_REGISTERS of them in the order of
 * those numbers. */
void put_general_registers(struct user_regs_struct *registers, const uint64_t *values);

/* Sets BYTES to %zmmN, N = NUMBER < 32. A part that the processor does not have is 0. */
void vector_register(const struct registers *registers, unsigned number,
                     uint8_t bytes[VECTOR_BYTES]);

/* Set %zmmN, N = NUMBER < 32, and %kN, N = NUMBER < 8. A part that the processor does not have is
 * left out. */
void set_vector_register(struct registers *registers, unsigned number,
                         const uint8_t bytes[VECTOR_BYTES]);
void set_mask_register(struct registers *registers, unsigned number, uint64_t bits);

/* Returns the legacy region, in which the x87's state is in use from now on; or NULL. */
uint8_t *edit_legacy_region(struct registers *registers);

/* Whether the x87's registers and its and the vectors' control are the same in both. */
bool has_same_stack(const struct registers *one, const struct registers *other);

/* Sets BYTES to %st(0), ... as FXSAVE stores them, and returns how many of them are in use, one
 * behind the other. */
unsigned stack_registers(const struct registers *registers, uint8_t bytes[8][16]);

/* Returns a hash of the vectors, masks, and the x87's registers that are in use. */
uint64_t hash_vectors(const struct registers *registers);

/* Returns the bits of %kN, N = NUMBER < 8. */
uint64_t mask_register(const struct registers *registers, unsigned number);

#endif
