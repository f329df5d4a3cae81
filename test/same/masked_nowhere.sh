#!/bin/bash
# Vector stores whose mask chooses no element, and strings of none, may have an address that no memory
# has: nothing is stored, and nothing faults; the checks of stores must not either.
set -uo pipefail
unset QUIPU_DATA

cat >program.c <<'C'
#include <stdint.h>
#include <stdio.h>

static uint64_t nowhere[] = {0, (uint64_t)1 << 47, (uint64_t)1 << 50, (uint64_t)0xdead << 48,
                             UINT64_MAX - 4096};

static void store_avx2(uint64_t to) {
    __asm__ volatile("vpxor %%xmm0, %%xmm0, %%xmm0\n\t"
                     "vmaskmovps %%ymm0, %%ymm0, (%0)\n\t"
                     "vmaskmovpd %%xmm0, %%xmm0, 8(%0)\n\t"
                     "vpmaskmovd %%ymm0, %%ymm0, (%0,%0,4)\n\t"
                     "vpmaskmovq %%xmm0, %%xmm0, -16(%0)"
                     :
                     : "r"(to)
                     : "xmm0", "memory");
}

static void store_avx512(uint64_t to) {
    __asm__ volatile("kxorw %%k1, %%k1, %%k1\n\t"
                     "vpxor %%xmm1, %%xmm1, %%xmm1\n\t"
                     "vmovups %%zmm0, (%0)%{%%k1%}\n\t"
                     "vmovdqu64 %%zmm0, 64(%0)%{%%k1%}\n\t"
                     "vpcompressd %%zmm0, (%0)%{%%k1%}\n\t"
                     "vpmovqd %%zmm0, 8(%0)%{%%k1%}\n\t"
                     "vpscatterdd %%zmm0, (%0,%%zmm1,4)%{%%k1%}"
                     :
                     : "r"(to)
                     : "xmm0", "xmm1", "memory");
}

static void store_strings(uint64_t to) {
    uint64_t count = 0;
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(0) : "memory");
    __asm__ volatile("rep stosq" : "+D"(to), "+c"(count) : "a"(0) : "memory");
}

int main(void) {
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
        store_strings(nowhere[i]);
        if (__builtin_cpu_supports("avx2"))
            store_avx2(nowhere[i]);
        if (__builtin_cpu_supports("avx512f"))
            store_avx512(nowhere[i]);
        printf("%zu\n", i);
    }
    return 0;
}
C

status=0
gcc -O2 program.c -o plain && ./plain >expected || exit 1
for modes in count watch event,moment,calls,watch; do
    for optimization in -O0 -O2 '-O2 -fPIC'; do
        rm -rf quipu.data
        # shellcheck disable=SC2086
        quipu cc --quipu=$modes $optimization program.c -o program && ./program >output 2>&1 &&
            cmp expected output || {
            echo "masked_nowhere.sh: $modes $optimization: $(cat output)"
            status=1
        }
    done
done
exit $status
