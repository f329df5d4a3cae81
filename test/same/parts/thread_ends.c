// Threads without a C library's help, on memory that holds their stack and their thread-local
// storage, and that they give back as they end.
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    SIZE = 1 << 18,
    STORAGE = 8192, /* below and above the thread pointer, that is copied */
    FLAGS = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
            CLONE_SETTLS | CLONE_CHILD_CLEARTID
};

long begin_thread(unsigned long flags, void *stack, void *unused, int *word, void *storage);

int ended; /* threads */

static void run_thread(void) {
    static int word;
    char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *own = __builtin_thread_pointer();
    char *storage = memory + SIZE - STORAGE;
    uint64_t *stack = (uint64_t *)(void *)(memory + SIZE / 2);
    memcpy(storage - STORAGE / 4, own - STORAGE / 4, STORAGE / 4 + 1024);
    memcpy(storage, &storage, sizeof storage);
    memcpy(storage + 16, &storage, sizeof storage);
    stack[0] = (uintptr_t)memory;
    stack[1] = SIZE;
    word = 1;
    long thread = begin_thread(FLAGS, stack, NULL, &word, storage);
    while (thread > 0 && __atomic_load_n(&word, __ATOMIC_ACQUIRE))
        syscall(SYS_futex, &word, FUTEX_WAIT, 1, NULL, NULL, 0);
    printf("%s, %d\n", thread > 0 ? "ended" : "not begun", ended);
}

int main(void) {
    for (int i = 0; i < 5; i++)
        run_thread();
    return 0;
}
