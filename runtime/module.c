/* module.c: which module is this, and which others with a runtime are in the process.
 *
 * The constructor calls this once; it is not on the attach path.  dl_iterate_phdr visits the
 * executable first, then the shared objects of the caller's namespace.  Not perfect: a module whose
 * notes were stripped, or that dlmopen put into another namespace, is not seen; then the data file
 * is found by its name. */
#include "state.h"
#include "syscall.h"
#include "text.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>

extern const char quipu_note[];

struct visit {
    bool executable; /* the next module is the process's executable: it comes first */
    const struct quipu_state *other;
};

/* The program was started as an argument of the dynamic linker. */
static bool started_by_linker;

/* Calls USE for each note of the module until it returns true. */
static bool find_note(const struct dl_phdr_info *info,
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
            uint64_t description = round_up(sizeof *note + note->n_namesz, alignment);
            uint64_t size = round_up(description + note->n_descsz, alignment);
            if (size > (size_t)(end - next))
                break;
            if (use(note, next + description, data))
                return true;
            next += size;
        }
    }
    return false;
}

static bool is_named(const ElfW(Nhdr) * note, const char *name, size_t size) {
    return note->n_namesz == size && bytes_equal(note + 1, name, size);
}

static bool use_build_id(const ElfW(Nhdr) * note, const char *description, void *data) {
    struct quipu_module *module = data;
    if (note->n_type != NT_GNU_BUILD_ID || !is_named(note, "GNU", sizeof "GNU"))
        return false;
    module->build_id_size =
        note->n_descsz < QUIPU_BUILD_ID_MAX ? note->n_descsz : QUIPU_BUILD_ID_MAX;
    for (uint32_t i = 0; i < module->build_id_size; i++)
        module->build_id[i] = (uint8_t)description[i];
    return true;
}

static bool use_state(const ElfW(Nhdr) * note, const char *description, void *data) {
    const struct quipu_state **state = data;
    if (note->n_type != QUIPU_STATE_VERSION || !is_named(note, "quipu", sizeof "quipu") ||
        note->n_descsz != sizeof(int32_t))
        return false;
    *state = (const void *)(description + *(const int32_t *)(const void *)description);
    return true;
}

static bool contains(const struct dl_phdr_info *info, const void *address) {
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && (uint64_t)address - start < segment->p_memsz)
            return true;
    }
    return false;
}

static bool has_segment(const struct dl_phdr_info *info, uint32_t type) {
    for (size_t i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == type)
            return true;
    return false;
}

/* Writes PATH, made absolute by the working directory where it is relative and that is known. */
static void absolute_path(struct text *text, const char *path) {
    if (path[0] != '/' && SYSTEM_CALL(getcwd, text->data, text->size, 0, 0, 0, 0) > 0 &&
        text->data[0] == '/') {
        text->length = text_length(text->data);
        text_add(text, "/");
        if (path[0] == '.' && path[1] == '/')
            path += 2;
    }
    text_add(text, path);
}

void quipu_program_path(char *path, size_t size) {
    static const char deleted[] = " (deleted)";
    struct text text = {path, size, 0, false};
    if (!started_by_linker) {
        long length = SYSTEM_CALL(readlinkat, AT_FDCWD, "/proc/self/exe", path, size - 1, 0, 0);
        if (length > 0) {
            size_t tail = sizeof deleted - 1;
            if ((size_t)length > tail && bytes_equal(path + length - tail, deleted, tail))
                length -= (long)tail;
            path[length] = '\0';
            return;
        }
    }
    const char *name = (const char *)getauxval(AT_EXECFN);
    absolute_path(&text, name ? name : "unknown");
}

static void describe_module(const struct dl_phdr_info *info, bool executable) {
    struct quipu_module *module = &quipu_state.module;
    struct text path = {module->path, sizeof module->path, 0, false};
    module->chunk.kind = QUIPU_MODULE;
    module->chunk.size = round_up(sizeof *module, QUIPU_PAGE);
    module->load_bias = info->dlpi_addr;
    module->cells_address = (uint64_t)quipu_cells_begin - info->dlpi_addr;
    module->cells_size = quipu_cells_size();
    find_note(info, use_build_id, module);
    if (executable)
        quipu_program_path(module->path, sizeof module->path);
    else
        absolute_path(&path, info->dlpi_name);
}

static int visit_module(struct dl_phdr_info *info, size_t size, void *data) {
    struct visit *visit = data;
    bool executable = visit->executable;
    (void)size;
    visit->executable = false;
    /* The kernel gives the address of the dynamic linker that it loaded for a program. */
    if (executable)
        started_by_linker = has_segment(info, PT_INTERP) && getauxval(AT_BASE) == 0;
    if (contains(info, quipu_cells_begin) || contains(info, quipu_note)) {
        describe_module(info, executable);
        return 0;
    }
    const struct quipu_state *state = NULL;
    if (!visit->other && find_note(info, use_state, &state) && state->file)
        visit->other = state;
    return 0;
}

const struct quipu_state *quipu_find_modules(void) {
    struct visit visit = {.executable = true};
    dl_iterate_phdr(visit_module, &visit);
    return visit.other;
}
