#!/bin/bash
# A data file that cannot be read, or is of another build, does not take the others of its directory
# with it: one warning tells of all that are left out, once, and again only when they are others.
# The report's heading and 'quipu info' always tell.  One that was named itself is an error, and so
# is a directory in which no other is left.
. "$(dirname "$0")/lib.bash"
source='#include <stdio.h>
int main(void) { for (int i = 0; i < EXTRA; i++) puts("x"); return 0; }'
make_program program -O2 -g --quipu=count,event -DEXTRA=3 <<<"$source"
./program >output || fail "the program failed"
data=$(echo quipu.data/*.quipu)

# directory NAME: with all kinds of bad files, and one that is good.
directory() {
    mkdir "$1"
    cp "$data" "$1/good.quipu"
    : >"$1/empty.quipu"
    head -c 5000 "$data" >"$1/half.quipu"
    echo "just text" >"$1/text.quipu"
    mkfifo "$1/pipe.quipu"
    mkdir "$1/directory.quipu"
    ln -s nowhere "$1/dangling.quipu"
    { head -c 4096 "$data" && head -c 20000 /dev/zero; } >"$1/zeros.quipu"
}
commands=("report --by=line" "report --by=process" "annotate --data=DATA" "info" "export --to=json"
    "stat --data" "merge -o sum.quipu" "diff $data")

# run_on DIRECTORY COMMAND: COMMAND's words, DIRECTORY behind them or for DATA.
run_on() {
    local words=$2
    [[ $words == *DATA* ]] || words+=" DATA"
    # shellcheck disable=SC2086
    ends 0 timeout 20 quipu ${words//DATA/$1}
}

quipu report --format=json "$data" >wanted || fail "no report"
for command in "${commands[@]}"; do
    rm -rf several
    directory several
    run_on several "$command"
    said "warning: 'several': 7 of 8 data files left out, as they cannot be read; the first: \
'several/dangling.quipu': No such file or directory"
    for again in "${commands[@]}"; do
        [[ $again != merge* ]] || continue
        run_on several "$again"
        [[ ! -s messages ]] || [[ $command == merge* && $again == "${commands[0]}" ]] || fail "'$again' says it again: $(cat messages)"
    done
done
# What is made of them tells always.
for _ in 1 2; do
    run_on several "merge -o sum.quipu"
    said "7 of 8"
done
quipu report --format=json several >got || fail "no report"
cmp -s wanted got || fail "the good one counts otherwise: $(diff wanted got)"
grep -q ', 7 data files left out$' < <(quipu report several | head -n 1) || fail "$(quipu report several)"
ends 0 quipu info several
grep -q '^several/half.quipu (left out)$' output || fail "info: $(cat output)"
[[ $(grep -c '^  reason  .*[a-z]' output) -eq 7 ]] || fail "info: $(cat output)"
quipu info --format=json several | python3 -c "
import json, sys
left = json.load(sys.stdin)['left_out']
assert len(left) == 7 and left[2]['file'] == 'several/empty.quipu', left" || fail "info --format=json"

# Another one, and one less, are news.
cp "$data" several/torn.quipu
truncate -s -4096 several/torn.quipu
run_on several report
said "8 of 9"
rm several/torn.quipu
run_on several report
said "7 of 8"

# Named itself, it is an error; the others are no matter.
refuses "'several/half.quipu': it is truncated" -- quipu report several several/half.quipu
rm several/good.quipu
for reader in report annotate=--data=several info "export --to=json" "stat --data" "merge -o sum.quipu"; do
    words=${reader/annotate=/annotate }
    [[ $words == *several* ]] || words+=" several"
    # shellcheck disable=SC2086
    refuses "'several/dangling.quipu': No such file or directory" -- timeout 20 quipu $words
done

# A directory that is not ours to write: told each time.
mkdir locked
cp "$data" locked/good.quipu
: >locked/empty.quipu
: >locked/.left-out
chmod 444 locked/.left-out
chmod 555 locked
user=()
[[ $(id -u) -ne 0 ]] || user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
if [[ -z ${user[*]} ]] || "${user[@]}" test -r locked/good.quipu -a -x program; then
    for _ in 1 2; do
        ends 0 "${user[@]}" "$quipu" report locked
        said "'locked': 1 of 2 data files left out"
    done
fi
chmod 755 locked

# Data of another build, and then the present one's.
cp program program.old
quipu cc -O2 -g --quipu=count,event -DEXTRA=4 program.c -o program || fail "cannot build again"
refuses "another build of '$PWD/program'" "run the program again" -- quipu report quipu.data
./program >output || fail "the program failed"
: >quipu.data/empty.quipu
ends 0 quipu report quipu.data
said "2 of 3 data files left out, as they cannot be read, or their binaries are gone, were built anew or cannot be used"
for command in report annotate info "stat --data" "export --to=lcov"; do
    # shellcheck disable=SC2086
    ends 0 quipu $command
    [[ ! -s messages ]] || fail "'$command' says it again: $(cat messages)"
done
rm quipu.data/empty.quipu
ends 0 quipu report quipu.data
said "1 of 2 data files left out, as their binaries are gone, were built anew or cannot be used"

# A binary whose notes are corrupt, beside one that is good.
rm -r quipu.data
make_program other -O2 -g <<<'int main(void) { return 0; }'
./other
./program >output
notes=$(readelf -SW other | sed -n 's/.*\.quipu\.functions *[A-Z]* *[0-9a-f]* *\([0-9a-f]*\).*/\1/p')
printf '\377\377\377\377' | dd of=other bs=1 seek=$((16#$notes)) conv=notrunc status=none
refuses "its binary '$PWD/other': its notes are corrupt" -- quipu report quipu.data/other.*
ends 0 quipu report quipu.data
said "1 of 2 data files left out, as their binaries are gone, were built anew or cannot be used"

# A function whose code was changed after it was linked: all others are counted.
rm -r quipu.data
make_program changed -O1 -fcf-protection=none <<'EOT'
__attribute__((noinline)) int twice(int x) { return 2 * x; }
int main(int count, char **arguments) { return arguments[0] ? twice(count) - 2 : 1; }
EOT
./changed
address=$(objdump -d changed | sed -n '/<twice>:/,/ret/s/^ *\([0-9a-f]*\):.*lea.*/\1/p')
before=$(quipu report --by=function --format=csv quipu.data | grep '^main,')
printf '\006' | dd of=changed bs=1 seek=$((16#$address)) conv=notrunc status=none
ends 0 quipu report --by=function --format=csv quipu.data
said "'$PWD/changed': 1 of its functions is not counted, as their notes do not fit their code; the first: 'twice'"
[[ $(grep '^main,' output) == "$before" ]] || fail "main is counted otherwise: $(cat output)"
grep -q '^twice,' output && fail "twice is counted: $(cat output)"
ends 0 quipu info changed
grep -q 'twice.*its notes do not fit its code' output || fail "info: $(cat output)"
