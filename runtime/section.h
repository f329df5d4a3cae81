/* section.h: what a module's files, put together by the linker, say in one section. */
#ifndef QUIPU_RUNTIME_SECTION_H
#define QUIPU_RUNTIME_SECTION_H

#include <stdint.h>

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
