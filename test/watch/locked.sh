#!/bin/bash
# Locked operations of all sizes do to registers, flags and memory what they do without us, also
# where there are other threads and what they write is watched; and each tells of what it did.
. "$(dirname "$0")/lib.bash"
python3 - >locked.c <<'EOT' || fail "cannot write the program"
values = (0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
          0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff, 0x123456789abcdef1)
two = ('add', 'adc', 'sub', 'sbb', 'and', 'or', 'xor', 'xchg', 'xadd', 'cmpxchg')
one = ('inc', 'dec', 'neg', 'not')
bit = ('bts', 'btr', 'btc')
print('''#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
_Alignas(64) static uint64_t cells[8];
static uint64_t sum = 1;
static uint64_t values[] = {%s};
enum { COUNT = sizeof values / sizeof *values };
static int ends[2];
static void mix(uint64_t value) {
    sum = (sum ^ value) * 0x100000001b3 + (sum >> 41);
}
static void *wait_for_end(void *argument) {
    char byte;
    return read(ends[0], &byte, 1) > 0 ? argument : 0;
}
''' % ', '.join(hex(value) + 'u' for value in values))
def defined(operation): # flags that are
    return 0x401 if operation in bit else 0xcc5 if operation in ('and', 'or', 'xor') else 0xcd5
def run(operation, suffix, place, lock='lock '):
    text = f'{lock}{operation}{suffix} '
    register = {'b': '%%cl', 'w': '%%cx', 'l': '%%ecx', 'q': '%%rcx'}[suffix]
    text += place if operation in one else f'{register}, {place}'
    return f'''
            {{
                uint64_t a = values[j], c = values[j] + values[i] / 3, flags = carry * 0x8d4;
                if (carry)
                    a = values[i];
                cells[1] = cells[0] = cells[2] = values[i];
                __asm__ volatile("pushq %2; popfq; {text}; pushfq; popq %2"
                                 : "+a"(a), "+c"(c), "+r"(flags) : "r"(cells) : "memory", "cc");
                mix(flags & {defined(operation):#x});
                mix(a), mix(c), mix(cells[0]), mix(cells[1]), mix(cells[2]);
            }}'''
print('int main(void) {\n    pthread_t thread;\n'
      '    if (pipe(ends) || pthread_create(&thread, 0, wait_for_end, 0))\n        return 1;')
print('    for (unsigned i = 0; i < COUNT; i++)\n        for (unsigned j = 0; j < COUNT; j++)\n'
      '          for (unsigned carry = 0; carry < 2; carry++) {')
for suffix in 'bwlq':
    for operation in two + one + (bit if suffix != 'b' else ()):
        text = run(operation, suffix, '(%3)' if operation in bit else '8(%3)')
        if operation in bit: # its number leads to other bytes
            text = text.replace('values[j] + values[i] / 3', 'values[j] & 63')
        print(text)
for operation, suffix in (('xchg', 'q'), ('xchg', 'b')):
    print(run(operation, suffix, '8(%3)', ''))
for operation in ('cmpxchg8b', 'cmpxchg16b'):
    print(f'''
            {{
                uint64_t a = values[j], b = values[i] ^ 5, c = values[j] ^ 9, d = values[j];
                uint64_t flags = carry * 0x8d5;
                cells[0] = cells[1] = values[i];
                __asm__ volatile("pushq %4; popfq; lock {operation} (%5); pushfq; popq %4"
                                 : "+a"(a), "+b"(b), "+c"(c), "+d"(d), "+r"(flags) : "S"(cells)
                                 : "memory", "cc");
                mix(flags & 0xcd5), mix(a), mix(b), mix(c), mix(d), mix(cells[0]), mix(cells[1]);
            }}''')
print('''          }
    printf("%llx\\n", (unsigned long long)sum);
    return write(ends[1], "", 1) != 1 || pthread_join(thread, 0);
}''')
EOT
for compiler in gcc clang; do
    plain_compiler=$("$(dirname "$0")/../../scripts/compilers" $compiler) || continue
    for level in -O0 -O2; do
        $plain_compiler -w $level -mno-red-zone -mcx16 -pthread locked.c -o plain || fail "$compiler: cannot build it"
        "quipu-${compiler/gcc/cc}" --quipu=watch -g -w $level -mno-red-zone -mcx16 -pthread locked.c \
            -o watched || fail "$compiler $level: cannot build it watched"
        ends 0 ./plain
        mv output expected
        watches 0 -e cells --summary --format=csv -- ./watched
        cmp -s output expected ||
            fail "$compiler $level: $(cat output), and without being watched $(cat expected)"
        for operation in add adc sub sbb and or xor xchg xadd cmpxchg inc dec neg not bts btr btc \
            cmpxchg8b cmpxchg16b; do
            grep -qE "\b(lock )?${operation}[bwlq]? " hits || fail "$compiler $level: no hit of $operation"
        done
    done
done
leaves_nothing
