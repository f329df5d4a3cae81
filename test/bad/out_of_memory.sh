#!/bin/bash
# A program that the kernel ends for its memory leaves its counts.  Needs a memory cgroup of its own,
# so root; elsewhere, and where cgroups cannot be made, what can be tested is an address-space limit.
. "$(dirname "$0")/lib.bash"
make_program eats -O1 <<'END'
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) char *eat(size_t size) {
    char *memory = malloc(size);
    return memory ? memset(memory, 1, size) : NULL;
}

int main(void) {
    for (int i = 0; i < 4096; i++)
        if (!eat(1 << 20))
            return 7;
    return 0;
}
END
(ulimit -v 200000; ./eats)
[[ $? -eq 7 ]] || fail "with an address-space limit: exit status $?"
[[ $(calls eat) -gt 10 ]] || fail "with an address-space limit: no counts"
rm -rf quipu.data
group=
for root in /sys/fs/cgroup/memory /sys/fs/cgroup; do
    if mkdir "$root/quipu-test-$$" 2>/dev/null; then
        group=$root/quipu-test-$$
        break
    fi
done
[[ -n $group ]] || exit 0
trap 'rmdir "$group"' EXIT
limit=
for file in memory.max memory.limit_in_bytes; do
    [[ -w $group/$file ]] && limit=$group/$file
done
[[ -n $limit ]] || exit 0
echo 67108864 >"$limit"
(echo "$BASHPID" >"$group/cgroup.procs"; exec ./eats) >output 2>messages
[[ $? -eq 137 ]] || fail "the kernel did not end it: exit status $?"
[[ $(calls eat) -gt 10 ]] || fail "ended by the kernel: no counts"
