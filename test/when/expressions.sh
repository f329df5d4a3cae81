#!/bin/bash
# Values of expressions are the compiler's own.  A program has variables of many types; gcc computes
# written and random expressions over them, and 'quipu when' must find each equal to that from the
# start on.
. "$(dirname "$0")/../bad/lib.bash"
cat >variables.h <<'EOT'
#include <stdbool.h>
#include <stddef.h>
enum color { RED, GREEN = 7, BLUE = -3 };
signed char sc = -5;
unsigned char uc = 200;
char letter = 'q';
short s = -30000;
unsigned short us = 60000;
int i = -123456789;
unsigned u = 4000000000u;
long l = -1234567890123456789l;
unsigned long ul = 17000000000000000000ul;
bool flag = true;
enum color color = BLUE;
float f = 1.1f;
double d = -2.7e10;
long double ld = 3.14159265358979323846L;
int numbers[5] = {3, 1, 4, 1, 5};
short grid[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
struct inner { char c; union { int number; unsigned char bytes[4]; }; };
struct outer {
    int plain : 5;
    unsigned wide : 30;
    long both : 40;
    struct inner inner;
    struct inner *to;
    struct outer *next;
    double reals[2];
};
struct outer second = {-3, 1000000000u, -5000000000l, {'b', {77}}, NULL, NULL, {0.5, 0.25}};
struct outer first = {7, 12345u, 99l, {'a', {-66}}, &second.inner, &second, {1.5, -2.5}};
struct outer *head = &first;
struct outer **heads[2] = {&head, &head};
int *pointer = numbers + 1;
const void *nothing = NULL;
const char *text = "hello";
EOT
python3 - >expressions <<'EOT'
import random
print('''sc + uc
us * us
i / 7
i % 7
u + 1000000000
u - i
l + u
ul / 3
ul > l
s >> 3
u >> 3
uc << 9
~uc
-s
!d
!nothing
flag + flag
color
color == BLUE
GREEN + RED
f * 3
f == 1.1f
f == 1.1
d / f
ld * ld
d + i
letter
letter == 'q'
'\\n' + '\\x7f' + '\\0' + '\\''
0x7fffffff + 1u
0b1011 ^ 017
1.5e3 + .5f
0x1.8p3
3000000000
0xffffffff + 1
1 ? 2 : 3u
numbers[2]
2[numbers]
*pointer
pointer[-1]
*(numbers + 4)
pointer - numbers
&numbers[4] - pointer
&numbers[4] > pointer
pointer == &numbers[1]
pointer != 0
grid[1][2]
*grid[2]
**grid
*(*(grid + 1) + 3)
&grid[2][0] - &grid[0][1]
first.plain
second.plain
first.wide + 1
second.both
second.wide
first.inner.c
first.inner.number
first.inner.bytes[3]
head->inner.bytes[0]
head->next->inner.c
head->to->number
(*head).next->plain
(**heads[1]).next->both
(*heads)[0]->wide
head->next->next == 0
head->reals[1] * 4
head->next->reals[0] + numbers[numbers[0]]
*&i
*&head->next->inner.c
&*pointer == pointer
text[1]
*text
text[5] == 0
nothing || i
nothing && head->next->next->plain
i && l
i < 0 ? head->plain : 9.5
ul < -1
sc < uc && us > s
(i & 0xff) == 0xeb
i | l
us ^ 0x5555
- - i
!!ul
+uc
sc * -1.0f
(char)us
(unsigned char)i + 1
(long)u << 8
(unsigned long int)sc
(long long)f
(int)d == 0
(int)2.9 + (int)-2.9
(float)0.1 == 0.1
(float)0.1 + 1
(double)l / 3
(long double)ul
(bool)us + (_Bool)0.5
(bool)nothing
(enum color)7 == GREEN
(struct inner *)head->to == head->to
((struct inner *)head->to)->c
((struct outer const *)&first)->next->plain
(*(const struct outer *)&second).reals[1]
*(unsigned char *)&u
*((unsigned char *)&u + 3)
((short *)grid)[5]
(char *)&numbers[3] - (char *)numbers
(unsigned short)(i & 0xfffff) * 3
-(unsigned char)sc
(unsigned)sc > (unsigned)1
(i) - (int)(l)
(unsigned long)(void *)head != 0
*(int *)(void *)((char *)pointer + 4)
*(signed char *)text + (int)sc
(size_t)i / 3
(int)sc ? (short)i : (float)u''')
pick = random.Random(3).choice
whole = ['sc', 'uc', 'letter', 's', 'us', 'i', 'u', 'l', 'ul', 'flag', 'color', 'numbers[3]',
         'grid[2][1]', 'first.wide', 'second.plain', 'second.both', 'head->to->bytes[0]', '3', '77u',
         '100000000000', '0xfful', "'c'"]
real = ['f', 'd', 'ld', 'first.reals[1]', '2.5', '0.1f', '1e-3L']
types = ['char', 'unsigned char', 'short', 'unsigned short int', 'int', 'unsigned', 'long',
         'unsigned long', 'long unsigned', 'bool', 'signed char', 'enum color']
def integer(depth):
    if depth == 0:
        return pick(whole)
    if pick(range(4)) == 0:
        return f'({pick(types)}){integer(depth - 1)}'
    a, b = integer(depth - 1), integer(depth - 1)
    return pick([f'({a} {pick("+-*&|^")} {b})', f'({a} {pick(["/", "%"])} (({b} & 63) + 3))',
                 f'({a} {pick(["<<", ">>"])} ({b} & 7))', f'{pick("-~!")}{a}',
                 f'({a} {pick(["<", ">", "<=", ">=", "==", "!=", "&&", "||"])} {b})',
                 f'({a} ? {b} : {integer(depth - 1)})'])
def number(depth):
    if depth == 0:
        return pick(real + whole)
    if pick(range(5)) == 0:
        return f'({pick(["float", "double", "long double"])}){number(depth - 1)}'
    a, b = number(depth - 1), number(depth - 1)
    return pick([f'({a} {pick("+-*")} {b})', f'({a} / ({b} + 1e9))', f'-{a}',
                 f'({a} {pick(["<", ">", "<=", ">=", "==", "!=", "&&"])} {b})',
                 f'({a} ? {b} : {number(depth - 1)})'])
for n in range(120):
    print(integer(1 + n % 4).replace('--', '- -'))
    print(number(1 + n % 3).replace('--', '- -'))
EOT
{
    echo '#include "variables.h"'
    echo '#include <stdio.h>'
    echo '#define SHOW(e) _Generic((e), float: real, double: real, long double: real,' \
        'unsigned: natural, unsigned long: natural, default: whole)(e)'
    echo 'static void real(long double v) { printf("%LaL\n", v); }'
    echo 'static void natural(unsigned long v) { printf("%luu\n", v); }'
    echo 'static void whole(long v) { if (v + 1 < v) printf("0\n"); else printf("%ld\n", v); }'
    echo 'int main(void) {'
    sed 's/.*/SHOW(&);/' expressions
    echo 'return 0; }'
} >oracle.c
gcc -w -fwrapv -O0 oracle.c -o oracle || fail "the oracle cannot be built"
./oracle >values
make_program program --quipu=moment -g -O1 -include variables.h <<'EOT'
int main(void) { return i == 3; }
EOT
[[ $(wc -l <values) -eq $(wc -l <expressions) ]] || fail "the oracle ended early"
paste -d ' ' values expressions | while read -r value expression; do
    ends 0 quipu when "i && ($expression) == ($value)" ./program
    grep -q 'is true from the start' output || fail "'$expression' is not $value: $(cat output)"
done || exit 1
# each fails where the evaluator takes anything for true
for expression in 'i != -123456789' 'nothing' 'head->next->next->plain == 0' \
    '1 / (i - i)' 'f > 1.2' 'second.next || !head'; do
    ends 1 quipu when "$expression" ./program
    grep -q 'true at none of' messages || fail "'$expression': $(cat messages)"
done
