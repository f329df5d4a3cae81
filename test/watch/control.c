// Stores on all ways of control: recursion, tail calls, jump tables, computed gotos, varargs, nested
// functions, functions with protected stacks and with frames of any size.
// watch: cells = cells:256
// watch: cells[7] = cells+28:4
// watch: sum = sum:8
// watch: inside = inside:4
// watch: framed::kept = kept*:8
// variants: gcc -O2; gcc -O0; gcc -O2 -fno-pie -no-pie; gcc -O3 -fstack-protector-all; gcc -O2 -fno-omit-frame-pointer; gcc -Os; gcc -O2 -masm=intel; gcc -O2 -fcf-protection; gcc -O2 -fno-jump-tables -funroll-loops; gcc -O2 -flto
#include <alloca.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int cells[64];
double sum;
static volatile int inside;

__attribute__((noinline)) static void put(int at, int value) {
    cells[at & 63] = value;
}

__attribute__((noinline)) static void put_next(int at, int value) {
    cells[(at + 1) & 63]++;
    put(at, value + 1); // a tail call
}

__attribute__((noinline)) static int recur(int n) {
    cells[n] += n;
    if (n < 2)
        return n;
    int result = recur(n - 1) + recur(n - 2);
    cells[n] ^= result;
    return result;
}

__attribute__((noinline)) static void choose(int what, int value) {
    switch (what) {
    case 0: cells[0] = value; break;
    case 1: cells[7] += value; break;
    case 2: put_next(9, value); break;
    case 3: sum += value; // falls through
    case 4: cells[4] = cells[3]; break;
    case 5: memset(&cells[20], value, 12); break;
    case 6: cells[6] <<= 1; break;
    case 7: inside = -value; break;
    default: cells[63] |= value;
    }
}

__attribute__((noinline)) static void interpret(const char *program) {
    static void *const places[] = {&&add, &&move, &&store, &&end};
    int value = 1, at = 0;
    goto *places[*program++ - '0'];
add:
    value += 3;
    cells[at]++;
    goto *places[*program++ - '0'];
move:
    at += value & 7;
    goto *places[*program++ - '0'];
store:
    cells[at & 63] = value;
    goto *places[*program++ - '0'];
end:
    inside = at;
}

__attribute__((noinline)) static void various(int count, ...) {
    va_list arguments;
    va_start(arguments, count);
    for (int i = 0; i < count; i++)
        if (i % 2)
            sum += va_arg(arguments, double);
        else
            cells[40 + i] = va_arg(arguments, int);
    va_end(arguments);
}

__attribute__((noinline)) static int framed(int n) {
    char text[40];
    int *more = alloca(sizeof *more * (unsigned)n);
    void fill(int value) {
        for (int i = 0; i < n; i++)
            more[i] = value + i, cells[50 + i % 4] -= value;
    }
    fill(n);
    snprintf(text, sizeof text, "%d", more[n - 1]);
    static long kept;
    kept += (long)strlen(text);
    return more[n / 2];
}

int main(void) {
    recur(7);
    for (int i = 0; i < 30; i++)
        choose(i % 9, i * 7);
    interpret("0102210012012003");
    various(6, 1, 2.5, 3, 4.5, 5, 6.5);
    for (int i = 1; i < 5; i++)
        put(i, framed(i));
    printf("%d %g %d\n", cells[7], sum, inside);
    return 0;
}
