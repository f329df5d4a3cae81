#!/bin/bash
# stat_baseline.sh: 'quipu stat --baseline': what grew since an earlier run, and status 1 for it.
. "$(dirname "$0")/../bad/lib.bash"

# make TURNS EVENTS...: builds program; its function 'inner' makes TURNS turns.
make() {
    turns=$1
    shift
    make_program program "-DTURNS=$turns" "$@" -O1 -g <<'END'
static volatile long sum;
__attribute__((noinline)) static void inner(long turns) {
    for (long i = 0; i < turns; i++)
        sum++;
}
__attribute__((noinline)) static void outer(void) {
    for (int i = 0; i < 100; i++)
        sum++;
}
int main(void) {
    outer();
    inner(TURNS);
    return 4;
}
END
}

both=("--quipu=count,event" --quipu-event=instructions --quipu-event=branches)
make 100000 "${both[@]}"
ends 4 quipu stat --format=json -o base.json -- ./program
[[ ! -s messages ]] || fail "it said: $(cat messages)"
ends 4 quipu stat --baseline=base.json -- ./program
grep -q growth messages && fail "nothing grew: $(cat messages)"

# 0.1% are 100 turns, about.
make 100050 "${both[@]}"
ends 1 quipu stat --baseline=base.json -- ./program
ends 4 quipu stat --baseline=base.json --max-growth=0.1% -- ./program
ends 4 quipu stat --baseline=base.json --max-growth 0.1 -- ./program
make 100200 "${both[@]}"
ends 1 quipu stat --baseline=base.json --max-growth=0.1% -- ./program
grep -q "^quipu: error: counts grew by more than the 0.1% allowed since 'base.json': instructions, branches$" messages ||
    fail "no error: $(cat messages)"
grep -qE '^ *[0-9]+ +[0-9]+ +\+0\.(199|2..)%  instructions$' messages || fail "no kind: $(cat messages)"
grep -qE '^ *[0-9]+ +[0-9]+ +\+0\.2..%  inner \(.*program\.c:2\)$' messages ||
    fail "no function: $(cat messages)"
grep -q outer messages && fail "a function that did not grow is shown: $(cat messages)"

# Counts may shrink; data that is there is compared, too.
make 90000 "${both[@]}"
ends 4 quipu stat --baseline=base.json --max-growth=0 -- ./program
make 100200 "${both[@]}"
ends 4 quipu run -o data -- ./program
ends 1 quipu stat --baseline=base.json --data data
grep -q ' instructions$' messages || fail "data: $(cat messages)"

# Kinds alone, where instructions of functions are not counted.
make 100000 --quipu=event
ends 4 quipu stat --format=json -o events.json -- ./program
grep -q functions events.json && fail "functions were not counted: $(cat events.json)"
make 200000 --quipu=event
ends 1 quipu stat --baseline=events.json --max-growth=50% -- ./program
grep -q function messages && fail "functions were not counted: $(cat messages)"

# refused_baseline LINE TEXT CONTENTS
refused_baseline() {
    printf '%s' "$3" >bad.json
    ends 1 quipu stat --baseline=bad.json -- ./program
    said "bad.json:$1: error: quipu: $2"
}
refused_baseline 1 "it ends too early" ''
refused_baseline 1 "it ends too early" '{"events": [{"event": "loads'
refused_baseline 1 "'{' was expected" '[]'
refused_baseline 1 "it holds no events" '{"functions": [], "totals": {"calls": 1}}'
refused_baseline 1 "a count is no whole number" '{"events": [{"event": "loads", "count": -1}]}'
refused_baseline 1 "a count is no whole number" '{"events": [{"event": "loads", "count": 1.5}]}'
refused_baseline 1 "a count is too large" '{"events": [{"event": "loads", "count": 18446744073709551616}]}'
refused_baseline 1 "an event has no name or no count" '{"events": [{"event": "loads"}]}'
refused_baseline 1 "it is no JSON: something follows the end" '{"events": []} {}'
head -c 100 events.json >bad.json
ends 1 quipu stat --baseline=bad.json -- ./program
said "bad.json:"
ends 1 quipu stat --baseline=base.json -- ./program
grep -qF "'base.json': it has a count of 'branches', which the program does not count" < <(tail -1 messages) ||
    fail "another kind: $(cat messages)"
echo '{"events": [{"event": "loads", "count": 1}]}' >loads.json
ends 1 quipu stat --baseline=loads.json -- ./program
grep -qF "'loads.json': it has a count of 'loads', which the program does not" < <(tail -1 messages) ||
    fail "a kind more: $(cat messages)"
refuses "cannot read 'missing.json'" -- quipu stat --baseline=missing.json -- ./program
for percent in -1 '' nan 1x 0.1%% 1.2.3 . 0x1 1e3; do
    refuses "'--max-growth=$percent'" -- quipu stat --baseline=events.json --max-growth="$percent" -- ./program
done
refuses "it needs --baseline" -- quipu stat --max-growth=1% -- ./program
