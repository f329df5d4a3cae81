/* image.c: the events of an image; see image.h. */
#include "replay/image.h"

#include <string.h>
#include <sys/wait.h>

enum {
    MAPPING_MOST = 64, /* bytes of one in an event */
    AUXILIARY_MOST = 4096
};

/* ---- writing ---- */

static void put_text(struct buffer *event, const char *text) {
    buffer_add(event, text, strlen(text) + 1);
}

void write_image_head(struct recording_writer *writer, const struct run_image *image) {
    struct buffer *event = recording_event(writer);
    put_number(event, image->processor, 4);
    put_number(event, image->identity, 8);
    put_number(event, image->began, 8);
    put_number(event, image->made, 8);
    put_number(event, image->calls, 8);
    put_number(event, image->signals, 8);
    put_number(event, image->first, 4);
    put_number(event, image->first_ended, 1);
    put_number(event, (uint32_t)image->status, 4);
    buffer_uleb128(event, image->threads);
    put_text(event, image->path);
    buffer_uleb128(event, image->command.count);
    for (size_t i = 0; i < image->command.count; i++)
        put_text(event, image->command.data[i]);
    buffer_uleb128(event, image->processes);
    recording_add(writer, QUIPU_EVENT_IMAGE, 1);
}

static void put_mapping(struct buffer *event, const struct image_mapping *mapping) {
    put_number(event, mapping->start, 8);
    put_number(event, mapping->end, 8);
    put_number(event, mapping->protection, 1);
    put_number(event, mapping->grows_down, 1);
    buffer_uleb128(event, mapping->shared);
    buffer_uleb128(event, mapping->place);
}

bool write_image_process(struct recording_writer *writer, uint32_t id,
                         const struct image_process *process) {
    struct buffer *event = recording_event(writer);
    put_number(event, process->number, 4);
    put_number(event, process->is_first, 1);
    put_number(event, process->has_armed_ticks, 1);
    put_number(event, process->stack_limit, 8);
    put_text(event, process->path);
    put_text(event, process->name);
    for (int i = 0; i < QUIPU_IMAGE_LAYOUT; i++)
        put_number(event, process->layout[i], 8);
    buffer_uleb128(event, process->auxiliary_size);
    buffer_add(event, process->auxiliary, process->auxiliary_size);
    buffer_uleb128(event, process->threads);
    buffer_uleb128(event, process->mappings.count);
    if (event->count + process->mappings.count * MAPPING_MOST > QUIPU_RECORDING_EVENT_MAX)
        return false;
    for (size_t i = 0; i < process->mappings.count; i++)
        put_mapping(event, &process->mappings.data[i]);
    recording_add(writer, QUIPU_EVENT_IMAGE_PROCESS, id);
    return true;
}

void write_image_thread(struct recording_writer *writer, const struct image_thread *thread) {
    struct buffer *event = recording_event(writer);
    put_number(event, thread->number, 4);
    put_text(event, thread->name);
    buffer_uleb128(event, thread->children);
    buffer_uleb128(event, thread->successors);
    put_number(event, thread->stack, 8);
    put_number(event, thread->stack_end, 8);
    buffer_add(event, &thread->registers.general, sizeof thread->registers.general);
    buffer_uleb128(event, thread->registers.vector_size);
    buffer_add(event, thread->registers.vectors, thread->registers.vector_size);
    recording_add(writer, QUIPU_EVENT_IMAGE_THREAD, thread->id);
}

/* ---- reading ---- */

static const char *take_text(struct arena *arena, struct cursor *bytes) {
    const char *text = cursor_text(bytes);
    return bytes->failed ? "" : arena_copy(arena, text, strlen(text));
}

/* Whether all bytes of the event were taken, and no more. */
static bool is_taken(const struct cursor *bytes) {
    return !bytes->failed && cursor_left(bytes) == 0;
}

bool read_image_head(struct arena *arena, struct event *event, struct run_image *image) {
    struct cursor *bytes = &event->bytes;
    *image = (struct run_image){.processor = (uint32_t)cursor_number(bytes, 4)};
    image->identity = cursor_number(bytes, 8);
    image->began = cursor_number(bytes, 8);
    image->made = cursor_number(bytes, 8);
    image->calls = cursor_number(bytes, 8);
    image->signals = cursor_number(bytes, 8);
    image->first = (uint32_t)cursor_number(bytes, 4);
    image->first_ended = cursor_number(bytes, 1);
    image->status = (int)cursor_number(bytes, 4);
    image->threads = (uint32_t)cursor_uleb128_to(bytes, QUIPU_IMAGE_THREADS_MAX);
    image->path = take_text(arena, bytes);
    uint64_t count = cursor_uleb128_to(bytes, QUIPU_RECORDING_EVENT_MAX);
    for (uint64_t i = 0; i < count && !bytes->failed; i++)
        vector_push(arena, &image->command, take_text(arena, bytes));
    image->processes = cursor_uleb128_to(bytes, image->threads);
    return is_taken(bytes) && image->processes &&
           (!image->first_ended || WIFEXITED(image->status) || WIFSIGNALED(image->status));
}

/* Whether MAPPING is whole pages behind those in front of it, which end at END. */
static bool is_sound(const struct image_mapping *mapping, uint64_t end) {
    const uint64_t within = 4095;
    return mapping->start >= end && mapping->start < mapping->end &&
           ((mapping->start | mapping->end | mapping->place) & within) == 0 &&
           mapping->end - mapping->start <=
               (mapping->shared ? QUIPU_SHARED_ROOM - mapping->place : (uint64_t)INT64_MAX);
}

static bool take_mappings(struct arena *arena, struct cursor *bytes,
                          struct image_process *process) {
    uint64_t count = cursor_uleb128_to(bytes, QUIPU_RECORDING_EVENT_MAX), end = 1;
    for (uint64_t i = 0; i < count && !bytes->failed; i++) {
        struct image_mapping mapping = {.start = cursor_number(bytes, 8)};
        mapping.end = cursor_number(bytes, 8);
        mapping.protection = (uint8_t)cursor_number(bytes, 1) & 7;
        mapping.grows_down = cursor_number(bytes, 1);
        mapping.shared = (uint32_t)cursor_uleb128_to(bytes, QUIPU_SHARED_MAX);
        mapping.place = cursor_uleb128_to(bytes, QUIPU_SHARED_ROOM);
        if (bytes->failed || !is_sound(&mapping, end))
            return false;
        end = mapping.end;
        vector_push(arena, &process->mappings, mapping);
    }
    return true;
}

bool read_image_process(struct arena *arena, struct event *event, struct image_process *process) {
    struct cursor *bytes = &event->bytes;
    *process = (struct image_process){.number = (uint32_t)cursor_number(bytes, 4)};
    process->is_first = cursor_number(bytes, 1);
    process->has_armed_ticks = cursor_number(bytes, 1);
    process->stack_limit = cursor_number(bytes, 8);
    process->path = take_text(arena, bytes);
    process->name = take_text(arena, bytes);
    for (int i = 0; i < QUIPU_IMAGE_LAYOUT; i++)
        process->layout[i] = cursor_number(bytes, 8);
    process->auxiliary_size = cursor_uleb128_to(bytes, AUXILIARY_MOST);
    const uint8_t *auxiliary = cursor_bytes(bytes, process->auxiliary_size);
    process->threads = cursor_uleb128_to(bytes, QUIPU_IMAGE_THREADS_MAX);
    if (!take_mappings(arena, bytes, process) || !is_taken(bytes) || !process->threads)
        return false;
    uint8_t *copy = arena_alloc(arena, process->auxiliary_size + 1);
    memcpy(copy, auxiliary, process->auxiliary_size);
    process->auxiliary = copy;
    return true;
}

bool read_image_thread(struct arena *arena, struct event *event, struct image_thread *thread) {
    struct cursor *bytes = &event->bytes;
    *thread = (struct image_thread){.id = event->thread};
    thread->number = (uint32_t)cursor_number(bytes, 4);
    thread->name = take_text(arena, bytes);
    thread->children = (uint32_t)cursor_uleb128_to(bytes, UINT32_MAX);
    thread->successors = (uint32_t)cursor_uleb128_to(bytes, UINT32_MAX);
    thread->stack = cursor_number(bytes, 8);
    thread->stack_end = cursor_number(bytes, 8);
    const uint8_t *general = cursor_bytes(bytes, sizeof thread->registers.general);
    thread->registers.vector_size = cursor_uleb128_to(bytes, sizeof thread->registers.vectors);
    const uint8_t *vectors = cursor_bytes(bytes, thread->registers.vector_size);
    if (!is_taken(bytes))
        return false;
    memcpy(&thread->registers.general, general, sizeof thread->registers.general);
    memcpy(thread->registers.vectors, vectors, thread->registers.vector_size);
    return true;
}
