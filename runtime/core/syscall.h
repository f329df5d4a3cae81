/* syscall.h: system calls, made without the C library.
 *
 * The runtime runs inside any function of the program, in signal handlers, and between fork and the
 * program's own code. So it calls the kernel itself: errno stays unchanged, there is no
 * cancellation point, and no function can be interposed. Each function returns what the kernel
 * returns: a value, or the negative error number. */
#ifndef QUIPU_RUNTIME_CORE_SYSCALL_H
#define QUIPU_RUNTIME_CORE_SYSCALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static inline long call_kernel(long number, long a, long b, long c, long d, long e, long f) {
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

#define SYSTEM_CALL(name, a, b, c, d, e, f)                                                        \
    call_kernel(SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* Whether a pointer that mmap has returned is an error. Addresses are below the last page. */
static inline bool is_error(const void *address) {
    return (uintptr_t)address > (uintptr_t)-4096;
}

static inline void *map_memory(void *address, size_t size, int protection, int flags, int fd,
                               uint64_t offset) {
    return (void *)SYSTEM_CALL(mmap, address, size, protection, flags, fd, offset);
}

/* Blocks all signals, including those of the C library. Returns the old mask, to be restored. */
static inline uint64_t block_signals(void) {
    uint64_t all = ~(uint64_t)0, old = 0;
    SYSTEM_CALL(rt_sigprocmask, 2 /* SIG_SETMASK */, &all, &old, sizeof old, 0, 0);
    return old;
}

static inline void restore_signals(uint64_t mask) {
    SYSTEM_CALL(rt_sigprocmask, 2 /* SIG_SETMASK */, &mask, 0, sizeof mask, 0, 0);
}

/* Returns the base of %fs. It identifies threads that have thread-local storage of their own. */
static inline uint64_t thread_pointer(void) {
    uint64_t pointer;
    __asm__("movq %%fs:0, %0" : "=r"(pointer));
    return pointer;
}

/* Sends the signal to the calling thread. */
static inline void raise_signal(int number) {
    SYSTEM_CALL(tgkill, SYSTEM_CALL(getpid, 0, 0, 0, 0, 0, 0),
                SYSTEM_CALL(gettid, 0, 0, 0, 0, 0, 0), number, 0, 0, 0);
}

#endif
