#!/bin/bash
# The oracle of watched memory itself, on a program whose writes are known by reading it; and the
# comparison, which must notice a hit that is missing, invented, out of order, or wrong in a byte, a
# region, a function.
. "$(dirname "$0")/../bad/lib.bash"
watched=$QUIPU_BUILD/test/watched
root=$(cd "$(dirname "$0")/../.." && pwd)
cat >known.s <<'END_OF_SOURCE'
    .text
    .globl known, handler, compare, area
    .type known, @function
    .type handler, @function
    .type compare, @function
known:
    movb $1, area(%rip)
    movb $1, area(%rip)             # no change
    movl $0x04030201, 6+area(%rip)  # two bytes in region 0, all in region 1, which lies over it
    lea 16+area(%rip), %rdi
    mov $3, %ecx
    mov $9, %al
    rep stosb                       # turns of one instruction
    lea 16+area(%rip), %rdi
    mov $1, %ecx
    mov $8, %al
    rep stosb
    push %rbx
    lea 16+area(%rip), %rdi
    lea 20+area(%rip), %rsi
    mov $4, %edx
    call swap@PLT                   # a library's
    pop %rbx
    jmp tail@PLT
    .size known, .-known
handler:
    incb 4+area(%rip)
    ret
    .size handler, .-handler
compare:
    incb 5+area(%rip)
    mov (%rdi), %eax
    sub (%rsi), %eax
    ret
    .size compare, .-compare
    .local area
    .comm area, 64, 64
    .section .note.GNU-stack,"",@progbits
END_OF_SOURCE
cat >library.c <<'END_OF_SOURCE'
/* Swaps bytes, one at a time. */
void swap(volatile char *a, volatile char *b, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        char kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}
void tail(void) {
}
END_OF_SOURCE
cat >main.c <<'END_OF_SOURCE'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
void known(void), handler(int);
int compare(const void *, const void *);
static void *other(void *argument) {
    handler(1);
    return argument;
}
int main(void) {
    int numbers[2] = {2, 1}, pipes[2];
    pthread_t thread;
    known();
    signal(SIGUSR1, handler);
    raise(SIGUSR1);
    pthread_create(&thread, NULL, other, NULL);
    pthread_join(thread, NULL);
    qsort(numbers, 2, sizeof *numbers, compare);
    if (fork() == 0) {
        handler(1);
        _exit(0);
    }
    wait(NULL);
    handler(1);
    return pipe(pipes) + 5;
}
END_OF_SOURCE
gcc -O1 -fPIC -shared library.c -o library.so || fail "cannot build"
gcc -O1 main.c known.s ./library.so -Wl,-rpath,"$PWD" -o known -pthread || fail "cannot build"
regions=(--region area:8 --region area+6:4 --region area+16:8)
ends 5 "$watched" --whole "${regions[@]}" -o changes ./known
ends 5 "$watched" "${regions[@]}" -o quick ./known
ends 124 "$watched" --whole --limit 10 "${regions[@]}" -o few ./known
[[ -s few ]] && fail "changes in the first 10 steps: $(cat few)"
# Without step numbers, calls counted from the first one that is seen, libraries without offsets.
sed -E 's/^(change [0-9]+) [0-9]+/\1/; s/(library.so)\+.*/\1/' changes |
    awk '$1 == "return" { $3 = call[$3] }
         $1 == "change" && $9 { if (!call[$9]) call[$9] = ++calls; $9 = call[$9] }
         { print }' >seen
cat >expected <<'END_OF_LIST'
change 0 0 0 0 00 01 store 0 known+0
change 0 0 6 7 0000 0102 store 0 known+0xe
change 0 1 0 3 00000000 01020304 store 0 known+0xe
change 0 2 0 0 00 09 repeated 1 known+0x26
change 0 2 1 1 00 09 repeated 1 known+0x26
change 0 2 2 2 00 09 repeated 1 known+0x26
return 0 1
change 0 2 0 0 09 08 store 0 known+0x36
change 0 2 0 0 08 00 store 2 known+0x4c library.so
change 0 2 4 4 00 08 store 2 known+0x4c library.so
change 0 2 1 1 09 00 store 2 known+0x4c library.so
change 0 2 5 5 00 09 store 2 known+0x4c library.so
change 0 2 2 2 09 00 store 2 known+0x4c library.so
change 0 2 6 6 00 09 store 2 known+0x4c library.so
return 0 2
change 0 0 4 4 00 01 store 0 handler+0
change 1 0 4 4 01 02 store 0 handler+0
change 0 0 5 5 00 01 store 0 compare+0
change 2 0 4 4 02 03 store 0 handler+0
change 0 0 4 4 02 03 store 0 handler+0
END_OF_LIST
diff expected seen || fail "the oracle sees other changes than there are"
cd "$root/test/oracle" || exit 1
python3 - "$OLDPWD" <<'END_OF_SCRIPT' || fail "the comparison"
import copy
import sys
sys.dont_write_bytecode = True
import watched
expected = watched.read_changes(sys.argv[1] + '/changes')
quick = watched.read_changes(sys.argv[1] + '/quick')
def flatten(found):
    return {thread: [write for group in groups for write in group]
            for thread, groups in found.items()}
assert watched.compare(expected, flatten(quick)) is None
assert watched.compare(quick, flatten(expected)) is None
flat = flatten(expected)
assert [len(writes) for writes in flat.values()] == [9, 1, 1], flat
assert [len(group) for group in expected[0]] == [1, 2, 1, 1, 1, 1, 1, 1], expected[0]
assert flat[0][5].bytes == {0: (8, 0), 1: (9, 0), 2: (9, 0), 4: (0, 8), 5: (0, 9), 6: (0, 9)}
assert watched.compare(expected, flat) is None
flat[0][1], flat[0][2] = flat[0][2], flat[0][1]  # regions of one instruction, in any order
assert watched.compare(expected, flat) is None
noticed = 0
for thread, writes in flat.items():
    for at, write in enumerate(writes):
        for change in ('miss', 'invent', 'byte', 'old', 'region', 'function', 'swap'):
            hits = copy.deepcopy(flat)
            byte = next(iter(write.bytes))
            if change == 'miss':
                del hits[thread][at]
            elif change == 'invent':
                hits[thread].insert(at, copy.deepcopy(write))
            elif change == 'byte':
                hits[thread][at].bytes[byte] = (write.bytes[byte][0], 0xaa)
            elif change == 'old':
                hits[thread][at].bytes[byte] = (0xaa, write.bytes[byte][1])
            elif change == 'region':
                hits[thread][at].region += 1
            elif change == 'function':
                hits[thread][at].function += 'x'
            elif at + 1 == len(writes) or at == 1:
                continue
            else:
                hits[thread][at:at + 2] = reversed(hits[thread][at:at + 2])
            assert watched.compare(expected, hits), (change, thread, at)
            noticed += 1
assert noticed == 6 * 11 + 7, noticed
flat = copy.deepcopy(flat)
for write in flat[0]:  # not compared where there are addresses
    write.bytes = {0: (1, 2)}
assert watched.compare(expected, flat)
assert watched.compare(expected, flat, {0, 1, 2}) is None
END_OF_SCRIPT
