#!/bin/bash
# A thread has called on more paths than its tree holds: the readers say so, and not that the disk is
# full. The program writes nothing that it would not write without quipu.
. "$(dirname "$0")/lib.bash"
make_program ways --quipu=calls -O1 <<'C'
/* Each level calls the next one from two places. */
#define LEVEL(n, next)                                                                             \
    static __attribute__((noinline, noclone)) int f##n(int a) {                                    \
        int sum = f##next(a + 1);                                                                  \
        return sum ^ f##next(a + sum);                                                             \
    }
static __attribute__((noinline, noclone)) int f0(int a) { return a * 3; }
LEVEL(1, 0) LEVEL(2, 1) LEVEL(3, 2) LEVEL(4, 3) LEVEL(5, 4) LEVEL(6, 5) LEVEL(7, 6) LEVEL(8, 7)
LEVEL(9, 8) LEVEL(10, 9) LEVEL(11, 10) LEVEL(12, 11) LEVEL(13, 12) LEVEL(14, 13) LEVEL(15, 14)
LEVEL(16, 15) LEVEL(17, 16) LEVEL(18, 17) LEVEL(19, 18) LEVEL(20, 19)

int main(void) {
    return f20(1) == 42;
}
C
ends 0 ./ways
[[ ! -s messages ]] || fail "the program writes: $(cat messages)"
ends 0 quipu report --by=callsite --limit=3
said 'had more paths of calls than there was room for'
