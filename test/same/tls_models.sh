#!/bin/bash
# Thread-local variables by all models and code models, in all modes: linkers rewrite what leads to them
# as one piece, so nothing may come between its parts, and no part may be copied.
set -uo pipefail
cat >main.c <<'C'
#include <stdio.h>

__thread int own = 3;
extern __thread int other;
int *where(void);

__attribute__((noinline)) int get(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        own += i;
        other ^= own;
        sum += *where() + other;
    }
    return sum;
}

int main(void) {
    int sum = get(100);
    printf("%d %d\n", sum, own);
    return 0;
}
C
cat >other.c <<'C'
__thread int other = 7;
static __thread int first, second;

int *where(void) {
    first++;
    second += 2;
    return second % 3 ? &first : &second;
}
C
gcc main.c other.c -o plain || exit 1
wanted=$(./plain)
status=0

# tries MODES COMPILER OPTIONS...: what is built so prints what the plain program does.
tries() {
    local modes=$1 compiler=$2 said
    shift 2
    rm -f program
    said=$("$compiler" --quipu="$modes" "$@" main.c other.c -o program 2>&1 && ./program)
    [[ ${said##*$'\n'} == "$wanted" ]] && return # the assembler says something of clang's text
    echo "'$compiler --quipu=$modes $*': $said"
    status=1
}

# The large model's accesses through the dynamic linker only bfd rewrites.
for modes in watch count,event,moment calls; do
    for options in '-fPIC -mtls-dialect=gnu2' '-fPIC -mcmodel=large -fuse-ld=bfd' -fPIC '-fPIC -ftls-model=local-dynamic'; do
        for level in -O0 -O2; do
            # shellcheck disable=SC2086
            tries $modes quipu-cc $level $options
        done
    done
done
for options in '-fPIC -fno-plt' '-fPIE -fno-plt -ftls-model=initial-exec' '-fno-pie -no-pie -static'; do
    # shellcheck disable=SC2086
    tries watch quipu-cc -O2 $options
done
for linker in gold lld mold; do
    command -v ld.$linker >/dev/null || continue
    tries watch quipu-cc -O2 -fPIC -mtls-dialect=gnu2 -fuse-ld=$linker
    tries watch quipu-cc -O2 -fPIC -fno-plt -fuse-ld=$linker
done
[[ -z $(command -v clang clang-14) ]] || tries watch quipu-clang -O2 -fPIC
exit $status
