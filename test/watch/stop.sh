#!/bin/bash
# --stop: the thread stands right behind the write, in the code that wrote, with all its registers; what
# --exec runs has the process there, and so has gdb at a terminal; behind it the program runs on.
. "$(dirname "$0")/lib.bash"

cat >program.c <<'EOT2'
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

volatile int counter;
int signals, inside;
char text[64];

__attribute__((noipa)) static void before(void) {}
__attribute__((noipa, target("arch=x86-64"))) static double work(long a, long b, double x, long double y) {
    long c = a * b, d = a ^ b, e = a - b, f = a + b, g = a & b;
    double u = x * 2, v = x + 3, w = x / 7;
    for (int i = 0; i < 4; i++) {
        counter = i;
        c += d * i, d += e, e ^= f, f -= g, g += c;
        u += v, v *= w, w += x, y = y * 3 + (long double)u;
    }
    return (double)(c + d + e + f + g) + u + v + w + (double)y;
}
__attribute__((noipa)) static void after(void) {}
__attribute__((noipa)) static void copy(const char *from) {
    memcpy(text, from, strlen(from) + 1);
    after();
}

static void on_trap(int number, siginfo_t *info, void *context) {
    uint64_t at = (uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    (void)number, (void)info;
    signals++;
    inside += at > (uint64_t)before && at < (uint64_t)after;
}
static void *run(void *unused) {
    printf("%.17g\n", work(7, 11, 0.3, 0.7L));
    return unused;
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    sigset_t trap;
    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    if (!strcmp(mode, "block"))
        sigprocmask(SIG_BLOCK, &trap, NULL);
    if (!strcmp(mode, "altstack"))
        sigaltstack(&(stack_t){.ss_sp = malloc(1 << 16), .ss_size = 1 << 16}, NULL);
    if (!strcmp(mode, "altstack"))
        action.sa_flags |= SA_ONSTACK;
    if (!strcmp(mode, "handle") || !strcmp(mode, "altstack"))
        sigaction(SIGTRAP, &action, NULL);
    pthread_t thread;
    if (!strcmp(mode, "thread") && pthread_create(&thread, NULL, run, NULL) == 0)
        pthread_join(thread, NULL);
    else
        run(NULL);
    copy("copied");
    sigset_t now;
    sigprocmask(SIG_BLOCK, NULL, &now);
    printf("%s, %d signals, %d inside, %s\n", text, signals, inside,
           sigismember(&now, SIGTRAP) ? "blocked" : "not blocked");
    return 7;
}
EOT2
for flags in -O1 '-O0 -static' '-O2 -static-pie' '-O2 -no-pie'; do
    # shellcheck disable=SC2086
    quipu cc --quipu=watch $flags -g -pthread -fno-toplevel-reorder program.c -o program ||
        fail "cannot build program.c, $flags"
    ends 7 ./program
    sum=$(head -n 1 output)

    # The handler has the program's own context, and all registers come back.
    for mode in handle altstack; do
        watches 7 --stop -e counter -- ./program "$mode"
        [[ $(cat output) == "$sum"$'\ncopied, 1 signals, 1 inside, not blocked' ]] ||
            fail "$flags, $mode: $(cat output)"
        [[ $(wc -l <hits) -eq 4 ]] || fail "$flags, $mode: $(cat hits)"
    done
    watches 133 --stop -e counter -- ./program
    watches 7 --stop --exec true -e counter -- ./program block
    grep -qF 'it blocks SIGTRAP' messages && [[ $(wc -l <hits) -eq 4 ]] || fail "blocked: $(cat messages)"
    grep -qx 'copied, 0 signals, 0 inside, blocked' output || fail "blocked: $(cat output)"

    # The command has the process, once.
    watches 7 --stop --exec 'echo "$QUIPU_NAME $QUIPU_NEW $QUIPU_FUNCTION"
        until grep "^State.*(stopped)" /proc/$QUIPU_PID/task/$QUIPU_THREAD/status; do
            sleep 0.01 # it may be on its way from one kind of stop to the other
        done' -e counter -- ./program
    grep -qx "counter 0 work" output && grep -q '^State.*(stopped)' output && grep -qxF -- "$sum" output &&
        [[ $(grep -c ^counter output) -eq 1 ]] || fail "$flags: $(cat output)"
    tells 'counter 0 -> 0' 'counter 0 -> 1' 'counter 1 -> 2' 'counter 2 -> 3'

    has gdb || continue
    gdb='exec gdb -q -nx -batch -p $QUIPU_PID -ex bt'
    # gdb numbers threads as the kernel lists them: the first, then the others.
    for mode in '' thread; do
        chosen=''
        [[ -z $mode ]] || chosen=" -ex 'thread 2' -ex bt"
        watches 7 --stop --exec "$gdb$chosen" -e counter -- ./program $mode
        grep -qE '^#0 +(0x[0-9a-f]+ in )?work \(.* at .*program.c:(19|20)$' output && grep -qE '^#1 .* in run ' output ||
            fail "$flags $mode: gdb stands elsewhere: $(cat output)"
        grep -qxF -- "$sum" output || fail "$flags $mode: behind gdb: $(cat output)"
    done
    watches 7 --stop --exec "$gdb" -e text -- ./program
    grep -qE '^#0 +(0x[0-9a-f]+ in )?copy \(.* at .*program.c:(28|29|30)$' output && grep -qE '^#1 .* main ' output ||
        fail "$flags: behind a call gdb stands elsewhere: $(cat output)"
done

has gdb || exit 0

# As the manual tells, its first commands are not stopped by what stopped the program.
handle='handle SIGSTOP nostop noprint nopass'
grep -qF "gdb -p \$QUIPU_PID -ex \"$handle\"" "$top/doc/man/quipu-watch.1" || fail "the manual tells otherwise"
watches 7 --stop --exec "gdb -q -nx -batch -p \$QUIPU_PID -ex '$handle' -ex 'tbreak copy' -ex continue" \
    -e counter -- ./program
grep -q '^Temporary breakpoint 1, .*copy (from=' output && ! grep -q SIGSTOP output ||
    fail "by the manual's command: $(cat output)"

# At a terminal gdb comes by itself, and the program is watched on below it.
cat >type.py <<'EOT2'
import os, pty, select, sys, time
child, terminal = pty.fork()
if child == 0:
    os.environ['TERM'] = 'dumb'
    os.execvp('quipu', ['quipu', 'watch'] + sys.argv[1:])
commands, typed, text, end = ['bt', 'tbreak copy', 'continue', 'detach', 'quit'], 0, b'', time.time() + 60
while time.time() < end:
    try:
        text += os.read(terminal, 4096)
    except OSError:
        break
    if text.count(b'(gdb)') > typed and typed < len(commands):
        os.write(terminal, commands[typed].encode() + b'\n')
        typed += 1
print(text.decode().replace('\r', ''))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
EOT2
HOME=$PWD ends 7 python3 type.py --stop -e counter -- ./program
grep -qE '^#0 .*work \(' output && grep -qE '^ +4:  counter  2 -> 3' output &&
    grep -qE 'copy \(from=' output && grep -qxF -- "$sum" output || fail "at a terminal: $(cat output)"
leaves_nothing
