/* watched_symbols.c: see watched_symbols.h. */
#include "watched_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <unistd.h>

struct function *functions;
size_t function_count;
uint64_t bias;
static const uint8_t *elf; /* the program's file */

_Noreturn void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("watched: ", stderr);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, ": %s\n", strerror(errno));
    va_end(arguments);
    exit(125);
}

void *allocate(size_t size) {
    void *memory = calloc(size ? size : 1, 1);
    if (!memory)
        fail("calloc");
    return memory;
}

void open_program(const char *path) {
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status))
        fail("'%s'", path);
    elf = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (elf == MAP_FAILED)
        fail("'%s'", path);
    close(fd);
}

/* The symbol table and its names; their count. */
static size_t symbol_table(const Elf64_Sym **symbols, const char **names) {
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)elf;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(elf + header->e_shoff);
    for (unsigned i = 0; i < header->e_shnum; i++) {
        if (sections[i].sh_type != SHT_SYMTAB)
            continue;
        *symbols = (const Elf64_Sym *)(elf + sections[i].sh_offset);
        *names = (const char *)(elf + sections[sections[i].sh_link].sh_offset);
        return sections[i].sh_size / sizeof **symbols;
    }
    errno = ENOENT;
    fail("the program's symbol table");
}

static int by_address(const void *left, const void *right) {
    const struct function *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->end < b->end ? -1 : a->end > b->end;
}

/* Whether a line of TEXT is NAME; there is no TEXT: of any. */
static bool is_named(const char *text, const char *name) {
    size_t length = strlen(name);
    for (const char *line = text; line && *line; line += strcspn(line, "\n"), line += *line != 0)
        if (strcspn(line, "\n") == length && memcmp(line, name, length) == 0)
            return true;
    return !text;
}

void find_functions(const char *listed) {
    const Elf64_Sym *symbols;
    const char *names;
    size_t count = symbol_table(&symbols, &names);
    functions = allocate(count * sizeof *functions);
    for (size_t i = 0; i < count; i++) {
        const char *name = names + symbols[i].st_name;
        if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC && symbols[i].st_size &&
            is_named(listed, name))
            functions[function_count++] = (struct function){
                symbols[i].st_value, symbols[i].st_value + symbols[i].st_size, name};
    }
    qsort(functions, function_count, sizeof *functions, by_address);
    for (size_t i = 1; i < function_count; i++) /* f's end may be that of f.cold behind it */
        if (functions[i - 1].end > functions[i].start)
            functions[i - 1].end = functions[i].start;
}

const struct function *function_at(uint64_t pc) {
    static const struct function *last;
    uint64_t at = pc - bias;
    if (last && at - last->start < last->end - last->start)
        return last;
    size_t low = 0, high = function_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (functions[middle].end <= at)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == function_count || at < functions[low].start)
        return NULL;
    last = &functions[low];
    return last;
}

const Elf64_Sym *find_symbol(const char *name, size_t length) {
    bool any = length && name[length - 1] == '*';
    length -= any;
    const Elf64_Sym *symbols;
    const char *names;
    size_t count = symbol_table(&symbols, &names);
    for (size_t i = 0; i < count; i++) {
        const char *other = names + symbols[i].st_name;
        if (symbols[i].st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbols[i].st_info) != STT_FILE &&
            strncmp(other, name, length) == 0 && (any || !other[length]))
            return &symbols[i];
    }
    return NULL;
}

uint64_t thread_bias(pid_t tid) {
    struct user_regs_struct registers;
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)elf;
    const Elf64_Phdr *segment = (const Elf64_Phdr *)(elf + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segment[i].p_type == PT_TLS && !ptrace(PTRACE_GETREGS, tid, 0, &registers))
            return registers.fs_base -
                   ((segment[i].p_memsz + segment[i].p_align - 1) & -segment[i].p_align);
    fail("thread-local variables");
}

uint64_t program_entry(void) {
    return ((const Elf64_Ehdr *)elf)->e_entry;
}

void find_bias(pid_t pid) {
    char path[64];
    Elf64_auxv_t value;
    snprintf(path, sizeof path, "/proc/%d/auxv", (int)pid);
    FILE *file = fopen(path, "r");
    while (file && fread(&value, sizeof value, 1, file) == 1)
        if (value.a_type == AT_ENTRY)
            bias = value.a_un.a_val - program_entry();
    if (file)
        fclose(file);
}
