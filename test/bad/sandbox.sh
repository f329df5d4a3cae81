#!/bin/bash
# A sandbox that refuses arch_prctl: new threads cannot be given cells of their own.  The program
# does as it would, at its own pace, and one warning says that counts are lost.
. "$(dirname "$0")/lib.bash"
make_program locks_itself -O2 -pthread <<'END'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static struct sock_filter rules[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_arch_prctl, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

__attribute__((noipa)) long step(long value) {
    return value + 1;
}

static void *work(void *argument) {
    long *sum = argument;
    for (int i = 0; i < 20000000; i++)
        *sum = step(*sum);
    return NULL;
}

int main(void) {
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        return 77;
    pthread_t thread;
    long sum = 0;
    for (int i = 0; i < 2; i++)
        if (pthread_create(&thread, NULL, work, &sum) || pthread_join(thread, NULL))
            return 9;
    printf("%ld\n", sum);
    return 5;
}
END
# Twenty million calls a thread take a tenth of a second, and a minute where each asks for cells.
status=0
timeout 15 ./locks_itself >output 2>messages || status=$?
[[ $status -ne 77 ]] || exit 0 # no seccomp here
[[ $status -eq 5 ]] || fail "exit status $status, not 5: $(cat messages)"
[[ $(cat output) == 40000000 ]] || fail "it printed: $(cat output)"
said "quipu: warning: "
said "the counts of some threads are lost"
