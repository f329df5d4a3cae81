/* whole_debug.c: files of debug information whose sections are compressed; see whole_debug.h.
 *
 * Compilers and linkers compress by zlib or by Zstandard (ELF gABI, section "Compressed Section").
 * libelf 0.188, of Debian 12, knows zlib alone, and libdw passes over a section that it cannot
 * decompress: then the program had no debug information.  So we decompress what is Zstandard's,
 * into a copy of the file in memory: its bytes, behind them the whole sections, and a table of
 * sections that says so.  Newer versions of libelf get the copy, too: one way is less to test than
 * two.
 *
 * Invariant: all else stands in the copy where it stands in the file.
 *
 * Where it is not perfect: the files that a split unit or a dwz'ed one names are opened by libdw;
 * if they are compressed by Zstandard it must be 0.189 or later. */
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
    size_t table; /* where its table of sections is */
    size_t count;
    uint8_t *to; /* the file, and behind it what is decompressed */
    size_t whole_size;
};

static const uint64_t section_max = UINT64_C(1) << 40; /* bytes; so that no sum overflows */

/* Where a section may begin that is put behind SIZE bytes. */
static size_t align(size_t size) {
    static const size_t alignment = 16;
    return (size + alignment - 1) & ~(alignment - 1);
}

static Elf64_Shdr read_header(const struct copy *copy, size_t number) {
    Elf64_Shdr header;
    memcpy(&header, copy->from + copy->table + number * sizeof header, sizeof header);
    return header;
}

/* Whether Zstandard has compressed the section; then HOW says into what. */
static bool is_compressed(const struct copy *copy, const Elf64_Shdr *header, Elf64_Chdr *how) {
    if (!(header->sh_flags & SHF_COMPRESSED) || header->sh_flags & SHF_ALLOC ||
        header->sh_type == SHT_NOBITS || header->sh_size < sizeof *how ||
        header->sh_offset > copy->size || header->sh_size > copy->size - header->sh_offset)
        return false;
    memcpy(how, copy->from + header->sh_offset, sizeof *how);
    return how->ch_type == ZSTANDARD && how->ch_size <= section_max;
}

/* Finds the table of sections, and how large the copy is; false where nothing is to be done. */
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

/* Makes the copy; false where a section is not what it says. */
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

/* A descriptor of the copy; -1 where it cannot be made. */
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
