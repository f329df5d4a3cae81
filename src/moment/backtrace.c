/* backtrace.c: the calls that a stopped thread is in; libdwfl unwinds. */
#include "moment/backtrace.h"

#include "data/demangle.h"
#include "util/diag.h"
#include "util/path.h"

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    FRAMES_MAX = 100 /* printed */
};

struct frames {
    struct buffer *text;
    const char *indent;
    uint64_t function; /* that the first one is in; 0: any */
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

static int add_frame(Dwfl_Frame *frame, void *argument) {
    struct frames *frames = argument;
    Dwarf_Addr address;
    bool activation;
    if (!dwfl_frame_pc(frame, &address, &activation))
        return DWARF_CB_ABORT;
    Dwarf_Addr inside = activation ? address : address - 1;
    Dwfl *dwfl = dwfl_thread_dwfl(dwfl_frame_thread(frame));
    Dwfl_Module *module = dwfl_addrmodule(dwfl, inside);
    frames->is_strange |= !module;
    if (frames->function && function_at(module, inside) != frames->function)
        return DWARF_CB_OK;
    frames->function = 0;
    const char *name = module ? dwfl_module_addrname(module, inside) : NULL;
    Dwfl_Line *line = module ? dwfl_module_getsrc(module, inside) : NULL;
    int line_number = 0;
    const char *file = line ? dwfl_lineinfo(line, NULL, &line_number, NULL, NULL, NULL) : NULL;
    struct arena arena = {0};
    buffer_print(frames->text, "%s#%-3u 0x%016llx  %s", frames->indent, frames->number,
                 (unsigned long long)address,
                 name ? short_name(&arena, demangle(&arena, name)) : "?");
    arena_release(&arena);
    if (file)
        buffer_print(frames->text, "  %s:%d", last_part(file), line_number);
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

struct unwinder {
    Dwfl *dwfl; /* NULL: a library came, and there is nothing to be known any more */
    pid_t process;
};

struct unwinder *open_unwinder(pid_t process) {
    Dwfl *dwfl = open_process(process, true);
    struct unwinder *unwinder = dwfl ? malloc(sizeof *unwinder) : NULL;
    if (!unwinder) {
        dwfl_end(dwfl);
        return NULL;
    }
    *unwinder = (struct unwinder){dwfl, process};
    return unwinder;
}

void close_unwinder(struct unwinder *unwinder) {
    if (unwinder)
        dwfl_end(unwinder->dwfl);
    free(unwinder);
}

/* Appends the frames behind those that are there.  Returns whether all their code was known. */
static bool add_frames(const struct unwinder *unwinder, struct frames *frames, pid_t thread,
                       uint64_t address) {
    Dwfl *dwfl = unwinder->dwfl;
    frames->number = 0;
    frames->is_strange = false;
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
    struct frames frames = {.text = text, .indent = indent};
    size_t begin = text->count;
    if (!unwinder->dwfl || add_frames(unwinder, &frames, thread, address))
        return;
    dwfl_end(unwinder->dwfl);
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
    fwrite(text.data ? text.data : "", 1, text.count, stdout);
    close_unwinder(unwinder);
    buffer_release(&text);
}

static int take_caller(Dwfl_Frame *frame, void *argument) {
    struct caller_list *list = argument;
    Dwarf_Addr address;
    bool activation;
    if (!dwfl_frame_pc(frame, &address, &activation))
        return DWARF_CB_ABORT;
    list->addresses[list->count++] = activation ? address : address - 1;
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
