/* shape.c: reads the shape of a cache, SIZE,WAYS,LINE; see cache.h. */
#include "cache/cache.h"

#include "util/diag.h"
#include "util/size.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE_MAX_BYTES = REFERENCE_SIZE_MAX
};

static bool is_power_of_two(uint64_t number) {
    return number && !(number & (number - 1));
}

/* Returns the largest power of two that is not above NUMBER, which is not 0. */
static uint64_t power_of_two_to(uint64_t number) {
    return UINT64_C(1) << (63 - __builtin_clzll(number));
}

static bool read_comma(const char **text) {
    return *(*text)++ == ',';
}

bool cache_shape_is_valid(const struct cache_shape *shape) {
    uint64_t lines = is_power_of_two(shape->line) ? shape->size / shape->line : 0;
    uint64_t sets = shape->ways ? lines / shape->ways : 0;
    return shape->line >= LINE_MIN && shape->line <= LINE_MAX_BYTES && is_power_of_two(sets) &&
           sets * shape->ways == lines && lines * shape->line == shape->size &&
           shape->size <= UINT64_C(1) << SIZE_MAX_BITS;
}

struct cache_shape parse_cache_shape(const char *option, const char *text) {
    static const char full[] = "full";
    struct cache_shape shape = {0};
    uint64_t line = 0;
    const char *next = text;
    bool is_full = false;
    bool valid = read_size(&next, &shape.size) && read_comma(&next);
    if (valid && (is_full = strncmp(next, full, strlen(full)) == 0))
        next += strlen(full);
    else
        valid = valid && read_size(&next, &shape.ways);
    if (!valid || !read_comma(&next) || !read_size(&next, &line) || *next)
        die("'%s=%s': a cache is SIZE,WAYS,LINE in bytes, such as 32K,8,64; at most 64G", option,
            text);
    if (!is_power_of_two(line) || line < LINE_MIN || line > LINE_MAX_BYTES)
        die("'%s=%s': a line has a power of two of bytes, from %d to %d", option, text, LINE_MIN,
            LINE_MAX_BYTES);
    shape.line = (uint32_t)line;
    if (is_full)
        shape.ways = shape.size / line;
    uint64_t sets = shape.ways ? shape.size / line / shape.ways : 0;
    if (!sets)
        die("'%s=%s': a cache of this size has no set of so many lines", option, text);
    if (!is_power_of_two(sets) || sets * shape.ways * line != shape.size)
        die("'%s=%s': the number of sets, SIZE / WAYS / LINE, is no power of two; choose the size "
            "%" PRIu64 ", for example",
            option, text, power_of_two_to(sets) * shape.ways * line);
    return shape;
}
