/* protection.h: a module's code may be written for a while. */
#ifndef QUIPU_RUNTIME_CORE_PROTECTION_H
#define QUIPU_RUNTIME_CORE_PROTECTION_H

#include "runtime/core/syscall.h"

#include "format/data_file.h"

#include <link.h>

static inline int protection_of(const ElfW(Phdr) * segment) {
    return (segment->p_flags & PF_R ? PROT_READ : 0) | (segment->p_flags & PF_W ? PROT_WRITE : 0) |
           (segment->p_flags & PF_X ? PROT_EXEC : 0);
}

/* The pages with those of the addresses from BEGIN to END that are in SEGMENT, of a module at BIAS,
 * may be written where OPEN, and are executed all the while, for this code may lie within;
 * otherwise they are as the file says.  Returns 0, also where there are none, or minus the error's
 * number. */
static inline long protect_code(const ElfW(Phdr) * segment, uint64_t bias, uint64_t begin,
                                uint64_t end, bool open) {
    uint64_t start = bias + segment->p_vaddr, stop = start + segment->p_memsz;
    uint64_t first = (begin > start ? begin : start) & -(uint64_t)QUIPU_PAGE;
    uint64_t last = ((end < stop ? end : stop) + QUIPU_PAGE - 1) & -(uint64_t)QUIPU_PAGE;
    if (segment->p_type != PT_LOAD || begin >= stop || end <= start)
        return 0;
    return SYSTEM_CALL(mprotect, first, last - first,
                       open ? PROT_READ | PROT_WRITE | PROT_EXEC : protection_of(segment), 0, 0, 0);
}

#endif
