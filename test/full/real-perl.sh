#!/bin/bash
# Perl, with threads: Configure, make, and its own test suite, with the modules that come with it: what
# fails is run again by itself, and must fail plain, too, and what is skipped is skipped plain, for the
# same reason.  Some tests have an empty environment: such a
# run leaves its data in the working directory.
# timeout: 7200
. "$(dirname "$0")/lib.bash"
fetch perl
keep_few_data

# build DIRECTORY COMPILER
build() {
    cp -a perl "$1"
    cd "$1" || exit 1
    step ./Configure -des -Dcc="$2" -Doptimize='-O2 -g' -Dusethreads
    step make -j2
    step make -j2 test_prep
    cd "$top" || exit 1
}

# suite DIRECTORY TEST...: runs these tests, or all.
suite() {
    local directory=$1
    shift
    (cd "$top/$directory/t" && PERL_SKIP_TTY_TEST=1 TEST_JOBS=2 env --default-signal=INT ./perl harness "$@") \
        >"$top/suite.log" 2>&1 </dev/null
}

# told: what the run in suite.log says of the files that failed, case by case.
told() {
    sed -n '/^Test Summary Report/,/^Files=/{/^Files=/!p}' "$top/suite.log"
}

# skipped: the files that were skipped as a whole in suite.log, with the reason.
skipped() {
    sed -n 's/^\([^ ]*\.t\) \.* *skipped: \(.*\)/\1 \2/p' "$top/suite.log" | sort
}

build plain gcc
for mode in count moment; do
    build $mode "quipu-cc --quipu=$mode"
    all_units $mode/perl 40
    export QUIPU_DATA=$top/data-$mode
    mkdir -m 1777 "$QUIPU_DATA"
    suite $mode
    files=$(sed -n 's/^Files=\([0-9]*\), Tests=.*/\1/p' suite.log)
    [[ ${files:-0} -gt 2000 ]] || fail "$mode: only ${files:-0} files of tests were run: $(tail -n 60 suite.log)"
    echo "$mode: $(tail -n 2 suite.log | tr '\n' ' ')"
    failed=$(sed -n 's/^\([^ ]*\.t\) *(Wstat: .*/\1/p' suite.log)
    skipped >ours.skipped
    mapfile -t names < <(cut -d ' ' -f 1 ours.skipped)
    suite plain "${names[@]}"
    skipped | cmp -s - ours.skipped || fail "$mode: other files are skipped than plain: $(skipped | diff - ours.skipped)"
    for name in $failed; do
        suite $mode "$name" && continue
        told >ours.told
        cp suite.log ours.log
        suite plain "$name"
        told | cmp -s - ours.told || fail "$mode: '$name' fails instrumented only: $(tail -n 60 ours.log)"
    done
    rm -rf "$QUIPU_DATA"
done
instrumented count/perl 1800

# Each run of an operation is a call of its function.
mkdir "$data"
export QUIPU_DATA=$data
count/perl -e 'my $sum = 0; for my $i (1 .. 12345) { $sum += ord(chr($i & 127)); }' || fail "the script fails"
got=$(quipu report --format=json "$data" | python3 -c "
import json, sys
print(sum(f['calls'] for f in json.load(sys.stdin)['functions'] if f['name'] == 'Perl_pp_chr'))")
[[ $got -eq 12345 ]] || fail "'Perl_pp_chr' was called 12345 times, not $got"
