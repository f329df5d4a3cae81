#!/bin/bash
# Nobody has written to a local before the program does: not the runtime either, which runs where the
# frame will be, while the function begins and while it pushes registers.  So a call that changes
# nothing is not told, and nothing is accused.
. "$(dirname "$0")/lib.bash"
cat >outside.c <<'EOT2'
void outside(void) {}
EOT2
cat >program.c <<'EOT2'
void outside(void);
volatile long seed = 3;
__attribute__((noinline)) static long fill(long n) { /* no registers are pushed */
    volatile long room[40];
    outside();
    long sum = 0;
    for (int i = 0; i < 3; i++) {
        room[i] = n + i;
        sum += room[i];
    }
    return sum;
}
__attribute__((noinline)) static long fill_more(long a, long b, long c, long d, long e, long f) {
    volatile long large[3000], room[100];
    long k = a * b, l = b * c, m = c * d, n = d * e, o = e * f;
    outside();
    large[7] = a;
    for (int i = 0; i < 3; i++)
        room[i] = k + l + m + n + o + i;
    outside();
    return room[0] + k * l + m * n + o + large[7] + a + b + c + d + e + f;
}
__attribute__((noinline)) static long deeper(long n) {
    volatile long room[200];
    outside();
    if (n > 0) {
        room[n] = n;
        return deeper(n - 1) + room[n];
    }
    return 0;
}
int main(void) {
    outside();
    long sum = fill(seed) + fill_more(seed, 2, 3, 4, 5, 6) + deeper(seed);
    return sum < 0;
}
EOT2
gcc -O2 -c outside.c || fail "cannot build"
for level in -O0 -O1 -O2 -O3 -Os '-O2 -fno-omit-frame-pointer' '-O2 -fstack-protector-all'; do
    # shellcheck disable=SC2086
    "$quipu" cc --quipu=watch $level -g program.c outside.o -o program || fail "$level: cannot build"
    for local in fill::room fill_more::room deeper::room; do
        watches 0 -e $local -- ./program
        [[ $(grep -c 'room\[' hits) -eq 3 ]] || fail "$level, $local: $(cat hits)"
        grep -q 'outside' hits && fail "$level, $local: the call is told: $(cat hits)"
    done
    watches 0 -e fill_more::large -- ./program
    [[ $(grep -c 'large\[' hits) -eq 1 ]] || fail "$level: $(cat hits)"
    for local in 'fill::room[20..39]' 'fill_more::room[90]'; do
        watches 0 --never-written "$local" --fatal -- ./program
    done
done
exit 0
