#!/bin/bash
# A build that counts, too: in a block whose flags live from its begin on, the check of a store stands
# in front of the counter, and the counts of instructions are right.
. "$(dirname "$0")/lib.bash"
cat >fill.c <<'END'
int fill(int n, int *to, int *other) {
    if (n == 0)
        return 0;
    *other = n;
    to[2] = 4126;
    int size = n > 0 ? n : 1016;
    to[3] = size;
    to[4] = size + 1;
    return size;
}
END
cat >program.c <<'END'
#include <stdio.h>
int fill(int n, int *to, int *other);
int cells[8];
int main(void) {
    int sum = 0;
    for (int i = -3; i < 7; i++)
        sum += fill(i, cells, &cells[7]);
    printf("%d %d %d %d\n", sum, cells[2], cells[3], cells[4]);
    return 0;
}
END
for placement in tree block; do
    for kinds in count,watch count,event,moment,watch; do
        quipu cc --quipu=$kinds --quipu-placement=$placement -O1 -g program.c fill.c -o program ||
            fail "$kinds, $placement: cannot build"
        rm -rf data
        quipu run --output data ./program >output 2>messages || fail "$kinds: $(cat messages)"
        [[ $(cat output) == '3069 4126 6 7' ]] || fail "$kinds, $placement: $(cat output)"
        quipu report --by=line --format=csv data >rows || fail "$kinds, $placement: no report"
        for row in 2,10 4,9 5,9 7,9 8,9; do # lines
            grep -q "/fill\.c,$row," rows || fail "$kinds, $placement: $row: $(cat rows)"
        done
        watches 0 -e 'cells[3]' -- ./program
        [[ $(wc -l <hits) -eq 9 ]] || fail "$kinds, $placement: $(cat hits)"
    done
done
