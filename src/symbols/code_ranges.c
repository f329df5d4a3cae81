/* code_ranges.c: functions by the call frame information; see code_ranges.h.
 *
 * The Linux Standard Base, Core, section 10.6 (.eh_frame): an entry begins with the distance of the
 * function from that field, in 4 bytes (DW_EH_PE_pcrel | DW_EH_PE_sdata4), and its size. Other
 * encodings are not read; what they would give is not within executable segments. */
#include "symbols/code_ranges.h"

#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

struct frames {
    Elf *elf;
    Elf_Data *data;
    uint64_t address; /* of the section, as linked */
};

static bool find_frames(Elf *elf, struct frames *frames) {
    size_t names;
    GElf_Shdr header;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        const char *name =
            gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (!name || strcmp(name, ".eh_frame") != 0 || header.sh_type == SHT_NOBITS)
            continue;
        *frames = (struct frames){elf, elf_rawdata(section, NULL), header.sh_addr};
        return frames->data && frames->data->d_buf;
    }
    return false;
}

/* Sets OFFSET to the place in the file of SIZE bytes of code at ADDRESS. */
static bool place_in_file(Elf *elf, uint64_t address, uint64_t size, uint64_t *offset) {
    size_t count;
    GElf_Phdr header;
    if (elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD ||
            !(header.p_flags & PF_X) || address - header.p_vaddr >= header.p_filesz ||
            size > header.p_filesz - (address - header.p_vaddr))
            continue;
        *offset = address - header.p_vaddr + header.p_offset;
        return true;
    }
    return false;
}

static void add_range(struct arena *arena, const struct frames *frames, const uint8_t *entry,
                      code_range_list *ranges) {
    int32_t distance;
    uint32_t size;
    struct code_range range;
    memcpy(&distance, entry, sizeof distance);
    memcpy(&size, entry + sizeof distance, sizeof size);
    uint64_t place = frames->address + (uint64_t)(entry - (const uint8_t *)frames->data->d_buf);
    range.size = size;
    if (size &&
        place_in_file(frames->elf, place + (uint64_t)(int64_t)distance, size, &range.offset))
        vector_push(arena, ranges, range);
}

static int compare_ranges(const void *a, const void *b) {
    const struct code_range *first = a, *second = b;
    return (first->offset > second->offset) - (first->offset < second->offset);
}

static void read_frames(struct arena *arena, const struct frames *frames, code_range_list *ranges) {
    const unsigned char *ident = (const unsigned char *)elf_getident(frames->elf, NULL);
    Dwarf_CFI_Entry entry;
    Dwarf_Off next = 0;
    for (Dwarf_Off at = 0;; at = next) {
        int found = dwarf_next_cfi(ident, frames->data, true, at, &next, &entry);
        if (found > 0 || next == (Dwarf_Off)-1 || (found < 0 && next <= at))
            break;
        if (found == 0 && !dwarf_cfi_cie_p(&entry) && entry.fde.end - entry.fde.start >= 8)
            add_range(arena, frames, entry.fde.start, ranges);
    }
    if (ranges->count)
        qsort(ranges->data, ranges->count, sizeof *ranges->data, compare_ranges);
}

void read_code_ranges(struct arena *arena, int fd, code_range_list *ranges) {
    struct frames frames;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (elf && elf_kind(elf) == ELF_K_ELF && find_frames(elf, &frames))
        read_frames(arena, &frames, ranges);
    elf_end(elf);
}

const struct code_range *find_code_range(const code_range_list *ranges, uint64_t offset) {
    size_t first = 0, last = ranges->count;
    while (first < last) { /* the first one that begins behind OFFSET */
        size_t middle = (first + last) / 2;
        if (ranges->data[middle].offset <= offset)
            first = middle + 1;
        else
            last = middle;
    }
    const struct code_range *range = first ? &ranges->data[first - 1] : NULL;
    return range && offset - range->offset < range->size ? range : NULL;
}
