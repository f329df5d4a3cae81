/* serve.c: what the program asks of the runtime while a recorded run is traced; see state.h.
 *
 * The functions that do it in a program which is traced directly begin with breakpoints. Here the
 * thread returns from them with the results that they would have; their arguments are in registers
 * (the x86-64 ABI, and runtime/trace/full.S). A replayed signal never interrupts the code of a
 * record, so there is nothing to complete (runtime/trace/signal.c). */
#include "retrace/state.h"

#include "tracee/tracee.h"
#include "x86/registers.h"

#include <string.h>
#include <ucontext.h>

/* A thread that is stopped at a breakpoint. */
struct stop {
    struct retrace *retrace;
    const struct retraced_module *module;
    struct user_regs_struct registers;
    uint64_t returns; /* where the function returns to */
};

static bool is_within(struct code_range range, uint64_t address) {
    return address >= range.begin && address < range.end;
}

static void serve_full(struct stop *stop) {
    struct retraced_thread *thread = attach_thread(stop->retrace, stop->module, &stop->registers);
    if (!thread)
        return;
    bool at_record = !is_within(stop->module->order, stop->returns) &&
                     !is_within(stop->module->measure, stop->returns);
    stop->registers.r11 = reserve_record(stop->retrace, thread, (uint32_t)stop->registers.r10,
                                         at_record ? &stop->registers : NULL);
    read_memory(player_process(stop->retrace->player),
                thread_word_at(&stop->module->data_word, player_process(stop->retrace->player),
                               stop->registers.fs_base),
                &stop->registers.r10, sizeof stop->registers.r10);
}

static void serve_continue(struct stop *stop) {
    struct retraced_thread *thread = attach_thread(stop->retrace, stop->module, &stop->registers);
    if (thread)
        stop->registers.rax = reserve_record(stop->retrace, thread, stop->registers.rdi, NULL);
}

static void serve_readable(struct stop *stop) {
    uint64_t word;
    stop->registers.rax =
        read_memory(player_process(stop->retrace->player), stop->registers.rdi, &word, sizeof word);
}

static void serve_counts(struct stop *stop) {
    struct retraced_thread *thread = find_thread(stop->retrace);
    if (thread)
        note_counter(thread, stop->module, (uint32_t)stop->registers.rdi);
}

static void serve_end(struct stop *stop) {
    struct retraced_thread *thread = find_thread(stop->retrace);
    if (thread)
        write_ticket(stop->retrace, thread);
}

/* ---- signal handlers ---- */

/* Whether an instruction in front of ADDRESS may be a call: as is_behind_call of
 * runtime/trace/caller.c. */
static bool is_behind_call(const struct retraced_process *process, uint64_t address) {
    enum {
        LONGEST = 6
    };
    size_t room;
    const struct retraced_module *module = retraced_module_at(process, address - LONGEST);
    const uint8_t *code =
        module ? binary_code(module->binary, address - LONGEST - module->bias, &room) : NULL;
    if (!code || room < LONGEST || !is_traced_code(process, address))
        return false;
    code += LONGEST;
    return code[-5] == 0xe8 || (code[-6] == 0xff && (code[-5] & 0x38) == 0x10) ||
           (code[-3] == 0xff && (code[-2] & 0x38) == 0x10) ||
           (code[-2] == 0xff && (code[-1] & 0x38) == 0x10);
}

/* Returns the address at which the program itself was interrupted, or that behind its call of other
 * code which was. */
static uint64_t find_caller(const struct retrace *retrace, uint64_t address, uint64_t stack) {
    enum {
        WORDS = 1024 /* that are looked at */
    };
    if (is_traced_code(retrace->process, address) || stack % sizeof(uint64_t))
        return address;
    for (int i = 0; i < WORDS; i++) {
        uint64_t word;
        if (!read_memory(player_process(retrace->player), stack + (uint64_t)i * sizeof word, &word,
                         sizeof word))
            return address;
        if (is_behind_call(retrace->process, word))
            return word | QUIPU_TRACE_IN_CALL;
    }
    return address;
}

/* The kernel has called a function, whose third argument is CONTEXT, directly above its return
 * address. */
static void serve_handler(struct stop *stop) {
    struct retrace *retrace = stop->retrace;
    struct retraced_thread *thread = find_thread(retrace);
    ucontext_t context;
    uint64_t at = stop->registers.rdx;
    if (!thread || !read_memory(player_process(retrace->player), at, &context,
                                offsetof(ucontext_t, uc_mcontext) + sizeof(mcontext_t)))
        return;
    const greg_t *registers = context.uc_mcontext.gregs;
    uint64_t address =
        find_caller(retrace, (uint64_t)registers[REG_RIP], (uint64_t)registers[REG_RSP]);
    uint64_t frame = at - sizeof(uint64_t);
    uint8_t *record = add_record(retrace, thread, QUIPU_TRACE_HANDLER_SIZE);
    record[0] = QUIPU_TRACE_HANDLER;
    memcpy(record + 1, &address, sizeof address);
    memcpy(record + 1 + sizeof address, &frame, sizeof frame);
    vector_push(retrace->arena, &thread->handlers, ((struct active_handler){at}));
}

void leave_handler(struct retrace *retrace) {
    struct user_regs_struct registers;
    struct retraced_thread *thread = find_thread(retrace);
    if (!thread || !get_general_registers(player_process(retrace->player), &registers))
        return;
    for (size_t i = thread->handlers.count; i-- > 0;)
        if (thread->handlers.data[i].frame == registers.rsp) {
            thread->handlers.count = i; /* what it had interrupted does not return any more */
            *add_record(retrace, thread, QUIPU_TRACE_RESUMED_SIZE) = QUIPU_TRACE_RESUMED;
            return;
        }
}

/* ---- breakpoints ---- */

static void (*const serves[SERVED_KINDS])(struct stop *stop) = {
    [SERVED_FULL] = serve_full,       [SERVED_CONTINUE] = serve_continue,
    [SERVED_HANDLER] = serve_handler, [SERVED_READABLE] = serve_readable,
    [SERVED_COUNTS] = serve_counts,   [SERVED_END] = serve_end,
};

/* Returns the module with a breakpoint at ADDRESS, and sets KIND; or NULL. */
static const struct retraced_module *find_served(const struct retraced_process *process,
                                                 uint64_t address, int *kind) {
    for (size_t i = 0; i < process->modules.count; i++)
        for (*kind = 0; *kind < SERVED_KINDS; ++*kind)
            if (process->modules.data[i]->served[*kind] == address)
                return process->modules.data[i];
    return NULL;
}

bool is_served(void *context, uint64_t address) {
    const struct retrace *retrace = context;
    int kind;
    return retrace->process && find_served(retrace->process, address, &kind);
}

void serve_stop(struct retrace *retrace) {
    pid_t number = player_process(retrace->player);
    struct stop stop = {.retrace = retrace};
    int kind;
    bool good = get_general_registers(number, &stop.registers);
    stop.module = find_served(retrace->process, stop.registers.rip, &kind);
    good = good && stop.module &&
           read_memory(number, stop.registers.rsp, &stop.returns, sizeof stop.returns);
    if (good) {
        serves[kind](&stop);
        stop.registers.rip = stop.returns;
        stop.registers.rsp += sizeof stop.returns;
        good = set_general_registers(number, &stop.registers);
    }
    if (!good)
        end_retrace(retrace, "a thread is not where it was stopped");
}
