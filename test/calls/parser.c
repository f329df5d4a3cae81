// Recursion by several ways: calls of one site are active within each other on different paths.
#include <stdio.h>

static const char *at;

static int expression(void);

__attribute__((noinline)) static int number(void) {
    int value = 0;
    while (*at >= '0' && *at <= '9')
        value = value * 10 + *at++ - '0';
    return value;
}

__attribute__((noinline)) static int factor(void) {
    if (*at != '(')
        return number();
    at++;
    int value = expression();
    at++;
    return value;
}

__attribute__((noinline)) static int term(void) {
    int value = factor();
    while (*at == '*') {
        at++;
        value *= factor();
    }
    return value;
}

__attribute__((noinline)) static int expression(void) {
    int value = term();
    while (*at == '+') {
        at++;
        value += term();
    }
    return value;
}

int main(void) {
    at = "(1+2*(3+444*555)*(6+7*(8+9+10*(11+12))))+1234*(123+(124+(12)))";
    printf("%d\n", expression());
    return 0;
}
