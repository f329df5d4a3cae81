/* sites.c: arms this module's sites of traces; see trace.h and format/watch.h.
 *
 * In a build with moments as well, the code of records is out of line, and nothing leads to it.
 * Here, each site becomes a jump to its code. This happens when the module starts, before its own
 * constructors, so no thread executes the text that changes. What runs later is either recorded as
 * a whole, or not at all.
 *
 * Not perfect: a constructor of a shared object may have started threads that already call into a
 * module which starts later, as the executable does. This is not handled. */
#include "format/watch.h"
#include "runtime/core/section.h"
#include "runtime/patch/patch.h"
#include "runtime/trace/trace.h"

extern const struct quipu_site quipu_sites_begin[], quipu_sites_end[];

static uint64_t site_count(void) {
    return section_size(quipu_sites_begin, quipu_sites_end) / sizeof *quipu_sites_begin;
}

static bool is_of_trace(const struct quipu_site *site) {
    return site->size == QUIPU_SITE_TRACE || site->size == QUIPU_SITE_TRACE_JUMP ||
           site->size == QUIPU_SITE_TRACE_LOOP;
}

static void arm(const struct quipu_site *site) {
    uint64_t place = relative_address(&site->place), code = relative_address(&site->code);
    if (site->size == QUIPU_SITE_TRACE_JUMP)
        quipu_patch_distance(place, code);
    else
        quipu_patch_instruction(place, X86_JUMP_SIZE, code);
}

/* Arms the sites from the first to the last address. Returns 0 or the negative error number. */
static long arm_between(uint64_t first, uint64_t last) {
    long error = quipu_patch_open(first, last, true);
    if (error < 0)
        return error;
    for (uint64_t i = 0; i < site_count(); i++)
        if (is_of_trace(&quipu_sites_begin[i]))
            arm(&quipu_sites_begin[i]);
    quipu_patch_open(first, last, false);
    quipu_patch_synchronize();
    return 0;
}

void quipu_trace_arm(void) {
    uint64_t first = UINT64_MAX, last = 0;
    for (uint64_t i = 0; i < site_count(); i++) {
        if (!is_of_trace(&quipu_sites_begin[i]))
            continue;
        uint64_t place = relative_address(&quipu_sites_begin[i].place);
        first = place < first ? place : first;
        last = place > last ? place : last;
    }
    long error = last ? arm_between(first, last) : 0;
    if (error < 0)
        quipu_warn("change the text of the program that writes", false, -error,
                   "a part of it is not in the trace");
}
