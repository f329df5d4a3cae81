#!/bin/bash
# 'quipu goto' stops all threads at each visit near the moment.  The process's first thread, which has
# ended by itself while the others go on, stops no more, and its end is told behind theirs only.
. "$(dirname "$0")/../bad/lib.bash"
make_program program --quipu=moment -O1 -g -pthread "-I$(dirname "$quipu")/../include" <<'EOT2'
#include <pthread.h>
#include <quipu.h>
#include <stdio.h>
volatile int sum;
__attribute__((noipa)) static void visit(int n) {
    if (n == 70) {
        char text[256];
        struct quipu_moment now = quipu_now();
        quipu_print_moment(&now, text, sizeof text);
        puts(text);
        fflush(stdout);
    }
    sum += n;
}
static void *start(void *first) {
    pthread_join(*(pthread_t *)first, NULL);
    for (int i = 0; i < 200; i++)
        visit(i);
    return NULL;
}
int main(void) {
    static pthread_t first, second;
    first = pthread_self();
    if (pthread_create(&second, NULL, start, &first))
        return 1;
    pthread_exit(NULL);
}
EOT2
moment=$(./program)
[[ $moment == visit+0x*/2~* ]] || fail "the program printed '$moment'"
ends 0 timeout 60 quipu goto --print "$moment" -- ./program
grep -qF "$moment" output || fail "$(cat output)"
grep -q '^#1 .* start ' output || fail "$(cat output)"
has gdb || exit 0
# At a terminal gdb is handed the thread that is there: the sum is that of 0 to 69.
python3 - "$moment" >output <<'EOT2'
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.environ['TERM'] = 'dumb'
    os.execvp('quipu', ['quipu', 'goto', sys.argv[1], '--', './program'])
os.write(terminal, b'print sum\nbacktrace 2\nkill\ny\nquit\ny\n')
try:
    while text := os.read(terminal, 4096):
        sys.stdout.buffer.write(text.replace(b'\r', b''))
except OSError: # its end
    pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
EOT2
grep -q '= 2415$' output || fail "gdb: $(cat output)"
grep -q 'visit (n=n@entry=70)' output || fail "gdb: $(cat output)"
