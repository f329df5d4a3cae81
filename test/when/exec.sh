#!/bin/bash
# 'quipu when --exec' runs a command on the process that stands right behind the moment, of one thread
# or several; and signals that end 'quipu when' leave nothing.
. "$(dirname "$0")/../bad/lib.bash"
needs_debug_registers
export TMPDIR=$PWD/temporary
mkdir "$TMPDIR"
cat >program.c <<'EOT2'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
long total, given, forever;
char text[16];
__attribute__((noinline)) static void add(long n) { total += n; }
static void *start(void *argument) {
    for (int i = 0; i < 50; i++)
        add(2);
    return argument;
}
int main(int argc, char **argv) {
    pthread_t thread;
    int ends[2];
    (void)argv;
    for (int i = 0; i < 10; i++)
        add(1);
    if (pipe(ends) || write(ends[1], "hello", 5) != 5 || read(ends[0], text, 5) != 5)
        return 1;
    if (argc > 2)
        for (;;)
            forever ^= 1;
    if (pthread_create(&thread, NULL, start, NULL))
        return 1;
    while (argc > 1)
        forever ^= 1;
    pthread_join(thread, NULL);
    return 0;
}
EOT2
quipu cc --quipu=moment -g -O1 -pthread program.c -o program || fail "cannot build"
cat >look.py <<'EOT2'
import os, subprocess, sys
pid, thread = os.environ['QUIPU_PID'], os.environ['QUIPU_THREAD']
assert os.path.isdir(f'/proc/{pid}/task/{thread}')
out = subprocess.run(['nm', 'program'], stdout=subprocess.PIPE, check=True).stdout.decode()
address = next(int(line.split()[0], 16) for line in out.splitlines() if line.endswith(' ' + sys.argv[1]))
with open(f'/proc/{pid}/maps') as maps:
    address += int(maps.readline().split('-')[0], 16)
with open(f'/proc/{pid}/mem', 'rb') as memory:
    memory.seek(address)
    print('value', int.from_bytes(memory.read(8), 'little'))
with open(f'/proc/{pid}/task/{thread}/stat') as stat:
    print('state', stat.read().rsplit(')', 1)[1].split()[0])
sys.exit(int(sys.argv[2]))
EOT2
# stands VALUE VARIABLE EXPRESSION
stands() {
    ends 7 quipu when --exec="python3 look.py $2 7" "$3" -- ./program
    grep -q "^value $1$" output || fail "'$3': $(cat output messages)"
    grep -q '^state T$' output || fail "'$3': $(cat output messages)"
}
stands 6 total 'total == 6'
stands 14 total 'total > 13'
stands 0 total 'total == 0'
stands $((0x6f6c6c6568)) text "text[4] == 'o'"
ends 0 quipu when --exec=true --format=json 'total == 3' -- ./program
python3 -c "import json; assert json.load(open('output'))['thread'] == 1" || fail "$(cat output)"
ends 127 quipu when --exec=/no/such/command 'total == 3' -- ./program
ends 1 quipu when --exec='exit 5' 'total == 3000' -- ./program
said "true at none of"
if has gdb; then
    ends 0 quipu when --exec='gdb -q -batch -p $QUIPU_PID -ex "print total"' 'total == 7' -- ./program
    grep -q '^$1 = 7$' output || fail "gdb: $(cat output messages)"
    ends 0 quipu when --exec='gdb -q -batch -p $QUIPU_PID -ex "print total"' 'total > 20' -- ./program
    grep -q '^$1 = 22$' output || fail "gdb: $(cat output messages)"
fi
# one thread, several, and the command itself
for arguments in 'a b' 'a'; do
    for signal in INT TERM HUP; do
        python3 - "$signal" "$arguments" <<'EOT2' || fail "$signal: not ended by it"
import signal, subprocess, sys, time
number = getattr(signal, 'SIG' + sys.argv[1])
signal.signal(number, signal.SIG_DFL) # the runner's own, or nohup's, is not passed on
done = subprocess.Popen(['quipu', 'when', 'total == 3000', '--', './program', *sys.argv[2].split()])
time.sleep(0.7)
done.send_signal(number)
sys.exit(done.wait(20) != -number)
EOT2
    done
done
[[ -z $(ls -A "$TMPDIR") ]] || fail "left in TMPDIR: $(ls -A "$TMPDIR")"
for ((i = 0; i < 50; i++)); do # the kernel ends them, in a moment
    running=$(grep -lz "^./program$" /proc/[0-9]*/cmdline 2>/dev/null | while read -r file; do
        [[ $(readlink "${file%cmdline}cwd") != "$PWD" ]] || echo "$file"; done)
    [[ -n $running ]] || exit 0
    sleep 0.1
done
fail "left running: $running"
