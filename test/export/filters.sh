#!/bin/bash
# filters.sh: --function, --file and --module may be given several times; what matches one is shown.
. "$(dirname "$0")/lib.bash"
cat >one.c <<'E'
__attribute__((noipa)) int first(int x) { return x + 1; }
__attribute__((noipa)) int second(int x) { return x + 2; }
E
cat >two.c <<'E'
int first(int), second(int);
__attribute__((noipa)) int third(int x) { return x + 3; }
int main(void) { return first(1) + second(1) + third(1) != 9; }
E
"$quipu" cc -g one.c two.c -o program
run_program program data

# shown_functions OPTIONS...: the names that 'report' shows, sorted, on one line.
shown_functions() {
    "$quipu" report --format=csv "$@" data | sed '1d; s/,.*//' | sort | tr '\n' ' '
}

# expects NAMES OPTIONS...
expects() {
    local expected=$1 shown
    shift
    shown=$(shown_functions "$@")
    [ "$shown" = "$expected" ] || fail "$*: '$shown', not '$expected'"
}

expects 'first third ' --function=first --function=third
expects 'first main third ' --function=first --function='[mt]*'
expects 'first main second third ' --file=one.c --file=two.c
expects 'first third ' --file=one.c --file=two.c --function=first --function=third
expects 'second ' --file=one.c --function=second --function=third
expects 'first main second third ' --module=program --module=program
"$quipu" annotate --asm --function=second --function=third --data=data >listing
grep -q 'third' listing || fail "annotate: no 'third'"
grep -q 'second' listing || fail "annotate: no 'second'"
! grep -q 'first:' listing || fail "annotate: 'first' is there"
! "$quipu" report --function=first --function=fist data 2>messages || fail 'an unknown name is taken'
grep -q "'--function=fist'" messages || fail "the unknown name is not told: $(cat messages)"
