/* system_calls.h: the table of system calls of x86-64 Linux: what they read and write in the
 * program's memory, and whether they can be repeated. A row is a call's only description.
 *
 * Extents are those of format/watch_callees.h and measures those of format/trace_measures.h, with
 * numbers of the call's arguments. An argument behind the address of a QE_RESULT is the size of the
 * memory there. Rows are sorted by number. Of the rows of one number the first one counts whose
 * condition holds; if none does, the call counts as one that the table does not have.
 *
 * Not perfect: what the kernel reads and writes at other times (set_tid_address, robust lists,
 * signals) is not the call's. Sources: man-pages 6.03, sections 2 and 3; the kernel's own headers.
 *
 * Both readers and the runtime read this file. */
#ifndef QUIPU_FORMAT_SYSTEM_CALLS_H
#define QUIPU_FORMAT_SYSTEM_CALLS_H

#include "format/trace_measures.h"
#include "format/watch_callees.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

/* How a part of a run that makes the call can be repeated. */
enum quipu_call_repeats {
    QUIPU_CALL_ONCE = 0,  /* it cannot */
    QUIPU_CALL_GIVEN = 1, /* the call's effects are outside the process, or in the memory that its
                           * row describes */
    QUIPU_CALL_AGAIN = 2, /* it changes only the process's own memory and state, so it is made
                           * again */
    /* As QUIPU_CALL_ONCE, and a recording (src/replay) cannot give its effects either: */
    QUIPU_CALL_MAPS = 3,   /* it maps a file, or memory that is shared */
    QUIPU_CALL_APART = 4,  /* another thread, process or program begins */
    QUIPU_CALL_ABSENT = 5, /* others write its memory later, or something else that is not recorded:
                            * a recorded program is told that the kernel lacks it */
};

enum {
    QUIPU_CALL_ACCESSES = 4, /* of a row, at most */
    QUIPU_CALL_ARGUMENTS = 6
};

struct quipu_system_call {
    uint16_t number;
    uint8_t repeats;  /* enum quipu_call_repeats */
    uint8_t argument; /* the condition: these bits of the argument have this value */
    uint32_t mask, value;
    uint32_t accesses[QUIPU_CALL_ACCESSES]; /* extents; 0: none */
    uint32_t measures[QUIPU_MEASURES_MOST];
};

/* An access of a row: it reads. */
#define QUIPU_CALL_READS 0x80000000u

#define QC_READS(extent)             (QUIPU_CALL_READS | (extent))
#define QC_READS_CONSTANT(p, c)      QC_READS(QE_CONSTANT(p, c))
#define QC_READS_BYTES(p, a)         QC_READS(QE_BYTES(p, a))
#define QC_SETS(p, c)                (QE_CONSTANT(p, c) | QE_ZERO)
#define QC_ADDRESS(p)                (QE_POINTED(p, (p) + 1) | QE_CHANGED) /* its size is behind it */
#define QC_SIZE(p)                   (QE_CONSTANT(p, 4) | QE_CHANGED)
#define QC_IF(argument, mask, value) (argument, mask, value)
#define QC_IS(argument, value)       (argument, 0xffffffffu, value)
#define QC_ANY                       (0, 0, 0)
#define QC(...)                      (__VA_ARGS__)
#define QC_NO                        (0)
#define QC_LIST(...)                 __VA_ARGS__

/* ROW(name, repeats, condition, accesses, measures) */
/* clang-format off */
#define QUIPU_SYSTEM_CALLS(ROW) \
    ROW(read, GIVEN, QC_ANY, QC(QE_RESULT(1, 1)), QC_NO) \
    ROW(write, GIVEN, QC_ANY, QC(QC_READS(QE_RESULT(1, 1))), QC_NO) \
    ROW(open, GIVEN, QC_ANY, QC_NO, QC(QM_PATH(0))) \
    ROW(close, GIVEN, QC_ANY, QC_NO, QC_NO) \
    ROW(stat, GIVEN, QC_ANY, QC(QE_STAT(1)), QC(QM_PATH(0))) \
    ROW(fstat, GIVEN, QC_ANY, QC(QE_STAT(1)), QC_NO) \
    ROW(lstat, GIVEN, QC_ANY, QC(QE_STAT(1)), QC(QM_PATH(0))) \
    ROW(poll, GIVEN, QC_ANY, QC(QC_READS(QE_TIMES(0, 1, 8)), QE_TIMES(0, 1, 8) | QE_CHANGED), QC_NO) \
    ROW(lseek, GIVEN, QC_ANY, QC_NO, QC_NO) \
    ROW(mmap, AGAIN, QC_IF(3, 0x22, 0x22) /* private, anonymous */, QC_NO, QC_NO) \
    ROW(mmap, MAPS, QC_ANY, QC_NO, QC_NO) \
    ROW(mprotect, AGAIN, QC_ANY, QC_NO, QC_NO) \
    ROW(munmap, AGAIN, QC_ANY, QC_NO, QC_NO) \
    ROW(brk, AGAIN, QC_ANY, QC_NO, QC_NO) \
    ROW(rt_sigaction, AGAIN, QC_ANY, QC(QC_READS_CONSTANT(1, 32), QC_SETS(2, 32)), QC_NO) \
    ROW(rt_sigprocmask, AGAIN, QC_ANY, QC(QC_READS_BYTES(1, 3), QE_BYTES(2, 3) | QE_ZERO), QC_NO) \
    ROW(rt_sigreturn, AGAIN, QC_ANY, QC_NO, QC_NO) \
    ROW(ioctl, GIVEN, QC_IS(1, 0x5401) /* TCGETS */, QC(QC_SETS(2, 36)), QC_NO) \
    ROW(ioctl, GIVEN, QC_IS(1, 0x5413) /* TIOCGWINSZ */, QC(QC_SETS(2, 8)), QC_NO) \
    ROW(ioctl, ONCE, QC_IF(1, 0xfffffffeu, 0x5402) /* TCSETS, TCSETSW */, QC_NO, QC_NO) \
    ROW(ioctl, ONCE, QC_IS(1, 0x5404) /* TCSETSF */, QC_NO, QC_NO) \
    ROW(ioctl, ONCE, QC_IS(1, 0x540e) /* TIOCSCTTY */, QC_NO, QC_NO) \
    ROW(ioctl, ONCE, QC_IS(1, 0x540f) /* TIOCGPGRP */, QC(QC_SETS(2, 4)), QC_NO) \
    ROW(ioctl, ONCE, QC_IS(1, 0x5410) /* TIOCSPGRP */, QC(QC_READS_CONSTANT(2, 4)), QC_NO) \
    ROW(ioctl, ONCE, QC_IS(1, 0x5414) /* TIOCSWINSZ */, QC(QC_READS_CONSTANT(2, 8)), QC_NO) \
    ROW(ioctl, ONCE, QC_IS(1, 0x541b) /* FIONREAD */, QC(QC_SETS(2, 4)), QC_NO) \
    ROW(ioctl, ONCE, QC_IS(1, 0x5421) /* FIONBIO */, QC(QC_READS_CONSTANT(2, 4)), QC_NO) \
    ROW(ioctl, ONCE, QC_IF(1, 0xfffffffeu, 0x5450) /* FIONCLEX, FIOCLEX */, QC_NO, QC_NO) \
    ROW(pread64, GIVEN, QC_ANY, QC(QE_RESULT(1, 1)), QC_NO) \
    ROW(pwrite64, GIVEN, QC_ANY, QC(QC_READS(QE_RESULT(1, 1))), QC_NO) \
    ROW(readv, ONCE, QC_ANY, QC_NO, QC(QM_VECTOR(1, 2) | QM_WRITES)) \
    ROW(writev, GIVEN, QC_ANY, QC_NO, QC(QM_VECTOR(1, 2))) \
    ROW(access, GIVEN, QC_ANY, QC_NO, QC(QM_PATH(0))) \
    ROW(pipe, GIVEN, QC_ANY, QC(QC_SETS(0, 8)), QC_NO) \
    ROW(select, ONCE, QC_IF(0, 0xfffffc00u, 0) /* descriptors below FD_SETSIZE */, \
        QC(QE_CONSTANT(1, 128) | QE_CHANGED, QE_CONSTANT(2, 128) | QE_CHANGED, QE_CONSTANT(3, 128) | QE_CHANGED, \
           QE_CONSTANT(4, 16) | QE_CHANGED), QC_NO) \
    ROW(sched_yield, GIVEN, QC_ANY, QC_NO, QC_NO) \
    ROW(mremap, AGAIN, QC_ANY, QC_NO, QC_NO) \
    ROW(msync, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(madvise, ABSENT, QC_IS(2, 8) /* MADV_FREE */, QC_NO, QC_NO) \
    ROW(madvise, AGAIN, QC_ANY, QC_NO, QC_NO) \
    ROW(shmget, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(shmat, MAPS, QC_ANY, QC_NO, QC_NO) \
    ROW(shmctl, ONCE, QC_IS(1, 0) /* IPC_RMID */, QC_NO, QC_NO) \
    ROW(shmctl, ONCE, QC_IS(1, 1) /* IPC_SET */, QC(QC_READS_CONSTANT(2, 112)), QC_NO) \
    ROW(shmctl, ONCE, QC_IS(1, 2) /* IPC_STAT */, QC(QC_SETS(2, 112)), QC_NO) \
    ROW(dup, GIVEN, QC_ANY, QC_NO, QC_NO) \
    ROW(dup2, GIVEN, QC_ANY, QC_NO, QC_NO) \
    ROW(pause, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(nanosleep, GIVEN, QC_ANY, QC(QC_READS_CONSTANT(0, 16), QE_CONSTANT(1, 16) | QE_CHANGED), QC_NO) \
    ROW(getitimer, GIVEN, QC_ANY, QC(QC_SETS(1, 32)), QC_NO) \
    ROW(alarm, GIVEN, QC_ANY, QC_NO, QC_NO) \
    ROW(setitimer, GIVEN, QC_ANY, QC(QC_READS_CONSTANT(1, 32), QC_SETS(2, 32)), QC_NO) \
    ROW(getpid, GIVEN, QC_ANY, QC_NO, QC_NO) \
    ROW(sendfile, ONCE, QC_ANY, QC(QC_READS_CONSTANT(2, 8), QE_CONSTANT(2, 8) | QE_CHANGED), QC_NO) \
    ROW(socket, GIVEN, QC_ANY, QC_NO, QC_NO) \
    ROW(connect, GIVEN, QC_ANY, QC(QC_READS_BYTES(1, 2)), QC_NO) \
    ROW(accept, ONCE, QC_ANY, QC(QC_READS_CONSTANT(2, 4), QC_ADDRESS(1), QC_SIZE(2)), QC_NO) \
    ROW(sendto, GIVEN, QC_ANY, QC(QC_READS(QE_RESULT(1, 1)), QC_READS_BYTES(4, 5)), QC_NO) \
    ROW(recvfrom, GIVEN, QC_IS(4, 0), QC(QE_RESULT(1, 1)), QC_NO) \
    ROW(recvfrom, ONCE, QC_ANY, QC(QC_READS_CONSTANT(5, 4), QE_RESULT(1, 1), QC_ADDRESS(4), QC_SIZE(5)), \
        QC_NO) \
    ROW(sendmsg, ONCE, QC_ANY, QC_NO, QC(QM_MESSAGE(1))) \
    ROW(recvmsg, ONCE, QC_ANY, QC_NO, QC(QM_MESSAGE(1) | QM_WRITES)) \
    ROW(shutdown, GIVEN, QC_ANY, QC_NO, QC_NO) \
    ROW(bind, GIVEN, QC_ANY, QC(QC_READS_BYTES(1, 2)), QC_NO) \
    ROW(listen, GIVEN, QC_ANY, QC_NO, QC_NO) \
    ROW(getsockname, ONCE, QC_ANY, QC(QC_READS_CONSTANT(2, 4), QC_ADDRESS(1), QC_SIZE(2)), QC_NO) \
    ROW(getpeername, ONCE, QC_ANY, QC(QC_READS_CONSTANT(2, 4), QC_ADDRESS(1), QC_SIZE(2)), QC_NO) \
    ROW(socketpair, ONCE, QC_ANY, QC(QC_SETS(3, 8)), QC_NO) \
    ROW(setsockopt, GIVEN, QC_ANY, QC(QC_READS_BYTES(3, 4)), QC_NO) \
    ROW(getsockopt, ONCE, QC_ANY, QC(QC_READS_CONSTANT(4, 4), QC_ADDRESS(3), QC_SETS(4, 4)), QC_NO) \
    ROW(clone, APART, QC_ANY, QC_NO, QC_NO) \
    ROW(fork, APART, QC_ANY, QC_NO, QC_NO) \
    ROW(vfork, APART, QC_ANY, QC_NO, QC_NO) \
    ROW(execve, APART, QC_ANY, QC_NO, QC(QM_PATH(0), QM_WORDS(1), QM_WORDS(2))) \
    ROW(exit, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(wait4, GIVEN, QC_ANY, QC(QE_CONSTANT(1, 4) | QE_CHANGED, QE_CONSTANT(3, 144) | QE_CHANGED), QC_NO) \
    ROW(kill, GIVEN, QC_ANY, QC_NO, QC_NO) \
    ROW(uname, GIVEN, QC_ANY, QC(QC_SETS(0, 390)), QC_NO) \
    ROW(semget, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(semop, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(semctl, ONCE, QC_IS(2, 0) /* IPC_RMID */, QC_NO, QC_NO) \
    ROW(semctl, ONCE, QC_IS(2, 2) /* IPC_STAT */, QC(QC_SETS(3, 104)), QC_NO) \
    ROW(semctl, ONCE, QC_IS(2, 11) /* GETPID */, QC_NO, QC_NO) \
    ROW(semctl, ONCE, QC_IS(2, 12) /* GETVAL */, QC_NO, QC_NO) \
    ROW(semctl, ONCE, QC_IF(2, 0xfffffffeu, 14) /* GETNCNT, GETZCNT */, QC_NO, QC_NO) \
    ROW(semctl, ONCE, QC_IS(2, 16) /* SETVAL */, QC_NO, QC_NO) \
    ROW(shmdt, MAPS, QC_ANY, QC_NO, QC_NO) \
    ROW(msgget, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(msgsnd, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(msgctl, ONCE, QC_IS(1, 0) /* IPC_RMID */, QC_NO, QC_NO) \
    ROW(msgctl, ONCE, QC_IS(1, 2) /* IPC_STAT */, QC(QC_SETS(2, 120)), QC_NO) \
    ROW(fcntl, GIVEN, QC_IF(1, 0xfffffffcu, 0) /* F_DUPFD to F_GETFL */, QC_NO, QC_NO) \
    ROW(fcntl, GIVEN, QC_IS(1, 4) /* F_SETFL */, QC_NO, QC_NO) \
    ROW(fcntl, GIVEN, QC_IS(1, 1030) /* F_DUPFD_CLOEXEC */, QC_NO, QC_NO) \
    ROW(fcntl, ONCE, QC_IS(1, 5) /* F_GETLK */, QC(QC_READS_CONSTANT(2, 32), QC_SETS(2, 32)), QC_NO) \
    ROW(fcntl, ONCE, QC_IF(1, 0xfffffffeu, 6) /* F_SETLK, F_SETLKW */, QC(QC_READS_CONSTANT(2, 32)), \
        QC_NO) \
    ROW(flock, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(fsync, GIVEN, QC_ANY, QC_NO, QC_NO) \
    ROW(fdatasync, GIVEN, QC_ANY, QC_NO, QC_NO) \
    ROW(truncate, ONCE, QC_ANY, QC_NO, QC(QM_PATH(0))) \
    ROW(ftruncate, GIVEN, QC_ANY, QC_NO, QC_NO) \
    ROW(getdents, ONCE, QC_ANY, QC(QE_RESULT(1, 1)), QC_NO) \
    ROW(getcwd, GIVEN, QC_ANY, QC(QE_RESULT(0, 1)), QC_NO) \
    ROW(chdir, GIVEN, QC_ANY, QC_NO, QC(QM_PATH(0))) \
    ROW(fchdir, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(rename, GIVEN, QC_ANY, QC_NO, QC(QM_PATH(0), QM_PATH(1))) \
    ROW(mkdir, GIVEN, QC_ANY, QC_NO, QC(QM_PATH(0))) \
    ROW(rmdir, GIVEN, QC_ANY, QC_NO, QC(QM_PATH(0))) \
    ROW(creat, GIVEN, QC_ANY, QC_NO, QC(QM_PATH(0))) \
    ROW(link, ONCE, QC_ANY, QC_NO, QC(QM_PATH(0), QM_PATH(1))) \
    ROW(unlink, GIVEN, QC_ANY, QC_NO, QC(QM_PATH(0))) \
    ROW(symlink, ONCE, QC_ANY, QC_NO, QC(QM_PATH(0), QM_PATH(1))) \
    ROW(readlink, GIVEN, QC_ANY, QC(QE_RESULT(1, 1)), QC(QM_PATH(0))) \
    ROW(chmod, ONCE, QC_ANY, QC_NO, QC(QM_PATH(0))) \
    ROW(fchmod, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(chown, ONCE, QC_ANY, QC_NO, QC(QM_PATH(0))) \
    ROW(fchown, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(lchown, ONCE, QC_ANY, QC_NO, QC(QM_PATH(0))) \
    ROW(umask, GIVEN, QC_ANY, QC_NO, QC_NO) \
    ROW(gettimeofday, GIVEN, QC_ANY, QC(QC_SETS(0, 16), QC_SETS(1, 8)), QC_NO) \
    ROW(getrlimit, GIVEN, QC_ANY, QC(QC_SETS(1, 16)), QC_NO) \
    ROW(getrusage, GIVEN, QC_ANY, QC(QC_SETS(1, 144)), QC_NO) \
    ROW(sysinfo, GIVEN, QC_ANY, QC(QC_SETS(0, 112)), QC_NO) \
    ROW(times, GIVEN, QC_ANY, QC(QE_CONSTANT(0, 32)), QC_NO) \
    ROW(ptrace, ABSENT, QC_ANY, QC_NO, QC_NO) \
    ROW(getuid, GIVEN, QC_ANY, QC_NO, QC_NO) \
    ROW(getgid, GIVEN, QC_ANY, QC_NO, QC_NO) \
    ROW(setuid, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(setgid, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(geteuid, GIVEN, QC_ANY, QC_NO, QC_NO) \
    ROW(getegid, GIVEN, QC_ANY, QC_NO, QC_NO) \
    ROW(setpgid, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(getppid, GIVEN, QC_ANY, QC_NO, QC_NO) \
    ROW(getpgrp, GIVEN, QC_ANY, QC_NO, QC_NO) \
    ROW(setsid, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(setreuid, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(setregid, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(getgroups, ONCE, QC_IS(0, 0), QC_NO, QC_NO) \
    ROW(getgroups, ONCE, QC_ANY, QC(QE_RESULT(1, 4)), QC_NO) \
    ROW(setgroups, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(setresuid, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(getresuid, ONCE, QC_ANY, QC(QC_SETS(0, 4), QC_SETS(1, 4), QC_SETS(2, 4)), QC_NO) \
    ROW(setresgid, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(getresgid, ONCE, QC_ANY, QC(QC_SETS(0, 4), QC_SETS(1, 4), QC_SETS(2, 4)), QC_NO) \
    ROW(getpgid, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(setfsuid, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(setfsgid, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(getsid, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(rt_sigpending, ONCE, QC_ANY, QC(QE_BYTES(0, 1) | QE_ZERO), QC_NO) \
    ROW(rt_sigtimedwait, ONCE, QC_ANY, \
        QC(QC_READS_BYTES(0, 3), QC_READS_CONSTANT(2, 16), QE_CONSTANT(1, 128) | QE_CHANGED), QC_NO) \
    ROW(rt_sigqueueinfo, ONCE, QC_ANY, QC(QC_READS_CONSTANT(2, 128)), QC_NO) \
    ROW(rt_sigsuspend, ONCE, QC_ANY, QC(QC_READS_BYTES(0, 1)), QC_NO) \
    ROW(sigaltstack, AGAIN, QC_ANY, QC(QC_READS_CONSTANT(0, 24), QC_SETS(1, 24)), QC_NO) \
    ROW(utime, ONCE, QC_ANY, QC(QC_READS_CONSTANT(1, 16)), QC(QM_PATH(0))) \
    ROW(mknod, ONCE, QC_ANY, QC_NO, QC(QM_PATH(0))) \
    ROW(personality, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(statfs, ONCE, QC_ANY, QC(QC_SETS(1, 120)), QC(QM_PATH(0))) \
    ROW(fstatfs, ONCE, QC_ANY, QC(QC_SETS(1, 120)), QC_NO) \
    ROW(getpriority, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(setpriority, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(sched_setparam, ONCE, QC_ANY, QC(QC_READS_CONSTANT(1, 4)), QC_NO) \
    ROW(sched_getparam, ONCE, QC_ANY, QC(QC_SETS(1, 4)), QC_NO) \
    ROW(sched_setscheduler, ONCE, QC_ANY, QC(QC_READS_CONSTANT(2, 4)), QC_NO) \
    ROW(sched_getscheduler, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(sched_get_priority_max, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(sched_get_priority_min, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(sched_rr_get_interval, ONCE, QC_ANY, QC(QC_SETS(1, 16)), QC_NO) \
    ROW(mlock, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(munlock, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(mlockall, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(munlockall, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(modify_ldt, ABSENT, QC_ANY, QC_NO, QC_NO) \
    ROW(prctl, ONCE, QC_IS(0, 1) /* PR_SET_PDEATHSIG */, QC_NO, QC_NO) \
    ROW(prctl, GIVEN, QC_IS(0, 2) /* PR_GET_PDEATHSIG */, QC(QC_SETS(1, 4)), QC_NO) \
    ROW(prctl, GIVEN, QC_IS(0, 3) /* PR_GET_DUMPABLE */, QC_NO, QC_NO) \
    ROW(prctl, ONCE, QC_IS(0, 4) /* PR_SET_DUMPABLE */, QC_NO, QC_NO) \
    ROW(prctl, GIVEN, QC_IS(0, 7) /* PR_GET_KEEPCAPS */, QC_NO, QC_NO) \
    ROW(prctl, ONCE, QC_IS(0, 8) /* PR_SET_KEEPCAPS */, QC_NO, QC_NO) \
    ROW(prctl, ONCE, QC_IS(0, 15) /* PR_SET_NAME */, QC_NO, QC(QM_PATH(1))) \
    ROW(prctl, GIVEN, QC_IS(0, 16) /* PR_GET_NAME */, QC(QC_SETS(1, 16)), QC_NO) \
    ROW(prctl, GIVEN, QC_IS(0, 21) /* PR_GET_SECCOMP */, QC_NO, QC_NO) \
    ROW(prctl, GIVEN, QC_IS(0, 23) /* PR_CAPBSET_READ */, QC_NO, QC_NO) \
    ROW(prctl, ONCE, QC_IS(0, 24) /* PR_CAPBSET_DROP */, QC_NO, QC_NO) \
    ROW(prctl, GIVEN, QC_IS(0, 25) /* PR_GET_TSC */, QC(QC_SETS(1, 4)), QC_NO) \
    ROW(prctl, ABSENT, QC_IS(0, 26) /* PR_SET_TSC */, QC_NO, QC_NO) \
    ROW(prctl, GIVEN, QC_IS(0, 27) /* PR_GET_SECUREBITS */, QC_NO, QC_NO) \
    ROW(prctl, ONCE, QC_IF(0, 0xfffffffeu, 28) /* PR_SET_SECUREBITS, PR_SET_TIMERSLACK */, QC_NO, QC_NO) \
    ROW(prctl, GIVEN, QC_IS(0, 30) /* PR_GET_TIMERSLACK */, QC_NO, QC_NO) \
    ROW(prctl, ONCE, QC_IS(0, 36) /* PR_SET_CHILD_SUBREAPER */, QC_NO, QC_NO) \
    ROW(prctl, GIVEN, QC_IS(0, 37) /* PR_GET_CHILD_SUBREAPER */, QC(QC_SETS(1, 4)), QC_NO) \
    ROW(prctl, ONCE, QC_IF(0, 0xfffffffeu, 38) /* PR_SET_NO_NEW_PRIVS, PR_GET_NO_NEW_PRIVS */, QC_NO, QC_NO) \
    ROW(prctl, GIVEN, QC_IS(0, 40) /* PR_GET_TID_ADDRESS */, QC(QC_SETS(1, 8)), QC_NO) \
    ROW(prctl, ABSENT, QC_IS(0, 59) /* PR_SET_SYSCALL_USER_DISPATCH */, QC_NO, QC_NO) \
    ROW(prctl, ONCE, QC_IS(0, 0x53564d41) /* PR_SET_VMA */, QC_NO, QC_NO) \
    ROW(prctl, ONCE, QC_IS(0, 0x59616d61) /* PR_SET_PTRACER */, QC_NO, QC_NO) \
    ROW(arch_prctl, AGAIN, QC_IS(0, 0x1001) /* ARCH_SET_GS */, QC_NO, QC_NO) \
    ROW(arch_prctl, AGAIN, QC_IS(0, 0x1002) /* ARCH_SET_FS */, QC_NO, QC_NO) \
    ROW(arch_prctl, AGAIN, QC_IS(0, 0x1003) /* ARCH_GET_FS */, QC(QC_SETS(1, 8)), QC_NO) \
    ROW(arch_prctl, AGAIN, QC_IS(0, 0x1004) /* ARCH_GET_GS */, QC(QC_SETS(1, 8)), QC_NO) \
    ROW(arch_prctl, AGAIN, QC_IS(0, 0x1021) /* ARCH_GET_XCOMP_SUPP */, QC(QC_SETS(1, 8)), QC_NO) \
    ROW(arch_prctl, AGAIN, QC_IS(0, 0x1022) /* ARCH_GET_XCOMP_PERM */, QC(QC_SETS(1, 8)), QC_NO) \
    ROW(arch_prctl, AGAIN, QC_IS(0, 0x1024) /* ARCH_GET_XCOMP_GUEST_PERM */, QC(QC_SETS(1, 8)), QC_NO) \
    ROW(arch_prctl, AGAIN, QC_IF(0, 0xfffffffdu, 0x4001) /* ARCH_GET_UNTAG_MASK, ARCH_GET_MAX_TAG_BITS */, \
        QC(QC_SETS(1, 8)), QC_NO) \
    ROW(arch_prctl, AGAIN, QC_IS(0, 0x5005) /* ARCH_SHSTK_STATUS */, QC(QC_SETS(1, 8)), QC_NO) \
    ROW(arch_prctl, AGAIN, QC_ANY, QC_NO, QC_NO) \
    ROW(setrlimit, ONCE, QC_ANY, QC(QC_READS_CONSTANT(1, 16)), QC_NO) \
    ROW(chroot, ONCE, QC_ANY, QC_NO, QC(QM_PATH(0))) \
    ROW(sync, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(sethostname, ONCE, QC_ANY, QC(QC_READS_BYTES(0, 1)), QC_NO) \
    ROW(setdomainname, ONCE, QC_ANY, QC(QC_READS_BYTES(0, 1)), QC_NO) \
    ROW(gettid, GIVEN, QC_ANY, QC_NO, QC_NO) \
    ROW(readahead, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(setxattr, ONCE, QC_ANY, QC(QC_READS_BYTES(2, 3)), QC(QM_PATH(0), QM_PATH(1))) \
    ROW(lsetxattr, ONCE, QC_ANY, QC(QC_READS_BYTES(2, 3)), QC(QM_PATH(0), QM_PATH(1))) \
    ROW(fsetxattr, ONCE, QC_ANY, QC(QC_READS_BYTES(2, 3)), QC(QM_PATH(1))) \
    ROW(getxattr, ONCE, QC_IS(3, 0), QC_NO, QC(QM_PATH(0), QM_PATH(1))) \
    ROW(getxattr, ONCE, QC_ANY, QC(QE_RESULT(2, 1)), QC(QM_PATH(0), QM_PATH(1))) \
    ROW(lgetxattr, ONCE, QC_IS(3, 0), QC_NO, QC(QM_PATH(0), QM_PATH(1))) \
    ROW(lgetxattr, ONCE, QC_ANY, QC(QE_RESULT(2, 1)), QC(QM_PATH(0), QM_PATH(1))) \
    ROW(fgetxattr, ONCE, QC_IS(3, 0), QC_NO, QC_NO) \
    ROW(fgetxattr, ONCE, QC_ANY, QC(QE_RESULT(2, 1)), QC_NO) \
    ROW(listxattr, ONCE, QC_IS(2, 0), QC_NO, QC(QM_PATH(0))) \
    ROW(listxattr, ONCE, QC_ANY, QC(QE_RESULT(1, 1)), QC(QM_PATH(0))) \
    ROW(llistxattr, ONCE, QC_IS(2, 0), QC_NO, QC(QM_PATH(0))) \
    ROW(llistxattr, ONCE, QC_ANY, QC(QE_RESULT(1, 1)), QC(QM_PATH(0))) \
    ROW(flistxattr, ONCE, QC_IS(2, 0), QC_NO, QC_NO) \
    ROW(flistxattr, ONCE, QC_ANY, QC(QE_RESULT(1, 1)), QC_NO) \
    ROW(removexattr, ONCE, QC_ANY, QC_NO, QC(QM_PATH(0), QM_PATH(1))) \
    ROW(lremovexattr, ONCE, QC_ANY, QC_NO, QC(QM_PATH(0), QM_PATH(1))) \
    ROW(fremovexattr, ONCE, QC_ANY, QC_NO, QC(QM_PATH(1))) \
    ROW(tkill, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(time, GIVEN, QC_ANY, QC(QE_CONSTANT(0, 8)), QC_NO) \
    ROW(futex, GIVEN, QC_IF(1, 0x7f, 0) /* FUTEX_WAIT */, \
        QC(QC_READS_CONSTANT(0, 4), QC_READS_CONSTANT(3, 16)), QC_NO) \
    ROW(futex, GIVEN, QC_IF(1, 0x7f, 1) /* FUTEX_WAKE */, QC_NO, QC_NO) \
    ROW(futex, ONCE, QC_IF(1, 0x7f, 3) /* FUTEX_REQUEUE */, QC_NO, QC_NO) \
    ROW(futex, ONCE, QC_IF(1, 0x7f, 4) /* FUTEX_CMP_REQUEUE */, QC(QC_READS_CONSTANT(0, 4)), QC_NO) \
    ROW(futex, ONCE, QC_IF(1, 0x7f, 9) /* FUTEX_WAIT_BITSET */, \
        QC(QC_READS_CONSTANT(0, 4), QC_READS_CONSTANT(3, 16)), QC_NO) \
    ROW(futex, ONCE, QC_IF(1, 0x7f, 10) /* FUTEX_WAKE_BITSET */, QC_NO, QC_NO) \
    ROW(futex, ONCE, QC_IF(1, 0x7f, 5) /* FUTEX_WAKE_OP */, QC(QE_CONSTANT(4, 4) | QE_CHANGED), QC_NO) \
    ROW(futex, ONCE, QC_IF(1, 0x7f, 6) /* FUTEX_LOCK_PI */, QC(QE_CONSTANT(0, 4) | QE_CHANGED), QC_NO) \
    ROW(futex, ONCE, QC_IF(1, 0x7f, 7) /* FUTEX_UNLOCK_PI */, QC(QE_CONSTANT(0, 4) | QE_CHANGED), QC_NO) \
    ROW(futex, ONCE, QC_IF(1, 0x7f, 8) /* FUTEX_TRYLOCK_PI */, QC(QE_CONSTANT(0, 4) | QE_CHANGED), QC_NO) \
    ROW(futex, ONCE, QC_IF(1, 0x7f, 11) /* FUTEX_WAIT_REQUEUE_PI */, QC(QE_CONSTANT(4, 4) | QE_CHANGED), QC_NO) \
    ROW(futex, ONCE, QC_IF(1, 0x7f, 12) /* FUTEX_CMP_REQUEUE_PI */, QC(QE_CONSTANT(4, 4) | QE_CHANGED), QC_NO) \
    ROW(futex, ONCE, QC_IF(1, 0x7f, 13) /* FUTEX_LOCK_PI2 */, QC(QE_CONSTANT(0, 4) | QE_CHANGED), QC_NO) \
    ROW(sched_setaffinity, ONCE, QC_ANY, QC(QC_READS_BYTES(2, 1)), QC_NO) \
    ROW(sched_getaffinity, ONCE, QC_ANY, QC(QE_BYTES(2, 1) | QE_CHANGED), QC_NO) \
    ROW(io_setup, ABSENT, QC_ANY, QC_NO, QC_NO) \
    ROW(epoll_create, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(remap_file_pages, ABSENT, QC_ANY, QC_NO, QC_NO) \
    ROW(getdents64, GIVEN, QC_ANY, QC(QE_RESULT(1, 1)), QC_NO) \
    ROW(set_tid_address, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(semtimedop, ONCE, QC_ANY, QC(QC_READS_CONSTANT(3, 16)), QC_NO) \
    ROW(fadvise64, GIVEN, QC_ANY, QC_NO, QC_NO) \
    ROW(timer_create, ONCE, QC_ANY, QC(QC_READS_CONSTANT(1, 64), QC_SETS(2, 4)), QC_NO) \
    ROW(timer_settime, ONCE, QC_ANY, QC(QC_READS_CONSTANT(2, 32), QC_SETS(3, 32)), QC_NO) \
    ROW(timer_gettime, ONCE, QC_ANY, QC(QC_SETS(1, 32)), QC_NO) \
    ROW(timer_getoverrun, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(timer_delete, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(clock_settime, ONCE, QC_ANY, QC(QC_READS_CONSTANT(1, 16)), QC_NO) \
    ROW(clock_gettime, GIVEN, QC_ANY, QC(QE_TIME(1)), QC_NO) \
    ROW(clock_getres, GIVEN, QC_ANY, QC(QE_TIME(1)), QC_NO) \
    ROW(clock_nanosleep, GIVEN, QC_ANY, QC(QC_READS_CONSTANT(2, 16), QE_CONSTANT(3, 16) | QE_CHANGED), \
        QC_NO) \
    ROW(exit_group, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(epoll_wait, GIVEN, QC_ANY, QC(QE_RESULT(1, 12)), QC_NO) \
    ROW(epoll_ctl, GIVEN, QC_IS(1, 2) /* EPOLL_CTL_DEL */, QC_NO, QC_NO) \
    ROW(epoll_ctl, GIVEN, QC_ANY, QC(QC_READS_CONSTANT(3, 12)), QC_NO) \
    ROW(tgkill, GIVEN, QC_ANY, QC_NO, QC_NO) \
    ROW(utimes, ONCE, QC_ANY, QC(QC_READS_CONSTANT(1, 32)), QC(QM_PATH(0))) \
    ROW(mbind, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(set_mempolicy, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(mq_open, ONCE, QC_ANY, QC_NO, QC(QM_PATH(0))) \
    ROW(mq_unlink, ONCE, QC_ANY, QC_NO, QC(QM_PATH(0))) \
    ROW(mq_timedsend, ONCE, QC_ANY, QC(QC_READS_BYTES(1, 2), QC_READS_CONSTANT(4, 16)), QC_NO) \
    ROW(mq_timedreceive, ONCE, QC_ANY, QC(QC_READS_CONSTANT(4, 16), QE_RESULT(1, 1), QE_CONSTANT(3, 4) | QE_CHANGED), \
        QC_NO) \
    ROW(mq_notify, ONCE, QC_ANY, QC(QC_READS_CONSTANT(1, 64)), QC_NO) \
    ROW(mq_getsetattr, ONCE, QC_ANY, QC(QC_READS_CONSTANT(1, 64), QC_SETS(2, 64)), QC_NO) \
    ROW(waitid, ONCE, QC_ANY, QC(QE_CONSTANT(2, 128) | QE_CHANGED, QE_CONSTANT(4, 144) | QE_CHANGED), QC_NO) \
    ROW(ioprio_set, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(ioprio_get, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(inotify_init, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(inotify_add_watch, ONCE, QC_ANY, QC_NO, QC(QM_PATH(1))) \
    ROW(inotify_rm_watch, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(openat, GIVEN, QC_ANY, QC_NO, QC(QM_PATH(1))) \
    ROW(mkdirat, ONCE, QC_ANY, QC_NO, QC(QM_PATH(1))) \
    ROW(mknodat, ONCE, QC_ANY, QC_NO, QC(QM_PATH(1))) \
    ROW(fchownat, ONCE, QC_ANY, QC_NO, QC(QM_PATH(1))) \
    ROW(futimesat, ONCE, QC_ANY, QC(QC_READS_CONSTANT(2, 32)), QC(QM_PATH(1))) \
    ROW(newfstatat, GIVEN, QC_ANY, QC(QE_STAT(2)), QC(QM_PATH(1))) \
    ROW(unlinkat, GIVEN, QC_ANY, QC_NO, QC(QM_PATH(1))) \
    ROW(renameat, ONCE, QC_ANY, QC_NO, QC(QM_PATH(1), QM_PATH(3))) \
    ROW(linkat, ONCE, QC_ANY, QC_NO, QC(QM_PATH(1), QM_PATH(3))) \
    ROW(symlinkat, ONCE, QC_ANY, QC_NO, QC(QM_PATH(0), QM_PATH(2))) \
    ROW(readlinkat, GIVEN, QC_ANY, QC(QE_RESULT(2, 1)), QC(QM_PATH(1))) \
    ROW(fchmodat, ONCE, QC_ANY, QC_NO, QC(QM_PATH(1))) \
    ROW(faccessat, GIVEN, QC_ANY, QC_NO, QC(QM_PATH(1))) \
    ROW(pselect6, ONCE, QC_IF(0, 0xfffffc00u, 0) /* descriptors below FD_SETSIZE */, \
        QC(QE_CONSTANT(1, 128) | QE_CHANGED, QE_CONSTANT(2, 128) | QE_CHANGED, QE_CONSTANT(3, 128) | QE_CHANGED, \
           QE_CONSTANT(4, 16) | QE_CHANGED), QC_NO) \
    ROW(ppoll, ONCE, QC_ANY, \
        QC(QC_READS(QE_TIMES(0, 1, 8)), QC_READS_CONSTANT(2, 16), QC_READS_BYTES(3, 4), \
           QE_TIMES(0, 1, 8) | QE_CHANGED), QC_NO) \
    ROW(unshare, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(set_robust_list, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(get_robust_list, ONCE, QC_ANY, QC(QC_SETS(1, 8), QC_SETS(2, 8)), QC_NO) \
    ROW(splice, ONCE, QC_ANY, QC(QE_CONSTANT(1, 8) | QE_CHANGED, QE_CONSTANT(3, 8) | QE_CHANGED), QC_NO) \
    ROW(tee, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(sync_file_range, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(utimensat, ONCE, QC_ANY, QC(QC_READS_CONSTANT(2, 32)), QC(QM_PATH(1))) \
    ROW(epoll_pwait, ONCE, QC_ANY, QC(QC_READS_BYTES(4, 5), QE_RESULT(1, 12)), QC_NO) \
    ROW(signalfd, ONCE, QC_ANY, QC(QC_READS_BYTES(1, 2)), QC_NO) \
    ROW(timerfd_create, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(eventfd, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(fallocate, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(timerfd_settime, ONCE, QC_ANY, QC(QC_READS_CONSTANT(2, 32), QC_SETS(3, 32)), QC_NO) \
    ROW(timerfd_gettime, ONCE, QC_ANY, QC(QC_SETS(1, 32)), QC_NO) \
    ROW(accept4, ONCE, QC_ANY, QC(QC_READS_CONSTANT(2, 4), QC_ADDRESS(1), QC_SIZE(2)), QC_NO) \
    ROW(signalfd4, ONCE, QC_ANY, QC(QC_READS_BYTES(1, 2)), QC_NO) \
    ROW(eventfd2, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(epoll_create1, GIVEN, QC_ANY, QC_NO, QC_NO) \
    ROW(dup3, GIVEN, QC_ANY, QC_NO, QC_NO) \
    ROW(pipe2, GIVEN, QC_ANY, QC(QC_SETS(0, 8)), QC_NO) \
    ROW(inotify_init1, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(preadv, ONCE, QC_ANY, QC_NO, QC(QM_VECTOR(1, 2) | QM_WRITES)) \
    ROW(pwritev, GIVEN, QC_ANY, QC_NO, QC(QM_VECTOR(1, 2))) \
    ROW(rt_tgsigqueueinfo, ONCE, QC_ANY, QC(QC_READS_CONSTANT(3, 128)), QC_NO) \
    ROW(perf_event_open, ABSENT, QC_ANY, QC_NO, QC_NO) \
    ROW(prlimit64, GIVEN, QC_ANY, QC(QC_READS_CONSTANT(2, 16), QC_SETS(3, 16)), QC_NO) \
    ROW(syncfs, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(setns, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(getcpu, GIVEN, QC_ANY, QC(QC_SETS(0, 4), QC_SETS(1, 4)), QC_NO) \
    ROW(kcmp, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(sched_setattr, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(sched_getattr, ONCE, QC_ANY, QC(QE_BYTES(1, 2) | QE_CHANGED), QC_NO) \
    ROW(renameat2, ONCE, QC_ANY, QC_NO, QC(QM_PATH(1), QM_PATH(3))) \
    ROW(getrandom, GIVEN, QC_ANY, QC(QE_RESULT(0, 1)), QC_NO) \
    ROW(memfd_create, ONCE, QC_ANY, QC_NO, QC(QM_PATH(0))) \
    ROW(execveat, APART, QC_ANY, QC_NO, QC(QM_PATH(1))) \
    ROW(userfaultfd, ABSENT, QC_ANY, QC_NO, QC_NO) \
    ROW(membarrier, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(mlock2, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(copy_file_range, ONCE, QC_ANY, \
        QC(QC_READS_CONSTANT(1, 8), QC_READS_CONSTANT(3, 8), QE_CONSTANT(1, 8) | QE_CHANGED, \
           QE_CONSTANT(3, 8) | QE_CHANGED), QC_NO) \
    ROW(preadv2, ONCE, QC_ANY, QC_NO, QC(QM_VECTOR(1, 2) | QM_WRITES)) \
    ROW(pwritev2, ONCE, QC_ANY, QC_NO, QC(QM_VECTOR(1, 2))) \
    ROW(pkey_mprotect, ABSENT, QC_ANY, QC_NO, QC_NO) \
    ROW(statx, GIVEN, QC_ANY, QC(QC_SETS(4, 256)), QC(QM_PATH(1))) \
    ROW(rseq, ABSENT, QC_ANY, QC_NO, QC_NO) \
    ROW(pidfd_send_signal, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(io_uring_setup, ABSENT, QC_ANY, QC_NO, QC_NO) \
    ROW(pidfd_open, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(clone3, APART, QC_ANY, QC_NO, QC_NO) \
    ROW(close_range, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(openat2, GIVEN, QC_ANY, QC(QC_READS_BYTES(2, 3)), QC(QM_PATH(1))) \
    ROW(pidfd_getfd, ONCE, QC_ANY, QC_NO, QC_NO) \
    ROW(faccessat2, GIVEN, QC_ANY, QC_NO, QC(QM_PATH(1))) \
    ROW(epoll_pwait2, ONCE, QC_ANY, QC(QE_RESULT(1, 12)), QC_NO)
/* clang-format on */

/* Returns the index of the first of COUNT rows at ROWS for a call with that NUMBER and these
 * ARGUMENTS; or COUNT. */
static inline size_t quipu_find_system_call(const struct quipu_system_call *rows, size_t count,
                                            uint64_t number,
                                            const uint64_t arguments[QUIPU_CALL_ARGUMENTS]) {
    size_t first = 0, last = count;
    while (first < last) {
        size_t middle = (first + last) / 2;
        if (rows[middle].number < number)
            first = middle + 1;
        else
            last = middle;
    }
    for (; first < count && rows[first].number == number; first++)
        if (((uint32_t)arguments[rows[first].argument] & rows[first].mask) == rows[first].value)
            return first;
    return count;
}

/* A row of an array of struct quipu_system_call. */
#define QUIPU_SYSTEM_CALL_ROW(name, repeats, condition, accesses, measures)                        \
    {SYS_##name, QUIPU_CALL_##repeats, QC_LIST condition, {QC_LIST accesses}, {QC_LIST measures}},

#endif
