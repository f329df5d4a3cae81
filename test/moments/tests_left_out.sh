#!/bin/bash
# The countdown's tests are put into an executable's text only where the program may call
# quipu_after, or as long as goto or when run it.  A system that refuses that is told of by quipu_after, and
# nothing else changes.  Shared objects have their tests from the beginning.
. "$(dirname "$0")/lib.bash"

cat >work.c <<'END'
#include <stdio.h>
#include <string.h>

/* Kilobytes of the text that are this process's own, and not the file's any more. */
int changed(const char *name) {
    char line[512], path[512];
    int size, sum = 0, ours = 0;
    unsigned long begin;
    FILE *file = fopen("/proc/self/smaps", "r");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%lx-%*x r-xp %*s %*s %*s %511s", &begin, path) == 2)
            ours = strstr(path, name) != NULL;
        else if (sscanf(line, "%lx-%*x %*s %*s %*s %*s %511s", &begin, path) >= 1 && strchr(line, '-'))
            ours = 0;
        else if (ours && sscanf(line, "Anonymous: %d", &size) == 1)
            sum += size;
    }
    return file ? sum : -1;
}

unsigned long sums;
__attribute__((noipa)) unsigned long work(unsigned n) {
    unsigned long sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum = sum * 3 + i;
    sums += 10;
    return sum;
}
END
cat >waits.h <<'END'
#include <quipu.h>
unsigned long work(unsigned);
static int fired;
static void fire(const struct quipu_moment *moment, void *argument) {
    fired += moment->ticks > 0 && !argument;
}
int FUNCTION(void) {
    int error = quipu_after(100, fire, 0);
    work(1000);
    return error ? error : fired;
}
END
cat >main.c <<'END'
#include <stdio.h>
int waits(void), changed(const char *);
unsigned long work(unsigned);
int main(void) {
    printf("%lu", work(1000));
#ifdef WAITS
    printf(" waited %d", waits());
#endif
    puts(changed("/program") > 0 ? " changed" : " as it was");
    return 0;
}
END
echo '#include "waits.h"' >waits.c
cat >refuse.c <<'END'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* mprotect of what is to be written and executed: 7 as its third argument. */
static struct sock_filter rules[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 7, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

int main(int argc, char **argv) {
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        return 77;
    return argc < 2 ? 1 : execv(argv[1], &argv[1]);
}
END
gcc -O2 refuse.c -o refuse || fail "cannot build 'refuse'"

build() {
    quipu cc --quipu=moment -O2 -g "-I$(dirname "$quipu")/../include" "$@" 2>messages ||
        fail "cannot build $*: $(cat messages)"
}

# prints TEXT COMMAND...: it ends well and prints a line that matches TEXT.
prints() {
    local text=$1
    shift
    ends 0 "$@"
    grep -qE "^[0-9]+ $text\$" output || fail "'$*': expected '$text', but got: $(cat output messages)"
}

build -c work.c -o work.o
for flags in -no-pie -pie '-static -fno-pie' '-fuse-ld=lld -Wl,--gc-sections' \
    '-fuse-ld=gold -ffunction-sections -Wl,--gc-sections'; do
    linker=${flags#*-fuse-ld=}
    [[ $linker == "$flags" ]] || has "ld.${linker%% *}" || continue
    build $flags main.c work.o -o program
    prints 'as it was' ./program
    ends 0 quipu goto --print 'work.c:25@100/1' -- ./program
    build $flags -DWAITS -DFUNCTION=waits main.c waits.c work.o -o program
    prints 'waited 1 changed' ./program
    status=0
    ./refuse ./program >output 2>messages || status=$?
    if [[ $status -ne 77 ]]; then # there is seccomp
        prints 'waited -13 as it was' ./refuse ./program
    fi
done

# Who is handed the program finds the file's text; with the tests where the program needs them.
cat >look.py <<'END'
import os, re, subprocess
pid = os.environ['QUIPU_PID']
base = next(int(line.split('-')[0], 16) for line in open(f'/proc/{pid}/maps') if 'program' in line)
sections = subprocess.run(['readelf', '-SW', 'program'], capture_output=True, text=True).stdout
found = re.search(r' \.text +PROGBITS +(\w+) (\w+) (\w+)', sections)
address, offset, size = (int(word, 16) for word in found.groups())
with open('program', 'rb') as file, open(f'/proc/{pid}/mem', 'rb') as memory:
    file.seek(offset)
    memory.seek(base + address)
    print('text: as it was' if file.read(size) == memory.read(size) else 'text: changed')
END
# text_is HOW COMMAND MOMENT
text_is() {
    ends 0 quipu "$2" '--exec=python3 look.py' "$3" -- ./program
    grep -q "^text: $1\$" output || fail "$2 '$3': expected '$1': $(cat output)"
}
build -DWAITS -DFUNCTION=waits main.c waits.c work.o -o program
text_is changed goto 'work.c:25@100/1'
build main.c work.o -o program
text_is 'as it was' goto 'work.c:25@100/1'
text_is 'as it was' when 'sums > 5'

# A function of that name that stands by itself; the header elsewhere.
cat >apart.c <<'END'
#include <quipu.h>
int (*chosen)(uint64_t, void (*)(const struct quipu_moment *, void *), void *) = quipu_after;
int first(void) { return quipu_after(1, 0, 0); }
int second(void) { return quipu_after(2, 0, 0) + quipu_after(3, 0, 0) + chosen(4, 0, 0); }
END
has clang
for compiler in gcc g++ $(the_one clang) 'quipu cc --quipu=moment' 'gcc -m32 -ffreestanding'; do
    for level in -O0 -O2; do
        $compiler $level -x c "-I$(dirname "$quipu")/../include" -c apart.c -o apart.o 2>messages ||
            fail "$compiler $level: $(cat messages)"
    done
done

# The rows are looked at before they are used.
build -DWAITS -DFUNCTION=waits main.c waits.c work.o -o program
size=$(readelf -SW program | grep -o '.quipu.tests .*' | awk '{print $5}')
[[ -n $size ]] || fail "there is no section '.quipu.tests'"
for byte in '\0' '\377' '\100'; do
    head -c $((16#$size)) /dev/zero | tr '\0' "$byte" >rows
    objcopy --update-section .quipu.tests=rows program damaged 2>messages || fail "$(cat messages)"
    refuses "damaged" -- quipu goto 'work.c:25@100/1' -- ./damaged
done

build -fPIC -shared -DFUNCTION=waits waits.c -x c work.c -o libwaits.so
build -DWAITS main.c -x none libwaits.so -Wl,-rpath,"$PWD" -o program
prints 'waited 1 as it was' ./program
