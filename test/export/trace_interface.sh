#!/bin/bash
# trace_interface.sh: <quipu-trace.h> as it is installed: the example, built with pkg-config, shared and
# static, gives the misses that the printed trace has; records are those of quipu print; errors come
# back as text; the library shows no other symbols.
# timeout: 400
. "$(dirname "$0")/lib.bash"
needs pkg-config

make -s -C "$root" B="$(realpath -m "${QUIPU_BUILD:-$root/build}")" install PREFIX="$PWD/installed" >log 2>&1 ||
    fail "make install: $(tail -n 3 log)"
export PKG_CONFIG_PATH=$PWD/installed/lib/pkgconfig LD_LIBRARY_PATH=$PWD/installed/lib
read -ra flags < <(pkg-config --cflags --libs quipu-trace) || fail "no quipu-trace.pc"
read -ra static < <(pkg-config --static --cflags --libs quipu-trace | sed 's/-lquipu-trace/-l:libquipu-trace.a/')
read -ra sanitizers <<<"${BUILD_FLAGS:-}"

cat >program.c <<'C'
#include <pthread.h>
#include <stddef.h>
static long a[20000];
__attribute__((noinline)) static long walk(int step) {
    long sum = 0;
    for (int i = 0; i < 20000; i += step)
        sum += a[i]++;
    return sum;
}
static void *run(void *argument) {
    walk(3);
    return argument;
}
int main(void) {
    pthread_t thread;
    walk(1);
    pthread_create(&thread, NULL, run, NULL);
    return pthread_join(thread, NULL);
}
C
"$quipu" cc --quipu=trace -O1 -g program.c -o program || fail "cannot build"
"$quipu" trace -o t -- ./program || fail "cannot record"
"$quipu" print --asm --format=json t >steps.json

example=$root/examples/cache/cache.c
gcc -std=c11 -Wall -Wextra -Werror -O1 "${sanitizers[@]}" "$example" -o shared "${flags[@]}" || fail "cannot build the example"
gcc -std=c11 -O1 "${sanitizers[@]}" "$example" -o static "${static[@]}" ||
    fail "cannot build the example with the static library"
grep -q 'libquipu-trace\.so\.0' < <(readelf -d shared) || fail "the example does not need the shared library"
grep -q 'libquipu-trace' < <(readelf -d static) && fail "the static example needs the shared library"
./shared t >shared.txt || fail "the example failed"
LD_LIBRARY_PATH='' ./static t >static.txt || fail "the static example failed"
cmp shared.txt static.txt || fail "the two libraries differ"
python3 - <<'PYTHON' || fail "the example's misses are wrong: $(tr '\n' ';' <shared.txt)"
import collections, json
lines, counts = {}, collections.defaultdict(lambda: [0, 0])
for text in open('steps.json'):
    step = json.loads(text)
    for r in step.get('references', ()):
        for line in range(r['address'] // 64, (r['address'] + r['size'] - 1) // 64 + 1):
            miss = lines.get(line % 512) != line
            lines[line % 512] = line
            for name in (step['function'], 'all'):
                counts[name][0] += 1
                counts[name][1] += miss
said = {name: [int(a), int(b)] for name, a, b in (line.split() for line in open('shared.txt'))}
assert said == dict(counts), (said, counts)
assert counts['all'][1] > 3000
PYTHON

# Every member of every record, as C++ compiles the header.
cat >dump.cc <<'C'
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <quipu-trace.h>
int main(int, char **argv) {
    char message[QUIPU_TRACE_MESSAGE_SIZE] = "";
    quipu_trace *trace = quipu_trace_open(argv[1], message, sizeof message);
    if (!trace) {
        printf("%s\n", message);
        return quipu_trace_open(argv[1], nullptr, 0) != nullptr;
    }
    printf("%zu %zu %d\n", quipu_trace_processes(trace), quipu_trace_threads(trace),
           quipu_trace_is_complete(trace));
    for (size_t i = 0; i < quipu_trace_threads(trace); i++) {
        quipu_trace_identity identity = quipu_trace_identify(trace, i);
        quipu_trace_reader *reader = quipu_trace_begin(trace, i);
        quipu_trace_reader *other = quipu_trace_begin(trace, i); // does not disturb it
        if (quipu_trace_file(reader) || quipu_trace_line(reader) || quipu_trace_text(reader))
            printf("a record in front of the first one\n");
        while (const quipu_trace_record *record = quipu_trace_next(reader)) {
            const char *file = quipu_trace_file(reader);
            if (const char *gap = quipu_trace_gap(reader))
                printf("gap %s\n", gap);
            if (record->address % 3 == 0)
                quipu_trace_next(other);
            printf("%u %u %" PRIu64 " %u %s %u %s %u %s |", identity.process, identity.thread,
                   record->address, record->size, record->function, record->offset, file ? file : "",
                   quipu_trace_line(reader), quipu_trace_text(reader));
            for (unsigned k = 0; k < record->size; k++)
                printf("%02x", record->code[k]);
            for (size_t k = 0; k < record->reference_count; k++)
                printf(" %c,%" PRIu64 ",%" PRIu64, record->references[k].writes ? 'W' : 'R',
                       record->references[k].address, record->references[k].size);
            printf("\n");
        }
        if (quipu_trace_next(reader) || quipu_trace_text(reader) || quipu_trace_fault(reader))
            printf("something follows the last record\n");
        if (const char *gap = quipu_trace_gap(reader))
            printf("gap %s\n", gap);
        quipu_trace_end(reader);
        quipu_trace_end(other);
    }
    if (quipu_trace_begin(trace, 99) || quipu_trace_identify(trace, 99).thread)
        printf("there is a thread 99\n");
    quipu_trace_end(nullptr);
    quipu_trace_close(nullptr);
    quipu_trace_close(trace);
    return 0;
}
C
g++ -Wall -Wextra -Werror -O1 "${sanitizers[@]}" dump.cc -o dump "${flags[@]}" || fail "C++ refuses the header"
./dump t >dump.txt || fail "the reader failed"
python3 - <<'PYTHON' || fail "the records are not those of quipu print"
import json
lines = open('dump.txt').read().splitlines()
assert lines[0] == '1 2 1', lines[0]
steps = [json.loads(text) for text in open('steps.json')]
assert len(lines) == len(steps) + 1
assert [step['gap'] for step in steps if 'gap' in step][:1] == ['pthread_create']
for line, step in zip(lines[1:], steps):
    if 'gap' in step:
        assert line == 'gap ' + step['gap'], (line, step)
        continue
    wanted = ' '.join(str(step[k]) for k in ('process', 'thread', 'address', 'size', 'function', 'offset',
                                             'file', 'line', 'assembly'))
    left, right = line.split(' |')
    assert left == wanted, (left, wanted)
    code, *references = right.split(' ')
    assert len(code) == 2 * step['size']
    assert references == [f"{'W' if r['write'] else 'R'},{r['address']},{r['size']}" for r in step['references']]
PYTHON

# Errors are text, and nothing is printed.
says() {
    ./dump "$1" >said.txt 2>errors.txt || fail "'$1': the program ended with $?"
    grep -qF -- "$2" said.txt || fail "'$1': expected '$2' but got: $(cat said.txt)"
    [ ! -s errors.txt ] || fail "'$1': the library printed: $(cat errors.txt)"
}
says missing 'No such file'
says program 'is not a trace'
mv program moved
says t "'$PWD/program'"
cp /bin/true program
says t 'another build'
mv moved program
head -c 90 t >short.trace
says short.trace '0 0 0'

for library in libquipu-trace.so libquipu-trace.a; do
    dynamic=''
    [[ $library == *.a ]] || dynamic=-D
    others=$(nm $dynamic -g --defined-only installed/lib/$library | awk 'NF == 3 && $3 !~ /^quipu_trace_/ && $3 !~ /^__(asan|odr_asan|ubsan)/ {print $3}')
    [ -z "$others" ] || fail "$library shows other symbols: $others"
done
# Each function of the header is in its manual page.
nm -D installed/lib/libquipu-trace.so >symbols.txt
for name in $(grep -ohE 'quipu_trace_[a-z_]+\(' "$root/include/quipu-trace.h" | sort -u); do
    grep -q "^.Fn ${name%(} \"" "$root/doc/man/quipu-trace.h.3" || fail "the manual has no '${name%(}'"
    grep -q " T ${name%(}$" symbols.txt ||
        fail "the library has no '${name%(}'"
done
make -s -C "$root" uninstall PREFIX="$PWD/installed" >log 2>&1 || fail "make uninstall: $(tail -n 3 log)"
left=$(find installed ! -type d)
[ -z "$left" ] || fail "make uninstall leaves: $left"
