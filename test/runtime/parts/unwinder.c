// unwinder PROGRAM: steps PROGRAM from main on, and has elfutils unwind its stack in front of each
// of its instructions (three times at most).  Prints those from where it does not get as far as
// the stack goes: to the C library's call of main.  Stubs of a linker have no name and no rows.  It
// shares no code with the tool.
#define _GNU_SOURCE
#include <elfutils/libdwfl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SPAN_MAX = 1 << 22, /* bytes of the program's code */
    TIMES = 3
};

static char *debug_path;
static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_linux_proc_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .debuginfo_path = &debug_path,
};

static int note_frame(Dwfl_Frame *frame, void *last) {
    return dwfl_frame_pc(frame, last, NULL) ? DWARF_CB_OK : DWARF_CB_ABORT;
}

static const char *name_of(Dwfl *dwfl, Dwarf_Addr address) {
    Dwfl_Module *module = dwfl_addrmodule(dwfl, address);
    const char *name = module ? dwfl_module_addrname(module, address) : NULL;
    return name ? name : "?";
}

static Dwfl *attach(pid_t pid) {
    Dwfl *dwfl = dwfl_begin(&callbacks);
    if (!dwfl || dwfl_linux_proc_report(dwfl, pid) != 0 || dwfl_report_end(dwfl, NULL, NULL) != 0 ||
        dwfl_linux_proc_attach(dwfl, pid, true) < 0) {
        fprintf(stderr, "unwinder: %s\n", dwfl_errmsg(-1));
        exit(2);
    }
    return dwfl;
}

static bool step(pid_t pid, Dwarf_Addr *at) {
    int status;
    struct user_regs_struct registers;
    ptrace(PTRACE_SINGLESTEP, pid, 0, 0);
    if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
        return false;
    ptrace(PTRACE_GETREGS, pid, 0, &registers);
    *at = registers.rip;
    return true;
}

int main(int argc, char **argv) {
    static unsigned char seen[SPAN_MAX];
    int status, looked_at = 0, bad = 0;
    pid_t pid = argc > 1 ? fork() : -1;
    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        execv(argv[1], argv + 1);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    Dwarf_Addr at, base = 0, root = 0;
    bool within = false;
    Dwfl *dwfl = attach(pid);
    while (step(pid, &at)) {
        const char *name = within ? NULL : name_of(dwfl, at);
        if (name && strcmp(name, "main") == 0) {
            within = true;
            base = at & ~(Dwarf_Addr)(SPAN_MAX / 2 - 1);
        }
        if (!within || at - base >= SPAN_MAX || seen[at - base] >= TIMES)
            continue;
        seen[at - base]++;
        name = name_of(dwfl, at);
        if (strcmp(name, "exit") == 0)
            break; /* main has returned */
        Dwarf_Addr last = 0;
        dwfl_getthread_frames(dwfl, pid, note_frame, &last);
        looked_at++;
        root = root ? root : last;
        if (last != root && strcmp(name, "?") != 0 && bad++ < 20)
            printf("%#lx %s: unwound to %s\n", (unsigned long)at, name, name_of(dwfl, last));
    }
    kill(pid, SIGKILL);
    printf("%d looked at, %d bad\n", looked_at, bad);
    return looked_at < 40 || bad;
}
