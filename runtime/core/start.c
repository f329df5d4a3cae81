/* start.c: the constructor of every instrumented module.
 *
 * begin.S puts it before all other constructors of the module. In an executable it runs before
 * main. In a shared object it may also run in dlopen, under the dynamic linker's lock. So two
 * constructors never run at the same time. Instrumented code that runs before it (constructors of
 * shared objects that call back) counts in the static cells. Their counts are moved to the first
 * thread's slot, unless that is mapped over them.
 *
 * Not perfect: if several threads count at that time, some of their increments may be lost. */
#include "format/cells.h"
#include "runtime/core/state.h"
#include "runtime/core/syscall.h"
#include "runtime/core/text.h"

#include <errno.h>
#include <sys/auxv.h>

struct quipu_state quipu_state;
uint64_t quipu_no_bias;

extern char **environ;

/* Sets state.path to the absolute path of the directory, with a '/' at its end. */
static long find_directory(void) {
    struct text path = {quipu_state.path, sizeof quipu_state.path, 0, false};
    const char *name = getauxval(AT_SECURE) ? NULL : text_variable(environ, "QUIPU_DATA=");
    if (!name || !*name)
        name = "quipu.data";
    if (name[0] != '/') {
        long length = SYSTEM_CALL(getcwd, path.data, path.size, 0, 0, 0, 0);
        if (length < 0 || path.data[0] != '/') {
            path.length = 0;
            text_add(&path, name);
            text_add(&path, "/");
            quipu_state.name_start = (uint32_t)path.length;
            return length < 0 ? length : -ENOENT;
        }
        path.length = text_length(path.data);
        if (path.length > 1)
            text_add(&path, "/");
    }
    text_add(&path, name);
    while (path.length > 1 && path.data[path.length - 1] == '/')
        path.length--;
    text_add(&path, "/");
    quipu_state.name_start = (uint32_t)path.length;
    return path.cut ? -ENAMETOOLONG : 0;
}

static void find_program_name(void) {
    struct text name = {quipu_state.program, sizeof quipu_state.program, 0, false};
    char *path = quipu_state.path;
    const char *base = path;
    quipu_program_path(path, sizeof quipu_state.path);
    for (const char *next = path; *next; next++)
        if (*next == '/')
            base = next + 1;
    text_add(&name, *base ? base : "program");
}

/* Joins the data file of OTHER, a module of the process. */
static long join_module(const struct quipu_state *other) {
    struct text path = {quipu_state.path, sizeof quipu_state.path, 0, false};
    struct text program = {quipu_state.program, sizeof quipu_state.program, 0, false};
    text_add(&path, other->path);
    text_add(&program, other->program);
    quipu_state.name_start = other->name_start;
    quipu_state.file = other->file;
    quipu_state.device = other->device;
    quipu_state.inode = other->inode;
    if (!quipu_has_data(other->file))
        return -ENOENT; /* OTHER has warned already */
    long fd = quipu_reopen_data();
    if (fd < 0)
        return fd;
    quipu_state.fd = (int)fd;
    return 0;
}

static void move_static_cells(char *cells) {
    quipu_fold_events();
    uint64_t *from = (void *)quipu_cells_begin, *to = (void *)cells;
    for (uint64_t i = 0; i < quipu_state.module.cells_size / sizeof *from; i++)
        if (from[i]) {
            to[i] += from[i];
            from[i] = 0;
        }
    quipu_add_early_events();
}

/* Enters module and thread into the open file. */
static long enter_file(void) {
    char *cells = NULL;
    quipu_lock(quipu_state.file);
    long error = quipu_enter_module();
    if (error == 0) {
        quipu_add_static_cells();
        cells = quipu_take_slot(&error);
    }
    quipu_unlock(quipu_state.file);
    if (!cells)
        return error;
    error = set_distance((uint64_t)cells - (uint64_t)quipu_cells_begin);
    if (error == 0 && cells != quipu_cells_begin)
        move_static_cells(cells);
    return error;
}

/* Sets state.file and fd: from OTHER, a module of the process; or by name; or makes a file.
 * -ECANCELED: there is to be none. */
static long find_data(const struct quipu_state *other, struct naming *naming) {
    if (other)
        return join_module(other);
    find_program_name();
    if (!quipu_wants_data(quipu_state.path))
        return -ECANCELED;
    long error = find_directory();
    if (error == 0)
        error = quipu_open_data(naming);
    return error;
}

void quipu_start(void) {
    struct naming naming = {.directory = -1};
    if (quipu_cells_size() == 0)
        return; /* nothing is instrumented */
    uint64_t mask = block_signals();
    if (IS_LINKED(quipu_begin_tests))
        quipu_begin_tests();
    quipu_state.pid = (uint32_t)SYSTEM_CALL(getpid, 0, 0, 0, 0, 0, 0);
    quipu_state.reserves = text_variable(environ, "QUIPU_RESERVE=") != NULL;
    quipu_remember_standard_error();
    const struct quipu_state *other = quipu_find_modules();
    if (other && (other->pid != quipu_state.pid ||
                  (quipu_has_data(other->file) && !quipu_is_marked(other->file))))
        other = NULL; /* this process was cloned without the runtime's handlers */
    long error = find_data(other, &naming);
    if (error == 0)
        error = enter_file();
    if (error == 0)
        error = quipu_publish_data(&naming);
    if (error < 0) {
        if (!other && !(quipu_state.file && !naming.fresh))
            quipu_drop_data();
        if (error == -ECANCELED)
            quipu_need_no_warning();
        else if (other)
            quipu_warn("extend", false, -error, "the counts of a shared object are lost");
        else
            quipu_warn("write", true, -error, "the counts of this run are lost");
        set_distance(QUIPU_UNATTACHED);
    }
    quipu_close_data(&naming);
    __atomic_store_n(&quipu_state.phase, error < 0 ? PHASE_NO_FILE : PHASE_READY, __ATOMIC_RELEASE);
    if (error == 0)
        quipu_follow_forks();
    restore_signals(mask);
}
