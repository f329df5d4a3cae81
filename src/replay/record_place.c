/* record_place.c: stops a recorded thread in code that has no ticks; see record.h.
 *
 * A replay finds the place by its state (tracee/state_stop.h). It passes the instruction often, up
 * to millions of times, so that is one which a comparison can replace. Besides registers and stack,
 * some words of memory are compared that have changed just before: so passes with the same
 * registers are told apart at full speed, too. At last all memory is.
 *
 * What is dead on the stacks is left out: the loader stores vectors there by xsavec, in a way that
 * depends on switches of context. So is what calls of other threads may write before they have
 * their results: a replay writes that later.
 *
 * Not perfect: there is no place in a loop of a few short instructions in which a jump has no room,
 * nor in the loader. */
#include "replay/record.h"

#include "tracee/state_stop.h"
#include "util/clock.h"
#include "util/memory_map.h"
#include "x86/decode.h"
#include "x86/kernel.h"
#include "x86/trap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <time.h>

enum {
    PAGE = 4096,
    STEPS_MAX = 300,            /* to a place */
    DEAD_MAX = 1 << 20,         /* bytes below it that are left out, of a thread's stack */
    COPIED_MAX = 1 << 20,       /* bytes of a mapping that are looked at for changes */
    CODE_READ = MOVED_MAX + 16, /* bytes of code that are looked at */
};

/* In seconds: how long a thread executes before it is stopped if only its turn is to end; between
 * two looks at its memory. */
static const double turn_least = 0.05;
static const long apart = 2000000; /* nanoseconds */

/* Places take at most this part of the time, unless the pause between them would be longer. */
static const double share = 0.1, pause_most = 0.5;

/* ---- mappings ---- */

struct place_mapping {
    uint64_t start, end, offset;
    bool is_writable;
    bool is_stack, may_be_stack; /* of the first thread; of another */
    const char *path;
};

struct mappings {
    struct arena arena;
    VECTOR(struct place_mapping) list;
};

static void read_mappings(pid_t thread, struct mappings *mappings) {
    struct memory_map map;
    struct memory_mapping found;
    memory_map_open(&map, thread);
    while (memory_map_next(&map, &found)) {
        struct place_mapping mapping = {
            .start = found.start, .end = found.end, .offset = found.offset};
        mapping.is_writable = is_read_and_written(&found);
        mapping.path = arena_copy(&mappings->arena, found.path, strlen(found.path));
        mapping.is_stack = strcmp(mapping.path, "[stack]") == 0;
        mapping.may_be_stack = mapping.is_writable && !*mapping.path;
        vector_push(&mappings->arena, &mappings->list, mapping);
    }
    memory_map_close(&map);
}

static const struct place_mapping *find_mapping(const struct mappings *mappings, uint64_t address) {
    for (size_t i = 0; i < mappings->list.count; i++)
        if (address - mappings->list.data[i].start <
            mappings->list.data[i].end - mappings->list.data[i].start)
            return &mappings->list.data[i];
    return NULL;
}

/* ---- what is left out ---- */

static void leave_out(struct arena *arena, struct state_place *place, uint64_t start,
                      uint64_t end) {
    if (start < end)
        vector_push(arena, &place->left_out, ((struct address_range){start, end}));
}

/* Returns the stack pointer of a thread that does not execute. */
static uint64_t stack_pointer(const struct recorded_thread *thread) {
    char name[64], text[256] = "";
    struct user_regs_struct registers;
    if (get_general_registers(thread->number, &registers))
        return registers.rsp;
    snprintf(name, sizeof name, "/proc/%d/task/%d/syscall", (int)thread->process->number,
             (int)thread->number);
    FILE *file = fopen(name, "re");
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[size] = '\0';
    char *last = strrchr(text, ' '); /* in front of the address of the code */
    if (!last)
        return 0;
    *last = '\0';
    const char *pointer = strrchr(text, ' ');
    return pointer ? strtoull(pointer, NULL, 16) : 0;
}

static void leave_out_stack(struct arena *arena, const struct mappings *mappings,
                            const struct recorded_thread *thread, struct state_place *place) {
    uint64_t dead = stack_pointer(thread) - RED_ZONE;
    const struct place_mapping *mapping = find_mapping(mappings, dead);
    bool on_alternate = dead - thread->stack < thread->stack_end - thread->stack;
    if (!on_alternate)
        leave_out(arena, place, thread->stack, thread->stack_end);
    if (!mapping || !(mapping->is_stack || mapping->may_be_stack))
        return;
    bool is_near = mapping->is_stack || dead - mapping->start < DEAD_MAX;
    leave_out(arena, place, is_near ? mapping->start : dead - DEAD_MAX, dead);
}

/* Returns false if a call of THREAD may write anywhere. */
static bool leave_out_call(struct arena *arena, struct recorded_thread *thread,
                           struct state_place *place) {
    range_list ranges = {0};
    bool in_call = thread->state == RECORD_IN_CALL || thread->state == RECORD_INTERRUPTED;
    if (!in_call)
        return true;
    if (!effects_to_come(&thread->effects, thread->number, &thread->call, arena, &ranges))
        return false;
    for (size_t i = 0; i < ranges.count; i++)
        leave_out(arena, place, ranges.data[i].address,
                  ranges.data[i].address + ranges.data[i].size);
    return true;
}

static bool find_left_out(struct arena *arena, const struct mappings *mappings,
                          const struct recorded_thread *thread, struct state_place *place) {
    leave_out(arena, place, QUIPU_INSIDE, QUIPU_INSIDE_END);
    for (struct recorded_thread *at = thread->recorder->threads; at; at = at->next) {
        if (at->process == thread->process && at->state < RECORD_ENDS)
            leave_out_stack(arena, mappings, at, place);
        if (at != thread && at->process->group == thread->process->group &&
            !leave_out_call(arena, at, place))
            return false;
    }
    return place->left_out.count <= LEFT_OUT_MAX;
}

/* ---- the instruction ---- */

/* Whether the code in MAPPING can have places: the program's own has ticks, if any. */
static bool may_have_places(struct recorded_thread *thread, const struct place_mapping *mapping) {
    const struct recorded_process *process = thread->process;
    const char *name = strrchr(mapping->path, '/');
    if (name && strncmp(name, "/ld", 3) == 0)
        return false;
    return strcmp(mapping->path, process->path) != 0 ||
           !ticks_has_code(&thread->process->ticks, thread->number);
}

static size_t lesser(size_t one, size_t other) {
    return one < other ? one : other;
}

/* If the instruction at ADDRESS may be replaced, sets the PLACE's bytes, and returns true. */
static bool find_bytes(struct recorded_thread *thread, const struct place_mapping *mapping,
                       uint64_t address, struct state_place *place) {
    uint8_t code[CODE_READ] = {0};
    size_t size = 0, at = 0, left = mapping->end - address;
    size_t count = lesser(left, sizeof code);
    if (!read_memory(thread->number, address, code, count))
        return false;
    struct inside_files *files = &thread->recorder->inside_files;
    const uint64_t offset = address - mapping->start + mapping->offset;
    const uint8_t *function =
        *mapping->path == '/' ? find_code_function(files, mapping->path, offset, &size, &at) : NULL;
    if (function && (at >= size || memcmp(function + at, code, lesser(count, size - at)) != 0))
        function = NULL; /* the process has changed it */
    place->size = (uint8_t)bytes_for_jump(code, count, function, size, at);
    const bool is_one = bytes_for_jump(code, count, NULL, 0, 0); /* instruction */
    if (place->size && !is_one &&
        is_entered_from_other_functions(files, mapping->path, offset, offset + place->size))
        place->size = 0;
    memcpy(place->bytes, code, place->size);
    return place->size;
}

/* A string instruction that repeats is stepped once for each of its turns. So the thread goes on
 * behind it at once. Returns false if there is another instruction, or it has come to a stop. */
static bool pass_repetition(struct recorded_thread *thread) {
    static const uint8_t trap = BREAKPOINT_BYTE;
    uint64_t at = next_instruction(thread->number);
    uint8_t code[MOVED_MAX], own;
    struct decoded decoded;
    int status;
    if (!read_memory(thread->number, at, code, sizeof code) ||
        !decode_instruction(code, sizeof code, &decoded) || !decoded.repeats)
        return false;
    uint64_t behind = at + decoded.size;
    if (!read_memory(thread->number, behind, &own, 1) ||
        !write_memory(thread->number, behind, &trap, 1))
        return false;
    bool stopped =
        ptrace(PTRACE_CONT, thread->number, NULL, NULL) == 0 && await_status(thread, &status);
    bool is_behind = stopped && status == STEPPED && trap_address(thread->number, &at);
    write_memory(thread->number, behind, &own, 1);
    if (is_behind)
        set_thread_address(thread->number, behind);
    else if (stopped)
        take_status(thread, status);
    return is_behind;
}

/* Goes on to an instruction that may be replaced. Returns false if there is none nearby. */
static bool go_to_instruction(struct recorded_thread *thread, const struct mappings *mappings,
                              struct state_place *place) {
    for (int i = 0; i < STEPS_MAX; i++) {
        place->last = next_instruction(thread->number);
        if (!pass_repetition(thread) && (thread->is_pending || !record_step(thread)))
            return false;
        uint64_t at = next_instruction(thread->number);
        const struct place_mapping *mapping = find_mapping(mappings, at);
        if (!mapping || is_inside(at))
            return false;
        if (may_have_places(thread, mapping) && find_bytes(thread, mapping, at, place))
            return true;
    }
    return false;
}

/* ---- the event ---- */

static void add_place(struct recorded_thread *thread, const struct state_place *place) {
    const struct state_check_data *data = &place->data;
    struct buffer *event = recording_event(&thread->recorder->writer);
    buffer_add(event, &place->registers, sizeof place->registers);
    put_number(event, place->vectors, sizeof place->vectors);
    put_number(event, place->memory, sizeof place->memory);
    put_number(event, place->last, sizeof place->last);
    buffer_uleb128(event, place->left_out.count);
    for (size_t i = 0; i < place->left_out.count; i++) {
        put_number(event, place->left_out.data[i].start, sizeof(uint64_t));
        put_number(event, place->left_out.data[i].end, sizeof(uint64_t));
    }
    buffer_add(event, data->vectors, sizeof data->vectors);
    buffer_uleb128(event, data->float_count);
    buffer_add(event, data->floats, data->float_count * sizeof(uint64_t));
    buffer_uleb128(event, data->stack_count);
    buffer_add(event, data->stack, data->stack_count * sizeof *data->stack);
    buffer_uleb128(event, data->word_count);
    buffer_add(event, data->words, data->word_count * sizeof *data->words);
    put_number(event, place->quick.kind, 1);
    buffer_uleb128(event, place->quick.place);
    put_number(event, place->size, 1);
    buffer_add(event, place->bytes, place->size);
    add_recorded_event(thread, QUIPU_EVENT_PLACE);
}

/* The thread executes for a while, and stands again. Returns false if it has come to a stop. */
static bool go_on_a_little(struct recorded_thread *thread) {
    const struct timespec pause = {0, apart};
    continue_thread(thread, 0);
    nanosleep(&pause, NULL);
    return stop_executing(thread);
}

/* Goes on to the next pass of the instruction of PLACE, if that is near. */
static bool come_again(struct recorded_thread *thread, struct state_place *place) {
    for (int i = 0; i < STEPS_MAX; i++) {
        place->last = next_instruction(thread->number);
        if (!record_step(thread))
            break;
        if (next_instruction(thread->number) == place->registers.rip)
            return true;
    }
    return false;
}

/* Sets PLACE to that where the thread stands. */
static bool describe(struct recorded_thread *thread, struct arena *arena,
                     const struct mappings *mappings, const range_list *earlier,
                     struct state_place *place) {
    place->left_out = (address_range_list){0};
    return find_left_out(arena, mappings, thread, place) &&
           describe_state(thread->number, earlier, place);
}

/* The thread stands at an instruction, and goes on to one of its passes, or to another one. Returns
 * false if nothing that is compared quickly tells two passes apart, too. */
static bool go_to_pass(struct recorded_thread *thread, struct arena *arena,
                       const struct mappings *mappings, const range_list *earlier,
                       struct state_place *place) {
    static struct state_place former;
    if (!describe(thread, arena, mappings, earlier, place))
        return false;
    former = *place;
    bool again = come_again(thread, place);
    if (!again && (thread->is_pending || !go_to_instruction(thread, mappings, place)))
        return false;
    return describe(thread, arena, mappings, earlier, place) &&
           !(again && memcmp(&former.data, &place->data, sizeof former.data) == 0) &&
           complete_state(thread->number, again ? &former : NULL, place);
}

/* Copies of each mapping the begin, or what is above the stack pointer. */
static void copy_some_memory(const struct recorded_thread *thread, struct arena *arena,
                             range_list *copy) {
    struct mappings mappings = {.arena = {0}};
    uint64_t stack = stack_pointer(thread) & ~(uint64_t)(PAGE - 1);
    read_mappings(thread->number, &mappings);
    for (size_t i = 0; i < mappings.list.count; i++) {
        const struct place_mapping *mapping = &mappings.list.data[i];
        bool has_stack = stack - mapping->start < mapping->end - mapping->start;
        uint64_t start = has_stack ? stack : mapping->start, size = mapping->end - start;
        if (mapping->is_writable && !is_inside(start))
            copy_memory_range(arena, thread->number, start, size < COPIED_MAX ? size : COPIED_MAX,
                              copy);
    }
    arena_release(&mappings.arena);
}

static bool find_place(struct recorded_thread *thread, struct arena *arena,
                       struct state_place *place) {
    struct mappings mappings = {.arena = {0}};
    range_list earlier = {0};
    copy_some_memory(thread, arena, &earlier);
    bool found =
        go_on_a_little(thread) && !inside_is_busy(&thread->process->inside, thread->number);
    if (found) {
        record_inside(thread);
        read_mappings(thread->number, &mappings);
    }
    found = found && go_to_instruction(thread, &mappings, place) &&
            go_to_pass(thread, arena, &mappings, &earlier, place);
    arena_release(&mappings.arena);
    return found;
}

/* Whether it is time for a place. */
static bool is_wanted(const struct recorded_thread *thread, double now) {
    double until = thread->process->group->until;
    return thread->held ? now > thread->next_held
                        : now > until + turn_least && now > thread->next_place;
}

bool record_place(struct recorded_thread *thread) {
    static struct state_place place;
    double now = clock_seconds();
    struct arena arena = {0};
    if (!is_wanted(thread, now))
        return false;
    thread->tries++;
    place = (struct state_place){.size = 0};
    bool found = find_place(thread, &arena, &place);
    if (found)
        add_place(thread, &place);
    arena_release(&arena);
    double end = clock_seconds();
    double pause = (end - now) / share;
    thread->next_held = end + (end - now);
    thread->next_place = end + (pause < pause_most ? pause : pause_most);
    return found;
}
