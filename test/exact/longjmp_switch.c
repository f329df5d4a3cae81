// __builtin_longjmp, and a goto out of a nested function, in functions with a jump table: they leave by
// an indirect jump, and the .cfi_ directives there tell of a frame.
// variants: -O0; -O1; -O2; -Os; -O2 -fPIC; -O2 -fno-jump-tables; clang -O1; clang -O2
#include <stdio.h>

static void *buffer[5];
static volatile int total;

__attribute__((noinline)) static int add(int n) {
    total += n;
    return n;
}

__attribute__((noinline)) static int leave(int n) {
    int result = add(n);
    switch (n) {
    case 0:
        result += add(1);
        break;
    case 1:
        result *= 3;
        break;
    case 2:
        result += add(add(3));
        break;
    case 3:
        result -= add(7);
        break;
    case 4:
        result ^= add(4);
        break;
    case 5:
        result += add(8) * 2;
        break;
    default:
        if (n > 50)
            __builtin_longjmp(buffer, 1);
    }
    return result + add(result);
}

__attribute__((noinline)) static int jump(int n) {
    if (__builtin_setjmp(buffer) == 0) {
        leave(n);
        return 1;
    }
    return 2;
}

__attribute__((noinline)) static int nest(int n) {
#ifndef __clang__
    __label__ out;
    __attribute__((noinline)) int leave_it(int k) {
        int result = add(k);
        switch (k) {
        case 0:
            result += add(1);
            break;
        case 1:
            result *= 3;
            break;
        case 2:
            result += add(add(3));
            break;
        case 3:
            result -= add(7);
            break;
        case 4:
            result ^= add(n);
            break;
        default:
            if (k > 50)
                goto out;
        }
        return result + add(result);
    }
    leave_it(n);
    return 1;
out:
#endif
    return 2;
}

int main(void) {
    int sum = 0;
    for (int i = 0; i < 100; i++)
        sum += jump(i) + nest(i);
    printf("%d %d\n", sum, total);
    return 0;
}
