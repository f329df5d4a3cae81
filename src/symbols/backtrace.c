/* backtrace.c: the calls that a stopped thread is in; libdwfl unwinds.
 *
 * A frame that waits for a call has the call's return address. That may belong to another line, and
 * even to another function. So the name and line of such a frame are those of the byte before it.
 * If the frame was interrupted, for example by a signal, they are those of its present instruction.
 */
#include "symbols/backtrace.h"

#include "symbols/demangle.h"
#include "symbols/line_table.h"
#include "symbols/loaded_objects.h"
#include "util/diag.h"
#include "util/path.h"
#include "util/terminal.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FRAMES_MAX = 100 /* frames that are printed */
};

/* The lines of one module of a process. */
struct module_table {
    struct line_table lines;
    Dwarf_Addr bias; /* address in the process minus address in `lines` */
};

struct unwinder {
    Dwfl *dwfl; /* NULL: the process could not be read again after it loaded a library */
    pid_t process;
    struct arena arena;                    /* of the tables */
    VECTOR(struct module_table *) modules; /* modules whose lines were needed */
};

struct frames {
    struct unwinder *unwinder;
    struct buffer *text;
    const char *indent;
    uint64_t place;    /* address that names the first frame; 0: all frames are wanted */
    uint64_t function; /* begin of the first frame's function; 0: any */
    unsigned number;
    bool is_strange; /* a frame is in code that was mapped after the process was read */
};

/* Returns the begin of the function that contains ADDRESS, or 0 if no symbol shows it. */
static uint64_t function_at(Dwfl_Module *module, uint64_t address) {
    GElf_Sym symbol;
    GElf_Off offset = 0;
    return module && dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL)
               ? address - offset
               : 0;
}

/* Sets ADDRESS to the address of FRAME. Returns the address that gives its name and line, see
 * above. Returns 0 if there is none. */
static Dwarf_Addr place_of(Dwfl_Frame *frame, Dwarf_Addr *address) {
    bool is_interrupted;
    if (!dwfl_frame_pc(frame, address, &is_interrupted))
        return 0;
    return is_interrupted ? *address : *address - 1;
}

/* Returns the table of MODULE, or NULL. libdwfl keeps it in the module. */
static const struct module_table *table_of(struct unwinder *unwinder, Dwfl_Module *module) {
    void **kept = NULL;
    Dwarf_Addr bias;
    if (!dwfl_module_info(module, &kept, NULL, NULL, NULL, NULL, NULL, NULL) || !kept)
        return NULL;
    struct module_table *table = *kept;
    if (table)
        return table;
    table = ARENA_NEW(&unwinder->arena, struct module_table);
    Elf *code = dwfl_module_getelf(module, &bias);
    line_table_read(&table->lines, dwfl_module_getdwarf(module, &table->bias), code);
    vector_push(&unwinder->arena, &unwinder->modules, table);
    *kept = table;
    return table;
}

static void add_line(struct frames *frames, Dwfl_Module *module, Dwarf_Addr place) {
    const struct module_table *table = module ? table_of(frames->unwinder, module) : NULL;
    const struct line_row *row = table ? line_table_find(&table->lines, place - table->bias) : NULL;
    if (row)
        buffer_print(frames->text, "  %s:%u", last_part(*vector_at(&table->lines.files, row->file)),
                     row->line);
}

static int add_frame(Dwfl_Frame *frame, void *argument) {
    struct frames *frames = argument;
    Dwarf_Addr address, place = place_of(frame, &address);
    if (!place)
        return DWARF_CB_ABORT;
    Dwfl *dwfl = dwfl_thread_dwfl(dwfl_frame_thread(frame));
    Dwfl_Module *module = dwfl_addrmodule(dwfl, place);
    frames->is_strange |= !module;
    if (frames->function && function_at(module, place) != frames->function)
        return DWARF_CB_OK;
    if (frames->function) /* the thread is in code out of line, which has no line of its own */
        place = frames->place;
    frames->function = 0;
    const char *name = module ? dwfl_module_addrname(module, place) : NULL;
    struct arena arena = {0};
    buffer_print(frames->text, "%s#%-3u 0x%016llx  %s", frames->indent, frames->number,
                 (unsigned long long)address,
                 name ? short_name(&arena, demangle(&arena, name)) : "?");
    arena_release(&arena);
    add_line(frames, module, place);
    buffer_text(frames->text, "\n");
    return ++frames->number < FRAMES_MAX ? DWARF_CB_OK : DWARF_CB_ABORT;
}

static const char memory_file[] = "/memfd:";

/* A program that is executed from memory has no path, but the kernel's link leads to it. DATA is
 * the process's number while such a file is looked for. */
static int find_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                     char **file, Elf **elf) {
    char link[64], target[PATH_MAX];
    int fd = dwfl_linux_proc_find_elf(module, data, name, base, file, elf);
    if (fd >= 0 || *elf || strncmp(name, memory_file, strlen(memory_file)) != 0)
        return fd;
    snprintf(link, sizeof link, "/proc/%d/exe", (int)(intptr_t)*data);
    ssize_t size = readlink(link, target, sizeof target - 1);
    target[size > 0 ? size : 0] = '\0';
    fd = strncmp(target, name, strlen(name)) == 0 ? open(link, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0)
        *file = strdup(link);
    return fd;
}

static int look_for_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                         void *process) {
    (void)base;
    if (strncmp(name, memory_file, strlen(memory_file)) != 0)
        return DWARF_CB_OK;
    *data = process;
    dwfl_module_getelf(module, &(GElf_Addr){0});
    *data = NULL;
    return DWARF_CB_OK;
}

/* Opens everything that PROCESS has mapped. Returns NULL, with a warning, if it cannot be read. */
static Dwfl *open_process(pid_t process, bool to_unwind) {
    static const Dwfl_Callbacks callbacks = {.find_elf = find_file,
                                             .find_debuginfo = dwfl_standard_find_debuginfo};
    Dwfl *dwfl = dwfl_begin(&callbacks);
    bool is_read = dwfl && dwfl_linux_proc_report(dwfl, process) == 0;
    if (is_read)
        report_loaded_objects(dwfl, process);
    is_read = is_read && dwfl_report_end(dwfl, NULL, NULL) == 0;
    if (is_read)
        dwfl_getmodules(dwfl, look_for_file, (void *)(intptr_t)process, 0);
    if (is_read && (!to_unwind || dwfl_linux_proc_attach(dwfl, process, true) == 0))
        return dwfl;
    warn("no backtrace: %s", dwfl_errmsg(-1));
    dwfl_end(dwfl);
    return NULL;
}

/* ---- backtraces ---- */

struct unwinder *open_unwinder(pid_t process) {
    Dwfl *dwfl = open_process(process, true);
    struct unwinder *unwinder = dwfl ? malloc(sizeof *unwinder) : NULL;
    if (!unwinder) {
        dwfl_end(dwfl);
        return NULL;
    }
    *unwinder = (struct unwinder){.dwfl = dwfl, .process = process};
    return unwinder;
}

/* Releases all that is known about the process. */
static void forget_process(struct unwinder *unwinder) {
    for (size_t i = 0; i < unwinder->modules.count; i++)
        line_table_release(&unwinder->modules.data[i]->lines);
    unwinder->modules.count = unwinder->modules.capacity = 0;
    arena_release(&unwinder->arena);
    dwfl_end(unwinder->dwfl);
    unwinder->dwfl = NULL;
}

void close_unwinder(struct unwinder *unwinder) {
    if (unwinder)
        forget_process(unwinder);
    free(unwinder);
}

/* Appends the frames of THREAD. Returns whether all their code was known. */
static bool add_frames(struct unwinder *unwinder, struct frames *frames, pid_t thread,
                       uint64_t address) {
    Dwfl *dwfl = unwinder->dwfl;
    frames->number = 0;
    frames->is_strange = false;
    frames->place = address;
    frames->function = address ? function_at(dwfl_addrmodule(dwfl, address), address) : 0;
    dwfl_getthread_frames(dwfl, thread, add_frame, frames);
    if (!frames->number && frames->function) { /* no frame is in that function */
        frames->function = 0;
        dwfl_getthread_frames(dwfl, thread, add_frame, frames);
    }
    return !frames->is_strange;
}

void add_backtrace(struct unwinder *unwinder, struct buffer *text, const char *indent, pid_t thread,
                   uint64_t address) {
    struct frames frames = {.unwinder = unwinder, .text = text, .indent = indent};
    size_t begin = text->count;
    if (!unwinder->dwfl || add_frames(unwinder, &frames, thread, address))
        return;
    forget_process(unwinder);
    unwinder->dwfl = open_process(unwinder->process, true);
    text->count = begin;
    if (unwinder->dwfl)
        add_frames(unwinder, &frames, thread, address);
}

void print_backtrace(pid_t process, pid_t thread) {
    struct buffer text = {0};
    struct unwinder *unwinder = open_unwinder(process);
    if (unwinder)
        add_backtrace(unwinder, &text, "", thread, 0);
    write_text_safely(stdout, text.data, text.count, "\n");
    close_unwinder(unwinder);
    buffer_release(&text);
}

static int take_caller(Dwfl_Frame *frame, void *argument) {
    struct caller_list *list = argument;
    Dwarf_Addr address, place = place_of(frame, &address);
    if (!place)
        return DWARF_CB_ABORT;
    list->addresses[list->count++] = place;
    return list->count < CALLERS_MAX ? DWARF_CB_OK : DWARF_CB_ABORT;
}

void read_callers(pid_t thread, struct caller_list *list) {
    Dwfl *dwfl = open_process(thread, true);
    list->count = 0;
    if (dwfl)
        dwfl_getthread_frames(dwfl, thread, take_caller, list);
    dwfl_end(dwfl);
}

void read_callers_by(struct unwinder *unwinder, pid_t thread, struct caller_list *list) {
    list->count = 0;
    if (unwinder->dwfl)
        dwfl_getthread_frames(unwinder->dwfl, thread, take_caller, list);
}

uint64_t find_function(pid_t process, uint64_t address) {
    Dwfl *dwfl = open_process(process, false);
    uint64_t begin = function_at(dwfl ? dwfl_addrmodule(dwfl, address) : NULL, address);
    dwfl_end(dwfl);
    return begin;
}
