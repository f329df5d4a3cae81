/* module.c: finds this module, and the others with a runtime in the process.
 *
 * The constructor calls it once. It is not on the attach path. dl_iterate_phdr visits the
 * executable first, then the shared objects. In another namespace, of dlmopen, it visits only the
 * objects of that.
 *
 * Not perfect: a module whose notes were stripped, or that dlmopen has put into another namespace,
 * is not found. Then the data file is found by its name. */
#include "format/data_file.h"
#include "runtime/core/note.h"
#include "runtime/core/state.h"
#include "runtime/core/syscall.h"
#include "runtime/core/text.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>

extern const char quipu_note[];

struct visit {
    bool first; /* no module was visited yet */
    const struct quipu_state *other;
};

/* The program was started as an argument of the dynamic linker. */
static bool started_by_linker;

bool quipu_use_state(const ElfW(Nhdr) * note, const char *description, void *data) {
    const struct quipu_state **state = data;
    if (note->n_type != QUIPU_STATE_VERSION || !is_named(note, "quipu", sizeof "quipu") ||
        note->n_descsz != sizeof(int32_t))
        return false;
    *state = (const void *)(description + *(const int32_t *)(const void *)description);
    return true;
}

static bool has_segment(const struct dl_phdr_info *info, uint32_t type) {
    for (size_t i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == type)
            return true;
    return false;
}

/* Writes PATH. If it is relative, makes it absolute by the working directory, if that is known. */
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
    module->build_id_size = module_build_id(info, module->build_id);
    if (executable)
        quipu_program_path(module->path, sizeof module->path);
    else
        absolute_path(&path, info->dlpi_name);
}

/* Whether the module that is visited first is the process's executable. The kernel passes the
 * address of that, which the dynamic linker corrects if it has loaded the program itself. */
static bool is_executable(const struct dl_phdr_info *info) {
    return started_by_linker || (uint64_t)info->dlpi_phdr == getauxval(AT_PHDR);
}

static int visit_module(struct dl_phdr_info *info, size_t size, void *data) {
    struct visit *visit = data;
    bool first = visit->first;
    (void)size;
    visit->first = false;
    /* The kernel passes the address of the dynamic linker that it has loaded for a program. */
    if (first)
        started_by_linker = has_segment(info, PT_INTERP) && getauxval(AT_BASE) == 0;
    if (module_contains(info, quipu_cells_begin) || module_contains(info, quipu_note)) {
        describe_module(info, first && is_executable(info));
        return 0;
    }
    const struct quipu_state *state = NULL;
    if (!visit->other && find_note(info, quipu_use_state, &state) && state->file)
        visit->other = state;
    return 0;
}

const struct quipu_state *quipu_find_modules(void) {
    struct visit visit = {.first = true};
    dl_iterate_phdr(visit_module, &visit);
    return visit.other;
}
