/* inside.c: see inside.h.
 *
 * Invariants
 *   - A site that is patched has its trampoline and its row of the table.
 *   - Only the two bytes of the instruction change where padding is in reach. Otherwise, those
 *     behind it change, too, which is done only if nobody goes on there: no thread stands there,
 *     and no handler has ever come in there.
 *
 * Not perfect: a program that reads its own code, or its memory map, sees the changes. */
#include "replay/inside.h"

#include "tracee/stop.h"
#include "tracee/tracee.h"
#include "util/memory_map.h"
#include "util/process.h"
#include "x86/kernel.h"
#include "x86/trap.h"

#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

enum {
    VISITS = 3,         /* of an instruction before it is replaced */
    HAS_BASES = 1 << 1, /* AT_HWCAP2: rdfsbase may be used */
    STEPS_MOST = 100,   /* behind the code, up to the program */
};

extern const uint8_t quipu_inside_image[];
extern const uint32_t quipu_inside_image_size;

static uint64_t trampoline_of(uint32_t slot) {
    return QUIPU_INSIDE_TRAMPOLINE + (uint64_t)slot * QUIPU_INSIDE_TRAMPOLINE_SIZE;
}

static uint64_t row_of(uint32_t slot) {
    return QUIPU_INSIDE_TABLE + (uint64_t)slot * sizeof(struct quipu_inside_site);
}

struct inside_site *inside_find_site(const struct inside *inside, uint64_t address) {
    for (size_t i = 0; i < inside->sites.count; i++)
        if (inside->sites.data[i].address == address)
            return &inside->sites.data[i];
    return NULL;
}

static struct inside_site *site_at_slot(const struct inside *inside, uint32_t slot) {
    for (size_t i = 0; i < inside->sites.count; i++)
        if (inside->sites.data[i].slot == slot && inside->sites.data[i].has_slot)
            return &inside->sites.data[i];
    return NULL;
}

/* ---- the memory ---- */

/* The device of the files that tell of processes, among them the program's memory map. */
static uint64_t device_of_processes(void) {
    struct stat status;
    return stat("/proc/self/maps", &status) == 0 ? status.st_dev : 0;
}

static bool fill(pid_t thread, uint32_t mode) {
    struct quipu_inside_state state = {.mode = mode,
                                       .wanted = 1,
                                       .has_bases =
                                           (auxiliary_value(thread, AT_HWCAP2) & HAS_BASES) != 0,
                                       .left_device = device_of_processes()};
    const size_t size = quipu_inside_image_size;
    const uint64_t code[6] = {QUIPU_INSIDE, QUIPU_INSIDE_DATA - QUIPU_INSIDE,
                              PROT_READ | PROT_EXEC};
    if (mode == QUIPU_INSIDE_RECORD)
        inside_find_clock(thread, state.clocks);
    return size <= QUIPU_INSIDE_TRAMPOLINE - QUIPU_INSIDE &&
           write_data(thread, QUIPU_INSIDE, quipu_inside_image, size) &&
           write_data(thread, QUIPU_INSIDE_ROWS, inside_rows(), sizeof *inside_rows()) &&
           write_data(thread, QUIPU_INSIDE_STATE, &state, sizeof state) &&
           inject_call(thread, QUIPU_INSIDE, SYS_mprotect, code, NULL) == 0;
}

/* Maps the memory by SITE, an instruction that makes system calls. */
static void map_memory(struct inside *inside, pid_t thread, uint64_t site, uint32_t mode) {
    const uint64_t arguments[6] = {QUIPU_INSIDE,
                                   QUIPU_INSIDE_END - QUIPU_INSIDE,
                                   PROT_READ | PROT_WRITE | PROT_EXEC,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
                                   UINT64_MAX,
                                   0};
    inside->is_refused =
        inject_call(thread, site, SYS_mmap, arguments, NULL) != QUIPU_INSIDE || !fill(thread, mode);
    inside->is_mapped = !inside->is_refused;
}

/* ---- what is mapped ---- */

static void read_code(struct inside *inside, struct arena *arena, pid_t thread) {
    struct memory_map map;
    struct memory_mapping mapping;
    memory_map_open(&map, thread);
    inside->code.count = 0;
    while (memory_map_next(&map, &mapping)) {
        if (!mapping.is_file || (mapping.protection & (PROT_WRITE | PROT_EXEC)) != PROT_EXEC)
            continue;
        struct inside_code code = {mapping.start, mapping.end, mapping.offset,
                                   arena_copy(arena, mapping.path, strlen(mapping.path))};
        vector_push(arena, &inside->code, code);
    }
    memory_map_close(&map);
}

static const struct inside_code *find_code_in(const struct inside *inside, uint64_t address) {
    for (size_t i = 0; i < inside->code.count; i++)
        if (address - inside->code.data[i].start <
            inside->code.data[i].end - inside->code.data[i].start)
            return &inside->code.data[i];
    return NULL;
}

const struct inside_plan *inside_plan_at(struct inside *inside, struct arena *arena,
                                         struct inside_files *files, pid_t thread,
                                         uint64_t address) {
    if (!find_code_in(inside, address))
        read_code(inside, arena, thread);
    const struct inside_code *code = find_code_in(inside, address);
    return code ? find_inside_plan(files, code->path, address - code->start + code->offset) : NULL;
}

/* ---- sites ---- */

/* Returns the bytes at the site that change. */
static size_t patched_size(const struct inside_plan *plan) {
    return plan->moved ? (size_t)CALL_SIZE + plan->moved : CALL_SIZE;
}

/* Writes the trampoline of SITE, and its row. */
static bool write_slot(pid_t thread, const struct inside_site *site) {
    const uint64_t start = trampoline_of(site->slot), behind = site->address + CALL_SIZE;
    const uint8_t moved = site->plan->moved;
    const struct quipu_inside_site row = {
        .behind = behind,
        .goes_on = moved ? start + QUIPU_INSIDE_SITE_REST : behind,
        .is_left = start + QUIPU_INSIDE_SITE_CALL,
        .to_start = start,
        .rest = behind + moved,
    };
    uint8_t code[QUIPU_INSIDE_TRAMPOLINE_SIZE] = {0};
    write_numbered_jump(code, start, site->slot, QUIPU_INSIDE_ENTER);
    write_call(code + QUIPU_INSIDE_SITE_CALL);
    memcpy(code + QUIPU_INSIDE_SITE_REST, site->plan->code + CALL_SIZE, moved);
    write_word_jump(code + QUIPU_INSIDE_SITE_REST + moved,
                    row_of(site->slot) + offsetof(struct quipu_inside_site, rest));
    return write_memory(thread, start, code, sizeof code) &&
           write_data(thread, row_of(site->slot), &row, sizeof row);
}

/* The bytes of a replaced instruction, and of its padding. */
struct jumps {
    uint8_t code[CALL_SIZE + CALL_MOVED_MOST], padding[CALL_JUMP_SIZE];
};

static struct jumps make_jumps(const struct inside_site *site) {
    const uint64_t word = row_of(site->slot) + offsetof(struct quipu_inside_site, to_start);
    struct jumps jumps;
    write_word_jump(jumps.padding, word);
    memcpy(jumps.code, site->plan->code, sizeof jumps.code);
    if (site->plan->moved)
        memcpy(jumps.code, jumps.padding, sizeof jumps.padding);
    else
        write_short_jump(jumps.code, site->address, site->address + (uint64_t)site->plan->padding);
    return jumps;
}

static uint64_t padding_of(const struct inside_site *site) {
    return site->address + (uint64_t)site->plan->padding;
}

static bool write_jumps(pid_t thread, const struct inside_site *site) {
    const struct jumps jumps = make_jumps(site);
    return (site->plan->moved ||
            write_memory(thread, padding_of(site), jumps.padding, sizeof jumps.padding)) &&
           write_memory(thread, site->address, jumps.code, patched_size(site->plan));
}

/* Whether the jump is there: other code may have been mapped meanwhile. */
static bool has_jump(pid_t thread, const struct inside_site *site) {
    const struct jumps jumps = make_jumps(site);
    uint8_t code[CALL_SIZE + CALL_MOVED_MOST];
    size_t size = patched_size(site->plan);
    return read_memory(thread, site->address, code, size) && memcmp(code, jumps.code, size) == 0;
}

/* Whether the process has the bytes that the file has. */
static bool is_as_planned(pid_t thread, const struct inside_site *site) {
    uint8_t code[CALL_SIZE + CALL_MOVED_MOST], padding[CALL_JUMP_SIZE];
    const struct inside_plan *plan = site->plan;
    size_t size = patched_size(plan);
    return read_memory(thread, site->address, code, size) && memcmp(code, plan->code, size) == 0 &&
           (plan->moved || (read_memory(thread, padding_of(site), padding, sizeof padding) &&
                            memcmp(padding, plan->padding_code, sizeof padding) == 0));
}

/* Returns the site at ADDRESS, a new one if there was none. */
static struct inside_site *take_site(struct inside *inside, struct arena *arena, uint64_t address) {
    struct inside_site *site = inside_find_site(inside, address);
    if (site)
        return site;
    vector_push(arena, &inside->sites, ((struct inside_site){.address = address}));
    return &inside->sites.data[inside->sites.count - 1];
}

bool inside_is_due(struct inside *inside, struct arena *arena, uint64_t address) {
    if (inside->is_refused || inside->is_shared || is_inside(address))
        return false;
    struct inside_site *site = take_site(inside, arena, address);
    return !site->is_patched && !site->is_retired && ++site->visits >= VISITS;
}

static void retire(struct inside_site *site, pid_t thread) {
    if (site->is_patched && has_jump(thread, site))
        write_memory(thread, site->address, site->plan->code, patched_size(site->plan));
    site->is_patched = false;
    site->is_retired = true;
}

/* Whether the site can be replaced now. If it never can, it is retired. */
static bool can_replace(struct inside_site *site, pid_t thread, bool may_move) {
    const struct inside_plan *plan = site->plan;
    bool never = !plan || (!plan->padding && !plan->moved) || (plan->moved && site->is_passed) ||
                 !is_as_planned(thread, site);
    site->is_retired |= never;
    if (!never && plan->moved && !may_move)
        site->visits = 0;
    return !never && (may_move || !plan->moved);
}

bool inside_replace(struct inside *inside, pid_t thread, const struct inside_visit *visit) {
    struct inside_site *site = take_site(inside, visit->arena, visit->address);
    if (site->is_patched || site->is_retired || inside->is_refused || inside->is_shared)
        return false;
    site->plan = visit->plan;
    if (!can_replace(site, thread, visit->may_move))
        return false;
    if (!inside->is_mapped)
        map_memory(inside, thread, visit->address, visit->mode);
    if (!inside->is_mapped || inside->slots == QUIPU_INSIDE_SITES)
        return false;
    site->slot = inside->slots++;
    site->has_slot = true;
    site->is_patched = write_slot(thread, site) && write_jumps(thread, site);
    site->is_retired = !site->is_patched;
    if (site->is_patched && site->plan->moved &&
        next_instruction(thread) == site->address + CALL_SIZE)
        set_register(thread, offsetof(struct user_regs_struct, rip),
                     trampoline_of(site->slot) + QUIPU_INSIDE_SITE_REST);
    return site->is_patched;
}

void inside_restore(struct inside *inside, pid_t thread) {
    const uint32_t gone = QUIPU_INSIDE_GONE;
    if (inside->is_mapped)
        write_data(thread, QUIPU_INSIDE_STATE + offsetof(struct quipu_inside_state, mode), &gone,
                   sizeof gone);
    for (size_t i = 0; i < inside->sites.count; i++)
        retire(&inside->sites.data[i], thread);
}

/* Writes what the program has at the site. */
static void hide_jumps(pid_t process, const struct inside_site *site) {
    if (!has_jump(process, site))
        return;
    write_memory(process, site->address, site->plan->code, patched_size(site->plan));
    if (site->plan->padding)
        write_memory(process, padding_of(site), site->plan->padding_code, CALL_JUMP_SIZE);
}

void inside_show(const struct inside *inside, pid_t process, bool on) {
    for (size_t i = 0; i < inside->sites.count; i++) {
        const struct inside_site *site = &inside->sites.data[i];
        if (site->is_patched && !on)
            hide_jumps(process, site);
        else if (site->is_patched && is_as_planned(process, site))
            write_jumps(process, site);
    }
}

void inside_copy(struct arena *arena, const struct inside *from, struct inside *to) {
    *to = *from;
    to->sites.data = NULL;
    to->sites.count = to->sites.capacity = 0;
    to->code.data = NULL;
    to->code.count = to->code.capacity = 0;
    for (size_t i = 0; i < from->sites.count; i++)
        vector_push(arena, &to->sites, from->sites.data[i]);
}

uint64_t inside_behind(const struct inside_site *site) {
    return site->plan->moved && site->is_patched
               ? trampoline_of(site->slot) + QUIPU_INSIDE_SITE_REST
               : site->address + CALL_SIZE;
}

void inside_forget(struct inside *inside) {
    *inside = (struct inside){0};
}

/* ---- threads ---- */

/* Returns the site in whose trampoline ADDRESS is, and sets PLACE to where; or NULL. */
static struct inside_site *site_around(const struct inside *inside, uint64_t address,
                                       uint64_t *place) {
    uint64_t distance = address - QUIPU_INSIDE_TRAMPOLINE;
    if (!inside->is_mapped || distance >= QUIPU_INSIDE_DATA - QUIPU_INSIDE_TRAMPOLINE)
        return NULL;
    *place = distance % QUIPU_INSIDE_TRAMPOLINE_SIZE;
    return site_at_slot(inside, (uint32_t)(distance / QUIPU_INSIDE_TRAMPOLINE_SIZE));
}

/* Returns the site whose own instruction has made the call at which a thread has stopped with
 * REGISTERS, or NULL. */
static const struct inside_site *left_site(const struct inside *inside,
                                           const struct user_regs_struct *registers) {
    uint64_t place;
    const struct inside_site *site = site_around(inside, registers->rip, &place);
    return site && place == QUIPU_INSIDE_SITE_REST ? site : NULL;
}

void inside_look(const struct inside *inside, struct user_regs_struct *registers) {
    uint64_t place;
    const struct inside_site *site = site_around(inside, registers->rip, &place);
    if (site && place == QUIPU_INSIDE_SITE_REST)
        registers->rip = registers->rcx = site->address + CALL_SIZE;
    else if (site && place == QUIPU_INSIDE_SITE_CALL)
        registers->rip = site->address;
}

bool inside_enter(const struct inside *inside, pid_t thread, struct user_regs_struct *registers) {
    const struct inside_site *site = left_site(inside, registers);
    if (!site)
        return false;
    struct user_regs_struct own = *registers;
    inside_look(inside, registers);
    own.rcx = registers->rcx;
    if (!site->plan->moved || !site->is_patched)
        own.rip = registers->rip;
    set_general_registers(thread, &own);
    return true;
}

void inside_return(struct inside *inside, struct arena *arena, pid_t thread) {
    uint64_t place, at = next_instruction(thread);
    struct inside_site *site = site_around(inside, at, &place);
    if (site && (place == QUIPU_INSIDE_SITE_REST || place == QUIPU_INSIDE_SITE_CALL)) {
        retire(site, thread);
        uint64_t behind = place == QUIPU_INSIDE_SITE_REST ? CALL_SIZE : 0;
        set_register(thread, offsetof(struct user_regs_struct, rip), site->address + behind);
    } else {
        take_site(inside, arena, at - CALL_SIZE)->is_passed = true;
    }
}

bool inside_is_busy(const struct inside *inside, pid_t thread) {
    uint64_t place, at = inside->is_mapped ? next_instruction(thread) : 0;
    return is_inside(at) && (!site_around(inside, at, &place) || place < QUIPU_INSIDE_SITE_CALL);
}

/* Continues THREAD by REQUEST. Returns whether it has stopped by a trap. The end of a first thread
 * that was killed is told only behind those of others. */
static bool go(pid_t thread, enum __ptrace_request request, int signal, int *status) {
    pid_t stopped;
    *status = 0;
    if (ptrace(request, thread, NULL, (void *)(intptr_t)signal) != 0)
        return false;
    while ((stopped = waitpid(thread, status, __WALL | WNOHANG)) == 0 && !has_ended(thread, thread))
        sched_yield();
    return stopped == thread && *status == STEPPED;
}

/* The thread stands at the instruction that makes calls, or in a call that was interrupted. It goes
 * on behind the instruction, as if interrupted: so the code leaves the call. */
static void skip_inside(pid_t thread, struct user_regs_struct *registers) {
    registers->rip = QUIPU_INSIDE_CALL_END;
    registers->rax = (uint64_t)-INSIDE_RESTART_FIRST;
    registers->orig_rax = UINT64_MAX;
    set_general_registers(thread, registers);
}

/* The places where the code is stopped: in front of a call, and behind all of it. */
static const uint64_t traps[] = {QUIPU_INSIDE, QUIPU_INSIDE_EXIT};

enum {
    TRAPS = sizeof traps / sizeof *traps
};

/* Continues THREAD, which is in the code, to its end. Returns as inside_run_out. */
static int run_to_exit(pid_t thread, int signal) {
    const uint8_t trap = BREAKPOINT_BYTE;
    struct user_regs_struct registers;
    uint8_t own[TRAPS];
    int status = 0;
    if (get_general_registers(thread, &registers) && inside_is_interrupted(&registers))
        skip_inside(thread, &registers);
    for (int i = 0; i < TRAPS; i++)
        if (!read_memory(thread, traps[i], &own[i], 1) || !write_memory(thread, traps[i], &trap, 1))
            return 0;
    bool at_exit = false;
    while (!at_exit && go(thread, PTRACE_CONT, signal, &status) &&
           get_general_registers(thread, &registers)) {
        signal = 0;
        at_exit = registers.rip == QUIPU_INSIDE_EXIT + 1;
        if (!at_exit)
            skip_inside(thread, &registers);
    }
    for (int i = 0; i < TRAPS; i++)
        write_memory(thread, traps[i], &own[i], 1);
    if (at_exit)
        set_register(thread, offsetof(struct user_regs_struct, rip), QUIPU_INSIDE_EXIT);
    return at_exit ? 0 : status;
}

int inside_run_out(const struct inside *inside, pid_t thread, int signal) {
    int status = inside_is_busy(inside, thread) ? run_to_exit(thread, signal) : 0;
    uint64_t behind;
    if (!status && next_instruction(thread) == QUIPU_INSIDE_EXIT &&
        read_memory(thread, QUIPU_INSIDE_CONTINUE, &behind, sizeof behind))
        set_register(thread, offsetof(struct user_regs_struct, rip), behind);
    return status;
}

int inside_step_out(const struct inside *inside, pid_t thread) {
    uint64_t place;
    int status = 0;
    for (int i = 0; i < STEPS_MOST && !status; i++) {
        if (!site_around(inside, next_instruction(thread), &place) ||
            place <= QUIPU_INSIDE_SITE_REST)
            return 0;
        if (go(thread, PTRACE_SINGLESTEP, 0, &status))
            status = 0;
    }
    return status;
}

/* ---- the state in the memory ---- */

void inside_set_left(struct inside *inside, pid_t thread, uint32_t left) {
    const uint64_t place = QUIPU_INSIDE_STATE + offsetof(struct quipu_inside_state, left);
    if (inside->is_mapped && inside->left != left && write_data(thread, place, &left, sizeof left))
        inside->left = left;
}

void inside_set_streams(struct inside *inside, pid_t thread, const uint8_t *streams) {
    const uint64_t place = QUIPU_INSIDE_STATE + offsetof(struct quipu_inside_state, streams);
    if (inside->is_mapped && memcmp(inside->streams, streams, sizeof inside->streams) != 0 &&
        write_data(thread, place, streams, sizeof inside->streams))
        memcpy(inside->streams, streams, sizeof inside->streams);
}

void inside_forget_descriptors(struct inside *inside, pid_t thread) {
    static const uint8_t unknown[QUIPU_INSIDE_DESCRIPTORS];
    if (inside->is_mapped)
        write_data(thread, QUIPU_INSIDE_STATE + offsetof(struct quipu_inside_state, descriptors),
                   unknown, sizeof unknown);
}
