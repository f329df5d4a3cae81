#!/bin/bash
# A link that has cells, tables or notes where nobody looks for them is an error, and leaves nothing
# behind; a binary that others linked so is refused by readers.
. "$(dirname "$0")/lib.bash"
cat >program.c <<'C'
#include <stdio.h>

__attribute__((noinline)) static int half(int n) {
    return n % 2 ? n : n / 2;
}

__attribute__((noinline)) int sum(int n) {
    volatile int all = 0;
    for (int i = 0; i < n; i++)
        all += half(i);
    return all;
}

int main(void) {
    printf("%d\n", sum(1000));
    return 0;
}
C

# is_refused TEXT ARGS...: the link is refused with TEXT, and there is no program.
is_refused() {
    local text=$1
    shift
    refuses "'program'" "$text" -- quipu cc -O1 -ffunction-sections "$@" program.c -o program
    [[ ! -e program ]] || fail "'$*': the program is still there"
}

for mode in count event calls moment; do
    is_refused 'bytes of its counters are not where they are counted' --quipu=$mode -Wl,--unique
done
is_refused "bytes of its table '.quipu.sites' are not where" --quipu=watch -Wl,--unique

# script NAME LINE: the linker's own script with LINE in front of .data.
script() {
    ld.bfd --verbose | sed '1,/^=====/d; /^=====/,$d' | sed "s|^  \.data  .*|  $2\n&|" >"$1"
}
script own ''
script end '.end : { *(.quipu.cells.end) }'
script turned '.cells : { *(.quipu.cells.end) *(.quipu.cells) }'
script kinds '.kinds : { *(.quipu.ranges.end) }'
quipu cc -fuse-ld=bfd -Wl,-T,own program.c -o program || fail "a linker script of one's own does not work"
./program >output
expect_calls main 1
rm program
is_refused 'of its counters are not' -fuse-ld=bfd -Wl,-T,end
is_refused "' and others are not where they are counted" -fuse-ld=bfd -Wl,-T,turned
is_refused "bytes of its table '.quipu.ranges'" --quipu=event -fuse-ld=bfd -Wl,-T,kinds

# The same by others: what they link, readers refuse.
quipu cc -O1 -ffunction-sections -c program.c -o program.o || fail "cannot compile"
gcc -Wl,--unique -Wl,--build-id "${QUIPU_BUILD:?}/lib/quipu/begin.o" program.o \
    "$QUIPU_BUILD/lib/quipu/libquipu-rt.a" -o program || fail "cannot link"
refuses "'program'" 'bytes of its counters are not where they are counted' -- quipu info program

# gold drops functions, and then refuses their notes: it is told to keep them, with a warning.
if command -v ld.gold >/dev/null; then
    for option in -Wl,--gc-sections '-Xlinker --gc-sections'; do
        # shellcheck disable=SC2086
        ends 0 quipu cc -O1 -ffunction-sections -fuse-ld=gold $option program.c -o program
        said "'--gc-sections': gold cannot drop functions that are counted"
        rm -rf quipu.data
        ./program >output
        expect_calls half 1000
    done
    ends 0 quipu cc --quipu=event -ffunction-sections -fuse-ld=gold -Wl,--gc-sections program.c -o program
    [[ ! -s messages ]] || fail "gold, --quipu=event: $(cat messages)"
fi

# Other outputs, and none, are nothing to complain about.
ends 0 quipu cc program.o -o /dev/null

# Section headers are kept, whoever leaves them out, where the linker can.
if [[ $(ld.bfd --help) == *nosectionheader* ]]; then
    for option in -Wl,-z,nosectionheader '-z nosectionheader' '-Xlinker -z -Xlinker nosectionheader' -Wl,-znosectionheader; do
        for mode in count event calls moment; do
            # shellcheck disable=SC2086
            ends 0 quipu cc --quipu=$mode -O1 -fuse-ld=bfd $option program.c -o program
            said "'-z nosectionheader': quipu finds its notes by section headers; they are kept"
        done
        rm -rf quipu.data
        ends 0 quipu cc -O1 -fuse-ld=bfd $option -Wl,-z,sectionheader program.c -o program
        [[ ! -s messages ]] || fail "section headers are not left out: $(cat messages)"
        ./program >output
        expect_calls half 1000
    done
else
    echo "skipped: '-z nosectionheader': the linker knows no such option"
fi

# Objects of an earlier quipu, which had its cells elsewhere: nothing would be counted.
quipu cc -O1 -c program.c -o old.o || fail "cannot compile"
for section in units functions; do
    cp old.o older.o
    place=$(readelf -SW older.o | sed -n "s/.*\.quipu\.$section  *[A-Z]* *[0-9a-f]* *\([0-9a-f]*\).*/\1/p" | head -n 1)
    printf '\2' | dd of=older.o bs=1 seek=$((16#$place + 5)) conv=notrunc status=none
    rm -f program
    refuses "'program'" "compiled by another quipu (their notes are of version 2" "compile all anew" -- \
        quipu cc older.o -o program
    [[ ! -e program ]] || fail "the program is still there"
done
