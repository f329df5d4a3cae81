/* image.c: what a binary's headers tell of the addresses in its code; see image.h. */
#include "symbols/image.h"

#include "symbols/binary.h"

#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <string.h>

static void read_headers(const struct binary *binary, struct image *image) {
    size_t count = 0;
    image->begin = UINT64_MAX;
    if (elf_getphdrnum(binary->elf, &count) != 0)
        count = 0;
    for (size_t i = 0; i < count && i < 0xffff; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(binary->elf, (int)i, &header))
            continue;
        uint64_t size = header.p_memsz < UINT32_MAX ? header.p_memsz : UINT32_MAX;
        if (header.p_type == PT_LOAD) {
            if (header.p_vaddr < image->begin)
                image->begin = header.p_vaddr;
            if (header.p_vaddr + size > image->end)
                image->end = header.p_vaddr + size;
        }
        if (header.p_type == PT_TLS) {
            uint64_t align = header.p_align && header.p_align <= 1 << 16 ? header.p_align : 1;
            image->thread_size = (size + align - 1) / align * align;
        }
    }
    if (image->begin > image->end)
        image->begin = image->end;
}

static const char *find_soname(struct arena *arena, Elf *elf) {
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        Elf_Data *data;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNAMIC ||
            !(data = elf_getdata(section, NULL)))
            continue;
        GElf_Dyn entry;
        for (int i = 0; gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
            const char *name = NULL;
            if (entry.d_tag == DT_SONAME)
                name = elf_strptr(elf, header.sh_link, entry.d_un.d_val);
            if (name)
                return arena_copy(arena, name, strlen(name));
        }
    }
    return NULL;
}

struct image read_image(struct arena *arena, const struct binary *binary) {
    struct image image = {.soname = find_soname(arena, binary->elf)};
    GElf_Ehdr header;
    image.fixed = gelf_getehdr(binary->elf, &header) && header.e_type == ET_EXEC;
    read_headers(binary, &image);
    return image;
}

bool read_file_names(struct arena *arena, int fd, struct file_names *names) {
    const void *id;
    elf_version(EV_CURRENT);
    *names = (struct file_names){0};
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    bool is_binary = elf && elf_kind(elf) == ELF_K_ELF;
    if (is_binary) {
        ssize_t size = dwelf_elf_gnu_build_id(elf, &id);
        names->soname = find_soname(arena, elf);
        for (ssize_t i = 0; i < size; i++)
            names->build_id =
                arena_print(arena, "%s%02x", i ? names->build_id : "", ((const uint8_t *)id)[i]);
    }
    elf_end(elf);
    return is_binary;
}
