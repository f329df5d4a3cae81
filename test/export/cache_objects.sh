#!/bin/bash
# quipu cache --by=object: a program prints the addresses of its variables, heap blocks and frames.
# What 'quipu print' shows of them, counted by awk, is what the objects have. In all, it is what the
# functions have.
# timeout: 60
. "$(dirname "$0")/lib.bash"

cat >program.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#define APART __attribute__((noinline, noclone))
typedef unsigned long word;
static volatile int phase; /* the program's phases have different heap blocks */
static int table[500];
int shared[40];
static _Thread_local int mine[5];
static struct { int phase; char name[80]; word begin, end; } objects[64];
static int count;
APART static void object(int in, const char *name, const void *begin, word size) {
    objects[count].phase = in;
    strcpy(objects[count].name, name);
    objects[count].begin = (word)begin;
    objects[count++].end = (word)begin + size;
}
static void heap(int in, int line, const char *function, const void *begin, word size) {
    char name[80];
    sprintf(name, "heap block of program.c:%d (%s)", line, function);
    object(in, name, begin, size);
}
static void frame(int in, const char *function, word begin, word end) {
    char name[80];
    sprintf(name, "stack of %s", function);
    object(in, name, (void *)begin, end - begin);
}
static word frames[3]; /* behind those of main, outer, inner; then of compare */
static word behind_compare;
static int *total_of_calls;
APART static int calls(int n) {
    static int total;
    total_of_calls = &total;
    return total += n;
}
APART static word use(unsigned char *bytes, word size) {
    word sum = 0;
    for (word i = 0; i < size; i++)
        sum += bytes[i] ^= (unsigned char)i;
    return sum;
}
enum { GET = __LINE__ + 2, ZEROS = GET + 4, NO_ZEROS = GET + 5, RESIZE = GET + 8 };
APART static void *get(word size) {
    return malloc(size);
}
APART static void *get_zeros(word count, int zeros) {
    if (zeros)
        return calloc(count, 2);
    return malloc(count);
}
APART static void *resize(void *block, word size) {
    return realloc(block, size);
}
APART static int inner(int n, int *of_main) {
    volatile int local[20];
    word end = (word)__builtin_frame_address(0) + 8;
    if (frames[2] < end)
        frames[2] = end;
    for (int i = 0; i < 20; i++)
        local[i] = of_main[i % 8] += n;
    return n ? inner(n - 1, of_main) + local[n] : local[3];
}
APART static int outer(int n, int *of_main) {
    int local[8];
    frames[1] = (word)__builtin_frame_address(0) + 8;
    for (int i = 0; i < 8; i++)
        local[i] = of_main[i] + n;
    return inner(n, of_main) + inner(1, local);
}
APART static int compare(const void *left, const void *right) {
    volatile int a = *(const int *)left, b = *(const int *)right;
    behind_compare = (word)__builtin_frame_address(0) + 16;
    return a < b ? -1 : a > b;
}
int main(void) {
    int local[8] = {3, 1, 2};
    word sum = 0;
    frames[0] = (word)__builtin_frame_address(0) + 16;
    sum += use((void *)table, 300) + use((void *)shared, 100) + calls(3) + calls(4);
    mine[2] += (int)sum;
    memset(table, 7, 1900);
    phase++; /* 1: frames are on the stack that other functions have in other phases */
    sum += (word)outer(3, local);
    phase++; /* 2 */
    unsigned char *a = malloc(100); int a_line = __LINE__;
    unsigned char *b = get(70);
    unsigned char *c = get_zeros(20, 1), *d = get_zeros(33, 0);
    memset(a, 1, 100);
    memset(b, 1, 70);
    sum += use(a, 90) + use(b, 70) + use(c, 40) + use(d, 33);
    heap(2, a_line, "main", a, 100);
    heap(2, GET, "get", b, 70);
    heap(2, ZEROS, "get_zeros", c, 40);
    heap(2, NO_ZEROS, "get_zeros", d, 33);
    phase++; /* 3 */
    free(a);
    unsigned char *e = calloc(50, 2); int e_line = __LINE__; /* where a was */
    sum += use(e, 100) + use(b, 3);
    heap(3, e_line, "main", e, 100);
    heap(3, GET, "get", b, 70);
    unsigned char *f = resize(b, 5000);
    phase++; /* 4 */
    memset(f, 2, 4000);
    sum += use(f, 5000);
    heap(4, RESIZE, "resize", f, 5000);
    heap(4, e_line, "main", e, 100);
    free(f);
    phase++; /* 5: nothing is f's */
    unsigned char *m = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int m_line = __LINE__ - 1;
    sum += use(m, 2000);
    munmap(m, 4096);
    sum += use(m + 5000, 100);
    char name[80];
    sprintf(name, "mapping of program.c:%d (main)", m_line);
    object(5, name, m, 8192);
    heap(5, e_line, "main", e, 100);
    sum += use(e, 50);
    phase++; /* 6 */
    char *s = strdup("a string"); int s_line = __LINE__;
    s[1] = '-';
    heap(6, s_line, "main", s, 16);
    phase++; /* 7 */
    qsort(local, 8, sizeof *local, compare);
    phase++; /* 8 */
    frame(1, "outer", frames[2], frames[1]);
    frame(1, "inner", frames[2] - 4096, frames[2]);
    frame(7, "compare", behind_compare - 256, behind_compare);
    for (int in = 0; in < 9; in++) {
        frame(in, "main", frames[1], frames[0]);
        object(in, "table", table, sizeof table);
        object(in, "shared", shared, sizeof shared);
        object(in, "calls::total", total_of_calls, sizeof *total_of_calls);
        object(in, "thread-local mine", mine, sizeof mine);
        object(in, "phase", (void *)&phase, sizeof phase);
    }
    for (int i = 0; i < count; i++)
        printf("%d,%s,%lu,%lu\n", objects[i].phase, objects[i].name, objects[i].begin,
               objects[i].end);
    fprintf(stderr, "%lu\n", sum);
    return 0;
}
C
# count.awk: OBJECTS PRINTED: reads and writes of each object. A reference of more than 64 bytes is
# cut at multiples of 64. A read and a write of the same bytes by one instruction are a read.
cat >count.awk <<'AWK'
BEGIN { FS = OFS = ","; phase = 0 }
FNR == NR {
    in_phase[++objects] = $1; name[objects] = $2; begin[objects] = $3; end[objects] = $4
    if ($2 == "phase") phase_at = $3
    next
}
function take(address, access, i) {
    for (i = 1; i <= objects; i++)
        if (in_phase[i] == phase && address >= begin[i] && address < end[i]) {
            number[name[i], access]++
            return
        }
    number["rest", access]++
}
FNR == 1 || $10 == "gap" { next }
{ sub(/^gap /, "", $10) } # an access of the C library
{
    whole = $3 "," $9 - 1 "," $11 "," $12
    modifies = $10 == "write" && whole == read
    read = $10 == "read" ? $3 "," $9 "," $11 "," $12 : ""
}
$10 != "" && $13 == 1 && !modifies {
    address = $11 + 0; left = $12 + 0
    do {
        size = $12 > 64 && 64 - address % 64 < left ? 64 - address % 64 : left
        take(address, $10)
        address += size; left -= size
    } while (left > 0)
}
$10 == "write" && $11 == phase_at { phase++ }
END {
    name[++objects] = "rest"
    for (i = 1; i <= objects; i++)
        if (!(name[i] in seen)) {
            seen[name[i]] = 1
            printf "%s,%d,%d\n", name[i], number[name[i], "read"], number[name[i], "write"]
        }
}
AWK
# table.awk: WANTED TABLE: the same of the table of objects; all that is not wanted is the rest.
cat >table.awk <<'AWK'
BEGIN { FS = "," }
FNR == NR { names[++count] = $1; wanted[$1] = 1; next }
FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
{
    name = $column["object"] in wanted ? $column["object"] : "rest"
    reads[name] += $column["reads"]; writes[name] += $column["writes"]
}
END { for (i = 1; i <= count; i++) printf "%s,%d,%d\n", names[i], reads[names[i]], writes[names[i]] }
AWK
totals='NR == 1 { for (c = 1; c <= NF; c++) at[$c] = c; next }
    { n += $at["instructions"]; i += $at["l1i_misses"]; r += $at["reads"]; w += $at["writes"]
      m += $at["l1d_misses"]; l += $at["llc_misses"] } END { print n, i, r, w, m, l }'

for flags in "-O1 -fno-omit-frame-pointer -fno-builtin" "-O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls" \
    "-O2 -foptimize-sibling-calls -fno-omit-frame-pointer -static -fno-inline"; do
    "$quipu" cc --quipu=trace $flags -g program.c -o program
    "$quipu" trace -o program.trace -- ./program >objects 2>/dev/null
    "$quipu" print --format=csv program.trace | tr -d "\r" >printed
    awk -f count.awk objects printed >wanted
    "$quipu" cache --by=object --format=csv program.trace | tr -d "\r" >table
    awk -f table.awk wanted table >got
    diff wanted got >differs || fail "$flags: other counts than print has: $(cat differs)"
    awk -F, '$1 != "rest" && $2 + $3 == 0 { print $1 }' wanted >unused
    [ ! -s unused ] || fail "$flags: objects without accesses: $(cat unused)"
    of_objects=$(awk -F, "$totals" table)
    of_functions=$("$quipu" cache --by=function --format=csv program.trace | tr -d "\r" | awk -F, "$totals")
    [ "$of_objects" = "$of_functions" ] || fail "$flags: all objects have $of_objects, all functions $of_functions"
done
