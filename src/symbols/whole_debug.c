/* whole_debug.c: files of debug information with compressed sections; see whole_debug.h.
 *
 * Compilers and linkers compress with zlib or Zstandard (ELF gABI, section "Compressed Section").
 * libelf 0.188, of Debian 12, supports only zlib. libdw ignores a section that it cannot
 * decompress, so the program would have no debug information. Therefore quipu decompresses
 * Zstandard's sections into a copy of the file in memory. The copy contains the file's bytes, then
 * the decompressed sections. Its section table describes these. Newer versions of libelf read the
 * copy, too, so there is only one method to test.
 *
 * Invariant: everything else is at the same offset in the copy as in the file.
 *
 * Not perfect: libdw opens the files that a split unit or a unit of dwz names. If Zstandard has
 * compressed these, libdw must be 0.189 or later. */
#include "symbols/whole_debug.h"

#include "util/diag.h"

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

/* As in <elf.h> of glibc 2.37 and later. */
enum {
    ZSTANDARD = 2
};

struct copy {
    const uint8_t *from; /* the file */
    size_t size;
    size_t table; /* offset of its section table */
    size_t count;
    uint8_t *to; /* the file, then the decompressed sections */
    size_t whole_size;
};

static const uint64_t section_max = UINT64_C(1) << 40; /* bytes; so that sums cannot overflow */

/* Returns the offset at which a section may begin behind SIZE bytes. */
static size_t align(size_t size) {
    static const size_t alignment = 16;
    return (size + alignment - 1) & ~(alignment - 1);
}

static Elf64_Shdr read_header(const struct copy *copy, size_t number) {
    Elf64_Shdr header;
    memcpy(&header, copy->from + copy->table + number * sizeof header, sizeof header);
    return header;
}

/* Whether Zstandard has compressed the section. If so, sets HOW to its compression header. */
static bool is_compressed(const struct copy *copy, const Elf64_Shdr *header, Elf64_Chdr *how) {
    if (!(header->sh_flags & SHF_COMPRESSED) || header->sh_flags & SHF_ALLOC ||
        header->sh_type == SHT_NOBITS || header->sh_size < sizeof *how ||
        header->sh_offset > copy->size || header->sh_size > copy->size - header->sh_offset)
        return false;
    memcpy(how, copy->from + header->sh_offset, sizeof *how);
    return how->ch_type == ZSTANDARD && how->ch_size <= section_max;
}

/* Finds the section table and sets the size of the copy. Returns false if there is no section to
 * decompress. */
static bool measure(struct copy *copy, Elf *elf) {
    GElf_Ehdr header;
    Elf64_Chdr how;
    bool found = false;
    copy->from = (const uint8_t *)elf_rawfile(elf, &copy->size);
    if (elf_kind(elf) != ELF_K_ELF || gelf_getclass(elf) != ELFCLASS64 || !copy->from ||
        !gelf_getehdr(elf, &header) || elf_getshdrnum(elf, &copy->count) != 0 ||
        header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > copy->size ||
        copy->count > (copy->size - header.e_shoff) / sizeof(Elf64_Shdr))
        return false;
    copy->table = header.e_shoff;
    copy->whole_size = align(copy->size);
    for (size_t i = 0; i < copy->count; i++) {
        Elf64_Shdr section = read_header(copy, i);
        if (!is_compressed(copy, &section, &how))
            continue;
        copy->whole_size += align(how.ch_size);
        found = true;
    }
    return found;
}

/* Makes the copy. Returns false if a section is corrupt. */
static bool fill(const struct copy *copy) {
    size_t end = align(copy->size);
    memcpy(copy->to, copy->from, copy->size);
    for (size_t i = 0; i < copy->count; i++) {
        Elf64_Chdr how;
        Elf64_Shdr section = read_header(copy, i);
        if (!is_compressed(copy, &section, &how))
            continue;
        size_t size = ZSTD_decompress(copy->to + end, how.ch_size,
                                      copy->from + section.sh_offset + sizeof how,
                                      section.sh_size - sizeof how);
        if (ZSTD_isError(size) || size != how.ch_size)
            return false;
        section.sh_flags &= ~(Elf64_Xword)SHF_COMPRESSED;
        section.sh_offset = end;
        section.sh_size = size;
        section.sh_addralign = how.ch_addralign;
        memcpy(copy->to + copy->table + i * sizeof section, &section, sizeof section);
        end += align(size);
    }
    return true;
}

/* Returns a descriptor of the copy, or -1 if it cannot be made. */
static int make_copy(struct copy *copy) {
    int fd = memfd_create("debug", MFD_CLOEXEC);
    if (fd < 0)
        return -1;
    bool good = false;
    if (ftruncate(fd, (off_t)copy->whole_size) == 0) {
        void *to = mmap(NULL, copy->whole_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (to != MAP_FAILED) {
            copy->to = to;
            good = fill(copy);
            munmap(to, copy->whole_size);
        }
    }
    if (!good) {
        close(fd);
        return -1;
    }
    return fd;
}

int whole_debug(int fd, const char *path) {
    struct copy copy = {0};
    Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
    int made = -1;
    if (elf && measure(&copy, elf)) {
        made = make_copy(&copy);
        if (made < 0)
            warn("'%s': its debug information cannot be decompressed", path);
    }
    elf_end(elf);
    return made;
}
