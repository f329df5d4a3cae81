#!/bin/bash
# A unit of 10,000 functions takes not much longer to assemble than without inserted code: jumps that
# the inserted code puts out of a short jump's reach are written long, and notes are in one section.
# Else the assembler takes the square of the time: 34 times as long as for the plain unit, not 6 times.
# timeout: 600
set -e -o pipefail

cat >one.c <<'EOF'
extern char text[4096];
int outside(int number, const char *name);
int function(int a, int b) {
    int sum = a;
    for (int i = 0; i < b; i++)
        sum += text[i & 4095] ^ 77;
    if (a > 22)
        sum += outside(sum - 1, "first");
    else if (b)
        sum -= outside(b - 1, "second");
    outside(sum, "third");
    sum += outside(outside(sum, "fourth"), "fifth");
    return sum * outside(b, "sixth");
}
EOF
gcc -O2 -fno-asynchronous-unwind-tables -S one.c
sed -n '/^function:/,/^	\.size/p' one.s | grep -v '\.LC\|\.size' |
    sed 's/%/PERCENT/g; s/\.L\([0-9]\)/.L%_\1/g; s/^function:/function%:/' >body
grep -q '\.p2align' body
awk '
    {lines[NR] = $0}
    END {
        print "\t.file \"long.c\"\n\t.text"
        for (n = 0; n < 10000; n++) {
            printf "\t.p2align 4\n\t.globl function%d\n\t.type function%d, @function\n", n, n
            for (i = 1; i <= NR; i++) {
                line = lines[i]
                gsub(/%/, n, line)
                print line
            }
            printf "\t.size function%d, .-function%d\n", n, n
        }
        print "\t.ident \"GCC: (GNU) 12.2.0\""
        print "\t.section .note.GNU-stack,\"\",@progbits"
    }' body | sed 's/PERCENT/%/g' >long.s

# seconds COMMAND...: of processor time, its children's included
seconds() {
    local TIMEFORMAT=%U
    { time "$@" 2>&3; } 3>&2 2>&1
}
plain=$(seconds gcc -c long.s -o plain.o)
counted=$(seconds quipu cc --quipu=count -c long.s -o counted.o)
echo "plain $plain s, counted $counted s"
awk -v plain="$plain" -v counted="$counted" 'BEGIN {exit !(counted < 18 * plain)}'
test "$(readelf -SW counted.o | grep -c 'PROGBITS.*\.quipu\.functions\| \.quipu\.functions ')" = 1
