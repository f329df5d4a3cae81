#!/bin/bash
# trace_lackey.sh: quipu export --to=lackey writes what valgrind's lackey says of the same binary; din
# has the same references.
. "$(dirname "$0")/lib.bash"
needs valgrind

# Functions of the program only call each other: lackey's lines of their instructions are all of them.
cat >program.c <<'C'
static int table[256];
static unsigned long state = 1;
__attribute__((noinline)) static unsigned next(void) {
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    return state >> 40;
}
__attribute__((noinline)) static int fill(int depth) {
    unsigned char *bytes = (unsigned char *)table;
    if (depth == 0)
        return table[next() % 256];
    for (int i = 0; i < 20; i++) {
        table[next() % 256]++;
        bytes[next() % 1024] ^= depth;
        if (next() & 1)
            table[i] = table[next() % 256] - 3;
    }
    return fill(depth - 1) + depth;
}
__attribute__((noinline)) static double mean(const int *from, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += from[i] / 2.0;
    return sum / count;
}
int main(void) {
    return (fill(30) + (int)mean(table, 256)) & 1;
}
C
# Addresses of a static program are the same in each run; those of the stack are not.
# normalize: what is on the stack gets a name for its address.
normalize() {
    sed -E 's/^( [LSM]) [0-9a-f]{9,},/\1 stack,/'
}

# of_program NAME: the lines of lackey, read from standard input, that belong to instructions of the
# program's functions and are not inserted code: those at the addresses of ours.
of_program() {
    awk -F'[ ,]+' 'NR == FNR { if ($1 == "I") ours[$2] = 1; next }
        /^I/ { mine = $2 in ours } mine && /^(I| [LSM])/ { print }' "$1" -
}

for flags in -O0 -O1 -O2 '-O3 -march=x86-64-v2'; do
    # shellcheck disable=SC2086
    "$quipu" cc --quipu=trace $flags -fno-pie -static -g program.c -o program -no-pie || fail "cannot build"
    status=0
    "$quipu" trace -o t -- ./program || status=$?
    [ $status -lt 2 ] || fail "the program ended with $status"
    "$quipu" export --to=lackey -o ours.txt t || fail "no export"
    grep -E '^I' ours.txt | sort -u >addresses.txt
    valgrind --tool=lackey --trace-mem=yes --log-file=log ./program || true
    of_program addresses.txt <log | normalize >theirs.txt
    normalize <ours.txt >normal.txt
    [ "$(wc -l <normal.txt)" -gt 10000 ] || fail "$flags: only $(wc -l <normal.txt) lines"
    cmp -s theirs.txt normal.txt ||
        fail "$flags: lackey says otherwise: $(diff theirs.txt normal.txt | head -n 8)"
    grep -qE '^ M ' ours.txt || fail "$flags: nothing is modified"

    # din: each line of lackey, a modification as a read and a write.
    "$quipu" export --to=din t >din.txt
    awk -F'[ ,]+' '{ address = $2 } /^ / { address = $3 } { sub(/^0+/, "", address) }
        /^I/ { print 2, address } /^ [LM]/ { print 0, address } /^ [SM]/ { print 1, address }' ours.txt |
        cmp -s - din.txt || fail "$flags: din differs from lackey"
done

# An address of few digits is padded as valgrind pads it.
grep -qE '^I  00[0-9a-f]{6},[0-9]+$' ours.txt || fail "addresses are not padded: $(head -n 1 ours.txt)"
expect_error 1 'writes a trace' "$quipu" export --to=lackey program
expect_error 1 'no such format for traces' "$quipu" export --to=lcov t
expect_error 1 'are for counts' "$quipu" export --to=din --source-root=. t
expect_error 1 'exported alone' "$quipu" export --to=din t t
