/* frame.c: watched locals and thread-local variables.
 *
 * A function with watched locals calls this code at its entry and before its ends (format/watch.h,
 * section 2). Each of its activations gets its own region for each local. It is in a list of its
 * thread, newest first, with the address of its frame.
 *
 * An exception or longjmp leaves frames without their ends. Where it lands, frames of the thread
 * below the stack pointer have ended, if they are on the same stack. They may be on another stack:
 * an alternate signal stack, or a coroutine's. Two addresses are taken to be on the same stack if
 * all memory between them is readable. In doubt the frame is kept, until a new frame begins at its
 * address, or a frame begins above it and its return address has been overwritten.
 *
 * A thread that ends may leave frames, too. Its kernel number shows that it is gone. This is tested
 * when any thread writes there, and each time the number of activations has doubled.
 *
 * Not perfect: two stacks less than STACK_MOST apart, with only readable memory between them, count
 * as one when an exception or longjmp lands above. An activation stays watched if no instrumented
 * code lands after it was left and its function does not use the frame's address again. */
#include "runtime/core/syscall.h"
#include "runtime/watch/watch.h"

#include <errno.h>

enum {
    CHUNK = 1 << 16,
    ACTIVATIONS_MOST = 1 << 20,
    FIRST_LOOK = 256,
    LOOK_MOST = 256,      /* frames in a deep recursion; frames that were left are mostly newer */
    STACK_MOST = 8 << 20, /* bytes */
    RED_ZONE = 128,
    RUNTIME_STACK = 1 << 14, /* bytes: as deep as the runtime runs below a store */
};

/* Words of entry.S's frame. */
enum {
    FRAME_RESULT = -2,
    FRAME_RETURN = 1,
    FRAME_DISTANCE = 2,     /* at the entry: distance from the function's first byte to the return
                             * address */
    FRAME_BEGIN_RETURN = 3, /* there, the function's own return address */
    FRAME_BACK = 2,         /* the stack pointer, below the red zone */
};

void quipu_watch_function_begun(const uint64_t *frame);
void quipu_watch_function_returned(const uint64_t *frame);

/* ---- Activations: the caller holds the lock ---- */

static struct watch_activation **list_of(uint64_t thread) {
    return &WATCH->threads[scatter_bits(thread) >> 56];
}

_Static_assert(WATCH_THREADS == 1 << 8, "bits of the lists' number");

/* Returns NULL if memory is exhausted or there are too many. */
static struct watch_activation *take_activation(void) {
    struct watch *watch = WATCH;
    if (watch->activations >= ACTIVATIONS_MOST)
        return NULL;
    if (!watch->free_activations) {
        struct watch_activation *chunk = quipu_watch_map(CHUNK);
        if (!chunk)
            return NULL;
        for (uint64_t i = 0; i < CHUNK / sizeof *chunk; i++) {
            chunk[i].next = watch->free_activations;
            watch->free_activations = &chunk[i];
        }
    }
    struct watch_activation *activation = watch->free_activations;
    watch->free_activations = activation->next;
    watch->activations++;
    return activation;
}

/* Ends the activation to which *LINK points. */
static void end_activation(struct watch_activation **link) {
    struct watch_activation *activation = *link;
    *link = activation->next;
    quipu_watch_remove_locked(activation->id);
    activation->next = WATCH->free_activations;
    WATCH->free_activations = activation;
    WATCH->activations--;
}

/* Arms request NUMBER in the frame with CFA FRAME, or in the thread. */
static void begin_activation(uint32_t number, uint64_t thread, uint64_t frame, uint64_t back) {
    uint64_t from = frame == WATCH_NO_FRAME ? thread : frame;
    const struct watch_local *local = &WATCH->locals[number];
    struct watch_activation *activation = take_activation();
    if (!activation)
        return;
    *activation = (struct watch_activation){.next = *list_of(thread),
                                            .thread = thread,
                                            .frame = frame,
                                            .back = back,
                                            .request = number,
                                            .pid = quipu_watch_pid()};
    activation->tid = quipu_watch_thread(activation->pid);
    *list_of(thread) = activation;
    struct watch_region wanted = {.address = from + (uint64_t)local->offset,
                                  .size = local->size,
                                  .handler = (uint64_t)activation,
                                  .argument = number,
                                  .flags = (uint16_t)local->flags | WATCH_LOCAL};
    activation->id = quipu_watch_add_locked(&wanted);
    if (activation->id < 0)
        end_activation(list_of(thread));
}

/* ---- Ended activations ---- */

static bool is_of_gone_thread(const struct watch_activation *activation) {
    uint32_t pid = quipu_watch_pid();
    if (activation->thread == thread_pointer()) /* an ended thread may have had the same pointer */
        return activation->pid == pid && activation->tid != quipu_watch_thread(pid);
    return activation->pid != pid || quipu_watch_thread_is_gone(activation->tid);
}

/* Whether frame BELOW is on the stack of HERE, which is above it. All memory from *KNOWN to HERE is
 * known to be on it. */
static bool is_same_stack(uint64_t below, uint64_t here, uint64_t *known) {
    if (below >= *known)
        return true;
    if (here - below > STACK_MOST || !quipu_watch_is_readable(below, *known))
        return false;
    *known = below;
    return true;
}

/* Whether its return address was overwritten, or is unreadable. */
static bool is_written_over(const struct watch_activation *activation) {
    uint64_t word = 0;
    return quipu_watch_read(&word, activation->frame - sizeof word, sizeof word) != sizeof word ||
           word != activation->back;
}

/* Ends activations of THREAD that must have been left, since a frame begins at FRAME. */
static void end_left_before(uint64_t thread, uint64_t frame) {
    struct watch_activation **link = list_of(thread);
    for (unsigned above = 0; *link && above < LOOK_MOST;) {
        const struct watch_activation *a = *link;
        above += a->thread == thread && a->frame > frame && a->frame != WATCH_NO_FRAME;
        if (a->thread == thread && (a->frame == frame || (a->frame < frame && is_written_over(a))))
            end_activation(link);
        else
            link = &(*link)->next;
    }
}

/* Ends activations of THREAD below STACK, to which control has come from deeper calls. */
static void end_left_below(uint64_t thread, uint64_t stack) {
    struct watch_activation **link = list_of(thread);
    uint64_t known = stack;
    while (*link) {
        const struct watch_activation *a = *link;
        if (a->thread == thread && a->frame <= stack && is_same_stack(a->frame, stack, &known))
            end_activation(link);
        else
            link = &(*link)->next;
    }
}

static void end_of_request(uint32_t number) {
    for (unsigned i = 0; i < WATCH_THREADS; i++)
        for (struct watch_activation **link = &WATCH->threads[i]; *link;) {
            if ((*link)->request == number)
                end_activation(link);
            else
                link = &(*link)->next;
        }
}

static void end_of_gone_threads(void) {
    for (unsigned i = 0; i < WATCH_THREADS; i++) {
        uint32_t alive = 0;
        for (struct watch_activation **link = &WATCH->threads[i]; *link;) {
            if ((*link)->tid != alive && is_of_gone_thread(*link)) {
                end_activation(link);
                continue;
            }
            alive = (*link)->tid;
            link = &(*link)->next;
        }
    }
}

static void look_for_gone_threads(void) {
    struct watch *watch = WATCH;
    if (watch->activations < watch->next_look)
        return;
    end_of_gone_threads();
    watch->next_look = 2 * watch->activations + FIRST_LOOK;
}

bool quipu_watch_is_left(const struct watch_region *region) {
    struct watch_activation *activation = (struct watch_activation *)region->handler;
    if (!is_of_gone_thread(activation))
        return false;
    uint64_t mask = quipu_watch_lock();
    end_of_gone_threads();
    quipu_watch_unlock(mask);
    return true;
}

void quipu_watch_forget_activations(void) {
    for (unsigned i = 0; i < WATCH_THREADS; i++)
        for (struct watch_activation **link = &WATCH->threads[i]; *link;) {
            struct watch_activation *activation = *link;
            if (activation->thread != thread_pointer()) {
                end_activation(link);
                continue;
            }
            activation->pid = quipu_watch_pid();
            activation->tid = quipu_watch_thread(activation->pid);
            link = &activation->next;
        }
}

/* ---- Functions ---- */

static bool is_watched(uint64_t function) {
    const struct watch *watch = WATCH;
    for (uint32_t i = 0; i < __atomic_load_n(&watch->local_count, __ATOMIC_ACQUIRE); i++)
        if (watch->locals[i].function == function)
            return true;
    return false;
}

/* The address of the lowest watched byte of FUNCTION's frame, whose CFA is given. */
static uint64_t lowest_byte(uint64_t function, uint64_t cfa) {
    const struct watch *watch = WATCH;
    uint64_t lowest = cfa;
    for (uint32_t i = 0; i < __atomic_load_n(&watch->local_count, __ATOMIC_ACQUIRE); i++)
        if (watch->locals[i].function == function)
            lowest = lesser(lowest, cfa + (uint64_t)watch->locals[i].offset);
    return lowest;
}

__attribute__((noinline)) static void begin_function(uint64_t function, uint64_t cfa,
                                                     uint64_t back) {
    uint64_t thread = thread_pointer(), mask = quipu_watch_lock();
    look_for_gone_threads();
    end_left_before(thread, cfa);
    for (uint32_t i = 0; i < WATCH->local_count; i++)
        if (WATCH->locals[i].function == function)
            begin_activation(i, thread, cfa, back);
    quipu_watch_unlock(mask);
}

/* The function's frame is not allocated yet, so the runtime runs where its locals will be. Their
 * bytes are kept, to be compared later. So the runtime first moves the stack pointer below them. */
void quipu_watch_function_begun(const uint64_t *frame) {
    uint64_t function = frame[FRAME_RETURN] - frame[FRAME_DISTANCE];
    uint64_t cfa = (uint64_t)(frame + FRAME_BEGIN_RETURN + 1);
    if (!quipu_watch_ready || !is_watched(function))
        return;
    uint64_t here = (uint64_t)__builtin_frame_address(0), lowest = lowest_byte(function, cfa);
    void *below = __builtin_alloca(here > lowest ? here - lowest : sizeof(uint64_t));
    __asm__ volatile("" : : "r"(below) : "memory");
    begin_function(function, cfa, frame[FRAME_BEGIN_RETURN]);
    __asm__ volatile("" : : "r"(below) : "memory"); /* no jump to it in place of a call */
}

/* Whether the present thread may have activations. */
bool quipu_watch_has_activations(void) {
    return quipu_watch_ready && __atomic_load_n(list_of(thread_pointer()), __ATOMIC_RELAXED);
}

/* The runtime has just run on the bytes that this reads. It must not change them again: so it calls
 * nothing once it copies, and its callers do nothing more. It takes no lock for the same reason.
 * Not perfect: if another thread ends the activation meanwhile, the copy may already be another
 * region's. */
/* Copies the region's bytes in [FROM, END). They may be those of the runtime's own frames, so
 * nothing is written to the stack after that. */
static void take_again(struct watch_region *region, uint64_t from, uint64_t end) {
    uint64_t low = greater(region->address, from);
    uint64_t high = lesser(region->address + region->size, end);
    if (low >= high)
        return;
    uint8_t *known = bytes_of(region) + (low - region->address);
    uint64_t count = high - low;
    __asm__ volatile("rep movsb" : "+D"(known), "+S"(low), "+c"(count) : : "memory");
}

void quipu_watch_refresh_stack(uint64_t stack) {
    uint64_t from = stack - RUNTIME_STACK;
    uint32_t found[WATCH_BATCH];
    if (!WATCH->armed || !quipu_watch_is_marked(from, stack))
        return;
    unsigned count = quipu_watch_find(from, stack, 0, found);
    for (unsigned i = 0; i < count; i++) {
        struct watch_region *region = region_at(found[i]);
        struct watch_region *live = quipu_watch_pin(found[i], region->generation);
        if (!live)
            continue;
        take_again(live, from, stack);
        __atomic_fetch_sub(&live->pins, 1, __ATOMIC_RELEASE); /* a call would write to the stack */
    }
}

static bool is_of_frame(const struct watch_activation *activation, uint64_t thread,
                        uint64_t frame) {
    return activation->thread == thread && activation->frame == frame;
}

/* Returns the link to the first activation of FRAME, or to NULL. */
static struct watch_activation **find_frame(uint64_t thread, uint64_t frame) {
    struct watch_activation **link = list_of(thread);
    while (*link && !is_of_frame(*link, thread, frame))
        link = &(*link)->next;
    return link;
}

unsigned quipu_watch_frame_ranges(uint64_t thread, uint64_t frame, uint64_t lowest,
                                  struct watch_range ranges[WATCH_BATCH]) {
    unsigned count = 0;
    uint64_t mask = quipu_watch_lock();
    for (const struct watch_activation *a = *find_frame(thread, frame); a && count < WATCH_BATCH;
         a = a->next) {
        const struct watch_region *region = region_at((uint32_t)a->id - 1);
        bool is_own = is_of_frame(a, thread, frame);
        if (is_own && region->address >= lowest)
            ranges[count++] = (struct watch_range){region->address, region->size};
        if (!is_own && frame != WATCH_NO_FRAME)
            break; /* those of a frame are adjacent in the list */
    }
    quipu_watch_unlock(mask);
    return count;
}

void quipu_watch_end_frame(uint64_t thread, uint64_t frame) {
    uint64_t mask = quipu_watch_lock();
    struct watch_activation **link = find_frame(thread, frame);
    while (*link && is_of_frame(*link, thread, frame))
        end_activation(link);
    quipu_watch_unlock(mask);
}

void quipu_watch_function_returned(const uint64_t *frame) {
    uint64_t stack = (uint64_t)(frame + FRAME_BACK) + RED_ZONE;
    if (quipu_watch_ready && WATCH->armed && frame[FRAME_RESULT]) /* 0: setjmp was called */
        quipu_watch_came_back(stack);
    if (!quipu_watch_has_activations())
        return;
    uint64_t mask = quipu_watch_lock();
    end_left_below(thread_pointer(), stack);
    quipu_watch_unlock(mask);
}

/* ---- Threads ---- */

/* Ends the activations of the thread itself, not those of frames. An earlier thread may have had
 * the same pointer. */
static void end_own(uint64_t thread) {
    struct watch_activation **link = list_of(thread);
    while (*link) {
        if (is_of_frame(*link, thread, WATCH_NO_FRAME))
            end_activation(link);
        else
            link = &(*link)->next;
    }
}

void quipu_watch_thread_began(void) {
    if (!quipu_watch_ready || !is_watched(WATCH_OF_THREADS))
        return;
    uint64_t mask = quipu_watch_lock();
    look_for_gone_threads();
    end_own(thread_pointer());
    for (uint32_t i = 0; i < WATCH->local_count; i++)
        if (WATCH->locals[i].function == WATCH_OF_THREADS)
            begin_activation(i, thread_pointer(), WATCH_NO_FRAME, 0);
    quipu_watch_unlock(mask);
}

void quipu_watch_end_thread(void) {
    uint64_t mask = quipu_watch_lock();
    end_own(thread_pointer());
    quipu_watch_unlock(mask);
}

/* ---- Requests ---- */

/* Makes room for request NUMBER, since a later file may have more requests. Other threads may still
 * read the old array, so it stays mapped. */
static bool has_room(uint32_t number) {
    struct watch *watch = WATCH;
    if (number < watch->local_room)
        return true;
    uint32_t room = watch->request_room + 1;
    struct watch_local *locals = quipu_watch_map(room * sizeof *locals);
    if (!locals)
        return false;
    copy_bytes(locals, watch->locals, watch->local_count * sizeof *locals);
    __atomic_store_n(&watch->locals, locals, __ATOMIC_RELEASE);
    watch->local_room = room;
    return true;
}

static void enter_local(uint32_t number, const struct watch_local *local) {
    struct watch *watch = WATCH;
    watch->locals[number] = *local;
    if (watch->local_count <= number)
        __atomic_store_n(&watch->local_count, number + 1, __ATOMIC_RELEASE);
}

long quipu_watch_add_local(uint32_t number, const struct watch_local *local) {
    long error = 0;
    if (!quipu_watch_ready)
        return -ENOSYS;
    uint64_t mask = quipu_watch_lock();
    error = !has_room(number)                          ? -ENOMEM
            : local->size == 0                         ? -EINVAL
            : !quipu_watch_has_module(local->function) ? -EAGAIN
                                                       : quipu_watch_arm_function(local->function);
    if (error == 0)
        enter_local(number, local);
    quipu_watch_unlock(mask);
    return error;
}

long quipu_watch_add_thread_local(uint32_t number, const struct watch_local *local) {
    long error = 0;
    if (!quipu_watch_ready)
        return -ENOSYS;
    uint64_t mask = quipu_watch_lock();
    error = !has_room(number) ? -ENOMEM : local->size == 0 ? -EINVAL : 0;
    if (error == 0) {
        enter_local(number, local);
        begin_activation(number, thread_pointer(), WATCH_NO_FRAME, 0);
        error = quipu_watch_lead_all_threads();
    }
    quipu_watch_unlock(mask);
    return error;
}

uint64_t quipu_watch_local_function(uint32_t number) {
    const struct watch *watch = WATCH;
    return number < watch->local_count ? watch->locals[number].function : 0;
}

void quipu_watch_remove_local(uint32_t number) {
    struct watch *watch = WATCH;
    uint64_t mask = quipu_watch_lock();
    if (watch->locals && number < watch->local_count)
        watch->locals[number].function = 0;
    end_of_request(number);
    quipu_watch_unlock(mask);
}
