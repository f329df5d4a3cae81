#!/bin/bash
# A call that failed has written nothing, whatever stands in the half of %rax that an int leaves out.
. "$(dirname "$0")/../bad/lib.bash"

cat >program.c <<'END'
#include <quipu.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

static struct epoll_event events[4];
static int writes;

static void count_write(const struct quipu_write *write, void *argument) {
    (void)argument;
    writes += write->size > 0;
}

int main(void) {
    int poll = epoll_create1(0), pipes[2];
    struct epoll_event event = {.events = EPOLLOUT};
    if (poll < 0 || pipe(pipes) || epoll_ctl(poll, EPOLL_CTL_ADD, pipes[1], &event) ||
        quipu_watch_create(events, sizeof events, count_write, NULL) < 0)
        return 1;
    if (epoll_wait(-1, events, 4, 0) != -1 || read(-1, events, sizeof events) != -1 || writes)
        return fprintf(stderr, "%d writes by calls that failed\n", writes), 1;
    if (epoll_wait(poll, events, 4, 0) != 1 || writes != 1)
        return fprintf(stderr, "%d writes, not 1\n", writes), 1;
    return 0;
}
END
quipu cc --quipu=watch -g -O2 program.c -o program || fail 'cannot build'
./program || fail 'told otherwise'
