/* note.h: the notes of a loaded module, from dl_iterate_phdr. */
#ifndef QUIPU_RUNTIME_CORE_NOTE_H
#define QUIPU_RUNTIME_CORE_NOTE_H

#include "format/data_file.h"
#include "runtime/core/text.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>

static inline uint64_t round_note(uint64_t value, uint64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

/* Calls USE for each note of the module until it returns true. Returns whether it did. */
static inline bool find_note(const struct dl_phdr_info *info,
                             bool use(const ElfW(Nhdr) * note, const char *description, void *data),
                             void *data) {
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_NOTE)
            continue;
        uint64_t alignment = segment->p_align == 8 ? 8 : 4;
        const char *next = (const char *)(info->dlpi_addr + segment->p_vaddr);
        const char *end = next + segment->p_memsz;
        while ((size_t)(end - next) >= sizeof(ElfW(Nhdr))) {
            const ElfW(Nhdr) *note = (const void *)next;
            uint64_t description = round_note(sizeof *note + note->n_namesz, alignment);
            uint64_t size = round_note(description + note->n_descsz, alignment);
            if (size > (size_t)(end - next))
                break;
            if (use(note, next + description, data))
                return true;
            next += size;
        }
    }
    return false;
}

static inline bool is_named(const ElfW(Nhdr) * note, const char *name, size_t size) {
    return note->n_namesz == size && bytes_equal(note + 1, name, size);
}

struct build_id {
    uint32_t size;
    uint8_t *bytes; /* QUIPU_BUILD_ID_MAX */
};

static inline bool use_build_id(const ElfW(Nhdr) * note, const char *description, void *data) {
    struct build_id *id = data;
    if (note->n_type != NT_GNU_BUILD_ID || !is_named(note, "GNU", sizeof "GNU"))
        return false;
    id->size = note->n_descsz < QUIPU_BUILD_ID_MAX ? note->n_descsz : QUIPU_BUILD_ID_MAX;
    for (uint32_t i = 0; i < id->size; i++)
        id->bytes[i] = (uint8_t)description[i];
    return true;
}

/* Writes the module's build id. Returns its size, or 0 if there is none. */
static inline uint32_t module_build_id(const struct dl_phdr_info *info,
                                       uint8_t bytes[QUIPU_BUILD_ID_MAX]) {
    struct build_id id = {0, bytes};
    find_note(info, use_build_id, &id);
    return id.size;
}

static inline bool module_contains(const struct dl_phdr_info *info, const void *address) {
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && (uint64_t)address - start < segment->p_memsz)
            return true;
    }
    return false;
}

#endif
