/* loop_forms.c: loops that have two forms, in one of which traces are recorded; see loop_forms.h.
 */
#include "symbols/loop_forms.h"

#include "format/watch.h"
#include "symbols/sites.h"

uint64_t recorded_form(const struct binary *binary, uint64_t address) {
    struct site_table table = find_sites(binary);
    for (size_t i = 0; i < table.count; i++) {
        struct linked_site row = read_site(&table, i);
        if (row.size == QUIPU_SITE_TRACE_COPY && row.code <= address && address < row.target)
            return row.place + (address - row.code);
    }
    return address;
}

static void add_address(struct arena *arena, address_list *list, uint64_t address) {
    for (size_t i = 0; i < list->count; i++)
        if (list->data[i] == address)
            return;
    vector_push(arena, list, address);
}

void add_forms(struct arena *arena, const struct binary *binary, address_list *list) {
    struct site_table table = find_sites(binary);
    size_t given = list->count;
    for (size_t i = 0; i < given; i++)
        add_address(arena, list, recorded_form(binary, list->data[i]));
    size_t recorded = list->count;
    for (size_t i = 0; i < table.count; i++) {
        struct linked_site row = read_site(&table, i);
        for (size_t n = 0; row.size == QUIPU_SITE_TRACE_COPY && n < recorded; n++)
            if (list->data[n] - row.place < row.target - row.code)
                add_address(arena, list, row.code + (list->data[n] - row.place));
    }
}
