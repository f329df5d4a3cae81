#!/bin/bash
# At a terminal 'quipu goto' hands the program over to gdb: the moment's own thread is the one that
# gdb shows, among several, and the first 'stepi' there is a step.
. "$(dirname "$0")/../bad/lib.bash"
needs gdb
make_program program --quipu=moment -O1 -g -pthread <<'EOT'
#include <pthread.h>
#include <unistd.h>
static pthread_barrier_t begun;
__attribute__((noinline)) static long work(long n) {
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum ^= sum * i + n;
    return sum;
}
static void *wait_for_ever(void *argument) {
    pthread_barrier_wait(&begun);
    for (;;)
        pause();
    return argument;
}
static void *run(void *argument) {
    return work(4000) ? argument : NULL;
}
int main(int argc, char **argv) {
    pthread_t waiting, running;
    (void)argv;
    pthread_barrier_init(&begun, NULL, 2);
    if (argc == 1)
        return work(4000) == 12345;
    if (pthread_create(&waiting, NULL, wait_for_ever, NULL))
        return 1;
    pthread_barrier_wait(&begun);
    return pthread_create(&running, NULL, run, NULL) || pthread_join(running, NULL);
}
EOT
cat >type.py <<'EOT'
# type.py COMMAND...: types into gdb, which 'quipu goto COMMAND...' starts at a terminal.
import os, pty, select, sys, time
commands = [b'stepi', b'quit'] if 'TYPE_QUIT' in os.environ else [b'printf "at %d\\n", $_thread', b'p/x $pc', b'stepi', b'p/x $pc', b'p n',
            b'kill', b'quit']
pid, terminal = pty.fork()
if pid == 0:
    os.environ['TERM'] = 'dumb'
    os.execvp('quipu', ['quipu', 'goto'] + sys.argv[1:])
text, typed, end = b'', 0, time.time() + 60
while time.time() < end:
    if select.select([terminal], [], [], 1)[0]:
        try:
            got = os.read(terminal, 4096)
        except OSError:
            break
        text += got
    if text.count(b'(gdb)') > typed and typed < len(commands):
        os.write(terminal, commands[typed] + b'\n')
        typed += 1
    elif text.endswith(b'(y or n) '):
        os.write(terminal, b'y\n')
        text += b'\n'
sys.stdout.buffer.write(text.replace(b'\r', b''))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
EOT
# at MOMENT THREAD PROGRAM...: gdb stands there, and steps from there.  THREAD is a pattern: which
# number gdb gives to one of two is its own affair, and another one in version 16.
at() {
    local moment=$1 thread=$2
    shift 2
    ends 0 python3 type.py "$moment" -- "$@"
    grep -qx "at $thread" output || fail "'$moment': not in thread $thread of gdb's: $(cat output)"
    grep -qx '\$3 = 4000' output || fail "'$moment': not in 'work(4000)': $(cat output)"
    ! grep -q SIGSTOP output || fail "'$moment': gdb stopped for the signal: $(cat output)"
    [[ $(sed -n 's/^\$1 = //p' output) != "$(sed -n 's/^\$2 = //p' output)" ]] ||
        fail "'$moment': 'stepi' did not step: $(cat output)"
}
at "program.c:7@2000" 1 ./program
at "program.c:7@2000/3" "[23]" ./program 1
# Where gdb is left it kills the program, which would run on if it were let go.
at_quit=$(TYPE_QUIT=1 python3 type.py "program.c:7@2000" -- ./program) || fail "status $?: $at_quit"
[[ $at_quit == *'(gdb) quit'*') killed]'* ]] || fail "the program was not killed: $at_quit"
