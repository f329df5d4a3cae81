#!/bin/bash
# A function that branches backward more than a thousand times, with no loop: all of its ticks may be
# above the cell until it returns.  Its moments are found all the same.
set -u
blocks=1400
{
    echo '// watch: counter'
    echo '// visits: 20'
    echo '// variants: -O0'
    echo 'unsigned long counter; volatile int yes = 1; void chain(void);'
    echo 'int main(void) { chain(); chain(); return 0; }'
    echo "void chain(void) { goto L$blocks;"
    echo 'L1: counter++; goto end;'
    for ((i = 2; i <= blocks; i++)); do
        echo "L$i: counter++; if (yes) goto L$((i - 1)); return;"
    done
    echo 'end:; }'
} >chain.c
exec "$(dirname "$0")/../harness/moments" "$PWD/chain.c"
