/* backtrace.c: the calls that a stopped thread is in; libdwfl unwinds. */
#include "moment/backtrace.h"

#include "util/diag.h"

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
    FRAMES_MAX = 100
};

static int print_frame(Dwfl_Frame *frame, void *argument) {
    unsigned *number = argument;
    Dwarf_Addr address;
    bool activation;
    if (!dwfl_frame_pc(frame, &address, &activation))
        return DWARF_CB_ABORT;
    Dwarf_Addr inside = activation ? address : address - 1;
    Dwfl *dwfl = dwfl_thread_dwfl(dwfl_frame_thread(frame));
    Dwfl_Module *module = dwfl_addrmodule(dwfl, inside);
    const char *name = module ? dwfl_module_addrname(module, inside) : NULL;
    Dwfl_Line *line = module ? dwfl_module_getsrc(module, inside) : NULL;
    int line_number = 0;
    const char *file = line ? dwfl_lineinfo(line, NULL, &line_number, NULL, NULL, NULL) : NULL;
    const char *slash = file ? strrchr(file, '/') : NULL;
    printf("#%-3u 0x%016llx  %s", *number, (unsigned long long)address, name ? name : "?");
    if (file)
        printf("  %s:%d", slash ? slash + 1 : file, line_number);
    putchar('\n');
    return ++*number < FRAMES_MAX ? DWARF_CB_OK : DWARF_CB_ABORT;
}

void print_backtrace(pid_t process, pid_t thread) {
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                             .find_debuginfo = dwfl_standard_find_debuginfo};
    unsigned number = 0;
    Dwfl *dwfl = dwfl_begin(&callbacks);
    if (!dwfl || dwfl_linux_proc_report(dwfl, process) != 0 ||
        dwfl_report_end(dwfl, NULL, NULL) != 0 ||
        dwfl_linux_proc_attach(dwfl, process, true) != 0) {
        warn("no backtrace: %s", dwfl_errmsg(-1));
        dwfl_end(dwfl);
        return;
    }
    dwfl_getthread_frames(dwfl, thread, print_frame, &number);
    dwfl_end(dwfl);
}
