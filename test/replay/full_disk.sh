#!/bin/bash
# A disk that becomes full ends the recording with one warning; the program goes on, and what was recorded plays.
. "$(dirname "$0")/lib.bash"

# A disk of our own, in a mount namespace that goes with us.
if [[ ! -v QUIPU_ON_DISK ]]; then
    namespace=(unshare --mount)
    [[ $(id -u) -eq 0 ]] || namespace+=(--user --map-root-user)
    QUIPU_ON_DISK=1 exec "${namespace[@]}" "$0" "$@"
fi
mkdir disk
mount -t tmpfs -o size=256k none disk || fail "cannot mount a small disk"
cat >reads.c <<'END'
#include <stdio.h>
int main(void) {
    static char text[4096];
    FILE *file = fopen("/dev/urandom", "r");
    setvbuf(stdout, NULL, _IONBF, 0);
    for (int i = 0; i < 1000; i++)
        printf("%d %zu\n", i, fread(text, 1, sizeof text, file));
    return 8;
}
END
gcc -O1 -static -o reads reads.c || fail "cannot build 'reads'"
ends 8 quipu record -o disk/run.rec -- ./reads
[[ $(wc -l <output) -eq 1000 ]] || fail "the program has not gone on"
[[ $(grep -c . messages) -eq 1 && $(<messages) == *"cannot write it: No space left"* ]] ||
    fail "the full disk is not told: $(head -3 messages)"
cp output recorded.out
ends 1 quipu replay --check disk/run.rec
[[ $(<messages) == *" was cut behind "* ]] || fail "the cut is not told: $(head -3 messages)"
[[ $(wc -l <output) -ge 20 ]] || fail "what was recorded does not play"
cmp -n "$(stat -c %s output)" recorded.out output || fail "the replay differs"
ends 1 quipu record -o /dev/full -- ./reads
[[ ! -s output && $(<messages) == *"/dev/full"* ]] || fail "a full device: $(head -3 messages)"
