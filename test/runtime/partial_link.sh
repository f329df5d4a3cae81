#!/bin/bash
# Objects that 'ld -r' has joined, as OCaml and kernels do: a function that is left alone is among them, and each
# function has a section of its own.  The counts are those of a link of all objects.  Where the last link drops
# sections, counts may be left out, with a warning.
. "$(dirname "$0")/../bad/lib.bash"

cat >one.c <<'EOC'
int unused(int n) { return n * 5; }
int work(int n) { int sum = 0; for (int i = 0; i < n; i++) sum += i & 3; return sum; }
EOC
cat >two.c <<'EOC'
int work(int n);
long used(long n);
int inner(int n) { return n > 3 ? n - 1 : n + 1; }
__asm__(".pushsection .text.used, \"ax\"\n.globl used\n.type used, @function\nused: call 1f\n"
        "1: pop %rax\nsub %rax, %rax\nret\n.size used, . - used\n.popsection");
int main(int argc, char **argv) { (void)argv; return work(10) + inner(argc) + (int)used(3) != 15; }
EOC

# functions: what ran, from the counts.
functions() {
    quipu report --by=function --format=csv counts | cut -d, -f1,4- | grep -v '^unused' | LC_ALL=C sort
}

for mode in count count,event moment,event calls watch; do
    for name in one two; do
        quipu cc --quipu=$mode -O1 -g -ffunction-sections -c $name.c -o $name.o 2>messages || fail "$mode: $(cat messages)"
    done
    quipu cc --quipu=$mode one.o two.o -o whole || fail "$mode: cannot link"
    QUIPU_DATA=counts ./whole || fail "$mode: it fails"
    [[ $mode == count ]] && functions >expected
    rm -rf counts
    for linker in ld.bfd ld.gold ld.lld; do
        has $linker || continue
        for options in '' -Wl,--gc-sections; do
            what="$mode, $linker, $options"
            $linker -r one.o two.o -o both.o 2>messages || fail "$what: $(cat messages)"
            # shellcheck disable=SC2086
            quipu cc --quipu=$mode $options both.o -o program 2>messages || fail "$what: $(cat messages)"
            QUIPU_DATA=counts ./program || fail "$what: it fails"
            quipu info program >left
            grep -qw used left || fail "$what: 'used' is not named: $(cat left)"
            if [[ $mode == count ]] && ! functions 2>messages | cmp -s - expected; then
                [[ -n $options ]] && grep -q "the linker has dropped the notes about their code" messages ||
                    fail "$what: $(functions | diff expected -)"
            fi
            rm -rf counts
        done
    done
done
[[ $(wc -l <expected) -gt 3 ]] || fail "$(cat expected)"
