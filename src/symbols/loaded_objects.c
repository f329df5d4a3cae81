/* loaded_objects.c: the loader's list of shared objects; see loaded_objects.h.
 *
 * SVR4's debugger interface: the program's dynamic section leads to r_debug, and that to the list.
 * Nothing that is read is trusted.
 *
 * Not perfect: an object's file may be another one by now. */
#include "symbols/loaded_objects.h"

#include "util/memory_map.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    OBJECTS_MAX = 1000,
    ROWS_MAX = 1000 /* of the dynamic section */
};

static bool read_bytes(pid_t process, uint64_t address, void *bytes, size_t size) {
    struct iovec here = {bytes, size}, there = {(void *)address, size};
    return process_vm_readv(process, &here, 1, &there, 1, 0) == (ssize_t)size;
}

/* Reads a text of less than PATH_MAX bytes, page by page. */
static bool read_text(pid_t process, uint64_t address, char text[PATH_MAX]) {
    const uint64_t page = 4096;
    size_t size = 0;
    while (size < PATH_MAX) {
        size_t part = page - (address + size) % page;
        part = part < PATH_MAX - size ? part : PATH_MAX - size;
        if (!read_bytes(process, address + size, text + size, part))
            return false;
        if (memchr(text + size, '\0', part))
            return true;
        size += part;
    }
    return false;
}

/* Reads the auxiliary values of PROCESS. */
static bool read_headers(pid_t process, uint64_t *headers, uint64_t *count) {
    char path[64];
    Elf64_auxv_t row;
    snprintf(path, sizeof path, "/proc/%d/auxv", (int)process);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    *headers = *count = 0;
    while (fd >= 0 && read(fd, &row, sizeof row) == sizeof row && row.a_type != AT_NULL) {
        *headers = row.a_type == AT_PHDR ? row.a_un.a_val : *headers;
        *count = row.a_type == AT_PHNUM ? row.a_un.a_val : *count;
    }
    if (fd >= 0)
        close(fd);
    return *headers && *count && *count <= PATH_MAX;
}

/* Returns the address of the program's dynamic section, or 0. */
static uint64_t find_dynamic(pid_t process) {
    uint64_t headers, count, bias = 0, dynamic = 0;
    bool has_dynamic = false;
    if (!read_headers(process, &headers, &count))
        return 0;
    for (uint64_t i = 0; i < count; i++) {
        Elf64_Phdr header = {0};
        if (!read_bytes(process, headers + i * sizeof header, &header, sizeof header))
            return 0;
        if (header.p_type == PT_PHDR)
            bias = headers - header.p_vaddr;
        if (header.p_type == PT_DYNAMIC) {
            dynamic = header.p_vaddr;
            has_dynamic = true;
        }
    }
    return has_dynamic ? bias + dynamic : 0;
}

/* Returns the address of the first object of the list, or 0. */
static uint64_t find_list(pid_t process) {
    uint64_t at = find_dynamic(process);
    struct r_debug debug = {0};
    Elf64_Dyn row = {0};
    for (int i = 0; at && i < ROWS_MAX && read_bytes(process, at, &row, sizeof row); i++) {
        if (row.d_tag == DT_NULL)
            break;
        if (row.d_tag == DT_DEBUG && row.d_un.d_ptr &&
            read_bytes(process, row.d_un.d_ptr, &debug, sizeof debug))
            return (uint64_t)debug.r_map;
        at += sizeof row;
    }
    return 0;
}

/* Whether ADDRESS of PROCESS is in a mapping of a file. */
static bool is_mapped_file(pid_t process, uint64_t address) {
    struct memory_map map;
    struct memory_mapping mapping;
    bool is_file = false;
    memory_map_open(&map, process);
    while (memory_map_next(&map, &mapping))
        if (address >= mapping.start && address < mapping.end)
            is_file = mapping.is_file;
    memory_map_close(&map);
    return is_file;
}

/* Sets PATH to the program that PROCESS executes, which has no name in the list. */
static bool find_program(pid_t process, char path[PATH_MAX]) {
    char link[64];
    snprintf(link, sizeof link, "/proc/%d/exe", (int)process);
    ssize_t size = readlink(link, path, PATH_MAX - 1);
    path[size > 0 ? size : 0] = '\0';
    return size > 0;
}

/* Whether the file at PATH has its dynamic section where OBJECT has: so it is not another one. */
static bool may_be_file(const char *path, const struct link_map *object) {
    Elf64_Ehdr header = {0};
    Elf64_Phdr row = {0};
    bool is_same = false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && pread(fd, &header, sizeof header, 0) == sizeof header)
        for (unsigned i = 0; i < header.e_phnum && i < ROWS_MAX && !is_same; i++) {
            off_t at = (off_t)(header.e_phoff + i * sizeof row);
            is_same = pread(fd, &row, sizeof row, at) == sizeof row && row.p_type == PT_DYNAMIC &&
                      row.p_vaddr + object->l_addr == (uint64_t)object->l_ld;
        }
    if (fd >= 0)
        close(fd);
    return is_same;
}

void report_loaded_objects(Dwfl *dwfl, pid_t process) {
    uint64_t at = find_list(process);
    struct link_map object = {0};
    char path[PATH_MAX];
    for (int i = 0; at && i < OBJECTS_MAX && read_bytes(process, at, &object, sizeof object); i++) {
        at = (uint64_t)object.l_next;
        bool has_path = read_text(process, (uint64_t)object.l_name, path) &&
                        (*path || i || find_program(process, path));
        if (has_path && *path == '/' && may_be_file(path, &object) &&
            !is_mapped_file(process, (uint64_t)object.l_ld))
            dwfl_report_elf(dwfl, path, path, -1, object.l_addr, true);
    }
}

void list_loaded_objects(pid_t process,
                         bool (*take)(void *context, const char *path, uint64_t bias),
                         void *context) {
    uint64_t at = find_list(process);
    struct link_map object = {0};
    char path[PATH_MAX];
    bool more = true;
    for (int i = 0;
         at && more && i < OBJECTS_MAX && read_bytes(process, at, &object, sizeof object); i++) {
        at = (uint64_t)object.l_next;
        bool has_path = read_text(process, (uint64_t)object.l_name, path) && strchr(path, '/');
        if (has_path && (access(path, F_OK) != 0 || may_be_file(path, &object)))
            more = take(context, path, object.l_addr);
    }
}
