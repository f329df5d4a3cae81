/* backtrace.c: the calls that a stopped thread is in; libdwfl unwinds.
 *
 * Of a frame that waits for a call there is the address that the call returns to, which may be of
 * another line, and of another function.  So all that is told of such a frame is of the byte in
 * front; of one that was interrupted, by a signal too, of the instruction where it is. */
#include "symbols/backtrace.h"

#include "symbols/demangle.h"
#include "symbols/line_table.h"
#include "util/diag.h"
#include "util/path.h"
#include "util/terminal.h"

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    FRAMES_MAX = 100 /* printed */
};

/* The lines of one module of a process. */
struct module_table {
    struct line_table lines;
    Dwarf_Addr bias; /* of the process's addresses */
};

struct unwinder {
    Dwfl *dwfl; /* NULL: a library came, and there is nothing to be known any more */
    pid_t process;
    struct arena arena;                    /* of the tables */
    VECTOR(struct module_table *) modules; /* that lines were asked of */
};

struct frames {
    struct unwinder *unwinder;
    struct buffer *text;
    const char *indent;
    uint64_t place;    /* what the first one is told of; 0: all are asked for */
    uint64_t function; /* that it is in; 0: any */
    unsigned number;
    bool is_strange; /* there is code that was not there when the process was looked at */
};

/* Where the function begins that ADDRESS is in; 0 where no symbol tells. */
static uint64_t function_at(Dwfl_Module *module, uint64_t address) {
    GElf_Sym symbol;
    GElf_Off offset = 0;
    return module && dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL)
               ? address - offset
               : 0;
}

/* The address that tells where FRAME is: see above.  0: there is none. */
static Dwarf_Addr place_of(Dwfl_Frame *frame, Dwarf_Addr *address) {
    bool is_interrupted;
    if (!dwfl_frame_pc(frame, address, &is_interrupted))
        return 0;
    return is_interrupted ? *address : *address - 1;
}

/* The table of MODULE, which keeps it as libdwfl lets it. */
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
    if (frames->function) /* it stands in code out of line, which is of no line of its own */
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

/* All that PROCESS has mapped; NULL, and a warning, where that cannot be read. */
static Dwfl *open_process(pid_t process, bool to_unwind) {
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                             .find_debuginfo = dwfl_standard_find_debuginfo};
    Dwfl *dwfl = dwfl_begin(&callbacks);
    if (dwfl && dwfl_linux_proc_report(dwfl, process) == 0 &&
        dwfl_report_end(dwfl, NULL, NULL) == 0 &&
        (!to_unwind || dwfl_linux_proc_attach(dwfl, process, true) == 0))
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

/* Releases all that is known of the process. */
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

/* Appends the frames behind those that are there.  Returns whether all their code was known. */
static bool add_frames(struct unwinder *unwinder, struct frames *frames, pid_t thread,
                       uint64_t address) {
    Dwfl *dwfl = unwinder->dwfl;
    frames->number = 0;
    frames->is_strange = false;
    frames->place = address;
    frames->function = address ? function_at(dwfl_addrmodule(dwfl, address), address) : 0;
    dwfl_getthread_frames(dwfl, thread, add_frame, frames);
    if (!frames->number && frames->function) { /* the way does not lead through it */
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

uint64_t find_function(pid_t process, uint64_t address) {
    Dwfl *dwfl = open_process(process, false);
    uint64_t begin = function_at(dwfl ? dwfl_addrmodule(dwfl, address) : NULL, address);
    dwfl_end(dwfl);
    return begin;
}
