/* state_stop.c: see state_stop.h.
 *
 * Invariant: while a stop is set, the thread is in its own text, in the code that compares, or in
 * the instructions that were moved; and no other thread of the process executes.
 *
 * Not perfect: memory that is left out of the hash may be all that tells two passes apart. */
#include "tracee/state_stop.h"

#include "tracee/free_memory.h"
#include "tracee/shared_text.h"
#include "tracee/stop.h"
#include "tracee/tracee.h"
#include "x86/call_stop.h"
#include "x86/decode.h"
#include "x86/kernel.h"
#include "x86/trap.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

enum {
    PAGE = 4096,
    CODE_ROOM = 2 * PAGE, /* of the code and its data */
    WORDS_OF_PAGE = 8,    /* that are compared, of a page, if there are few */
    PAGES_FEW = CHECK_WORDS_MAX / WORDS_OF_PAGE
};

/* ---- the state ---- */

static void read_stack(pid_t thread, struct state_place *place) {
    struct iovec here = {place->data.stack, sizeof place->data.stack};
    struct iovec there = {(void *)checked_stack(&place->registers), here.iov_len};
    ssize_t count = process_vm_readv(thread, &here, 1, &there, 1, 0);
    if (count < 0) { /* up to the end of its page */
        here.iov_len = there.iov_len = PAGE - (uint64_t)there.iov_base % PAGE;
        count = process_vm_readv(thread, &here, 1, &there, 1, 0);
    }
    place->data.stack_count = count > 0 ? (uint64_t)count / sizeof(uint64_t) : 0;
}

/* The words of memory that have changed: of each page the first ones. */
struct changes {
    struct arena arena;
    VECTOR(struct checked_word) words;
    VECTOR(size_t) pages; /* index of each page's first word */
};

static bool is_left_out(const struct state_place *place, uint64_t address) {
    uint64_t stack = checked_stack(&place->registers);
    if (address - stack < place->data.stack_count * sizeof(uint64_t))
        return true; /* it is compared anyway */
    for (size_t i = 0; i < place->left_out.count; i++)
        if (address - place->left_out.data[i].start <
            place->left_out.data[i].end - place->left_out.data[i].start)
            return true;
    return false;
}

static void find_changed_words(const struct state_place *place, struct changes *changes,
                               uint64_t address, const uint8_t *then, const uint8_t *now,
                               size_t size) {
    size_t first = changes->words.count;
    for (size_t at = 0; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t)) {
        struct checked_word word = {.address = address + at};
        if (memcmp(then + at, now + at, sizeof word.value) == 0 || is_left_out(place, word.address))
            continue;
        memcpy(&word.value, now + at, sizeof word.value);
        vector_push(&changes->arena, &changes->words, word);
        if (changes->words.count == first + WORDS_OF_PAGE)
            break;
    }
    if (changes->words.count > first)
        vector_push(&changes->arena, &changes->pages, first);
}

/* Some of the words that have changed since EARLIER tell passes apart that have the same registers:
 * all pages have their part of them. */
static void choose_words(pid_t thread, const range_list *earlier, struct state_place *place) {
    struct changes changes = {.arena = {0}};
    struct state_check_data *data = &place->data;
    for (size_t i = 0; i < earlier->count; i++) {
        const struct memory_range *then = &earlier->data[i];
        for (size_t at = 0; at < then->size; at += PAGE) {
            uint8_t now[PAGE];
            size_t size = then->size - at < PAGE ? then->size - at : PAGE;
            if (read_memory(thread, then->address + at, now, size) &&
                memcmp(now, then->bytes + at, size) != 0)
                find_changed_words(place, &changes, then->address + at, then->bytes + at, now,
                                   size);
        }
    }
    size_t pages = changes.pages.count, count = pages < CHECK_WORDS_MAX ? pages : CHECK_WORDS_MAX;
    if (pages <= PAGES_FEW)
        count = changes.words.count;
    for (size_t i = 0; i < count; i++)
        data->words[i] =
            changes.words.data[pages <= PAGES_FEW ? i : changes.pages.data[i * pages / count]];
    data->word_count = count;
    arena_release(&changes.arena);
}

bool describe_state(pid_t thread, const range_list *earlier, struct state_place *place) {
    static struct registers registers;
    if (!get_registers(thread, &registers))
        return false;
    place->registers = registers.general;
    place->vectors = hash_vectors(&registers);
    set_checked_registers(&place->data, &registers);
    read_stack(thread, place);
    choose_words(thread, earlier, place);
    return place->data.stack_count;
}

/* Whether a word is there wherever the thread is: the kernel extends the first stack by and by. */
static bool is_always_there(const struct state_place *place, uint64_t address) {
    static const uint64_t stack = 8 << 20;
    return address - place->registers.rsp + stack > 2 * stack;
}

/* Returns a value that differs between two passes. */
static struct quick_value choose_quick(const struct state_place *one,
                                       const struct state_place *other) {
    const struct state_check_data *first = &one->data, *second = &other->data;
    uint64_t most = 0;
    struct quick_value quick = {.kind = QUICK_REGISTER};
    for (unsigned i = 0; i < GENERAL_REGISTERS; i++) {
        uint64_t up = first->general[i] - second->general[i], down = -up;
        uint64_t distance = up < down ? up : down;
        if (distance <= most)
            continue;
        most = distance;
        quick.place = i;
    }
    for (uint64_t i = 0; i < second->stack_count && i < first->stack_count && !most; i++)
        if (first->stack[i] != second->stack[i])
            return (struct quick_value){QUICK_STACK, i};
    for (uint64_t i = 0; i < second->word_count && i < first->word_count && !most; i++)
        if (first->words[i].address == second->words[i].address &&
            first->words[i].value != second->words[i].value &&
            is_always_there(other, second->words[i].address))
            return (struct quick_value){QUICK_WORD, second->words[i].address};
    return quick;
}

bool complete_state(pid_t thread, const struct state_place *former, struct state_place *place) {
    place->quick = (struct quick_value){.kind = QUICK_REGISTER};
    if (former)
        place->quick = choose_quick(former, place);
    return set_quick_value(&place->data, &place->quick) &&
           hash_writable_memory(thread, &place->left_out, &place->memory);
}

bool is_at_state_place(pid_t thread, const struct state_place *place) {
    static struct registers registers;
    uint64_t memory;
    return get_general_registers(thread, &registers.general) &&
           has_same_registers(&registers.general, &place->registers) &&
           get_registers(thread, &registers) && hash_vectors(&registers) == place->vectors &&
           hash_writable_memory(thread, &place->left_out, &memory) && memory == place->memory;
}

/* ---- memory for the code ---- */

/* Returns an address between START and END, where nothing is mapped, that a long jump at ADDRESS
 * reaches, and from which what is mapped is far away; 0 if there is none. */
static uint64_t choose_address(uint64_t start, uint64_t end, uint64_t address) {
    static const uint64_t far = 64 << 20, wanted = 1 << 30, reach = 0x70000000;
    uint64_t margin = (end - start) / 4 < far ? (end - start) / 4 & ~(uint64_t)(PAGE - 1) : far;
    uint64_t least = start + margin, most = end - margin - CODE_ROOM;
    uint64_t at = address > wanted ? (address - wanted) & ~(uint64_t)(PAGE - 1) : 0;
    if (end - start < 4 * (uint64_t)CODE_ROOM)
        return 0;
    at = at < least ? least : at > most ? most : at;
    uint64_t distance = at < address ? address - at : at - address;
    return distance < reach ? at : 0;
}

static uint64_t find_room(pid_t thread, uint64_t address) {
    static const uint64_t first = 1 << 20, last = UINT64_C(0x7ffffffff000);
    return find_free_memory(thread, first, last, choose_address, address);
}

/* Makes a system call by an instruction at the address of STOP. */
static int64_t call_at(const struct state_stop *stop, pid_t thread, long number,
                       const uint64_t arguments[6]) {
    static const uint8_t code[] = {0x0f, 0x05};
    if (!write_text(thread, stop->shared, stop->address, code, sizeof code))
        return -1;
    int64_t result = inject_call(thread, stop->address, number, arguments, NULL);
    return write_text(thread, stop->shared, stop->address, stop->bytes, sizeof code) ? result : -1;
}

static bool map_code(struct state_stop *stop, pid_t thread) {
    const uint64_t arguments[6] = {find_room(thread, stop->address),
                                   CODE_ROOM,
                                   PROT_READ | PROT_WRITE | PROT_EXEC,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
                                   UINT64_MAX,
                                   0};
    if (!arguments[0] || call_at(stop, thread, SYS_mmap, arguments) != (int64_t)arguments[0])
        return false;
    stop->check.code = arguments[0];
    stop->check.data = arguments[0] + PAGE;
    return true;
}

static void unmap_code(struct state_stop *stop, pid_t thread) {
    const uint64_t arguments[6] = {stop->check.code, CODE_ROOM};
    if (stop->check.code)
        call_at(stop, thread, SYS_munmap, arguments);
    stop->check.code = 0;
}

/* ---- stops ---- */

static bool set_check(struct state_stop *stop, pid_t thread, const struct state_place *place) {
    uint8_t code[CHECK_CODE_MAX] = {0}, jump[LONG_JUMP_SIZE];
    stop->check =
        (struct state_check){.address = stop->address, .quick = place->quick, .size = place->size};
    memcpy(stop->check.bytes, place->bytes, place->size);
    memcpy(stop->bytes, place->bytes, place->size);
    stop->changed = sizeof jump;
    if (!map_code(stop, thread))
        return false;
    if (write_state_check(&stop->check, code, jump) &&
        write_data(thread, stop->check.code, code, sizeof code) &&
        write_data(thread, stop->check.data, &place->data, sizeof place->data) &&
        write_text(thread, stop->shared, stop->address, jump, sizeof jump))
        return true;
    unmap_code(stop, thread);
    return false;
}

/* Whether the process has the instructions of PLACE, and THREAD is not in the middle of them. */
static bool may_check(pid_t thread, const struct state_place *place) {
    uint8_t bytes[MOVED_MAX];
    uint64_t address = place->registers.rip, at = next_instruction(thread);
    return place->size && (at <= address || at >= address + place->size) &&
           read_memory(thread, address, bytes, place->size) &&
           memcmp(bytes, place->bytes, place->size) == 0;
}

void state_stop_begin(struct state_stop *stop, pid_t thread, int shared,
                      const struct state_place *place) {
    const uint8_t trap = BREAKPOINT_BYTE;
    *stop = (struct state_stop){.address = place->registers.rip, .shared = shared};
    stop->is_set = may_check(thread, place) && set_check(stop, thread, place);
    if (stop->is_set || !read_memory(thread, stop->address, stop->bytes, 1) ||
        *stop->bytes == BREAKPOINT_BYTE)
        return;
    stop->changed = 1;
    stop->is_set = write_text(thread, shared, stop->address, &trap, 1);
}

/* The thread cannot read the quick value, as it has another stack: it is at another pass. */
static void leave_fault(const struct state_stop *stop, pid_t thread) {
    struct state_check_data data;
    if (read_memory(thread, stop->check.data, &data, sizeof data))
        set_register(thread, offsetof(struct user_regs_struct, rcx), checked_counter(&data));
    set_thread_address(thread, stop->address);
}

/* The thread stands in the code that compares. It goes on to the end of that. Returns whether it
 * has the wanted state. */
static bool step_out(const struct state_check *check, pid_t thread) {
    for (;;) {
        uint64_t at = next_instruction(thread);
        int status;
        if (at + 1 == check->found)
            return true;
        if (!is_in_check(check, at) || unmoved_address(check, at) ||
            ptrace(PTRACE_SINGLESTEP, thread, NULL, NULL) != 0 ||
            waitpid(thread, &status, __WALL) != thread || !WIFSTOPPED(status))
            return false;
    }
}

static enum state_stopped leave_check(const struct state_stop *stop, pid_t thread, int status) {
    const struct state_check *check = &stop->check;
    uint64_t at = next_instruction(thread);
    if (!is_in_check(check, at))
        return STATE_NONE;
    bool is_found = status == STEPPED && at == check->found;
    bool is_before = !is_found && !unmoved_address(check, at);
    if (is_before && (WSTOPSIG(status) == SIGSEGV || WSTOPSIG(status) == SIGBUS)) {
        leave_fault(stop, thread);
        return STATE_ON_WAY;
    }
    if (is_before)
        is_found = step_out(check, thread);
    at = unmoved_address(check, next_instruction(thread));
    set_thread_address(thread, is_found ? stop->address : at);
    if (is_found)
        return status == STEPPED ? STATE_REACHED : STATE_NONE;
    return is_before && status == STEPPED ? STATE_ON_WAY : STATE_NONE;
}

static enum state_stopped leave_breakpoint(const struct state_stop *stop, pid_t thread,
                                           int status) {
    uint64_t at;
    if (status != STEPPED || !trap_address(thread, &at) || at != stop->address)
        return STATE_NONE;
    set_thread_address(thread, at);
    return STATE_REACHED;
}

/* As unmap_code. Why THREAD has stopped can be asked as before: the calls are stops of their own.
 */
static void unmap_code_quietly(struct state_stop *stop, pid_t thread) {
    siginfo_t info;
    bool has_info = ptrace(PTRACE_GETSIGINFO, thread, NULL, &info) == 0;
    unmap_code(stop, thread);
    if (has_info)
        ptrace(PTRACE_SETSIGINFO, thread, NULL, &info);
}

enum state_stopped state_stop_end(struct state_stop *stop, pid_t thread, int status) {
    bool in_call = WIFSTOPPED(status) && WSTOPSIG(status) == CALL_STOP;
    if (!stop->is_set || !WIFSTOPPED(status))
        return STATE_NONE;
    stop->is_set = false;
    enum state_stopped stopped = stop->check.code ? leave_check(stop, thread, status)
                                                  : leave_breakpoint(stop, thread, status);
    write_text(thread, stop->shared, stop->address, stop->bytes, stop->changed);
    if (!in_call) /* where the run differs */
        unmap_code_quietly(stop, thread);
    return stopped;
}
