/* names.c: names of recorded threads and processes; see names.h. */
#include "replay/names.h"

#include "replay/image.h"

#include <inttypes.h>
#include <string.h>

enum {
    LONGEST = 1000 /* bytes of a maker's name */
};

void names_begin(struct arena *arena, thread_names *names) {
    const struct named_thread first = {.name = "1", .first = 1};
    vector_push(arena, names, first);
}

void names_begin_image(struct arena *arena, thread_names *names, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        vector_push(arena, names, (struct named_thread){.name = ""});
}

bool names_set(struct arena *arena, thread_names *names, const struct image_process *process,
               const struct image_thread *thread) {
    if (thread->id == 0 || thread->id > names->count)
        return false;
    bool is_first = strcmp(process->name, thread->name) == 0;
    *vector_at(names, thread->id - 1) = (struct named_thread){
        .name = arena_copy(arena, thread->name, strlen(thread->name)),
        .first = is_first ? thread->id : 0,
        .children = thread->children,
        .successors = thread->successors,
    };
    return true;
}

/* Returns the length of the name of its process with which NAME begins. */
static size_t process_length(const char *name) {
    const char *own = strrchr(name, '/');
    size_t maker = own ? (size_t)(own - name) : 0;
    return maker + strcspn(name + maker, ":");
}

const char *process_of_thread(struct arena *arena, const char *name) {
    return arena_copy(arena, name, process_length(name));
}

/* A thread of an image does not know the first one of its process, but the name of that. */
static uint32_t first_of(const thread_names *names, const struct named_thread *thread) {
    size_t length = process_length(thread->name);
    for (uint32_t i = 1; i <= names->count && !thread->first; i++) {
        const struct named_thread *at = vector_at(names, i - 1);
        if (at->first == i && strlen(at->name) == length &&
            memcmp(at->name, thread->name, length) == 0)
            return i;
    }
    return thread->first;
}

const struct named_thread *names_add(struct arena *arena, thread_names *names,
                                     const struct clone_event *made) {
    if (made->maker == 0 || made->maker > names->count)
        return NULL;
    struct named_thread *maker = vector_at(names, made->maker - 1);
    struct named_thread thread = {.first = first_of(names, maker), .maker = made->maker};
    bool is_thread = made->kind == QUIPU_CLONE_THREAD;
    char mark = !is_thread ? '/' : maker->first == made->maker ? ':' : '.';
    uint32_t number = is_thread ? ++maker->successors : ++maker->children;
    thread.name = strlen(maker->name) > LONGEST
                      ? maker->name
                      : arena_print(arena, "%s%c%" PRIu32, maker->name, mark, number);
    if (!is_thread)
        thread.first = (uint32_t)names->count + 1;
    vector_push(arena, names, thread);
    return vector_at(names, names->count - 1);
}

/* A thread of an image does not know its maker, but that is in its name. */
uint32_t names_maker(const thread_names *names, uint32_t number) {
    const struct named_thread *thread = vector_at(names, number - 1);
    size_t length = strlen(thread->name);
    while (length && !strchr(":./", thread->name[length - 1]))
        length--;
    for (uint32_t i = 1; i <= names->count && length && !thread->maker; i++) {
        const char *name = vector_at(names, i - 1)->name;
        if (strlen(name) == length - 1 && memcmp(name, thread->name, length - 1) == 0)
            return i;
    }
    return thread->maker;
}

/* Takes EVENT, which may tell of a thread. Returns false if it is corrupt. */
static bool take_event(struct arena *arena, struct event *event, struct image_process *process,
                       thread_names *names) {
    static struct image_thread thread;
    struct run_image image;
    struct clone_event made;
    switch (event->kind) {
    case QUIPU_EVENT_START:
        if (!names->count)
            names_begin(arena, names);
        return true;
    case QUIPU_EVENT_IMAGE:
        if (names->count || !read_image_head(arena, event, &image))
            return false;
        names_begin_image(arena, names, image.threads);
        return true;
    case QUIPU_EVENT_IMAGE_PROCESS:
        return read_image_process(arena, event, process);
    case QUIPU_EVENT_IMAGE_THREAD:
        return read_image_thread(arena, event, &thread) &&
               names_set(arena, names, process, &thread);
    case QUIPU_EVENT_CLONE:
        return event->thread == names->count + 1 && read_clone_event(event, &made) &&
               names_add(arena, names, &made);
    default:
        return true;
    }
}

/* Reads the names of all threads. */
static const char *read_names(struct arena *arena, struct recording *recording,
                              thread_names *names) {
    struct event event;
    struct image_process process = {.name = ""};
    const char *wrong = NULL;
    while (recording_next(recording, &event, &wrong) == READING_EVENT)
        if (!take_event(arena, &event, &process, names))
            return arena_print(arena, "'%s' is corrupt: a thread begins that nobody has made",
                               recording->path);
    return wrong;
}

/* Sets PATH to what leads to the process whose first thread has NUMBER. */
static void find_path(struct arena *arena, const thread_names *names, uint32_t number,
                      thread_path *path) {
    const struct named_thread *thread = vector_at(names, number - 1);
    uint32_t before = thread->maker ? first_of(names, vector_at(names, thread->maker - 1)) : 0;
    if (before)
        find_path(arena, names, before, path);
    vector_push(arena, path, number);
}

const char *find_process(struct arena *arena, const char *file, const char *name, thread_path *path,
                         const char **begin) {
    struct recording recording;
    thread_names names = {0};
    const char *wrong = recording_open(arena, file, &recording);
    if (wrong)
        return wrong;
    wrong = read_names(arena, &recording, &names);
    recording_close(&recording);
    if (wrong)
        return wrong;
    bool in_middle = names.count && names.data[0].first != 1;
    *begin = NULL;
    for (uint32_t i = 1; i <= names.count; i++)
        if (names.data[i - 1].first == i && strcmp(names.data[i - 1].name, name) == 0) {
            find_path(arena, &names, i, path);
            *begin = names.data[path->data[0] - 1].name;
            return NULL;
        }
    if (in_middle && strcmp(name, "1") == 0) {
        vector_push(arena, path, 1);
        return NULL;
    }
    return arena_print(arena, "'%s' has no process '%s'; 'quipu info' lists them", file, name);
}
