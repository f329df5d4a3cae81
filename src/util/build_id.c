/* build_id.c: finds the build id among loaded ELF notes; see build_id.h. */
#include "util/build_id.h"

#include <elf.h>
#include <string.h>

const uint8_t *find_build_id(const uint8_t *notes, size_t size, size_t *length) {
    for (size_t at = 0; at + sizeof(Elf64_Nhdr) <= size;) {
        Elf64_Nhdr note;
        memcpy(&note, notes + at, sizeof note);
        size_t name = at + sizeof note, text = name + ((note.n_namesz + 3UL) & ~3UL);
        at = text + ((note.n_descsz + 3UL) & ~3UL);
        if (at > size)
            return NULL;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" &&
            memcmp(notes + name, "GNU", sizeof "GNU") == 0) {
            *length = note.n_descsz;
            return notes + text;
        }
    }
    return NULL;
}
