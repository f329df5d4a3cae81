#!/bin/bash
# A recording removes what earlier ones have left in memory: a directory without a control file, which a
# process has filled while it was removed. One that is just being made stays.
. "$(dirname "$0")/lib.bash"
make_program program --quipu=trace -O2 <<'PROGRAM'
int main(void) { return 0; }
PROGRAM
left=$(mktemp -d /dev/shm/quipu-trace.XXXXXX)
made=$(mktemp -d /dev/shm/quipu-trace.XXXXXX)
trap 'rm -rf "$left" "$made"' EXIT
touch "$left/12" "$made/12"
touch -d '2 minutes ago' "$left"
quipu trace -o t -- ./program || fail "cannot record: $?"
[[ ! -e $left ]] || fail "'$left' is left"
[[ -e $made/12 ]] || fail "'$made' is not there any more"
