/* section.h: what a module's files, put together by the linker, say in one section, and what
 * another file of the runtime brings where it is linked. */
#ifndef QUIPU_RUNTIME_CORE_SECTION_H
#define QUIPU_RUNTIME_CORE_SECTION_H

#include <stdbool.h>
#include <stdint.h>

/* NAME, of another file of the runtime or of the units, may be there or not: IS_LINKED tells.  It
 * is hidden: else mold would have a shared object ask for it, and would take it out of the archive
 * for a program that is linked with that.  The compiler is not told, since it would take the
 * address of what is hidden by the distance from here.  What is not there is at 0, and for gold,
 * which relocates that, at the module's begin: where quipu_nothing is, which never is there. */
#define WEAK_HERE(name) __asm__(".weak " #name "\n\t.hidden " #name)
#define IS_LINKED(name) is_linked((const void *)&(name))

extern const char quipu_nothing __attribute__((weak));
WEAK_HERE(quipu_nothing);

static inline bool is_linked(const void *name) {
    const void *nothing = &quipu_nothing;
    __asm__("" : "+r"(name), "+r"(nothing));
    return name != nothing;
}

/* Bytes between two of the linker's symbols.  The compiler takes two objects for two addresses;
 * here they may be one. */
static inline uint64_t section_size(const void *begin, const void *end) {
    __asm__("" : "+r"(begin), "+r"(end));
    return (uint64_t)end - (uint64_t)begin;
}

/* The address that FIELD tells by its distance from there. */
static inline uint64_t told_address(const int32_t *field) {
    return (uint64_t)field + (uint64_t)(int64_t)*field;
}

#endif
