// The x87 unit's stores, and the states of both floating-point units.  Addresses of the last
// instruction, which differ between builds, are in no region.
// watch: place = place:96
// watch: place[5..20] = place+5:16
// watch: env[0..11] = env:12
// watch: saved[0..11] = saved:12
// watch: saved[28..107] = saved+28:80
// watch: fx[0..5] = fx:6
// watch: fx[24..27] = fx+24:4
// watch: fx[32..159] = fx+32:128
// watch: fx[208..255] = fx+208:48
// watch: xs[160..191] = xs+160:32
// watch: xs[512..519] = xs+512:8
// watch: control = control:4
// variants: -O2; -O0; -O2 -fno-pie -no-pie; clang -O2
#include <stdint.h>
#include <stdio.h>

_Alignas(64) unsigned char place[96];
_Alignas(64) unsigned char env[28], saved[108], fx[512], xs[4096], xc[4096];
uint32_t control;

__attribute__((noinline)) static void stores(unsigned char *p, int n) {
    __asm__ volatile("fninit\n\t"
                     "fldpi\n\t"
                     "fildl %1\n\t"
                     "fsts (%0)\n\t"
                     "fstl 4(%0)\n\t"
                     "fists 12(%0)\n\t"
                     "fistl 14(%0)\n\t"
                     "fld %%st(0)\n\t"
                     "fstpt 20(%0)\n\t"
                     "fld %%st(0)\n\t"
                     "fistpll 32(%0)\n\t"
                     "fld %%st(0)\n\t"
                     "fbstp 40(%0)\n\t"
                     "fld %%st(0)\n\t"
                     "fistps 52(%0)\n\t"
                     "fld %%st(1)\n\t"
                     "fisttpll 56(%0)\n\t"
                     "fld %%st(1)\n\t"
                     "fisttps 64(%0)\n\t"
                     "fld %%st(1)\n\t"
                     "fisttpl 66(%0)\n\t"
                     "fstps 72(%0)\n\t"
                     "fstpl 76(%0)\n\t"
                     "fnstcw 84(%0)\n\t"
                     "fnstsw 86(%0)\n\t"
                     "stmxcsr 88(%0)" ::"r"(p),
                     "m"(n)
                     : "memory", "st", "st(1)", "st(2)", "st(3)");
}

__attribute__((noinline)) static void states(double d) {
    __asm__ volatile("fninit\n\t"
                     "fldl %0\n\t"
                     "fld1\n\t"
                     "fnstenv env(%%rip)\n\t"
                     "fnsave saved(%%rip)\n\t"
                     "fldl %0\n\t"
                     "movq $77, %%rax\n\t"
                     "movq %%rax, %%xmm3\n\t"
                     "pxor %%xmm4, %%xmm4\n\t"
                     "pcmpeqd %%xmm5, %%xmm5\n\t"
                     "fxsave fx(%%rip)\n\t"
                     "movq %0, %%xmm4\n\t"
                     "fxsave64 fx(%%rip)\n\t"
                     "stmxcsr control(%%rip)\n\t"
                     "fninit" ::"m"(d)
                     : "rax", "xmm3", "xmm4", "xmm5", "memory", "st", "st(1)");
}

// Only registers that are asked for are written: xmm, x87 is left out.
__attribute__((noinline)) static void extended(uint64_t n) {
    __asm__ volatile("pcmpeqd %%xmm0, %%xmm0\n\t"
                     "movq %0, %%xmm1\n\t"
                     "movl $2, %%eax\n\t"
                     "xorl %%edx, %%edx\n\t"
                     "xsave xs(%%rip)\n\t"
                     "movq %%xmm0, %%xmm1\n\t"
                     "movl $2, %%eax\n\t"
                     "xsave64 xs(%%rip)" ::"r"(n)
                     : "rax", "rdx", "xmm0", "xmm1", "memory");
}

int main(void) {
    stores(place, 1234);
    stores(place + 3, -77);
    states(2.5);
    states(-1e100);
    extended(123456789);
    volatile long double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += i;
    printf("%Lg %d\n", sum, place[3]);
    return 0;
}
