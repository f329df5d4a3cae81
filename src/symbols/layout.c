/* layout.c: the positions that the linker has given to cells and tables; see layout.h.
 *
 * begin.o marks the begin and the end of each, and its notes contain these addresses. But a linker
 * may put a section of an input anywhere. So the addresses are checked: each section of that name
 * must lie between begin and end, and so must the cells that each function's note names.
 *
 * Not perfect: if a linker script gives a table another section's name, its rows cannot be found.
 */
#include "symbols/layout.h"

#include "format/cells.h"
#include "format/event.h"
#include "format/moment.h"
#include "format/notes.h"
#include "format/watch.h"
#include "symbols/binary.h"
#include "util/cursor.h"

#include <gelf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

enum {
    KINDS,
    RANGES,
    SITES,
    TESTS,
    WAITS,
    TABLES, /* in the order of the note */
    PAGE = 4096,
    GAP = 7,
    NOTE_SIZE = (2 * TABLES + 1) * sizeof(int32_t),
};

static const char *const table_sections[TABLES] = {QUIPU_KINDS_SECTION, QUIPU_RANGES_SECTION,
                                                   QUIPU_SITES_SECTION, QUIPU_TESTS_SECTION,
                                                   QUIPU_WAITS_SECTION};

/* From a begin to its end, as linked. */
struct extent {
    uint64_t begin, end;
};

/* Returns the number of bytes that are wrong: those of loaded sections NAME outside of EXTENT, and
 * those of EXTENT behind such sections. A gap that aligns the end is not counted. */
static uint64_t bytes_outside(const struct binary *binary, const char *name, struct extent extent) {
    size_t names;
    uint64_t outside = 0, last = 0;
    if (elf_getshdrstrndx(binary->elf, &names) != 0)
        return 0;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(binary->elf, section));) {
        GElf_Shdr header;
        const char *found =
            gelf_getshdr(section, &header) ? elf_strptr(binary->elf, names, header.sh_name) : NULL;
        if (!found || strcmp(found, name) != 0 || !(header.sh_flags & SHF_ALLOC))
            continue;
        uint64_t begin = header.sh_addr, end = begin + header.sh_size;
        uint64_t from = begin > extent.begin ? begin : extent.begin;
        uint64_t to = end < extent.end ? end : extent.end;
        outside += header.sh_size - (from < to ? to - from : 0);
        last = end > last ? end : last;
    }
    return outside + (last && extent.end > last + GAP ? extent.end - last : 0);
}

static bool is_writable(const struct binary *binary, uint64_t address) {
    size_t count = 0;
    if (elf_getphdrnum(binary->elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count && i < 0xffff; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(binary->elf, (int)i, &header) && header.p_type == PT_LOAD &&
            header.p_flags & PF_W && address - header.p_vaddr < header.p_memsz)
            return true;
    }
    return false;
}

/* Takes the next record of notes from ALL, without its size. Returns false at the end, or if the
 * notes are corrupt; the reader of all notes reports that. */
static bool take_record(struct cursor *all, struct cursor *record) {
    const uint8_t *start = all->next;
    uint64_t size = cursor_left(all) ? cursor_number(all, 4) : 0;
    if (all->failed || size < 4 || size > (uint64_t)(all->end - start))
        return false;
    *record = (struct cursor){all->next, start + size, false};
    all->next = start + size;
    return true;
}

/* Returns the first function whose note names loaded cells outside of EXTENT, or NULL. The note of
 * a function that the linker dropped names no address, or one that is not writable. */
static const char *function_outside(const struct binary *binary, struct extent extent) {
    size_t size;
    const uint8_t *bytes = binary_section(binary, QUIPU_FUNCTIONS_SECTION, &size);
    if (!bytes)
        return NULL;
    struct cursor all = {bytes, bytes + size, false}, one;
    while (take_record(&all, &one)) {
        uint64_t kind = cursor_number(&one, 1);
        if (cursor_number(&one, 1) == QUIPU_NOTE_VERSION && kind == QUIPU_NOTE_FUNCTION) {
            cursor_number(&one, 8);
            uint64_t cells = cursor_number(&one, 8);
            const char *name = cursor_text(&one);
            if (!one.failed && (cells < extent.begin || cells > extent.end) &&
                is_writable(binary, cells))
                return name;
        }
    }
    return NULL;
}

const char *check_versions(struct arena *arena, const struct binary *binary) {
    static const char *const sections[] = {QUIPU_UNITS_SECTION, QUIPU_FUNCTIONS_SECTION};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        size_t size;
        const uint8_t *bytes = binary_section(binary, sections[i], &size);
        struct cursor all = {bytes, bytes ? bytes + size : bytes, false}, one;
        while (take_record(&all, &one)) {
            cursor_number(&one, 1); /* its kind */
            int version = (int)cursor_number(&one, 1);
            if (!one.failed && version != QUIPU_NOTE_VERSION)
                return arena_print(
                    arena,
                    "some of its objects were compiled by another quipu (their notes "
                    "are of version %d, this one's of version %d) and would not be "
                    "counted; compile all anew",
                    version, QUIPU_NOTE_VERSION);
        }
    }
    return NULL;
}

#define CURE                                                                                       \
    "link it without --unique, without a linker script that names such sections, or by another "   \
    "linker (-fuse-ld=bfd)"

const char *check_layout(struct arena *arena, const struct binary *binary) {
    struct extent cells = {binary->cells_address, binary->cells_address + binary->cells_size};
    uint64_t outside = bytes_outside(binary, QUIPU_CELLS_SECTION, cells);
    if (!binary->cells_address) /* there is no note of the runtime */
        return outside ? "it has counters, but no note '" QUIPU_NOTES_SECTION
                         "' that tells where; link it by 'quipu cc', and keep that section"
                       : NULL;
    if (outside > PAGE) /* one page in front of the cells is free */
        return arena_print(
            arena, "%" PRIu64 " bytes of its counters are not where they are counted; " CURE,
            outside - PAGE);
    const char *name = function_outside(binary, cells);
    if (name)
        return arena_print(
            arena, "the counters of '%s' and others are not where they are counted; " CURE, name);
    uint64_t address;
    const uint8_t *note = binary_note(binary, QUIPU_TABLES_NOTE, NOTE_SIZE, &address);
    for (size_t i = 0; note && i < TABLES; i++) {
        struct extent table = {relative_address(note, address, 2 * i + 1),
                               relative_address(note, address, 2 * i + 2)};
        outside = bytes_outside(binary, table_sections[i], table);
        if (outside)
            return arena_print(arena,
                               "%" PRIu64 " bytes of its table '%s' are not where the program "
                               "looks for them; " CURE,
                               outside, table_sections[i]);
    }
    return NULL;
}
