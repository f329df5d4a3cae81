#!/bin/bash
# What is true in front of the first instrumented instruction, and made false by a constructor: both
# values are told, that of the start and that at the moment, the begin of main.
. "$(dirname "$0")/../bad/lib.bash"
cat >program.cc <<'EOT'
struct option {
    double value;
    explicit option(double value) : value(value) {}
};
option decay(0.5);
int main() { return decay.value > 1; }
EOT
quipu-c++ --quipu=moment -O0 -g program.cc -o program || fail "cannot build"
ends 0 quipu when 'decay.value < 0.25' -- ./program
grep -q "is true from the start" output || fail "$(cat output)"
grep -qE '^  moment +main\+0x0@' output || fail "$(cat output)"
grep -qE '^  decay.value  0, then 0.5' output || fail "$(cat output)"
