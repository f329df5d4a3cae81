/* protection.h: makes a module's code writable for a while. */
#ifndef QUIPU_RUNTIME_CORE_PROTECTION_H
#define QUIPU_RUNTIME_CORE_PROTECTION_H

#include "runtime/core/syscall.h"

#include "format/data_file.h"

#include <link.h>

static inline int protection_of(const ElfW(Phdr) * segment) {
    return (segment->p_flags & PF_R ? PROT_READ : 0) | (segment->p_flags & PF_W ? PROT_WRITE : 0) |
           (segment->p_flags & PF_X ? PROT_EXEC : 0);
}

/* Changes the pages of SEGMENT that contain addresses from BEGIN to END. SEGMENT belongs to a
 * module at BIAS. If OPEN the pages become writable, and stay executable, since this code may be in
 * them. Otherwise they get the file's protection. Returns 0, also if there are no such pages, or
 * the negative error number. */
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
