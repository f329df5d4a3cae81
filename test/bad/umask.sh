#!/bin/bash
# A process with a umask that takes the owner's rights away: its data is complete, though it opens the
# file again when that grows; also where it makes the directory. Root has all rights, so another user
# runs this.
# timeout: 60
. "$(dirname "$0")/lib.bash"
make_program program -O1 -g -pthread --quipu=count,calls <<'EOT'
#include <pthread.h>
enum { THREADS = 200 };
static volatile long n;
static pthread_barrier_t all;
__attribute__((noinline)) static void work(void) {
    for (int i = 0; i < 1000; i++)
        n++;
}
static void *run(void *argument) {
    work();
    pthread_barrier_wait(&all);
    return argument;
}
int main(void) {
    pthread_t threads[THREADS];
    pthread_barrier_init(&all, 0, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], 0, run, 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
    work();
    return 0;
}
EOT
user=()
[[ $(id -u) -ne 0 ]] || user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
chmod 755 .
mkdir -m 777 open
if [[ -n ${user[*]} ]] && ! "${user[@]}" test -x "$PWD/program" -a -w "$PWD/open"; then
    echo "skipped: another user cannot reach this directory"
    exit 0
fi
for mask in 022 0277 0777; do
    for data in "$PWD/open/made.$mask/" "$PWD/open/one.$mask.quipu"; do
        (umask $mask && QUIPU_DATA=$data exec "${user[@]}" ./program) >messages 2>&1 ||
            fail "umask $mask: the program failed: $(cat messages)"
        [[ ! -s messages ]] || fail "umask $mask: $(cat messages)"
        quipu report --function=work --by=function --format=csv "$data" >counts ||
            fail "umask $mask: no report"
        grep -q '^work,.*,201,' counts || fail "umask $mask: $(cat counts)"
    done
done
