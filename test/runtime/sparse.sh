#!/bin/sh
# sparse.sh: the file of a program with many cells takes no space for those that never count, in each
# process and for each thread, and whatever ends it; unless the disk is nearly full, or QUIPU_RESERVE
# wants it all at once.
. "$(dirname "$0")/common.sh.inc"

cat >program.c <<'EOT'
#include "count.h"
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
CELLS(work, 400000);
static pthread_barrier_t barrier;
static void work(void) {
    COUNT(work, 0);
    COUNT(work, 200000);
    COUNT(work, 399999);
}
static void *start(void *unused) {
    work();
    pthread_barrier_wait(&barrier);
    return unused;
}
int main(int count, char **words) {
    pthread_t threads[3];
    work();
    pthread_barrier_init(&barrier, 0, 3);
    for (int i = 0; count > 1 && !strcmp(words[1], "threads") && i < 3; i++)
        pthread_create(&threads[i], 0, start, 0);
    for (int i = 0; count > 1 && !strcmp(words[1], "threads") && i < 3; i++)
        pthread_join(threads[i], 0);
    if (count > 1 && !strcmp(words[1], "fork")) {
        if (fork() == 0) {
            work();
            _exit(0);
        }
        wait(0);
    }
    if (count > 1 && !strcmp(words[1], "kill"))
        raise(SIGKILL);
    return 0;
}
EOT
link exe program -I"$here" -pthread program.c

# look DIRECTORY FILES SLOTS: so many files; each slot that counted has three cells of 1; prints the
# kilobytes of addresses and of disk that they take.
look() {
    python3 - "$@" <<'EOT'
import glob, os, struct, sys
files = sorted(glob.glob(sys.argv[1] + '/*.quipu'))
assert len(files) == int(sys.argv[2]), files
slots = 0
for name in files:
    data = open(name, 'rb').read()
    at = 4096
    while at < struct.unpack_from('<Q', data, 16)[0]:
        kind, _, size = struct.unpack_from('<IIQ', data, at)
        if kind == 2:
            _, count, stride, cells = struct.unpack_from('<IIQQ', data, at + 16)
            for i in range(count):
                begin = at + cells + i * stride
                counts = [struct.unpack_from('<Q', data, begin + 8 * n)[0] for n in (0, 200000, 399999)]
                assert counts in ([0, 0, 0], [1, 1, 1]), counts
                assert sum(data[begin:begin + 3200000]) == sum(counts)
                slots += counts[0]
        at += size
assert slots == int(sys.argv[3]), slots
status = [os.stat(name) for name in files]
print(sum(s.st_size for s in status) // 1024, sum(s.st_blocks for s in status) // 2)
EOT
}

# runs MODE FILES SLOTS: sets size and kilobytes
runs() {
    rm -rf quipu.data
    ./program "$1" 2>errors
    status=$?
    test $status = 0 || { test $status = 137 && test "$1" = kill; } || fail "$1: $status $(cat errors)"
    sizes=$(look quipu.data "$2" "$3") || fail "$1: other counts"
    size=${sizes% *} kilobytes=${sizes#* }
}

set -- once 1 1 fork 2 2 threads 1 4 kill 1 1
while test $# -gt 0; do
    if test "$(($(stat -f -c '%a * %S' .)))" -gt $((5 << 30)); then
        runs "$1" "$2" "$3"
        test "$kilobytes" -le $(($3 * 40)) || fail "$1: $size KiB take $kilobytes KiB"
    fi
    QUIPU_RESERVE=1
    export QUIPU_RESERVE
    runs "$1" "$2" "$3"
    test "$kilobytes" -ge "$size" || fail "$1, QUIPU_RESERVE: $size KiB take $kilobytes KiB"
    unset QUIPU_RESERVE
    shift 3
done

# On a small disk all is set aside, and a full one is a warning, not a signal.
if test "$(id -u)" = 0 && mkdir disk && mount -t tmpfs -o size=8m none disk 2>/dev/null; then
    trap 'umount "$work/disk" 2>/dev/null; rm -rf "$work"' EXIT
    silent env QUIPU_DATA="$work/disk" ./program once
    sizes=$(look disk 1 1) || fail "a small disk"
    test "${sizes#* }" -ge "${sizes% *}" || fail "a small disk: $sizes"
    silent env QUIPU_DATA="$work/disk" ./program once
    QUIPU_DATA="$work/disk" ./program once 2>errors || fail "a full disk: $? $(cat errors)"
    warned "cannot write '$work/disk': No space left on device; the counts of this run are lost"
fi
exit 0
