#!/bin/bash
# Started with SIGCHLD ignored, as some build systems and daemons start their children, quipu builds and runs
# programs as ever; the program itself finds the signal ignored, as without quipu.
. "$(dirname "$0")/lib.bash"
cat >program.c <<'EOT'
#include <signal.h>
#include <stdio.h>
int value;
int main(void) {
    struct sigaction action;
    value = 7;
    sigaction(SIGCHLD, NULL, &action);
    puts(action.sa_handler == SIG_IGN ? "ignored" : "not ignored");
    return 3;
}
EOT
# ignoring COMMAND...: as ends, with SIGCHLD ignored.
ignoring() {
    local status=$1
    shift
    ends "$status" python3 -c 'import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execvp(sys.argv[1], sys.argv[1:])' "$@"
}
ignoring 0 quipu cc -g -O1 --quipu=moment,event,watch program.c -o program
[[ ! -s messages ]] || fail "the build says: $(cat messages)"
ignoring 3 ./program
grep -qx ignored output || fail "plain: $(cat output)"
ignoring 3 quipu run -o data ./program
grep -qx ignored output || fail "run: $(cat output)"
ignoring 3 quipu stat ./program
grep -q instructions messages output || fail "stat: $(cat output messages)"
ignoring 3 quipu watch -e value -- ./program
grep -q 'value  0 -> 7' messages || fail "watch: $(cat messages)"
grep -qx ignored output || fail "watch: $(cat output)"
ignoring 0 quipu when 'value == 7' ./program
grep -q 'main.*@' output || fail "when: $(cat output messages)"
