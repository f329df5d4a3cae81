/* trace_sites.c: arms the sites of traces in a program under our control.
 *
 * The runtime does the same when a program starts in a recording (runtime/trace/sites.c). A record
 * in a build with sites loads the cursor itself (pass/trace/cursor.c), so any instruction of a
 * thread may be the last one without records.
 *
 * The text from the first site to the last is read, changed and written as a whole: see tests.c. */
#include "tracee/trace_sites.h"

#include "format/jump.h"
#include "format/watch.h"
#include "symbols/sites.h"
#include "tracee/tracee.h"

#include <stdlib.h>

/* The bytes that change at a site. */
static size_t size_of(const struct linked_site *site) {
    return site->size == QUIPU_SITE_TRACE_JUMP ? X86_DISTANCE_SIZE : X86_JUMP_SIZE;
}

/* The text from the first site to the last. */
struct stretch {
    uint64_t first, end;
};

/* Returns false if a row is not possible. */
static bool find_stretch(const struct binary *binary, const struct site_table *table,
                         struct stretch *stretch) {
    for (size_t i = 0; i < table->count; i++) {
        struct linked_site site = read_site(table, i);
        size_t room, more;
        if (!is_trace_site(&site))
            continue;
        if (!binary_code(binary, site.place, &room) || room < size_of(&site) ||
            !binary_code(binary, site.code, &more))
            return false;
        uint64_t end = site.place + size_of(&site);
        stretch->first = site.place < stretch->first ? site.place : stretch->first;
        stretch->end = end > stretch->end ? end : stretch->end;
    }
    return true;
}

static void arm(const struct linked_site *site, uint8_t *text) {
    if (site->size == QUIPU_SITE_TRACE_JUMP)
        encode_distance(text, site->place, site->code);
    else
        encode_jump(text, X86_JUMP_SIZE, site->place, site->code);
}

const char *arm_trace_sites(pid_t process, const struct binary *binary, uint64_t bias) {
    struct site_table table = find_sites(binary);
    struct stretch stretch = {.first = UINT64_MAX};
    if (!find_stretch(binary, &table, &stretch))
        return "its table of sites is damaged; build it anew";
    if (stretch.first >= stretch.end)
        return NULL;
    size_t size = stretch.end - stretch.first;
    uint8_t *text = malloc(size);
    bool good = text && read_memory(process, stretch.first + bias, text, size);
    for (size_t i = 0; i < table.count && good; i++) {
        struct linked_site site = read_site(&table, i);
        if (is_trace_site(&site))
            arm(&site, text + (site.place - stretch.first));
    }
    good = good && write_memory(process, stretch.first + bias, text, size);
    free(text);
    return good ? NULL : "its text cannot be changed";
}
