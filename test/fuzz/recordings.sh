#!/bin/bash
# recordings.sh [SEEDS [FIRST]]: damaged recordings end in an error, never in a crash, a hang or a sanitizer's
# report: the reader (recordings.c), and for some of them the player, which must write no file either.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(mkdir -p "${QUIPU_BUILD:-$root/build}" && cd "${QUIPU_BUILD:-$root/build}" && pwd)/fuzz
mkdir -p "$build"
work=$(mktemp -d)
cd "$work"
mkdir files

cat >sample.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static void handle(int number) { printf("%d\n", number); }
static volatile int flag;
static void set_flag(int number) { flag = number; }
static void *echo(void *argument) { return argument; }
int main(void) {
    char text[100];
    struct stat status;
    signal(SIGUSR1, handle);
    for (int i = 0; i < 5; i++) {
        raise(SIGUSR1);
        printf("%ld %p\n", (long)time(NULL), malloc(1 << 18));
        stat("/", &status);
    }
    signal(SIGALRM, set_flag);
    ualarm(1000, 0);
    unsigned long count = 0;
    while (!flag)
        count = count * 7 + 1;
    pthread_t thread;
    pthread_create(&thread, NULL, echo, NULL);
    pthread_join(thread, NULL);
    if (fork() == 0)
        _exit(3);
    wait(NULL);
    system("echo other");
    FILE *file = fopen("files/made", "w");
    fprintf(file, "%ld\n", (long)read(0, text, sizeof text));
    return fclose(file);
}
END
gcc -O1 -static -pthread -o sample sample.c
"$build/../bin/quipu" record -o good.rec -- ./sample </dev/null >output
rm files/made
"$build/../bin/quipu" pack -o packed.rec good.rec

# One that begins with an image, of two processes and a thread.
cat >runs.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *run(void *argument) {
    for (int i = 0; i < 60; i++)
        usleep(5000);
    return argument;
}
int main(void) {
    pthread_t thread;
    fork();
    pthread_create(&thread, NULL, run, NULL);
    run(NULL);
    pthread_join(thread, NULL);
    return fclose(stdout);
}
END
gcc -O1 -static -pthread -o runs runs.c
"$build/../bin/quipu" record --last=0.1 -o end.rec -- ./runs
grep -q '  begins  ' < <("$build/../bin/quipu" info end.rec) || {
    echo "no recording of the end of a run"
    exit 1
}

if [ ! -x "$build/recordings" ] ||
    [ -n "$(find "$root/src" "$here" -name '*.[ch]' -newer "$build/recordings" 2>/dev/null | head -1 || true)" ]; then
    # shellcheck disable=SC2086
    gcc -std=c11 -D_GNU_SOURCE -I"$root/src" -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all \
        -fno-omit-frame-pointer -o "$build/recordings" "$here/recordings.c" \
        "$root"/src/replay/{known_files,image,packed_files,recording,start,writer}.c "$root"/src/util/*.c \
        "$root"/src/x86/{checked_state,processor,registers}.c -lzstd
fi
export ASAN_OPTIONS=exitcode=99:detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=2048
export UBSAN_OPTIONS=print_stacktrace=1
for file in good.rec end.rec packed.rec; do
    [ $file = good.rec ] && seeds=${1:-1000} || seeds=$((${1:-1000} / 5))
    if ! "$build/recordings" $file bad.rec "$seeds" "${2:-1}" 2>log; then
        head -30 log
        echo "its files are kept in '$work'"
        exit 1
    fi
done

names=(good.rec end.rec packed.rec)

# The player.  What the file says of the program's end may be damaged, too: that status is not a crash.
for ((seed = ${2:-1}; seed < ${2:-1} + ${1:-1000} / 20; seed++)); do
    status=0
    "$build/recordings" "${names[seed % 3]}" bad.rec 1 "$seed" >/dev/null 2>&1 || true
    timeout 20 "$build/../bin/quipu" replay --check bad.rec </dev/null >output 2>messages || status=$?
    told=$("$build/../bin/quipu" info bad.rec 2>&1 || true)
    wrong=$(ls files)
    case $status,$told in
    124,*) wrong+=" no end" ;;
    1[3-9][0-9],*'by signal'*) ;;
    1[3-9][0-9],*) wrong+=" a crash" ;;
    esac
    if [ -n "$wrong" ]; then
        echo "seed $seed: the player: status $status, $wrong: $(head -3 messages)"
        echo "its files are kept in '$work'"
        exit 1
    fi
done
rm -rf "$work"
