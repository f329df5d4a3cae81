#!/bin/sh
# --layout: functions of one name in two files, and binaries that do not fit.
set -eu
PATH=$QUIPU_BUILD/bin:$PATH
cat > one.c <<'C'
static __attribute__((noinline)) int step(int n) { return n * 3 + 1; }
int one(int n) { return step(n); }
C
sed 's/n \* 3 + 1/n * 3 - 1/; s/int one/int two/' one.c > two.c
cat > main.c <<'C'
int one(int), two(int);
int main(void) { return one(5) + two(5) == 30 ? 0 : 1; }
C
build() { quipu cc --quipu="$1" -O1 -g -ffixed-r11 main.c one.c two.c -o "$2"; }
build trace prog
build none plain
quipu trace -o t -- ./prog
# the addresses are those of the plain binary's two functions, in its order
nm plain | awk '$3 == "step" { print substr($1, 14) }' | sort > expected
quipu print --layout=plain t | awk '$3 == "step+0x0" { print substr($1, length($1) - 2) }' > got
cmp expected got
sort -u expected | awk 'END { exit NR != 2 }'
# all formats have the same addresses
quipu print --layout=plain t | awk '/^[0-9a-f]+ [0-9]+ / { print $1 "," $2 }' > print
quipu export --to=lackey --layout=plain t | awk '/^I/ { print $2 }' > lackey
cmp print lackey
quipu export --to=din --layout=plain t | awk '$1 == 2 { print $2 }' > din
cut -d, -f1 print | cmp - din
quipu cache --layout=plain t > /dev/null
# other code, another kind of binary, no trace: one error
refuse() {
    pattern=$1
    shift
    if "$@" > out 2> err; then
        echo "$*: no error"
        exit 1
    fi
    grep "$pattern" err > /dev/null || { cat err; exit 1; }
    test "$(wc -l < err)" = 1
}
sed -i 's/n \* 3 - 1/n * 3 - 2/' two.c
build none other
refuse "'other': 'step' has other code than in .* at step+0x" quipu print --layout=other t
quipu cc --quipu=none -O1 -ffixed-r11 -fno-pie -no-pie main.c one.c two.c -o fixed
refuse 'position-independent' quipu print --layout=fixed t
strip -o stripped plain
refuse 'no symbols' quipu print --layout=stripped t
refuse "'missing'" quipu print --layout=missing t
refuse 'has a layout already' quipu print --layout=plain --layout=plain t
quipu export --to=lackey -o l t
refuse 'is no trace' quipu cache --from=lackey --layout=plain l
# the C interface has the same addresses
cat > reader.c <<'C'
#include <quipu-trace.h>
#include <stdio.h>
int main(int count, char **words) {
    char message[QUIPU_TRACE_MESSAGE_SIZE];
    struct quipu_trace *trace = quipu_trace_open("t", message, sizeof message);
    int result = trace ? quipu_trace_set_layout(trace, words[count - 1], message, sizeof message) : -2;
    if (result != 0) {
        printf("%d %s\n", result, message);
        quipu_trace_close(trace);
        return 1;
    }
    struct quipu_trace_reader *reader = quipu_trace_begin(trace, 0);
    for (const struct quipu_trace_record *record; (record = quipu_trace_next(reader));)
        printf("%lx,%u\n", (unsigned long)record->address, record->size);
    quipu_trace_end(reader);
    quipu_trace_close(trace);
}
C
gcc -I"$QUIPU_BUILD/include" reader.c -o reader -L"$QUIPU_BUILD/lib" -Wl,-rpath,"$QUIPU_BUILD/lib" -lquipu-trace
./reader plain | cmp - print
if ./reader other > out; then exit 1; fi
grep "^-1 'other': 'step' has other code" out > /dev/null
