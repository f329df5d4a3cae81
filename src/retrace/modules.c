/* modules.c: the code of a replayed process that records; see state.h.
 *
 * A module is found by the loader's list, before its own code runs: the loader changes the
 * protection of what it has relocated, which is an event.
 *
 * Not perfect: what a shared object executes while others are relocated (functions of type IFUNC),
 * and constructors of one without a part that becomes read-only, may be missing. */
#include "retrace/state.h"

#include "format/notes.h"
#include "symbols/loaded_objects.h"
#include "symbols/sites.h"
#include "trace/point.h"
#include "tracee/trace_sites.h"
#include "tracee/tracee.h"
#include "x86/trace_pointer.h"
#include "x86/trap.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

/* The symbols at which the program stops. */
static const char *const served_names[SERVED_KINDS] = {
    [SERVED_FULL] = "quipu_trace_full",           [SERVED_CONTINUE] = "quipu_trace_continue",
    [SERVED_HANDLER] = "quipu_trace_handler",     [SERVED_READABLE] = "quipu_trace_is_readable",
    [SERVED_COUNTS] = "quipu_trace_count_thread", [SERVED_END] = "quipu_trace_end_module",
};

const struct retraced_module *retraced_module_at(const struct retraced_process *process,
                                                 uint64_t address) {
    size_t room;
    for (size_t i = 0; i < process->modules.count; i++) {
        const struct retraced_module *module = process->modules.data[i];
        if (binary_code(module->binary, address - module->bias, &room))
            return module;
    }
    return NULL;
}

bool is_traced_code(const struct retraced_process *process, uint64_t address) {
    return retraced_module_at(process, address);
}

bool is_traced_function(const struct retraced_process *process, uint64_t address) {
    for (size_t i = 0; i < process->modules.count; i++) {
        struct retraced_module *module = process->modules.data[i];
        size_t room;
        if (binary_code(module->binary, address - module->bias, &room))
            return is_in_function(&module->notes, address - module->bias);
    }
    return false;
}

/* ---- reading ---- */

static uint64_t symbol_address(const struct retraced_module *module, const char *name) {
    const struct symbol *symbol = binary_find_name(module->binary, name);
    return symbol ? symbol->address + module->bias : 0;
}

static struct code_range find_range(const struct retraced_module *module, const char *begin,
                                    const char *end) {
    return (struct code_range){symbol_address(module, begin), symbol_address(module, end)};
}

/* Sets WORD to the one whose distance from the base of %fs the function NAME adds to it. */
static bool find_word(const struct retraced_module *module, const char *name,
                      struct thread_word *word) {
    uint64_t address = symbol_address(module, name);
    size_t size = 0;
    const uint8_t *code = binary_code(module->binary, address - module->bias, &size);
    bool is_slot;
    if (!address || !code || !find_trace_pointer(code, size, &word->distance, &is_slot))
        return false;
    word->slot = is_slot ? address + (uint64_t)word->distance : 0;
    return true;
}

uint64_t thread_word_at(const struct thread_word *word, pid_t process, uint64_t base) {
    int64_t distance = word->distance;
    if (word->slot && !read_memory(process, word->slot, &distance, sizeof distance))
        return 0;
    return base + (uint64_t)distance;
}

/* Returns NULL, or what the module lacks. */
static const char *read_module(struct retraced_module *module) {
    static const char stripped[] = "its symbols are missing; keep them, or build it anew";
    for (int kind = 0; kind < SERVED_KINDS; kind++)
        module->served[kind] = symbol_address(module, served_names[kind]);
    module->order = find_range(module, "quipu_trace_order", "quipu_trace_order_end");
    module->measure = find_range(module, "quipu_trace_measure", "quipu_trace_measure_end");
    module->unattached = symbol_address(module, "quipu_trace_unattached");
    if (!module->served[SERVED_FULL] || !module->served[SERVED_CONTINUE] ||
        !module->served[SERVED_END] || !module->unattached)
        return stripped;
    if (!find_word(module, "quipu_trace_own", &module->data_word))
        return "its runtime is of another version; build it anew";
    if (binary_find_name(module->binary, "quipu_moment_near") &&
        find_word(module, "quipu_find_bias", &module->bias_word))
        module->cells = symbol_address(module, "quipu_event_cells");
    return NULL;
}

/* ---- arming ---- */

/* Whether its text is that of its file. A copy of a process has the changed text of its maker; and
 * what is being closed may have none any more. */
static bool is_unarmed(const struct retraced_module *module, pid_t process) {
    uint8_t byte = 0;
    return read_memory(process, module->served[SERVED_FULL], &byte, sizeof byte) &&
           byte != BREAKPOINT_BYTE;
}

static const char *arm(const struct retraced_module *module, pid_t process) {
    const uint8_t byte = BREAKPOINT_BYTE;
    if (!is_unarmed(module, process))
        return NULL;
    const char *wrong = arm_trace_sites(process, module->binary, module->bias);
    for (int kind = 0; kind < SERVED_KINDS && !wrong; kind++)
        if (module->served[kind] &&
            !write_memory(process, module->served[kind], &byte, sizeof byte))
            wrong = "its text cannot be changed";
    return wrong;
}

/* ---- telling ---- */

static void tell_of_module(struct retrace *retrace, const struct retraced_module *module) {
    struct quipu_trace_chunk chunk = {.kind = QUIPU_TRACE_MODULE,
                                      .process = retrace->process->place,
                                      .pid = (uint32_t)retrace->process->recorded,
                                      .begin = module->bias};
    size_t size = module->binary->build_id_size;
    if (size)
        memcpy(chunk.build_id, module->binary->build_id,
               size < sizeof chunk.build_id ? size : sizeof chunk.build_id);
    sink_add(retrace->sink, &chunk, (const uint8_t *)module->path, strlen(module->path));
}

static void tell_of_other(struct retrace *retrace, const struct other_module *other) {
    struct quipu_trace_chunk chunk = {.kind = QUIPU_TRACE_LIBRARIES,
                                      .process = retrace->process->place,
                                      .pid = (uint32_t)retrace->process->recorded};
    size_t size = strlen(other->path);
    uint8_t *contents = arena_alloc(retrace->arena, sizeof other->bias + size);
    memcpy(contents, &other->bias, sizeof other->bias);
    memcpy(contents + sizeof other->bias, other->path, size);
    sink_add(retrace->sink, &chunk, contents, sizeof other->bias + size);
}

/* The process is in the trace from now on. */
static void need_place(struct retrace *retrace) {
    struct retraced_process *process = retrace->process;
    if (process->place)
        return;
    process->place = ++retrace->process_count;
    for (size_t i = 0; i < process->others.count; i++)
        tell_of_other(retrace, &process->others.data[i]);
}

static void add_other(struct retrace *retrace, const char *path, uint64_t bias) {
    struct other_module other = {path, bias};
    vector_push(retrace->arena, &retrace->process->others, other);
    if (retrace->process->place)
        tell_of_other(retrace, &other);
}

/* ---- finding ---- */

static const struct retraced_module *find_module(const struct retraced_process *process,
                                                 const char *path, uint64_t bias) {
    for (size_t i = 0; i < process->modules.count; i++)
        if (process->modules.data[i]->bias == bias &&
            strcmp(process->modules.data[i]->path, path) == 0)
            return process->modules.data[i];
    return NULL;
}

static bool is_other(const struct retraced_process *process, const char *path, uint64_t bias) {
    for (size_t i = 0; i < process->others.count; i++)
        if (process->others.data[i].bias == bias && strcmp(process->others.data[i].path, path) == 0)
            return true;
    return false;
}

/* Opens the file as it was in the recorded run, if the recording has it. */
static const char *open_file(struct retrace *retrace, const char *path, struct binary **binary) {
    int file = player_file(retrace->player, path);
    const char *from = file < 0 ? path : arena_print(retrace->arena, "/proc/self/fd/%d", file);
    const char *wrong = binary_open(retrace->arena, from, binary);
    if (file >= 0)
        close(file);
    return wrong;
}

static void add_module(struct retrace *retrace, const char *path, uint64_t bias) {
    struct retraced_process *process = retrace->process;
    struct retraced_module *module = ARENA_NEW(retrace->arena, struct retraced_module);
    *module = (struct retraced_module){.path = path, .bias = bias};
    if (open_file(retrace, path, &module->binary)) {
        add_other(retrace, path, bias);
        return;
    }
    if (!has_trace_sites(module->binary)) {
        binary_close(module->binary);
        add_other(retrace, path, bias);
        return;
    }
    const char *wrong = read_module(module);
    module->notes = (struct traced_module){.path = path, .binary = module->binary};
    if (!wrong)
        wrong = read_trace_notes(retrace->arena, &module->notes);
    if (!wrong)
        wrong = arm(module, process->number);
    if (wrong)
        end_retrace(retrace, arena_print(retrace->arena, "'%s': %s", path, wrong));
    vector_push(retrace->arena, &process->modules, module);
    need_place(retrace);
    tell_of_module(retrace, module);
}

/* One that was closed, and is loaded again at the same address, has its file's text again. */
static bool visit(void *context, const char *path, uint64_t bias) {
    struct retrace *retrace = context;
    const struct retraced_module *module = find_module(retrace->process, path, bias);
    const char *wrong = module ? arm(module, retrace->process->number) : NULL;
    if (wrong)
        end_retrace(retrace, arena_print(retrace->arena, "'%s': %s", path, wrong));
    if (!module && strchr(path, '/') && !is_other(retrace->process, path, bias))
        add_module(retrace, arena_copy(retrace->arena, path, strlen(path)), bias);
    return true;
}

/* The program itself is there before the loader has a list. */
static void look_at_program(struct retrace *retrace) {
    const char *path = player_program(retrace->player);
    struct binary *binary;
    Elf64_Ehdr header;
    if (open_file(retrace, path, &binary))
        return;
    if (binary->size >= sizeof header) {
        memcpy(&header, binary->bytes, sizeof header);
        add_module(retrace, arena_copy(retrace->arena, path, strlen(path)),
                   program_bias(retrace->process->number, header.e_entry));
    }
    binary_close(binary);
}

void look_at_modules(struct retrace *retrace) {
    struct retraced_process *process = retrace->process;
    if (!process->looked)
        look_at_program(retrace);
    process->looked = true;
    process->changed = false;
    list_loaded_objects(process->number, visit, retrace);
}
