#!/bin/bash
# The oracle itself, on assembly whose counts are known by reading it: loops, a repeated string
# instruction, a handler that runs between two instructions, a child, threads of execution that come
# back into the code from outside; stepping everything and stepping what is counted say the same.
. "$(dirname "$0")/../bad/lib.bash"
step=$QUIPU_BUILD/test/step
cat >known.s <<'END'
    .text
    .globl first, last, known, handler, compare
first:
known:
    mov $7, %ecx
1:  dec %ecx
    jnz 1b
    lea buffer(%rip), %rdi
    mov $100, %ecx
    xor %eax, %eax
    rep stosb
    mov $0, %ecx
    repe cmpsb
    ret
handler:
    nop
    ret
compare:
    mov (%rdi), %eax
    sub (%rsi), %eax
    ret
last:
    .local buffer
    .comm buffer, 100
    .section .note.GNU-stack,"",@progbits
END
cat >main.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
void known(void), handler(int);
int compare(const void *, const void *);
int main(void) {
    int numbers[2] = {2, 1};
    signal(SIGUSR1, handler);
    known();
    raise(SIGUSR1);
    raise(SIGUSR1);
    raise(SIGURG);
    if (fork() == 0) {
        known();
        _exit(0);
    }
    wait(NULL);
    qsort(numbers, 2, sizeof *numbers, compare);
    known();
    return 5;
}
END
gcc -O1 -no-pie main.c known.s -o known || fail "cannot build"
address() {
    nm known | sed -n "s/^0*\([0-9a-f]*\) [a-zA-Z] $1$/\1/p"
}
for way in "" --whole; do
    # shellcheck disable=SC2086
    ends 5 "$step" $way --count "$(address first)-$(address last):$PWD/known" -o counts ./known
    sed "s| $PWD/| |; s/^process.*/process/" counts | cut -d' ' -f2 | tr '\n' ' ' >seen
    # known 2 times, handler 2, compare 1; in the child known once.
    expected="process known 2 14 14 2 2 2 2 2 2 2 2 2 1 1 1 process known 1 7 7 1 1 1 1 1 1 1 "
    [[ $(cat seen) == "$expected" ]] || fail "oracle $way: $(cat seen)
expected: $expected"
done
