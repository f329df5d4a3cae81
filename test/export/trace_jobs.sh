#!/bin/bash
# trace_jobs.sh: quipu print and quipu export write the same bytes with --jobs as without, in all formats, for
# several threads of many chunks; also where a thread cannot be followed to its end. Parts that threads read
# at the same time by <quipu-trace.h> are together what quipu print shows.
# timeout: 400
. "$(dirname "$0")/lib.bash"

cat >program.c <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#define OWN __attribute__((noinline)) static
struct node {
    struct node *next;
};
static struct node nodes[1 << 10];
static char text[100];
/* Each step is a value in the records: they fill many chunks. */
OWN long follow(const struct node *node, long count) {
    for (; count > 0; count--)
        node = node->next;
    return node - nodes;
}
OWN long work(long count) {
    long sum = 0;
    for (int i = 0; i < 40; i++) {
        sum += follow(&nodes[i], count);
        memset(text, i, sizeof text);
        if (sum & 1)
            sum ^= text[sum & 63];
    }
    return sum;
}
static void *run(void *argument) {
    return (void *)work((long)argument);
}
int main(void) {
    pthread_t thread;
    for (unsigned i = 0; i < 1 << 10; i++)
        nodes[i].next = &nodes[(i * 5 + 1) % (1 << 10)];
    pthread_create(&thread, NULL, run, (void *)3000);
    long sum = work(30000);
    pthread_join(thread, NULL);
    return sum == 1;
}
C
"$quipu" cc --quipu=trace -O2 -g -pthread program.c -o program || fail "cannot build"
"$quipu" trace -o t -- ./program || fail "cannot record"
thread=$("$quipu" info t | sed -n 's/^ *process \([0-9]*\) thread \1:.*/\1/p')

same() {
    "$quipu" "$@" t | cksum >expected
    for jobs in 2 5; do
        "$quipu" "$@" --jobs=$jobs t | cksum >got || fail "$*: --jobs=$jobs ends with an error"
        cmp expected got || fail "$*: --jobs=$jobs writes something else"
    done
}
same print
same print --format=csv
same print --format=json --function=work
same print --skip=1000 --first=100
for format in lackey din json; do
    same export --to=$format
done
same export --to=champsim --thread="$thread"
"$quipu" export --to=champsim --thread="$thread" t | cksum >expected
for part in 1 2 3; do
    "$quipu" export --to=champsim --thread="$thread" --part=$part/3 t
done | cksum >got
cmp expected got || fail "parts for ChampSim are not the whole"
# The output is a file, compressed or not, and no temporary file stays.
mkdir temporary
TMPDIR=$PWD/temporary "$quipu" print --jobs=3 -o rows.gz t
gzip -dc rows.gz | cksum >got
"$quipu" print t | cksum >expected
cmp expected got || fail "a compressed file is not the whole"
[ -z "$(ls temporary)" ] || fail "temporary files stay: $(ls temporary)"
expect_error 1 "cannot write" "$quipu" print --jobs=3 -o none/rows t
expect_error 1 "leave it out with --part" "$quipu" print --jobs=3 --part=1/2 t
expect_error 1 "leave it out with --part" "$quipu" export --to=lackey --jobs=3 --part=1/2 t
"$quipu" print --jobs=4 t | head -n 5 >got || true # nobody reads on
[ "$(wc -l <got)" = 5 ] || fail "the first rows are missing"

# A thread that cannot be followed to its end: what was in front of that is written, and nothing behind.
python3 - "$thread" <<'PYTHON'
import struct, sys
data = bytearray(open('t', 'rb').read())
at = 16
while at < len(data):
    stored, size, _, kind, _, _, tid, _, number = struct.unpack_from('<9I', data, at)
    at += 112
    if kind == 1 and tid == int(sys.argv[1]) and number == 20:
        data[at + stored // 2] ^= 0xff
    at += stored
open('damaged', 'wb').write(data)
PYTHON
status=0
"$quipu" print damaged >rows 2>err || status=$?
got=0
"$quipu" print --jobs=3 damaged >rows.jobs 2>err.jobs || got=$?
[ "$status $got" = "1 1" ] || fail "a damaged trace ends with $status, and $got with --jobs"
cmp rows rows.jobs || fail "a damaged trace: --jobs writes something else"
cmp err err.jobs || fail "a damaged trace: --jobs says '$(cat err.jobs)', not '$(cat err)'"
rm rows rows.jobs

# Threads that read parts at the same time, each by itself.
cat >parts.c <<'C'
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <quipu-trace.h>
static const char *path;
static uint32_t count;
static void show(FILE *out, const struct quipu_trace_reference *references, size_t number) {
    for (size_t i = 0; i < number; i++)
        fprintf(out, "  %c %" PRIx64 " %" PRIu64 "%s\n", references[i].writes ? 'W' : 'R',
                references[i].address, references[i].size, references[i].sure ? "" : " ?");
}
static void *read_part(void *argument) {
    uint32_t part = *(uint32_t *)argument;
    struct quipu_trace *trace = quipu_trace_open(path, NULL, 0);
    for (size_t i = 0; trace && i < quipu_trace_threads(trace); i++) {
        char name[50];
        snprintf(name, sizeof name, "rows.%02zu.%02" PRIu32, i, part);
        FILE *out = fopen(name, "w");
        struct quipu_trace_reader *reader = quipu_trace_begin_part(trace, i, part, count);
        const struct quipu_trace_record *record;
        const char *gap;
        size_t number;
        while (out && (record = quipu_trace_next(reader))) {
            if ((gap = quipu_trace_gap(reader)))
                fprintf(out, "-- not traced: %s\n", gap);
            const struct quipu_trace_reference *in_gap = quipu_trace_gap_references(reader, &number);
            show(out, in_gap, number);
            fprintf(out, "%" PRIx64 " %" PRIu32 "\n", record->address, record->size);
            show(out, record->references, record->reference_count);
        }
        if ((gap = quipu_trace_gap(reader)))
            fprintf(out, "-- not traced: %s\n", gap);
        if (quipu_trace_fault(reader) || fclose(out) != 0)
            abort();
        quipu_trace_end(reader);
    }
    if (!trace || quipu_trace_begin_part(trace, 99, 0, 1) || quipu_trace_begin_part(trace, 0, 1, 1) ||
        quipu_trace_begin_part(trace, 0, 0, 0))
        abort();
    quipu_trace_close(trace);
    return NULL;
}
int main(int argc, char **argv) {
    pthread_t threads[16];
    uint32_t numbers[16];
    path = argv[1];
    count = argc > 2 ? (uint32_t)atoi(argv[2]) : 1;
    for (uint32_t i = 0; i < count; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, read_part, &numbers[i]);
    }
    for (uint32_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
C
library=$(dirname "$quipu")/../lib
read -ra sanitizers <<<"${BUILD_FLAGS:-}"
gcc -std=c11 -Wall -Wextra -Werror -O1 "${sanitizers[@]}" -I"$root/include" parts.c -o parts -pthread \
    -L"$library" -lquipu-trace -Wl,-rpath,"$(realpath "$library")" || fail "cannot build the reader"
"$quipu" print t | grep -v '^process ' | sed -E 's/^([0-9a-f]+ [0-9]+) .*/\1/' | cksum >expected
for count in 1 4; do
    rm -f rows.*
    ./parts t $count || fail "the reader of $count parts ends with an error"
    cat rows.* | cksum >got
    cmp expected got || fail "$count parts that threads read are not the whole"
done
[ "$(find . -name 'rows.00.*' -size +100k | wc -l)" = 4 ] || fail "not all parts have rows: $(ls -l rows.*)"
