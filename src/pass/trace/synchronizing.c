/* synchronizing.c: functions of libraries that order threads or processes; see order.h.
 *
 * A function that only releases needs no ticket behind it, and one that only acquires none in front
 * of it. The heap hands memory from the thread that frees it to one that gets it.
 *
 * Sources: POSIX.1-2017, section 4.12, "Memory Synchronization"; the C11 library's <threads.h>; the
 * names that libstdc++, libgcc and libgomp call.
 *
 * Not perfect: functions of other libraries are not known. */
#include "pass/trace/order.h"

#include "x86/trace_order.h"

#include <string.h>

enum {
    BOTH = TICKET_IN_FRONT | TICKET_BEHIND,
    ACQUIRES = TICKET_BEHIND,
    RELEASES = TICKET_IN_FRONT,
    PREFIX = 1 << 4, /* the name is the begin of the functions' names */
    KERNEL = 1 << 5, /* it enters the kernel anyway, by which processes are ordered, too */
};

struct synchronizing_row {
    const char *name;
    unsigned what;
};

/* The first row that fits counts. */
static const struct synchronizing_row rows[] = {
    {"pthread_self", 0},
    {"pthread_equal", 0},
    {"pthread_attr_", PREFIX},
    {"pthread_mutexattr_", PREFIX},
    {"pthread_condattr_", PREFIX},
    {"pthread_getspecific", 0},
    {"pthread_setspecific", 0},
    {"pthread_mutex_init", 0},
    {"pthread_mutex_destroy", 0},
    {"pthread_mutex_unlock", RELEASES},
    {"pthread_mutex_", ACQUIRES | PREFIX},
    {"pthread_spin_unlock", RELEASES},
    {"pthread_spin_", ACQUIRES | PREFIX},
    {"pthread_rwlock_unlock", RELEASES},
    {"pthread_rwlock_", ACQUIRES | PREFIX},
    {"pthread_cond_signal", RELEASES},
    {"pthread_cond_broadcast", RELEASES},
    {"pthread_", BOTH | PREFIX},
    {"sem_post", RELEASES | KERNEL},
    {"sem_", BOTH | PREFIX | KERNEL},
    {"mtx_unlock", RELEASES},
    {"mtx_", ACQUIRES | PREFIX},
    {"cnd_", BOTH | PREFIX},
    {"thrd_", BOTH | PREFIX},
    {"call_once", BOTH},
    {"__cxa_guard_acquire", ACQUIRES},
    {"__cxa_guard_", RELEASES | PREFIX},
    {"__atomic_", BOTH | PREFIX},
    {"__sync_", BOTH | PREFIX},
    {"_ZNSt6thread", BOTH | PREFIX},              /* std::thread:: */
    {"_ZNSt18condition_variable", BOTH | PREFIX}, /* std::condition_variable:: */
    {"_ZNSt13__future_base", BOTH | PREFIX},      /* std::__future_base:: */
    {"_ZNSt28__atomic_futex_unsigned_base", BOTH | PREFIX},
    {"GOMP_", BOTH | PREFIX},
    {"omp_set_lock", ACQUIRES},
    {"omp_unset_lock", RELEASES},
    {"malloc", ACQUIRES},
    {"calloc", ACQUIRES},
    {"aligned_alloc", ACQUIRES},
    {"posix_memalign", ACQUIRES},
    {"memalign", ACQUIRES},
    {"_Znw", ACQUIRES | PREFIX}, /* operator new */
    {"_Zna", ACQUIRES | PREFIX},
    {"free", RELEASES},
    {"_Zdl", RELEASES | PREFIX}, /* operator delete */
    {"_Zda", RELEASES | PREFIX},
    {"realloc", BOTH},
    {"reallocarray", BOTH},
    /* streams have locks */
    {"fwrite", BOTH},
    {"fread", BOTH},
    {"fflush", BOTH},
    {"fgets", BOTH},
    {"getline", BOTH},
    {"fgetc", BOTH},
    {"getc", BOTH},
    {"getchar", BOTH},
    {"fputs", BOTH},
    {"puts", BOTH},
    {"fputc", BOTH},
    {"putc", BOTH},
    {"putchar", BOTH},
    {"printf", BOTH},
    {"fprintf", BOTH},
    {"vfprintf", BOTH},
    {"__printf_chk", BOTH},
    {"__fprintf_chk", BOTH},
    {"__vfprintf_chk", BOTH},
    {"flockfile", ACQUIRES},
    {"funlockfile", RELEASES},
    /* the kernel */
    {"syscall", BOTH | KERNEL},
    {"__syscall_cp_asm", BOTH | KERNEL},
    {"read", BOTH | KERNEL},
    {"write", BOTH | KERNEL},
    {"readv", BOTH | KERNEL},
    {"writev", BOTH | KERNEL},
    {"pread", BOTH | KERNEL},
    {"pwrite", BOTH | KERNEL},
    {"pread64", BOTH | KERNEL},
    {"pwrite64", BOTH | KERNEL},
    {"send", BOTH | KERNEL},
    {"sendto", BOTH | KERNEL},
    {"sendmsg", BOTH | KERNEL},
    {"recv", BOTH | KERNEL},
    {"recvfrom", BOTH | KERNEL},
    {"recvmsg", BOTH | KERNEL},
    {"accept", BOTH | KERNEL},
    {"accept4", BOTH | KERNEL},
    {"connect", BOTH | KERNEL},
    {"shutdown", BOTH | KERNEL},
    {"select", BOTH | KERNEL},
    {"pselect", BOTH | KERNEL},
    {"poll", BOTH | KERNEL},
    {"ppoll", BOTH | KERNEL},
    {"epoll_", BOTH | PREFIX | KERNEL},
    {"eventfd", BOTH | PREFIX | KERNEL},
    {"mq_", BOTH | PREFIX | KERNEL},
    {"msgsnd", BOTH | KERNEL},
    {"msgrcv", BOTH | KERNEL},
    {"semop", BOTH | KERNEL},
    {"shmat", BOTH | KERNEL},
    {"open", BOTH | KERNEL},
    {"open64", BOTH | KERNEL},
    {"openat", BOTH | KERNEL},
    {"close", BOTH | KERNEL},
    {"flock", BOTH | KERNEL},
    {"lockf", BOTH | KERNEL},
    {"fcntl", BOTH | KERNEL},
    {"fcntl64", BOTH | KERNEL},
    {"fork", BOTH | KERNEL},
    {"vfork", BOTH | KERNEL},
    {"clone", BOTH | KERNEL},
    {"posix_spawn", BOTH | PREFIX | KERNEL},
    {"system", BOTH | KERNEL},
    {"popen", BOTH | KERNEL},
    {"pclose", BOTH | KERNEL},
    {"wait", BOTH | KERNEL},
    {"wait3", BOTH | KERNEL},
    {"wait4", BOTH | KERNEL},
    {"waitid", BOTH | KERNEL},
    {"waitpid", BOTH | KERNEL},
    {"kill", BOTH | KERNEL},
    {"tgkill", BOTH | KERNEL},
    {"raise", BOTH | KERNEL},
    {"pause", BOTH | KERNEL},
    {"sigsuspend", BOTH | KERNEL},
    {"sched_yield", BOTH},
    {"nanosleep", BOTH},
    {"usleep", BOTH},
    {"sleep", BOTH},
    {"exec", BOTH | PREFIX | KERNEL},
    {"exit", RELEASES | KERNEL},
    {"_exit", RELEASES | KERNEL},
    {"_Exit", RELEASES | KERNEL},
};

static bool fits(const struct synchronizing_row *row, const char *name, size_t length) {
    size_t known = strlen(row->name);
    bool same = row->what & PREFIX ? known <= length : known == length;
    return same && memcmp(row->name, name, known) == 0;
}

struct synchronization find_synchronization(const char *name, size_t length) {
    for (size_t i = 0; length && i < sizeof rows / sizeof *rows; i++)
        if (fits(&rows[i], name, length))
            return (struct synchronization){rows[i].what & BOTH, rows[i].what & KERNEL};
    return (struct synchronization){0};
}
