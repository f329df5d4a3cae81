/* play_image.c: makes the processes of an image, with which a recording begins; see play.h.
 *
 * Each process begins with the file of its program, or with quipu's if that is gone, and executes
 * nothing of it. It makes calls of ours, from a page that no mapping of the image has: all that it
 * has is unmapped, then it gets its memory, its threads and their registers.
 *
 * Not perfect: a kernel without CONFIG_CHECKPOINT_RESTORE does not tell it where its data end, so a
 * call of brk is a difference. */
#include "replay/play.h"

#include "replay/image.h"
#include "replay/start.h"
#include "util/diag.h"
#include "util/refusal.h"
#include "x86/call_stop.h"
#include "x86/kernel.h"
#include "x86/processor.h"

#include <errno.h>
#include <limits.h>
#include <linux/prctl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    PAGES_LEAST = 16,    /* of an address: below are those that no program may have */
    OWN_SIZE = 3 * PAGE, /* of the memory with our call, the layout and the auxiliary vector */
    LAYOUT_PLACE = PAGE
};

static const uint64_t address_end = 0x7ffffffff000;

/* ---- events ---- */

static const char *corrupt(const struct player *player) {
    return arena_print(player->arena, "'%s' is corrupt: its image", player->recording.path);
}

/* Reads the next event of the image. Returns NULL, or a message. */
static const char *next_event(struct player *player, struct event *event) {
    const char *wrong = NULL;
    switch (recording_next(&player->recording, event, &wrong)) {
    case READING_EVENT:
        return NULL;
    case READING_CUT:
        return arena_print(player->arena, "'%s' was cut within the image with which it begins",
                           player->recording.path);
    default:
        return wrong;
    }
}

/* ---- a process ---- */

/* Returns the address of free memory for our call, in the process of PROCESS and in the image. */
static uint64_t find_room(const struct image_process *process) {
    uint64_t room = PAGES_LEAST * PAGE;
    for (size_t i = 0; i < process->mappings.count; i++) {
        const struct image_mapping *mapping = &process->mappings.data[i];
        if (room + OWN_SIZE <= mapping->start)
            break;
        if (room < mapping->end)
            room = mapping->end;
    }
    return room;
}

static bool inject(pid_t process, uint64_t site, long number, const uint64_t arguments[6]) {
    int64_t result = inject_call(process, site, number, arguments, NULL);
    errno = result < 0 && result > -PAGE ? (int)-result : 0;
    return !errno;
}

/* The process has nothing but our memory at SITE, from which it makes calls. */
static bool clear(pid_t process, uint64_t site) {
    static const uint8_t call[] = {0x0f, 0x05};
    const uint64_t own[6] = {
        site,       OWN_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
        UINT64_MAX, 0};
    const uint64_t low[6] = {0, site};
    const uint64_t high[6] = {site + OWN_SIZE, address_end - site - OWN_SIZE};
    return inject_first_call(process, SYS_mmap, own) == (int64_t)site &&
           write_memory(process, site, call, sizeof call) &&
           inject(process, site, SYS_munmap, low) && inject(process, site, SYS_munmap, high);
}

static bool map(const struct player *player, pid_t process, uint64_t site,
                const struct image_mapping *mapping) {
    uint64_t flags = MAP_FIXED_NOREPLACE | MAP_NORESERVE;
    if (mapping->shared)
        flags |= MAP_SHARED;
    else
        flags |= MAP_PRIVATE | MAP_ANONYMOUS | (mapping->grows_down ? MAP_GROWSDOWN : 0);
    const uint64_t arguments[6] = {
        mapping->start,
        mapping->end - mapping->start,
        mapping->protection,
        flags,
        mapping->shared ? (uint64_t)player->shared : UINT64_MAX,
        mapping->shared ? (mapping->shared - 1) * QUIPU_SHARED_ROOM + mapping->place : 0};
    return inject_call(process, site, SYS_mmap, arguments, NULL) == (int64_t)mapping->start;
}

/* The kernel knows where the parts of the program are, and its auxiliary vector. */
static void set_layout(pid_t process, uint64_t site, const struct image_process *image) {
    struct {
        struct prctl_mm_map map;
        uint8_t auxiliary[PAGE];
    } layout = {.map = {.exe_fd = UINT32_MAX}};
    const uint64_t arguments[6] = {PR_SET_MM, PR_SET_MM_MAP, site + LAYOUT_PLACE,
                                   sizeof layout.map};
    memcpy(&layout.map, image->layout, sizeof image->layout);
    memcpy(layout.auxiliary, image->auxiliary, image->auxiliary_size);
    layout.map.auxv = (void *)(site + LAYOUT_PLACE + sizeof layout.map);
    layout.map.auxv_size = (uint32_t)image->auxiliary_size;
    if (write_memory(process, site + LAYOUT_PLACE, &layout, sizeof layout))
        inject(process, site, SYS_prctl, arguments);
}

/* Starts a process that IMAGE will be. */
static const char *start_process(struct player *player, const struct image_process *image,
                                 uint64_t site, pid_t *process) {
    const uint64_t arguments[6] = {PR_SET_TSC, PR_TSC_SIGSEGV};
    char own[PATH_MAX] = "", *argv[] = {(char *)image->path, NULL}, *environment[] = {NULL};
    struct start start = {.path = image->path, .stack_limit = image->stack_limit};
    if (access(image->path, X_OK) != 0 && readlink("/proc/self/exe", own, sizeof own - 1) > 0)
        start.path = own;
    const char *wrong =
        execute_under_control(player, &start, start.path, argv, environment, process);
    if (wrong)
        return wrong;
    if (ptrace(PTRACE_SETOPTIONS, *process, NULL, (void *)PLAY_OPTIONS) != 0)
        return refusal(player->arena, "ptrace", 0, errno);
    inject_first_call(*process, SYS_prctl, arguments); /* not all machines have it */
    if (!clear(*process, site))
        return arena_print(player->arena, "a process cannot be made anew: %s", strerror(errno));
    for (size_t i = 0; i < image->mappings.count; i++)
        if (!map(player, *process, site, &image->mappings.data[i]))
            return arena_print(player->arena, "memory at 0x%llx cannot be mapped",
                               (unsigned long long)image->mappings.data[i].start);
    return NULL;
}

static bool write_image_memory(struct player *player, pid_t process, struct event *event) {
    struct memory_event memory;
    if (!read_memory_event(event, &memory) || !memory.bytes)
        return false;
    if (memory.argument == QUIPU_MEMORY_FILE)
        return write_shared_file(player, &memory);
    return memory.argument == QUIPU_MEMORY_ADDRESS &&
           write_memory(process, memory.address, memory.bytes, memory.size);
}

/* ---- its threads ---- */

/* A process that is being made. */
struct making {
    struct image_process image;
    struct play_process *process; /* NULL: it is left out */
    uint64_t site;                /* of our call in it */
    uint64_t threads;             /* that it has by now */
    struct image_thread first;    /* it makes the calls, so it gets its registers at last */
};

/* Returns the number of another thread of the process, or 0. */
static pid_t make_beside(const struct making *making) {
    const uint64_t arguments[6] = {clone_flags(QUIPU_CLONE_THREAD)};
    pid_t number = 0;
    return inject_call(making->process->number, making->site, SYS_clone, arguments, &number) > 0
               ? number
               : 0;
}

/* One that executes nothing more has no registers. */
static bool set_image_registers(pid_t number, const struct image_thread *thread) {
    return !thread->registers.general.cs || set_registers(number, &thread->registers);
}

/* Adds the thread of EVENT. Returns NULL, or a message. */
static const char *make_image_thread(struct player *player, struct making *making,
                                     struct event *event) {
    static struct image_thread thread;
    if (event->kind != QUIPU_EVENT_IMAGE_THREAD ||
        !read_image_thread(&player->start_arena, event, &thread) || !thread.id ||
        thread.id > player->threads.count || player->threads.data[thread.id - 1]->process)
        return corrupt(player);
    names_set(player->arena, &player->names, &making->image, &thread);
    bool is_first = making->threads++ == 0;
    if (!making->process)
        return NULL;
    pid_t number = is_first ? making->process->number : make_beside(making);
    if (is_first)
        making->first = thread;
    else if (!number || !set_image_registers(number, &thread))
        return arena_print(player->arena, "a thread cannot be made anew: %s", strerror(errno));
    struct play_thread *made = ARENA_NEW(player->arena, struct play_thread);
    *made = (struct play_thread){.process = making->process,
                                 .number = number,
                                 .recorded = (pid_t)thread.number,
                                 .stacks = {.start = thread.stack, .end = thread.stack_end}};
    player->threads.data[thread.id - 1] = made;
    if (!player->thread)
        player->thread = made;
    return NULL;
}

/* Reads the memory and the threads of the process. */
static const char *fill_process(struct player *player, struct making *making) {
    struct event event;
    while (making->threads < making->image.threads) {
        const char *wrong = next_event(player, &event);
        if (!wrong && event.kind != QUIPU_EVENT_MEMORY)
            wrong = make_image_thread(player, making, &event);
        else if (!wrong && making->process &&
                 !write_image_memory(player, making->process->number, &event))
            wrong = corrupt(player);
        if (wrong)
            return wrong;
    }
    return NULL;
}

/* The process has all of its memory and its threads: our memory goes. */
static const char *finish_process(struct player *player, const struct making *making) {
    const uint64_t own[6] = {making->site, OWN_SIZE};
    pid_t number = making->process->number;
    set_layout(number, making->site, &making->image);
    if (inject(number, making->site, SYS_munmap, own) &&
        set_image_registers(number, &making->first))
        return NULL;
    return arena_print(player->arena, "a process cannot get its registers: %s", strerror(errno));
}

/* Whether the process of IMAGE plays, or leads to the only one that does. If none is named, that is
 * the first one, or if HAS_FIRST is false any. */
static bool is_wanted(const struct player *player, const struct image_process *image,
                      bool has_first) {
    if (!player->hooks->path.count)
        return true;
    if (player->hooks->begin)
        return strcmp(image->name, player->hooks->begin) == 0;
    return has_first ? image->is_first : !player->thread;
}

/* Makes the next process of the image, if it is wanted. */
static const char *make_process(struct player *player, bool has_first) {
    static struct making making;
    struct event event;
    const char *wrong = next_event(player, &event);
    making = (struct making){0};
    if (wrong)
        return wrong;
    if (event.kind != QUIPU_EVENT_IMAGE_PROCESS ||
        !read_image_process(&player->start_arena, &event, &making.image))
        return corrupt(player);
    making.site = find_room(&making.image);
    pid_t number = 0;
    if (is_wanted(player, &making.image, has_first))
        wrong = start_process(player, &making.image, making.site, &number);
    if (number) {
        making.process = add_play_process(player, number, (pid_t)making.image.number);
        making.process->is_first = making.image.is_first;
        making.process->program =
            file_of_program(player->arena, &(struct start){.path = making.image.path});
        making.process->ticks.armed = making.image.has_armed_ticks;
    }
    if (!wrong)
        wrong = fill_process(player, &making);
    return wrong || !making.process ? wrong : finish_process(player, &making);
}

/* ---- all of them ---- */

const char *play_image(struct player *player) {
    static struct play_thread absent;
    struct run_image image;
    const char *wrong = NULL;
    if (!read_image_head(&player->start_arena, &player->event, &image))
        return corrupt(player);
    if (image.identity != processor_identity())
        return other_processor(player);
    bind_processor(image.processor);
    player->number = (pid_t)image.first;
    if (image.first_ended)
        player->playing.status = image.status;
    names_begin_image(player->arena, &player->names, image.threads);
    for (uint32_t i = 0; i < image.threads; i++)
        vector_push(player->arena, &player->threads, &absent);
    for (uint64_t i = 0; i < image.processes && !wrong; i++)
        wrong = make_process(player, !image.first_ended);
    if (wrong)
        return wrong;
    if (!player->thread)
        return corrupt(player);
    if (player->hooks->path.count) {
        player->number = player->thread->process->recorded;
        player->thread->process->is_first = true;
    }
    player->process = player->thread->number;
    player->has_event = false;
    return NULL;
}
