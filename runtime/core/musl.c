/* musl.c: fork, for programs that are linked with a C library that 'quipu libc --build' has made.
 *
 * In glibc, the runtime's handlers are the last that run before the system call and the first that
 * run behind it (fork.c). Then the child runs no counted code before it has data of its own. An
 * instrumented C library has code between its handlers and the system call. So its _Fork calls
 * quipu_musl_fork instead of the kernel, and the runtime in such a program calls quipu_musl_atfork
 * instead of pthread_atfork, which share/build-libc arranges. Nothing else refers to this file.
 *
 * _Fork has blocked all signals. The first handlers are registered by the constructor, the others
 * when a thread is the only one or holds a lock of the feature's. */
#include "runtime/core/syscall.h"

#include <errno.h>

enum {
    HANDLERS_MOST = 8 /* of the runtime; each feature has at most one */
};

static struct { void (*prepare)(void), (*parent)(void), (*child)(void); } handlers[HANDLERS_MOST];
static uint32_t count;

int quipu_musl_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
long quipu_musl_fork(void);

/* As pthread_atfork. */
int quipu_musl_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void)) {
    if (count == HANDLERS_MOST)
        return ENOMEM;
    handlers[count].prepare = prepare;
    handlers[count].parent = parent;
    handlers[count].child = child;
    __atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);
    return 0;
}

/* Makes the system call fork, with the handlers around it. Returns what the kernel returns. */
long quipu_musl_fork(void) {
    uint32_t known = __atomic_load_n(&count, __ATOMIC_ACQUIRE);
    for (uint32_t i = known; i-- > 0;)
        if (handlers[i].prepare)
            handlers[i].prepare();
    long pid = SYSTEM_CALL(fork, 0, 0, 0, 0, 0, 0);
    for (uint32_t i = 0; i < known; i++) {
        void (*handler)(void) = pid == 0 ? handlers[i].child : handlers[i].parent;
        if (handler)
            handler();
    }
    return pid;
}
