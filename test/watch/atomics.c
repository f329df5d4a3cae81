// Exchanges, compared or not, with and without lock; a comparison that fails changes nothing.
// flags: -mcx16
// watch: q = q:64
// watch: pair = pair:16
// watch: pair[1] = pair+8:8
// watch: counter = counter:4
// variants: -O2; -O0; -O2 -fno-pie -no-pie; clang -O2; -O3 -fPIE
// libraries: -latomic
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

_Alignas(64) uint64_t q[8] = {1, 2, 3, 4, 5, 6, 7, 8};
_Alignas(16) uint64_t pair[2];
_Atomic int counter;

__attribute__((noinline)) static unsigned exchange(uint64_t *p, uint64_t x) {
    unsigned char equal = 0, equal_too = 0;
    __asm__ volatile("mov %3, %%rcx\n\t"
                     "xchgq %%rcx, (%2)\n\t"
                     "xchgb %%cl, 9(%2)\n\t"
                     "xchgw 18(%2), %%cx\n\t"
                     "lock xchgl %%ecx, 24(%2)\n\t"
                     "mov 32(%2), %%rax\n\t"
                     "cmpxchgq %%rcx, 32(%2)\n\t" // succeeds
                     "sete %0\n\t"
                     "lock cmpxchgq %3, 32(%2)\n\t" // fails, but for chance
                     "mov $77, %%eax\n\t"
                     "lock cmpxchgl %%ecx, 40(%2)\n\t"
                     "sete %1\n\t"
                     "mov 48(%2), %%al\n\t"
                     "cmpxchgb %%cl, 48(%2)\n\t"
                     "lock xaddq %%rcx, 56(%2)\n\t"
                     "xaddb %%cl, 49(%2)\n\t"
                     "xaddw %%ax, 50(%2)\n\t"
                     "lock xaddl %%eax, 52(%2)\n\t"
                     "lock addq $1, (%2)\n\t"
                     "lock notl 8(%2)\n\t"
                     "lock btsq $40, 16(%2)\n\t"
                     "lock decb 24(%2)\n\t"
                     "lock orq %3, 32(%2)\n\t"
                     "lock negw 34(%2)"
                     : "=&q"(equal), "=&q"(equal_too)
                     : "r"(p), "r"(x)
                     : "rax", "rcx", "memory", "cc");
    return equal * 2u + equal_too;
}

__attribute__((noinline)) static unsigned wide(uint64_t *p, uint64_t low, uint64_t high) {
    unsigned char equal = 0, equal_too = 0;
    __asm__ volatile("mov (%2), %%rax\n\t"
                     "mov 8(%2), %%rdx\n\t"
                     "mov %3, %%rbx\n\t"
                     "mov %4, %%rcx\n\t"
                     "cmpxchg16b (%2)\n\t"
                     "sete %0\n\t"
                     "xor $1, %%rax\n\t"
                     "lock cmpxchg16b (%2)\n\t" // fails
                     "sete %1\n\t"
                     "mov (%2), %%eax\n\t"
                     "mov 4(%2), %%edx\n\t"
                     "inc %%ebx\n\t"
                     "lock cmpxchg8b (%2)\n\t"
                     "inc %%eax\n\t"
                     "cmpxchg8b 8(%2)"
                     : "=&r"(equal), "=&r"(equal_too)
                     : "r"(p), "r"(low), "r"(high)
                     : "rax", "rbx", "rcx", "rdx", "memory", "cc");
    return equal * 2u + equal_too;
}

int main(void) {
    unsigned seen = 0;
    for (uint64_t i = 1; i < 5; i++) {
        seen = seen * 4 + exchange(q, i * 0xfedcba9876543211);
        seen = seen * 4 + wide(pair, i, i << 33);
        counter++;
        atomic_fetch_or(&counter, 64);
        int expected = (int)i;
        atomic_compare_exchange_strong(&counter, &expected, 1000);
        atomic_exchange(&counter, (int)i);
        atomic_fetch_xor(&counter, 3);
    }
    printf("%x %d\n", seen, counter);
    return 0;
}
