#!/bin/bash
# A watcher that is killed, whether or not somebody has waited for it yet: the program goes on, also where
# it waits for an answer, and another one may watch it, and nothing is left behind.
. "$(dirname "$0")/lib.bash"
cat >program.c <<'EOT2'
#include <unistd.h>
volatile long beats;
int main(void) {
    for (;; beats++)
        usleep(1000);
}
EOT2
quipu cc --quipu=watch -O1 -g program.c -o program || fail "cannot build"
cat >kill.py <<'EOT2'
"""kill.py PID OPTION: a watcher is killed, and waited for only when others have watched."""
import subprocess, sys, time

program, option = sys.argv[1:]


def watch(*more):
    command = ['quipu', 'watch', '--pid', program, '--log=hits', '-e', 'beats', *more]
    return subprocess.Popen(command)


first = watch(option)
end = time.time() + 30
while not open('hits').read():
    if first.poll() is not None or time.time() > end:
        sys.exit('it tells nothing')
    time.sleep(0.01)
first.kill()
while '\nState:\tZ' not in open(f'/proc/{first.pid}/status').read():
    time.sleep(0.01)
for _ in range(2):
    if watch('--limit=3').wait(timeout=30):
        sys.exit('nobody else can watch')
    if open('hits').read().count('\n') != 3:
        sys.exit('it does not go on')
first.wait()
EOT2
./program &
running=$!
for option in --long --backtrace --exec=true '--exec=kill -STOP $PPID'; do
    : >hits
    timeout 60 python3 kill.py $running "$option" 2>messages || fail "$option: $(cat messages)"
done
kill -KILL $running
{ wait $running || true; } 2>/dev/null

# What it leaves of a program that it had begun, the next one takes away: but not what another one has,
# nor what is none.
start() {
    : >hits
    quipu watch --log=hits -e beats -- ./program &
    watcher=$!
    until [[ -s hits ]]; do sleep 0.01; done
    program=$(tr -d ' ' </proc/$watcher/task/$watcher/children)
    file=$(grep -o "$TMPDIR/quipu-watch-.*" /proc/$watcher/maps | head -n 1)
    [[ -f $file ]] || fail "it has no file: '$file'"
}
start
left=$file
{ kill -KILL $watcher "$program" && wait $watcher || true; } 2>/dev/null
[[ -f $left ]] || fail "nothing stays, so this tests nothing"
head -c 100000 /dev/urandom >"$TMPDIR/quipu-watch-other"
start
[[ ! -f $left ]] || fail "'$left' stays"
quipu watch --program=program -e beats -- true 2>/dev/null
[[ -f $file && -f $TMPDIR/quipu-watch-other ]] || fail "what is in use was removed"
rm "$TMPDIR/quipu-watch-other"
{ kill -KILL "$program" && wait $watcher || true; } 2>/dev/null
leaves_nothing
