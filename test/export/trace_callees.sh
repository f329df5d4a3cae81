#!/bin/bash
# trace_callees.sh: what known functions of the C library accessed is in a trace, from their arguments and
# results: in print, exports, caches and the C interface.
. "$(dirname "$0")/lib.bash"

cat >program.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char a[300], b[300];
static int compare(const void *x, const void *y) { return *(const char *)x - *(const char *)y; }
__attribute__((noinline)) static void *copy(void *to, const void *from, size_t n) {
    return memcpy(to, from, n);
}
__attribute__((noinline)) static long use(long n) {
    memset(a, 'x', sizeof a - n);
    memmove(b + n, a, 100 + n);
    copy(b, a + 3, n * 7);
    long got = strlen(b) + (memcmp(a, b, 50 + n) != 0);
    got += read(0, a, 80) + write(1, a, 3) + read(-1, a, 7);
    char *heap = calloc(n, 3);
    memcpy(heap, b, n);
    qsort(b, 4, 1, compare);
    free(heap);
    return got;
}
int main(int argc, char **argv) {
    long got = use(argc + 4) + (argv[1] != NULL);
    fprintf(stderr, "%p %p %ld\n", (void *)a, (void *)b, got);
    return 0;
}
C
cat >expected <<'END'
memset W a 295
memmove R a 105
memmove W b+5 105
memcpy R a+3 35
memcpy W b 35
strlen R b 111
memcmp R a 55 ?
memcmp R b 55 ?
read W a 24
write R a 3
memcpy R b 5
memcpy W heap 5
qsort R b 4
qsort W b 4 ?
fprintf R heap 11
END
# named: the references of gaps in the text of a trace, with the names of arrays
cat >named.py <<'PYTHON'
import sys
text, a, b = sys.argv[1], int(sys.argv[2], 0), int(sys.argv[3], 0)
gap = None
for line in open(text):
    words = line.split()
    if line.startswith('-- '):
        gap = words[3]
    elif not line.startswith('  '):
        gap = None
    elif gap:
        address = int(words[1], 16)
        for name, base in ('a', a), ('b', b):
            if base <= address < base + 300:
                words[1] = name + (f'+{address - base}' if address > base else '')
        print(gap, words[0], words[1] if '+' in words[1] or len(words[1]) == 1 else 'heap', *words[2:])
PYTHON
for flags in -O0 -O1 -O2 '-O2 -fno-plt' '-O2 -fno-pie -no-pie'; do
    # shellcheck disable=SC2086
    "$quipu" cc --quipu=trace -g -fno-builtin -U_FORTIFY_SOURCE $flags program.c -o program || fail "cannot build"
    printf '%24s' a | "$quipu" trace -o t -- ./program >out 2>addresses || fail "cannot record"
    [[ $(cat out) == "   " ]] || fail "$flags: it writes '$(cat out)'"
    read -r a b got <addresses
    ((got == 110 + 24 + 3 - 1)) || fail "$flags: it says $got"
    "$quipu" print t >t.text || fail "$flags: cannot print"
    python3 named.py t.text $a $b >got.txt || fail "$flags: no names"
    diff expected got.txt >difference || fail "$flags: $(cat difference)"
done

# As words, and for other tools: their bytes are the same.
bytes() {
    "$quipu" print --format=csv "$@" t | awk -F, '$10 ~ /^gap / { sum[$10] += $12; if ($12 > most) most = $12 }
        END { print sum["gap read"], sum["gap write"], most }'
}
[[ $(bytes) == "384 468 295" ]] || fail "bytes: $(bytes)"
[[ $(bytes --expand) == "384 468 8" ]] || fail "bytes, expanded: $(bytes --expand)"
"$quipu" export --to=lackey t >whole.txt
"$quipu" export --to=lackey --expand t >words.txt
for file in whole.txt words.txt; do
    sums=$(awk -F'[ ,]+' '/^ S/ { stored += $4 } /^ L/ { loaded += $4 } END { print loaded, stored }' $file)
    [[ -z ${before:-} || $before == "$sums" ]] || fail "lackey: $sums bytes as words, $before as a whole"
    before=$sums
done
grep -q -E '^ S [0-9a-f]+,295$' whole.txt || fail "lackey: no store of 295 bytes"
[[ $("$quipu" export --to=din --expand t | wc -l) -gt $("$quipu" export --to=din t | wc -l) ]] || fail "din: no words"
"$quipu" print --format=json t | python3 -c "
import json, sys
gaps = [row for row in map(json.loads, sys.stdin) if 'gap' in row]
memset = next(row for row in gaps if row['gap'] == 'memset')['references']
assert memset == [{'write': True, 'address': int('$a', 0), 'size': 295, 'sure': True}], memset" || fail "JSON"

# A cache of one line misses each of the lines that memset writes.
"$quipu" cache --by=line --l1d=64,1,64 --format=json t | python3 -c "
import json, sys
rows = [row for row in json.load(sys.stdin)['lines'] if row.get('line') == 11]
writes = sum(row['writes'] for row in rows)
assert writes >= 5, rows" || fail "cache"

needs g++
cat >reader.cc <<'C'
#include <cstdio>
#include <cstring>
#include <quipu-trace.h>
int main() {
    char message[200];
    struct quipu_trace *trace = quipu_trace_open("t", message, sizeof message);
    struct quipu_trace_reader *reader = quipu_trace_begin(trace, 0);
    while (quipu_trace_next(reader)) {
        size_t count;
        const struct quipu_trace_reference *references = quipu_trace_gap_references(reader, &count);
        const char *gap = quipu_trace_gap(reader);
        if (gap && !strcmp(gap, "memmove"))
            for (size_t i = 0; i < count; i++)
                printf("%d %d %lu\n", references[i].writes, references[i].sure, (unsigned long)references[i].size);
        if (!gap && count)
            puts("references without a gap");
    }
    quipu_trace_end(reader);
    quipu_trace_close(trace);
}
C
top=$(cd "$(dirname "$0")/../.." && pwd)
g++ -I"$top/include" reader.cc -o reader -L"$QUIPU_BUILD/lib" -lquipu-trace -Wl,-rpath,"$QUIPU_BUILD/lib" || fail "cannot link"
[[ $(./reader) == "0 1 105"$'\n'"1 1 105" ]] || fail "interface: $(./reader)"
