#!/bin/bash
# A fault of the shim's own does not break the build: the function that it comes from is left alone,
# or else the file, with one warning that names the reason, the kept input and a command that fails
# again.  With QUIPU_STRICT it is an error.
. "$(dirname "$0")/lib.bash"
# A build with AddressSanitizer makes a status out of the signal that is provoked here.
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:handle_segv=0
cat >faulty.c <<'END'
#include <stdio.h>
__attribute__((noinline)) int third(int n) {
    return n * 3 + 1;
}
__attribute__((noinline)) int sum(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += third(i);
    return sum;
}
__attribute__((noinline)) int even(int n) {
    return n % 2 == 0;
}
int main(void) {
    printf("%d %d\n", sum(100), even(4));
}
END

# expect_left NAME REASON: the program is built and runs; one warning, and 'quipu info', name both.
expect_left() {
    [[ $(wc -l <said) -eq 1 ]] || fail "$what: not one line: $(cat said)"
    grep -q "warning: quipu: '$1': internal error: $2.*; function left as it is" said ||
        fail "$what: $(cat said)"
    grep -q "internal error: $2" <(quipu info faulty) || fail "$what: $(quipu info faulty)"
    [[ $(./faulty) == '14950 1' ]] || fail "$what: prints $(./faulty)"
}

# expect_again: the kept input is there, and the command fails on it.
expect_again() {
    local kept command
    kept=$(sed "s/.*kept in '\([^']*\)'.*/\1/" said)
    grep -q '^third:' "$kept" || fail "$what: no input in '$kept'"
    command=$(sed 's/.*run again: //' said)
    bash -c "$command" >again 2>&1 && fail "$what: '$command' does not fail"
    grep -q 'internal error' again || fail "$what: '$command': $(cat again)"
}

for mode in count event moment calls watch count,event,watch; do
    while read -r kind reason; do
        what="--quipu=$mode, $kind"
        export QUIPU_FAULT=$kind:third
        quipu cc --quipu=$mode -O1 -g faulty.c -o faulty >said 2>&1 ||
            fail "$what: the build breaks: $(cat said)"
        expect_left third "$reason"
        expect_again
        QUIPU_STRICT=1 ends 1 quipu cc --quipu=$mode -O1 -g -c faulty.c -o strict.o
        grep -q "error: quipu: 'third': internal error: $reason" messages || fail "$what: $(cat messages)"
    done <<'END'
check 'function == NULL' does not hold
crash ends by signal
text the assembler refuses its instrumented text
edits 'edit->at >= done
END
done

# A stage that goes wrong is named, behind itself in a strict build, at the end in others.
while read -r stage function; do
    what="stage '$stage'"
    export QUIPU_FAULT=$stage:$function
    quipu cc -O1 faulty.c -o faulty 2>said || fail "$what: the build breaks: $(cat said)"
    expect_left "$function" '.* does not hold (src/flow/check.c'
    QUIPU_STRICT=1 ends 1 quipu cc -O1 -c faulty.c -o strict.o
    grep -q "error: quipu: '$function': internal error: .*, stage '$stage'" messages ||
        fail "$what: $(cat messages)"
done <<'END'
graph third
frequencies third
loops third
tails sum
liveness third
tree sum
counters third
END
unset QUIPU_FAULT

# The others are counted.
what='the other functions'
QUIPU_FAULT=text:third quipu cc -O1 faulty.c -o faulty 2>said || fail "$what: $(cat said)"
rm -rf quipu.data
./faulty >output
expect_calls sum 1
expect_calls even 1
grep -q third < <(quipu report) && fail "$what: the faulty one has counts"

# No function is to blame.
what='the whole file'
QUIPU_FAULT=unit quipu cc -O1 faulty.c -o faulty 2>said || fail "$what: $(cat said)"
grep -q "warning: quipu: internal error: .*; file left as it is" said || fail "$what: $(cat said)"
[[ $(wc -l <said) -eq 1 ]] || fail "$what: $(cat said)"
[[ $(./faulty) == '14950 1' ]] || fail "$what: prints $(./faulty)"
QUIPU_STRICT=1 QUIPU_FAULT=unit quipu cc -O1 -c faulty.c -o strict.o 2>said && fail "$what: no error"

# What is wrong with the input is the user's own error, whatever else there is.
what='an error of the user'
printf '\t.globl f\n\t.type f, @function\nf:\tret\n\t.size f, .-f\n\t.data\n\t.long nosuch nosuch\n' >wrong.s
QUIPU_FAULT=text:f quipu cc -c wrong.s -o wrong.o 2>said && fail "$what: no error"
grep -q 'internal error' said && fail "$what: $(cat said)"
grep -q 'wrong.s:6: Error: ' said || fail "$what: $(cat said)"
exit 0
