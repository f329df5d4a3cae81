#!/bin/bash
# trace_moments.sh: 'quipu print' and 'quipu trace' take what is between two moments that the program
# itself has printed: of the program and of a shared object, of its threads, in a trace of many
# buffers. 'quipu print --moments' names the moments, and 'quipu goto' leads to them.
# timeout: 300
. "$(dirname "$0")/lib.bash"

cat >show.h <<'C'
#include <quipu.h>
#include <stdio.h>
#define OWN __attribute__((noinline)) static
OWN void show(const char *what) {
    char text[200];
    struct quipu_moment now = quipu_now();
    quipu_print_moment(&now, text, sizeof text);
    printf("%s %s\n", what, text);
}
C
cat >library.c <<'C'
#include "show.h"
unsigned scramble(unsigned x, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        x = x * 1103515245 + (x >> 7 & i);
    show("library");
    return x;
}
C
cat >program.c <<'C'
#include "show.h"
#include <pthread.h>
#include <stdlib.h>
unsigned scramble(unsigned x, unsigned n);
static unsigned table[1024];
OWN unsigned mix(unsigned x, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        x = x * 1103515245 + 12345;
        if (x & 1 << 20)
            table[x >> 22] += i;
    }
    return x;
}
static void *work(void *unused) {
    (void)unused;
    mix(3, 1000);
    show("thread");
    mix(4, 60000);
    show("thread");
    scramble(1, 10);
    return NULL;
}
int main(void) {
    pthread_t thread;
    unsigned x = 1;
    for (int round = 0; round < 12; round++) {
        x = mix(x, 30000);
        if (round % 3 == 1)
            x = scramble(x, 1000);
        show("main");
    }
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    printf("%u\n", x + table[5]);
    return 0;
}
C
"$quipu" cc --quipu=moment,trace -O2 -g -I"$root/include" -fPIC -shared library.c -o liblibrary.so &&
    "$quipu" cc --quipu=moment,trace -O2 -g -I"$root/include" program.c -o program -L. -llibrary \
        -Wl,-rpath,"$work" || fail "cannot build"

"$quipu" trace -o whole.trace -- ./program >out || fail "cannot record"
"$quipu" print --moments whole.trace >rows
grep -q '^- ' rows && fail "a moment is not known: $(grep -m1 '^- ' rows)"

# moment_of WORD N: the N-th moment that the program printed with this word.
moment_of() {
    awk -v word="$1" -v wanted="$2" '$1 == word && ++n == wanted { print $2 }' out
}

# Where 'show' has come from its call. The name has an address in inserted code, so the next row is the place.
# line_of MOMENT: the number of that row.
line_of() {
    awk -v moment="$1" '
        BEGIN { split(moment, wanted, /[+@]/); at = hex(wanted[2]) }
        function hex(text,   i, n) {
            text = substr(text, 3)
            n = 0
            for (i = 1; i <= length(text); i++)
                n = 16 * n + index("0123456789abcdef", substr(text, i, 1)) - 1
            return n
        }
        $1 ~ /@/ {
            split($1, name, /[+@]/)
            if (name[1] == wanted[1] && name[3] == wanted[3] && hex(name[2]) >= at) { print NR; exit }
        }' rows
}

# between FROM TO OPTIONS...: 'quipu print' gives the rows from FROM up to TO.
between() {
    local from=$1 to=$2 first last
    shift 2
    first=$(line_of "$from") last=$(line_of "$to")
    [ -n "$first" ] && [ -n "$last" ] && [ "$first" -lt "$last" ] || fail "$from, $to: rows '$first' and '$last'"
    sed -n "$first,$((last - 1))p" rows >expected.rows
    "$quipu" print --moments --from="$from" --to="$to" "$@" >given.rows || fail "$from, $to: no rows"
    sed -i 1d given.rows
}
pairs=("$(moment_of main 2) $(moment_of main 3)" "$(moment_of main 9) $(moment_of main 10)"
    "$(moment_of library 1) $(moment_of library 2)" "$(moment_of library 4) $(moment_of main 12)"
    "$(moment_of thread 1) $(moment_of thread 2)" "$(moment_of thread 2) $(moment_of library 5)")
for pair in "${pairs[@]}"; do
    read -r from to <<<"$pair"
    between "$from" "$to" whole.trace
    cmp given.rows expected.rows || fail "$from, $to: other rows than in the whole trace"
done

# The same, recorded between the moments: addresses are others in another run. What is stored is less.
without_addresses() {
    awk '$1 ~ /@/ { print $1, $3, $4 } /^--/' "$1"
}
for pair in "${pairs[@]:0:2}" "${pairs[4]}"; do
    read -r from to <<<"$pair"
    "$quipu" trace --from="$from" --to="$to" -o window.trace -- ./program >again || fail "$from: cannot record"
    cmp again out || fail "$from: the program printed something else"
    between "$from" "$to" window.trace
    cmp <(without_addresses given.rows) <(without_addresses expected.rows) || fail "$from: recorded, other rows"
    "$quipu" info window.trace >info
    grep -Fxq "  window        from $from" info && grep -Fxq "  window        to $to" info ||
        fail "$from: info does not tell the window: $(cat info)"
    "$quipu" info --format=json window.trace | python3 -c '
import json, sys
window = json.load(sys.stdin)["traces"][0]["window"]
assert [window["from"], window["to"]] == sys.argv[1:], window' "$from" "$to" || fail "$from: the window in JSON"
    "$quipu" print --moments window.trace >given.rows
    sed -i 1d given.rows
    cmp <(without_addresses given.rows) <(without_addresses expected.rows) ||
        fail "$from: recorded, other rows without --from"
    [ $((2 * $(stat -c %s window.trace))) -lt "$(stat -c %s whole.trace)" ] || fail "$from: everything is stored"
done

# From a moment on, the first instructions, however late that is.
from=$(moment_of main 9)
"$quipu" trace --from="$from" --first=50 -o first.trace -- ./program >again || fail "--first: cannot record"
between "$from" "$(moment_of main 10)" whole.trace
"$quipu" print --moments first.trace | sed 1d >given.rows
[ "$(grep -c '@' given.rows)" = 50 ] || fail "--first: $(grep -c '@' given.rows) instructions"
cmp <(without_addresses given.rows | sed '/^--/d') <(without_addresses expected.rows | sed '/^--/d' | head -50) ||
    fail "--first: other rows"

# All threads between two moments of different threads.
"$quipu" print --order=global --moments --from="$(moment_of main 12)" --to="$(moment_of thread 2)" \
    whole.trace >given.rows || fail "--order=global: no rows"
[ "$(grep -c '^process' given.rows)" -ge 2 ] || fail "--order=global: one thread alone"
grep -q '^mix.*/2~' given.rows && grep -q '^main.*/1~' given.rows || fail "--order=global: a thread is missing"
expect_error 1 'moments of different threads' "$quipu" print --from="$(moment_of main 12)" \
    --to="$(moment_of thread 2)" whole.trace

# The other formats have the same names.
first=$(moment_of main 9) last=$(moment_of main 10)
"$quipu" print --moments --from="$first" --to="$last" whole.trace | awk '$1 ~ /@/ { print $1 }' >names
"$quipu" print --moments --format=csv --from="$first" --to="$last" whole.trace |
    awk -F, 'NR > 1 && $5 != "" && $10 <= 1 { print $3 }' | cmp - names || fail "csv: other moments"
"$quipu" print --moments --format=json --from="$first" --to="$last" whole.trace |
    sed -n 's/.*"moment": "\([^"]*\)".*/\1/p' | cmp - names || fail "json: other moments"

# 'quipu goto' goes to what '--moments' names.
for line in 100 20000 -5; do
    name=$([ "$line" -gt 0 ] && sed -n "${line}p" names || tail -n "${line#-}" names | head -n 1)
    "$quipu" goto --print "$name" -- ./program >gone 2>messages || fail "goto $name: $(cat messages)"
    grep -qF "${name%%/*}" gone || fail "goto $name: $(tail -n 1 gone)"
done

# What is wrong.
"$quipu" cc --quipu=trace -O2 -I"$root/include" program.c -o plain -L. -llibrary -Wl,-rpath,"$work"
never="mix+0x0@999999999/1"
expect_error 1 "no thread comes to the moment --from='$never'" "$quipu" print --from="$never" -o rest whole.trace
expect_error 1 "no thread comes to the moment --to='$first' behind" "$quipu" print --from="$last" --to="$first" \
    -o rest whole.trace
expect_error 1 "no function 'mixx'; did you mean 'mix'" "$quipu" print --from=mixx@5 whole.trace
expect_error 1 "must be WHERE@TICKS" "$quipu" print --to=mix whole.trace
expect_error 1 "moment of another build" "$quipu" print --to="${first%~*}~abcd" whole.trace
expect_error 1 "no function 'mixx'; did you mean 'mix'" "$quipu" trace --from=mixx@5 -- ./program
expect_error 1 "has no moments; build it with" "$quipu" trace --from=mix@5 -- ./plain
expect_error 1 "moments of one thread" "$quipu" trace --from=mix@5/1 --to=mix@9/2 -- ./program
[ ! -e quipu.trace ] || fail "a trace was begun for a moment that cannot come"
"$quipu" trace --from="$never" -o never.trace -- ./program >again 2>messages && fail "a moment that never comes: status 0"
grep -qF "no thread comes to the moment --from='$never'" messages || fail "$(cat messages)"
cmp again out || fail "the program printed something else"
