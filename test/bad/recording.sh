#!/bin/bash
# Recordings that are foreign, corrupt, of another version or another program: one error that names the file
# and the cause, and nothing of the program runs.
# timeout: 200
. "$(dirname "$0")/lib.bash"
cat >program.c <<'END'
#include <stdio.h>
int main(int argc, char **argv) { return printf("hello from %s\n", argv[1]) > 0 ? 6 : 1; }
END
gcc -O1 -o program program.c || fail "cannot build 'program'"
ends 6 quipu record -o good.rec -- ./program here

# refused TEXT FILE: one line that has TEXT, and no output.
refused() {
    ends 1 timeout 20 quipu replay --check "$2"
    [[ ! -s output && $(grep -c . messages) -eq 1 && $(<messages) == "quipu: error: "*"$1"* ]] ||
        fail "'$2': $(head -3 messages)"
}

# damaged OFFSET BYTES: a copy of good.rec with other bytes there.
damaged() {
    cp good.rec bad.rec
    printf "$2" | dd of=bad.rec bs=1 seek="$1" conv=notrunc status=none
}

ends 6 quipu replay --check good.rec
[[ $(<output) == "hello from here" ]] || fail "the good recording is not played"
refused "missing.rec" missing.rec
refused "is not a recording" /bin/sh
: >empty.rec
refused "is not a recording" empty.rec
head -c 24 good.rec >bad.rec
refused "was cut before the program began" bad.rec
damaged 8 '\x07'
refused "version 7" bad.rec
ends 1 quipu info bad.rec
damaged 16 '\x09'
refused "is corrupt" bad.rec
damaged 60 'xxxxxxxx'
refused "is corrupt" bad.rec
ends 1 quipu info bad.rec
[[ $(<messages) == *"is corrupt"* ]] || fail "quipu info of a corrupt recording: $(<messages)"

mv program other
refused "program': No such file" good.rec
sed 's/hello/HELLO/' other >program
chmod +x program
refused "is not the file that was recorded" good.rec
cp /bin/sh program
refused "'" good.rec
cp other program
ends 6 quipu replay --check good.rec

for option in --at=nonsense --at=99999999 --port=x --port=99999999 --gdb=/none/gdb; do
    status=1
    [[ $option != --gdb=* ]] || status=127
    ends $status timeout 20 quipu replay "$option" good.rec
    [[ $(grep -c '^quipu: error: ' messages) -eq 1 && $(<messages) == *"${option#*=}"* ]] ||
        fail "'quipu replay $option': $(head -3 messages)"
done
ends 1 quipu replay --check good.rec good.rec
ends 1 quipu replay --check
ends 1 quipu record
