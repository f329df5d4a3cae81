#!/bin/bash
# A process is killed at each kind of moment at which its recorder looks at it (parts/kills.c): the recorder ends with
# it, and what was recorded plays.
. "$(dirname "$0")/lib.bash"
make_plain kills.so kills.c -O1 -shared -fPIC
make_plain short last.c -DTURNS=15 -O1 -pthread
cat >turns.c <<'END_OF_PROGRAM'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *argument) {
    for (long i = 0; i < 100000; i++) {
        pthread_mutex_lock(&lock);
        if (write(1, argument, 2) != 2)
            return NULL;
        pthread_mutex_unlock(&lock);
        for (volatile int k = 0; k < 20000; k++)
            ;
    }
    return NULL;
}
int main(void) {
    pthread_t thread[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, work, "t\n");
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
END_OF_PROGRAM
gcc -O1 -pthread -o turns turns.c || fail "cannot build 'turns'"

# is_killed WHERE COMMAND...: the recorder that the command starts kills there. Sets `status`.
is_killed() {
    status=0
    rm -f run.rec
    timeout 25 env LD_PRELOAD="$PWD/kills.so" "$@" >recorded.out 2>recorded.err || status=$?
    [[ $status -ne 124 ]] || fail "'$*' does not end: $(head -3 recorded.err)"
    [[ $(<recorded.err) == killed ]] || fail "'$*' does not kill, or says: $(head -3 recorded.err)"
}

# A thread leaves a call, so that an image can be made, and others wait for its turn.
for requests in 500 2000; do
    is_killed KILLS_BEHIND=$requests quipu record --last=0.1 -o run.rec -- ./turns
    [[ $status -eq 137 ]] || fail "killed behind $requests requests: status $status"
    replays 137
done

# Of what a process has written, the last may miss in the recording: it was killed before its call had ended.
for ((i = 0; i < 16; i++)); do
    ((requests = RANDOM % 2000 + 1))
    ((i % 2)) && options=--shuffle || options=--stops
    is_killed KILLS_AT=$requests quipu record $options -o run.rec -- ./short
    replays "$status"
    [[ $(diff recorded.out replayed.out | grep -c '^<') -le 1 && -z $(diff recorded.out replayed.out | grep '^>') ]] ||
        fail "killed at request $requests, $options: the replay differs"
done
