#!/bin/bash
# Where no data file can be written, the program does as it would, and one warning says why.
. "$(dirname "$0")/lib.bash"
make_program prints -O2 -pthread <<'END'
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void *start(void *argument) {
    return argument;
}

int main(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, start, NULL) || pthread_join(thread, NULL))
        return 9;
    pid_t child = fork();
    if (child == 0)
        _exit(3);
    int status;
    waitpid(child, &status, 0);
    printf("fine %d\n", WEXITSTATUS(status));
    return 5;
}
END

# warns TEXT COMMAND...: the program's own output and status, and one warning with TEXT in it.
warns() {
    local text=$1
    shift
    ends 5 "$@"
    [[ $(cat output) == "fine 3" ]] || fail "'$*' printed: $(cat output)"
    said "quipu: warning: "
    said "$text"
}

warns "No such file or directory" env QUIPU_DATA=/nowhere/at/all ./prints
: >occupied
warns "Not a directory" env QUIPU_DATA="$PWD/occupied" ./prints
{
    (ulimit -f 0; exec ./prints 2>&1)
    echo "status $?"
} | cat >output
grep -q "quipu: warning: .*File too large" output || fail "ulimit -f: $(cat output)"
sed -i '/quipu: warning/d' output
[[ $(cat output) == $'fine 3\nstatus 5' ]] || fail "ulimit -f: $(cat output)"
if [[ $(id -u) -eq 0 ]]; then
    chmod 755 . && mkdir locked
    plain=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    warns "Permission denied" env QUIPU_DATA="$PWD/locked" "${plain[@]}" ./prints
    mkdir -p disk
    if mount -t tmpfs -o size=16k none disk 2>/dev/null; then
        trap 'umount disk' EXIT
        dd if=/dev/zero of=disk/full bs=4k status=none 2>/dev/null
        warns "No space left on device" env QUIPU_DATA="$PWD/disk" ./prints
        mount -o remount,ro disk
        warns "Read-only file system" env QUIPU_DATA="$PWD/disk" ./prints
    fi
    make_program changes_root -static -O1 <<'END'
#include <stdio.h>
#include <unistd.h>

__attribute__((noinline)) int work(int n) {
    return n * 2;
}

int main(void) {
    int sum = work(1);
    if (chroot("jail") || chdir("/"))
        return 1;
    for (int i = 0; i < 99; i++)
        sum += work(i);
    return sum == 0;
}
END
    mkdir jail
    ends 0 ./changes_root
    [[ ! -s messages ]] || fail "after chroot: $(cat messages)"
    expect_calls work 100
    [[ -z $(ls jail) ]] || fail "something was written into the new root: $(ls jail)"
fi

# Closed standard files stay closed and get nothing; a file that the program opens has the number it
# would have.
make_program opens -O1 <<'END'
#include <fcntl.h>

int main(void) {
    return open("/dev/null", O_RDONLY);
}
END
rm -rf quipu.data
got=0
./opens <&- >&- 2>&- || got=$?
[[ $got -eq 0 ]] || fail "with closed standard files open() returned $got"
expect_calls main 1
QUIPU_DATA=/nowhere/at/all ./opens 2>&- || got=$?
[[ $got -eq 2 ]] || fail "with standard error closed open() returned $got"
