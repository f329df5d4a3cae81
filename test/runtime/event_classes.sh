#!/bin/bash
# event_classes.sh: classes by a pattern count what the single-step oracle and objdump say, in every
# way of building; <quipu.h> knows them by name; units that do not agree are refused.
. "$(dirname "$0")/common.sh.inc"
export PATH=${QUIPU_BUILD:?}/bin:$PATH
unset QUIPU_STRICT

cat >program.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>

void ask(void);

static unsigned long total;

/* A conditional jump to another function, which compilers seldom make. */
#ifdef INTEL
#define TEST "test edi, 3; je plain; inc eax; "
#else
#define TEST "testl $3, %edi; je plain; incl %eax; "
#endif
__asm__(".text; .globl maybe; .type maybe, @function; maybe: " TEST
        "jmp plain; .size maybe, . - maybe");
int maybe(int n);
__attribute__((noinline, used)) int plain(int n) {
    return n * 3 + (int)total;
}

__attribute__((noinline)) void *get(int n) {
    return n % 3 ? malloc((size_t)n) : calloc((size_t)n, 2);
}

__attribute__((noinline)) static double mix(const double *values, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += values[i] * values[count - 1 - i] / (i + 1);
    return sum;
}

__attribute__((noinline)) static unsigned long divide(unsigned long a, unsigned char b) {
    __atomic_fetch_add(&total, a, __ATOMIC_SEQ_CST);
    return a / (b + 1UL) + a * b;
}

int main(void) {
    double values[32];
    char block[200];
    unsigned long sum = 0;
    void *volatile here = block;
    size_t count = 25;
    void *to = here;
    __asm__ volatile("rep stosq" : "+D"(to), "+c"(count) : "a"(0L) : "memory");
    for (int i = 0; i < 32; i++) {
        values[i] = i;
        free(get(i));
        sum += divide((unsigned long)i * 77, (unsigned char)i) + (unsigned long)maybe(i);
    }
    printf("%lu %g %d\n", sum, mix(values, 32), block[3]);
    ask();
    return 0;
}
EOF

# Compiled without quipu, so that it is no part of what is counted.
cat >ask.c <<'EOF'
#include <quipu.h>
#include <stdio.h>
void ask(void) {
    if (quipu_events_named("allocations") != QUIPU_NOT_INSTRUMENTED)
        fprintf(stderr, "%d %d %d\n", (int)quipu_events_named("allocations"),
                (int)quipu_kind_named("loads"), (int)quipu_kind_named("nothing"));
}
EOF
gcc -O2 -fPIC -Wall -Wextra -Werror -I"$root/include" -c ask.c || fail "cannot compile with quipu.h"

cat >compare.py <<'EOF'
"""compare.py OTHERS ORACLE STAT NAME=PATTERN...: what the twin's steps say of each class."""
import csv, fnmatch, re, subprocess, sys

CONTROL = re.compile(r'^(?:bnd |notrack )?(call|j[a-z]+)\s+\*?[^<]*<([^+>]*)>')
PREFIX = re.compile(r'^(lock|rep|repz|repnz) ')
SIZED = re.compile(r'(mov|add|mul|imul|div|stos|xadd|push|pop|cvtsi2sd)[bwlq]$')

def matches(text, pattern, function):
    words = text.split()
    names = {words[0]}
    if PREFIX.match(text):
        names = {words[1], ' '.join(words[:2])}
    if '%xmm' not in text or words[0].startswith('cvt'):  # movq of a vector has no other name
        names |= {n[:-1] for n in names if SIZED.search(n)}
    control = CONTROL.match(text)
    for one in pattern.split('|'):
        if one.startswith('call:'):
            callee = control and control.group(2).split('@')[0]
            if callee and callee != function and fnmatch.fnmatchcase(callee, one[5:]):
                return True
        elif any(fnmatch.fnmatchcase(name, one) for name in names):
            return True
    return False

counts = {}
for line in open(sys.argv[2]):
    words = line.split()
    if len(words) == 2 and re.fullmatch('[0-9a-f]+', words[0]):
        counts[int(words[0], 16)] = int(words[1])
texts, function = {}, ''
for line in subprocess.run(['objdump', '-d', '-w', '--no-show-raw-insn', 'twin'], check=True,
                           stdout=subprocess.PIPE, text=True).stdout.splitlines():
    head = re.match(r'^[0-9a-f]+ <(.*)>:', line)
    if head:
        function = head.group(1)
    match = re.match(r'^\s*([0-9a-f]+):\t(.*)$', line)
    if match:
        texts[int(match.group(1), 16)] = (match.group(2).strip(), function)
addresses = sorted(texts)
behind = dict(zip(addresses, addresses[1:]))
said = {row['event']: int(row['count']) for row in csv.DictReader(open(sys.argv[3]))}
for option in sys.argv[4:]:
    name, pattern = option.split('=', 1)
    wanted = 0
    for address, count in counts.items():
        text, function = texts[address]
        if function in sys.argv[1].split():
            continue
        if re.match(r'^j(?!mp)', text) and 'call:' in pattern:
            # only those turns that did not come to the next instruction
            count -= counts.get(behind[address], 0)
        wanted += count * matches(text, pattern, function)
    if said.get(name, 0) != wanted or not wanted:
        sys.exit(f'{option}: {said.get(name)} were counted, and the oracle has {wanted}')
EOF

classes=('allocations=call:malloc|call:calloc' 'products=*mul*' 'locked=lock*' 'fill=rep stos*'
    'scalar=*sd|v*sd' 'divisions=div|divq' 'equal=je|jne' 'plain=call:pl?in' 'moves=mov')
options=(--quipu=event --quipu-event=loads)
for class in "${classes[@]}"; do
    options+=("--quipu-event=$class")
done

# The lowest and the highest address of the program's own functions; START lies between.
START='_start deregister_tm_clones register_tm_clones __do_global_dtors_aux ask frame_dummy _dl_relocate_static_pie'
span() {
    nm -S --defined-only "$1" | awk -v start="$START" 'BEGIN { split(start, s); for (i in s) not[s[i]] }
        NF == 4 && $3 ~ /^[tT]$/ && !($4 in not) { print $1, $2 }' | sort | {
        local low='' high='' at size
        while read -r at size; do
            low=${low:-$((16#$at))} high=$((16#$at + 16#$size))
        done
        printf '%x-%x' "$low" "$high"
    }
}

check() {
    rm -rf quipu.data twin program
    "$@" --quipu=none -no-pie program.c ask.o -o twin || fail "$*: cannot build the twin"
    "$@" "${options[@]}" -no-pie program.c ask.o -o program || fail "$*: cannot build"
    "$QUIPU_BUILD/test/step" --count "$(span twin):$PWD/twin" -o oracle ./twin >wanted 2>errors ||
        fail "$*: the twin failed"
    test ! -s errors || fail "$*: the twin is not instrumented, and said $(cat errors)"
    quipu stat --format=csv -o stat -- ./program >output 2>errors || fail "$*: $(cat errors)"
    cmp output wanted || fail "$*: the program says something else"
    grep -qx '32 7 32' errors || fail "$*: quipu.h says '$(cat errors)', not '32 7 32'"
    python3 compare.py "$START" oracle stat "${classes[@]}" || fail "$*"
}

check quipu cc -O0 -fno-pie
check quipu cc -O2 -fno-pie
check quipu cc -O2 -fno-pie -masm=intel -DINTEL
check quipu cc -O2 -fno-pie -Wl,--gc-sections -ffunction-sections
! has clang || check quipu-clang -O2 -fno-pie

# Through the table of addresses, and at link time.
for way in -fno-plt '-fPIC -fno-plt -masm=intel -DINTEL' -flto -static; do
    # shellcheck disable=SC2086
    quipu cc -O2 $way "${options[@]}" program.c ask.o -o program || fail "$way: cannot build"
    grep -qx '32 7 32' < <(./program 2>&1) || fail "$way: allocations were not counted"
done

# With names in quotes, as gcc 16 has them in Intel syntax.
gcc -S -O2 -fPIC -fno-plt -masm=intel -DINTEL -I"$QUIPU_BUILD/include" program.c -o quoted.s &&
    sed -i 's/\([A-Za-z_0-9.]\{1,\}\)@GOTPCREL/"\1"@GOTPCREL/' quoted.s &&
    quipu cc "${options[@]}" quoted.s ask.o -o program || fail "names in quotes: cannot build"
grep -q '"malloc"@GOTPCREL' quoted.s || fail "no name is in quotes"
grep -qx '32 7 32' < <(./program 2>&1) || fail "names in quotes: allocations were not counted"

# Units and modules that do not agree.
echo 'int value; int f(void) { return value * value; } int g(void); int main(void) { return g(); }' >one.c
echo 'int other; int g(void) { other *= other; return 0; }' >two.c
build() {
    quipu cc -O2 --quipu=event "$1" -c one.c && quipu cc -O2 --quipu=event $2 -c two.c &&
        quipu cc --quipu=event one.o two.o -o program || fail "cannot build"
}
refuse() {
    quipu stat -- ./program 2>errors && fail "$1 were taken"
    test "$(wc -l <errors)" = 1 && grep -q "'one.c' counts 'a=mul', and 'two.c' counts '$2'" errors ||
        fail "$1: $(cat errors)"
}
build --quipu-event=a=mul --quipu-event=a=imul
refuse "two patterns of one name" a=imul
build --quipu-event=a=mul '--quipu-event=b=imul --quipu-event=a=mul'
refuse "two names of one number" b=imul
build --quipu-event=a=mul '--quipu-event=a=mul --quipu-event=b=imul'
quipu stat --format=csv -- ./program 2>stat || fail "a further class: $(cat stat)"
grep -q ',b,1' stat || fail "the further class is not counted once: $(cat stat)"
quipu cc -O2 --quipu=event --quipu-event=b=imul --quipu-event=a=mul -fPIC -shared two.c -o libtwo.so
quipu cc -O2 --quipu=event --quipu-event=a=mul one.c ./libtwo.so -o program
quipu stat --format=csv -- ./program 2>stat || fail "another number in each module: $(cat stat)"
grep -q ',b,1' stat || fail "the shared object's class is not counted once: $(cat stat)"
quipu cc -O2 --quipu=event --quipu-event=a=imul -fPIC -shared two.c -o libtwo.so
quipu stat -- ./program 2>errors && fail "two modules with two patterns of one name were taken"
grep -q "build both with one pattern" errors || fail "two modules: $(cat errors)"
