/* section.h: data that the linker has collected from the module's files in one section, and symbols
 * of other files of the runtime, which may be linked or not. */
#ifndef QUIPU_RUNTIME_CORE_SECTION_H
#define QUIPU_RUNTIME_CORE_SECTION_H

#include <stdbool.h>
#include <stdint.h>

/* NAME, in another file of the runtime or in the units, may exist or not: IS_LINKED returns that.
 * It is hidden: otherwise mold would make a shared object refer to it, and would then take it from
 * the archive for a program that is linked with that object. The compiler does not know that it is
 * hidden: otherwise it would compute the address as a distance from here. A missing symbol has
 * address 0. gold relocates that to the module's begin. quipu_nothing, which never exists, has the
 * same address. */
#define WEAK_HERE(name) __asm__(".weak " #name "\n\t.hidden " #name)
#define IS_LINKED(name) is_linked((const void *)&(name))

extern const char quipu_nothing __attribute__((weak));
WEAK_HERE(quipu_nothing);

static inline bool is_linked(const void *name) {
    const void *nothing = &quipu_nothing;
    __asm__("" : "+r"(name), "+r"(nothing));
    return name != nothing;
}

/* Returns the size in bytes between two of the linker's symbols. The compiler assumes that two
 * objects have different addresses, but these may be equal. */
static inline uint64_t section_size(const void *begin, const void *end) {
    __asm__("" : "+r"(begin), "+r"(end));
    return (uint64_t)end - (uint64_t)begin;
}

/* Returns the address to which FIELD contains the distance from itself. */
static inline uint64_t relative_address(const int32_t *field) {
    return (uint64_t)field + (uint64_t)(int64_t)*field;
}

#endif
