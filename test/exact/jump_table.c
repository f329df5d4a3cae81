// Jump tables: a dense switch in a loop, one with holes, one in a function of its own.
// variants: -O0; -O1; -O2; -O3; -Os; clang -O0; clang -O2; clang -O3; -O2 -fPIC; -O2 -no-pie -fno-pie; -O2 -fcf-protection; -O2 -masm=intel; -O2 -mno-red-zone; -O2 -static; clang -O2 -mretpoline
// callgrind
#include <stdio.h>

__attribute__((noinline)) static int classify(int c) {
    switch (c) {
    case 0: return 7;
    case 1: return 3;
    case 2: return 1;
    case 3: return 9;
    case 4:
    case 5: return 2;
    case 6: puts("six"); return 0;
    case 7: return 8;
    case 8: return 11;
    case 11: return 5;
    case 12: return 4;
    case 13: return 6;
    default: return -1;
    }
}

__attribute__((noinline)) static unsigned machine(const char *text) {
    unsigned state = 0, sum = 1;
    for (const char *c = text; *c; c++) {
        switch (state * 4 + (unsigned)(*c - 'a') % 4) {
        case 0: state = 1; break;
        case 1: sum += 3; break;
        case 2: state = 2; sum *= 5; break;
        case 3: sum ^= 0x55; break;
        case 4: state = 2; break;
        case 5: state = 0; sum++; break;
        case 6: sum += 100; /* fall through */
        case 7: sum -= 2; break;
        case 8: state = 1; sum <<= 1; break;
        case 9: sum >>= 1; break;
        case 10: state = 0; break;
        case 11: sum = ~sum; break;
        }
    }
    return sum;
}

int main(void) {
    int sum = 0;
    for (int i = -2; i < 16; i++)
        sum += classify(i);
    for (int i = 0; i < 5; i++)
        sum += classify(4);
    printf("%d %u\n", sum, machine("abcdabdcbadcbaaabbbcccddd"));
    return 0;
}
