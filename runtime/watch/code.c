/* code.c: which code of this module has checks.
 *
 * Rows of the table of sites (QUIPU_SITE_CODE) have all ranges that the shim has instrumented.
 * There may be other code between them: of objects that were built without it, and of functions
 * that were left alone. A call of such code is a call of code without checks.
 *
 * Inserted code can test only one range, quipu_watch_text: the longest run of ranges between which
 * there is nothing but padding. The callee of a direct call is looked up among all ranges when the
 * call is armed.
 *
 * Not perfect: a call through a pointer into another run is treated like a call of unknown code,
 * which takes time. */
#include "runtime/watch/watch.h"

#include "runtime/core/sort.h"

enum {
    OPERAND_SIZE = 0x66, /* prefixes of long no-operations */
    SEGMENT = 0x2e,
    NOP = 0x90,
    LONG = 0x0f, /* the first byte of long opcodes */
    LONG_NOP = 0x1f,
    INT3 = 0xcc,
};

static struct {
    const struct quipu_site *sites;
    uint32_t *sorted; /* rows of code, sorted by address */
    uint64_t count;
} code;

static uint64_t begin_of(uint64_t i) {
    return relative_address(&code.sites[code.sorted[i]].place);
}

static uint64_t end_of(uint64_t i) {
    return relative_address(&code.sites[code.sorted[i]].target);
}

static bool is_before(uint32_t left, uint32_t right) {
    return relative_address(&code.sites[left].place) < relative_address(&code.sites[right].place);
}

/* ---- Padding ---- */

/* Returns the size of the operand in memory that begins at MODE. */
static uint64_t operand_size(const uint8_t *mode) {
    static const uint8_t displacements[] = {0, 1, 4, 0};
    unsigned way = *mode >> 6, base = *mode & 7;
    if (way == 3)
        return 1;
    return 1u + (base == 4) + (way == 0 && base == 5 ? 4 : displacements[way]);
}

/* Returns the size of the instruction of padding at AT, or 0 if it is another one. Assemblers also
 * jump over long padding, which ends at END. */
static uint64_t padding_size(const uint8_t *at, const uint8_t *end) {
    const uint8_t *begin = at;
    if (*at == 0 || *at == INT3)
        return 1;
    if (*at == JMP_SHORT && at[1] <= end - at - 2)
        return 2;
    while (*at == OPERAND_SIZE || *at == SEGMENT)
        at++;
    if (*at == NOP)
        return (uint64_t)(at + 1 - begin);
    return at[0] == LONG && at[1] == LONG_NOP ? (uint64_t)(at + 2 - begin) + operand_size(at + 2)
                                              : 0;
}

/* Whether there is nothing but padding. Longer ranges may contain pages that are not mapped. */
static bool is_padding(uint64_t begin, uint64_t end) {
    if (end - begin >= QUIPU_PAGE)
        return begin >= end;
    while (begin < end) {
        uint64_t size = padding_size((const uint8_t *)begin, (const uint8_t *)end);
        if (!size)
            return false;
        begin += size;
    }
    return begin == end;
}

/* ---- Ranges ---- */

bool quipu_watch_sort_code(const struct quipu_site *sites, uint64_t count) {
    uint32_t *sorted = quipu_watch_map(count * sizeof *sorted + 1);
    if (!sorted)
        return false;
    code.sites = sites;
    code.sorted = sorted;
    for (uint64_t i = 0; i < count; i++)
        if (sites[i].size == QUIPU_SITE_CODE) {
            sorted[code.count++] = (uint32_t)i;
            WATCH->main_has_checks |=
                relative_address(&sites[i].code) == relative_address(&sites[i].target);
        }
    quipu_sort(sorted, code.count, is_before);
    return true;
}

struct watch_range quipu_watch_longest_code(void) {
    struct watch_range longest = {0, 0};
    for (uint64_t i = 0; i < code.count;) {
        uint64_t begin = begin_of(i), end = end_of(i);
        while (++i < code.count && is_padding(end, begin_of(i)))
            end = greater(end, end_of(i));
        if (end - begin > longest.length)
            longest = (struct watch_range){begin, end - begin};
    }
    return longest;
}

bool quipu_watch_has_checks(uint64_t address) {
    uint64_t low = 0, high = code.count;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (begin_of(middle) <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && address < end_of(low - 1);
}
