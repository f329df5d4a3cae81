#!/bin/bash
# Sanitizers whose shadow memory lies where that of watched memory does are refused with it, in one line;
# with all else they work as without quipu, and counts are exact.
. "$(dirname "$0")/lib.bash"
cat >program.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static int half(int n) {
    return n % 2 ? n : n / 2;
}

static void *work(void *argument) {
    int *sum = argument;
    for (int i = 0; i < 1000; i++)
        *sum += half(i);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[3];
    int *sums = calloc(3, sizeof *sums);
    for (int i = 0; i < 3; i++)
        if (pthread_create(&threads[i], NULL, work, &sums[i]))
            return 1;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", sums[0] + sums[1] + sums[2]);
    free(sums);
    return argc > 1 ? sums[argc] : 0;
}
C

for sanitizer in address thread memory hwaddress; do
    for compiler in quipu-cc quipu-clang; do
        refuses "'-fsanitize=$sanitizer': its shadow memory lies where '--quipu=watch' has its own" -- \
            "$compiler" --quipu=watch -fsanitize=undefined,$sanitizer -c program.c -o refused.o
        refuses "'-fsanitize=$sanitizer'" -- "$compiler" --quipu=count,watch program.o -fsanitize=$sanitizer
    done
done
[[ ! -e refused.o ]] || fail "an object was made"
ends 0 quipu cc --quipu=watch -fsanitize=address,undefined -fno-sanitize=address -c program.c -o program.o
ends 0 quipu cc --quipu=watch -fsanitize=address -fno-sanitize=all -c program.c -o program.o
# objects with checks, and the link says nothing of them
refuses "'-fsanitize=address'" -- quipu cc -fsanitize=address program.o -o program
[[ ! -e program ]] || fail "a program was made"

# works MODE COMPILER SANITIZER: the program does what it should.
works() {
    rm -rf quipu.data
    ends 0 "quipu-$2" --quipu="$1" -g -O1 -fsanitize="$3" -pthread program.c -o program
    ends 0 ./program
    [[ $(<output) == 1124250 && ! -s messages ]] ||
        fail "$2, $1, $3: '$(<output)', '$(<messages)'"
    [[ $1 != *count* ]] || expect_calls half 3000
}

for sanitizer in address,undefined thread leak; do
    works count,event,moment cc $sanitizer
    works calls cc $sanitizer
done
works watch cc undefined
works watch cc leak
if clang=$(command -v clang-14 || command -v clang) && echo 'int main(void){}' >empty.c &&
    "$clang" -fsanitize=memory empty.c -o empty 2>/dev/null; then
    works count,event,moment clang memory
    works calls clang address
fi
# what is found is found still, at its line
works count cc address
ASAN_OPTIONS='' ends 1 ./program one
grep -q 'heap-use-after-free' messages || fail "nothing was found: $(<messages)"
grep -q '#0 .* in main .*program.c:26' messages || fail "found elsewhere: $(<messages)"
exit 0
