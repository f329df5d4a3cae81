/* moment.c: quipu moment PID: prints the moment of each thread of a running process.
 *
 * The process is stopped for a short time. The ticks of a thread are those of its cells, plus the
 * potential at its address. If the thread is in a call of other code, its address is the call's
 * return address. If it is in the stub that leads to another module, it is the call itself, since
 * the function may be instrumented. */
#include "cmd/cmd.h"
#include "cmd/command_line.h"
#include "cmd/stat.h"
#include "format/event.h"

#include "symbols/event_tables.h"
#include "symbols/loop_forms.h"
#include "symbols/moment_name.h"
#include "util/diag.h"
#include "util/terminal.h"
#include "x86/decode.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print_help(void) {
    fputs("usage: quipu moment PID\n\n"
          "Prints the moment of each thread of process PID, which 'quipu cc --quipu=moment' built, "
          "as\n'quipu goto' takes it, and the source line.  The process runs on.\n\n"
          "      --help  print this\n",
          stdout);
}

/* Whether ADDRESS is in a stub by which the module calls others: the function has not begun. */
static bool is_in_call_stub(const struct binary *binary, uint64_t address) {
    static const char *const sections[] = {".plt", ".plt.sec", ".plt.got"};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        size_t size = 0;
        (void)binary_section(binary, sections[i], &size);
        if (address - binary_section_address(binary, sections[i]) < size)
            return true;
    }
    return false;
}

/* Returns the address of the call that returns to ADDRESS. */
static uint64_t call_before(const struct binary *binary, uint64_t address) {
    size_t left;
    const uint8_t *code = binary_code(binary, address - DIRECT_CALL_SIZE, &left);
    return code && is_direct_call(code, left) ? address - DIRECT_CALL_SIZE : address;
}

/* Returns the thread's innermost address in the module's instrumented code, as linked; 0: there is
 * none. Sets INSIDE to the address whose line is printed: for a return address, one in the call. */
static uint64_t find_address(const struct stopped_process *stopped, const struct binary *binary,
                             uint64_t bias, pid_t thread, uint64_t *inside) {
    bool in_stub = false;
    *inside = 0;
    for (size_t i = 0; i < stopped->pending.count; i++) {
        const struct pending_instruction *pending = &stopped->pending.data[i];
        if (pending->thread != thread)
            continue;
        if (has_events_at(binary, pending->address - bias))
            return *inside = pending->address - bias;
        in_stub |= is_in_call_stub(binary, pending->address - bias);
    }
    for (size_t i = 0; i < stopped->callers.count; i++) {
        const struct pending_instruction *caller = &stopped->callers.data[i];
        if (caller->thread == thread && has_events_at(binary, caller->address - bias)) {
            *inside = caller->address - bias - 1;
            return in_stub ? call_before(binary, caller->address - bias) : caller->address - bias;
        }
    }
    return 0;
}

static void print_thread(struct arena *arena, const struct stopped_process *stopped,
                         const struct thread_cells *thread, uint64_t bias) {
    const struct binary *binary = thread->module->binary;
    uint64_t ticks = thread->events->counts[QUIPU_EVENT_TICKS] - thread->events->begin;
    uint64_t number = thread->events->number;
    uint64_t inside;
    uint64_t address = find_address(stopped, binary, bias, (pid_t)thread->owner, &inside);
    const char *line = inside ? line_text(arena, binary, inside) : "";
    print_line(stdout, "%s  %s%sthread %u",
               address ? moment_text(arena, binary, recorded_form(binary, address), ticks, number)
                       : arena_print(arena, "outside@%" PRIu64 "/%" PRIu64, ticks, number),
               line, *line ? "  " : "", thread->owner);
}

static bool is_stopped(const struct stopped_process *stopped, uint32_t thread) {
    for (size_t i = 0; i < stopped->pending.count; i++)
        if (stopped->pending.data[i].thread == (pid_t)thread)
            return true;
    return false;
}

static int print_moments(const char *pid) {
    struct stopped_process stopped;
    struct arena arena = {0};
    struct profile *profile = open_process(pid, &stopped);
    const struct process *process = &profile->processes.data[0];
    bool any = false;
    for (size_t i = 0; i < process->threads.count; i++) {
        const struct thread_cells *thread = &process->threads.data[i];
        if (!thread->offset || !(thread->module->event_kinds >> QUIPU_EVENT_TICKS & 1) ||
            !is_stopped(&stopped, thread->owner))
            continue;
        print_thread(&arena, &stopped, thread, process->load_biases[thread->module_number]);
        any = true;
    }
    if (!any)
        die("process %s: it has no moments; build it with 'quipu cc --quipu=moment'", pid);
    arena_release(&stopped.arena);
    arena_release(&arena);
    profile_close(profile);
    return 0;
}

static const struct command_line command_line = {"moment", print_help, NULL, 0, true};

int cmd_moment(int argc, char **argv) {
    int first = take_options(&command_line, argc, argv, NULL);
    if (!first)
        return 0;
    if (argc - first != 1)
        die("give one process number; 'quipu moment --help' tells how");
    return print_moments(argv[first]);
}
