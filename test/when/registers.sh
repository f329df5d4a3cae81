#!/bin/bash
# On a machine whose debug registers stop no program, as some virtual machines' do, 'quipu when' looks
# at each tick first, says that not all writes were seen, and refuses what it cannot answer.
. "$(dirname "$0")/../bad/lib.bash"
export QUIPU_DEBUG_REGISTERS=0
make_program program --quipu=moment -O1 -g <<'EOT'
#include <unistd.h>
int level, calls;
__attribute__((noinline)) void advance(void) { level++; }
int main(void) {
    for (int i = 0; i < 40; i++) {
        advance();
        calls += getppid() > 0;
    }
    return 0;
}
EOT
for level in 1 2 17 40; do
    ends 0 quipu when "level == $level" -- ./program
    grep -q 'level  *'$((level - 1))', then '$level'$' output || fail "$level: $(cat output)"
    grep -q 'moment  *advance+.*@[0-9]*/1~' output || fail "$level: $(cat output)"
    grep -q 'not all writes were seen' output || fail "$level: $(cat output)"
done
ends 1 quipu when 'level == 41' -- ./program
grep -q 'not all writes were seen' messages || fail "$(cat messages)"
ends 1 quipu when --exact 'level == 2' -- ./program
grep -q "'--exact' needs the processor's debug registers, and this machine's stop no program" messages || fail "$(cat messages)"

make_program threads --quipu=moment -O1 -g -pthread <<'EOT'
#include <pthread.h>
int level;
static void *advance(void *none) {
    level++;
    return none;
}
int main(void) {
    pthread_t thread;
    if (pthread_create(&thread, 0, advance, 0) == 0)
        pthread_join(thread, 0);
    return 0;
}
EOT
ends 1 quipu when 'level == 1' -- ./threads
grep -q 'the machine must have debug registers' messages || fail "$(cat messages)"
