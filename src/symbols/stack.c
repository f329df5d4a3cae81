/* stack.c: the calls that a thread was in; see stack.h. */
#include "symbols/stack.h"

#include "util/diag.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    ONLY_THREAD = 1,
    RETURN_ADDRESS = 16 /* DWARF's number of it */
};

/* DWARF's numbers of the registers, by their encoding. */
static const uint8_t dwarf_numbers[GENERAL_REGISTERS] = {0, 2, 1,  3,  7,  6,  4,  5,
                                                         8, 9, 10, 11, 12, 13, 14, 15};

struct stack_modules {
    Dwfl *dwfl;
    bool attached;
    const struct stack_copy *copy; /* while it is unwound */
    struct arena *arena;
    stack_frames *frames;
};

static const Dwfl_Callbacks file_callbacks = {.section_address = dwfl_offline_section_address,
                                              .find_debuginfo = dwfl_standard_find_debuginfo};

struct stack_modules *stack_modules_begin(void) {
    struct stack_modules *modules = calloc(1, sizeof *modules);
    CHECK(modules);
    modules->dwfl = dwfl_begin(&file_callbacks);
    CHECK(modules->dwfl);
    dwfl_report_begin(modules->dwfl);
    return modules;
}

void stack_modules_add(struct stack_modules *modules, const char *path, uint64_t bias) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && !dwfl_report_elf(modules->dwfl, path, path, fd, bias, true))
        close(fd);
}

void stack_modules_end(struct stack_modules *modules) {
    if (!modules)
        return;
    dwfl_end(modules->dwfl);
    free(modules);
}

/* ---- what libdwfl asks of the thread ---- */

static pid_t next_thread(Dwfl *dwfl, void *data, void **thread) {
    (void)dwfl;
    bool first = !*thread;
    *thread = data;
    return first ? ONLY_THREAD : 0;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *result, void *data) {
    const struct stack_modules *modules = data;
    const struct stack_copy *copy = modules->copy;
    uint64_t offset = address - copy->registers[STACK_POINTER];
    (void)dwfl;
    if (offset > copy->size || copy->size - offset < sizeof *result)
        return false;
    memcpy(result, copy->bytes + offset, sizeof *result);
    return true;
}

static bool set_registers(Dwfl_Thread *thread, void *data) {
    const struct stack_modules *modules = data;
    Dwarf_Word values[RETURN_ADDRESS + 1];
    for (int reg = 0; reg < GENERAL_REGISTERS; reg++)
        values[dwarf_numbers[reg]] = modules->copy->registers[reg];
    values[RETURN_ADDRESS] = modules->copy->address;
    return dwfl_thread_state_registers(thread, 0, RETURN_ADDRESS + 1, values);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
    .next_thread = next_thread, .memory_read = read_memory, .set_initial_registers = set_registers};

static bool attach(struct stack_modules *modules) {
    if (!modules->attached) {
        dwfl_report_end(modules->dwfl, NULL, NULL);
        modules->attached =
            dwfl_attach_state(modules->dwfl, NULL, ONLY_THREAD, &thread_callbacks, modules);
    }
    return modules->attached;
}

/* The frame's callee kept the registers that the calling convention says, and no other. libdwfl
 * takes %rax for %rbx there (elfutils 0.188, abi_cfi of x86-64). Where rules for unwinding say
 * nothing of %rbx, its value is that in the callee. */
static void keep_by_convention(struct stack_frame *frame, const stack_frames *callees) {
    enum {
        KEPT = REGISTER_RBX | REGISTER_RSP | REGISTER_RBP | REGISTER_R12 | REGISTER_R13 |
               REGISTER_R14 | REGISTER_R15
    };
    const struct stack_frame *callee = callees->count ? &callees->data[callees->count - 1] : NULL;
    int rbx = __builtin_ctz(REGISTER_RBX);
    frame->known &= KEPT;
    if (!callee || frame->known & REGISTER_RBX || !(callee->known & REGISTER_RBX))
        return;
    frame->registers[rbx] = callee->registers[rbx];
    frame->known |= REGISTER_RBX;
}

static int add_frame(Dwfl_Frame *state, void *data) {
    struct stack_modules *modules = data;
    struct stack_frame frame = {0};
    if (!dwfl_frame_pc(state, &frame.address, &frame.interrupted))
        return DWARF_CB_ABORT;
    for (int reg = 0; reg < GENERAL_REGISTERS; reg++)
        if (dwfl_frame_reg(state, dwarf_numbers[reg], &frame.registers[reg]) == 0)
            frame.known |= (uint16_t)(1u << reg);
    if (!frame.interrupted)
        keep_by_convention(&frame, modules->frames);
    vector_push(modules->arena, modules->frames, frame);
    return DWARF_CB_OK;
}

bool stack_unwind(struct arena *arena, struct stack_modules *modules, const struct stack_copy *copy,
                  stack_frames *frames) {
    if (!attach(modules))
        return false;
    modules->copy = copy;
    modules->arena = arena;
    modules->frames = frames;
    return dwfl_getthread_frames(modules->dwfl, ONLY_THREAD, add_frame, modules) == 0;
}
