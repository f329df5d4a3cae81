#!/bin/bash
# pager.sh: on a terminal, long output goes to the user's pager, as git's does: QUIPU_PAGER, PAGER or
# less; not with --no-pager, in a pipe, or on a dumb terminal. Nothing is lost, also if the user
# leaves it early.
. "$(dirname "$0")/lib.bash"
needs script

cat >program.c <<'END'
__attribute__((noinline)) int work(int n) { return n * 3; }
int main(void) { return work(1234) != 3702; }
END
"$quipu" cc --quipu=count -O1 -g program.c -o program
QUIPU_DATA=before ./program
QUIPU_DATA=after ./program

# on_terminal COMMAND: its output on a terminal of 80 columns
on_terminal() {
    script -qec "stty cols 80; $1" /dev/null </dev/null | tr -d '\r'
}

unset COLUMNS PAGER QUIPU_PAGER
export TERM=xterm LESS=
for words in "report before" "report --by=line before" "annotate --data=before" \
    "annotate --asm --data=before" "info before" "diff --all before after"; do
    on_terminal "'$quipu' $words --no-pager" >whole.txt
    [ "$(wc -l <whole.txt)" -gt 3 ] || fail "$words: $(cat whole.txt)"
    QUIPU_PAGER="sed s/^/page:/" on_terminal "'$quipu' $words" >paged.txt
    sed s/^/page:/ whole.txt | cmp - paged.txt || fail "$words: $(cat paged.txt)"
    PAGER="sed s/^/page:/" on_terminal "'$quipu' $words" | cmp - paged.txt || fail "$words: PAGER"
    for pager in "" cat; do
        PAGER="sed s/^/page:/" QUIPU_PAGER=$pager on_terminal "'$quipu' $words" | cmp - whole.txt ||
            fail "$words: QUIPU_PAGER='$pager' is a pager"
    done
    QUIPU_PAGER="sed s/^/page:/" TERM=dumb on_terminal "'$quipu' $words" >dumb.txt
    ! grep -q ^page: dumb.txt || fail "$words: a pager on a dumb terminal"
    QUIPU_PAGER="sed s/^/page:/" "$quipu" $words >pipe.txt
    ! grep -q ^page: pipe.txt || fail "$words: a pager in a pipe"
done

# The user leaves early: no hang, no message. The pager does not exist: all is shown without.
QUIPU_PAGER="head -n 2" on_terminal "'$quipu' report before" >early.txt
[ "$(wc -l <early.txt)" = 2 ] || fail "left early: $(cat early.txt)"
on_terminal "'$quipu' report before --no-pager" >whole.txt
QUIPU_PAGER='no_such_pager -r' on_terminal "'$quipu' report before" >missing.txt || :
grep -q "the pager 'no_such_pager -r' is not installed" missing.txt && tail -n +2 missing.txt | cmp - whole.txt ||
    fail "a pager that does not exist: $(cat missing.txt)"

# An error behind the pager's start, and one before it, are shown.
QUIPU_PAGER="sed s/^/page:/" on_terminal "'$quipu' report no_such_data" >error.txt || :
grep -q no_such_data error.txt || fail "no error: $(cat error.txt)"

# less ends at once where all fits on the screen, and shows colours.
if has less; then
    unset LESS
    on_terminal "stty rows 40; '$quipu' report before" >less.txt
    grep -q "$(printf '\033')" less.txt || fail "less shows no colours: $(cat less.txt)"
    grep -q "work (program.c:1)" less.txt || fail "less: $(cat less.txt)"
fi
