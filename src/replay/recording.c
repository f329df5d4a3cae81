/* recording.c: reads a recording; see recording.h. */
#include "replay/recording.h"

#include "replay/packed_files.h"
#include "util/buffer.h"
#include "x86/call_patch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

enum {
    BLOCK_USUAL = 64 << 10 /* bytes; most are not larger */
};

static const char no_recording[] =
    "'%s' is not a recording; 'quipu record -o FILE -- PROGRAM' makes one";

static bool begins_as_recording(const uint8_t *bytes) {
    return memcmp(bytes, QUIPU_RECORDING_MAGIC, sizeof QUIPU_RECORDING_MAGIC - 1) == 0;
}

bool recording_is(const char *path) {
    uint8_t magic[sizeof QUIPU_RECORDING_MAGIC - 1];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool is = read(fd, magic, sizeof magic) == sizeof magic && begins_as_recording(magic);
    close(fd);
    return is;
}

static const char *map_file(struct arena *arena, struct recording *recording, int fd) {
    struct stat status;
    if (fstat(fd, &status) != 0)
        return arena_print(arena, "cannot open '%s': %s", recording->path, strerror(errno));
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK)
        return arena_print(arena,
                           "'%s' is still being recorded, by process %d; wait for its end, or copy "
                           "it with 'quipu record --keep'",
                           recording->path, (int)lock.l_pid);
    if (!S_ISREG(status.st_mode) || status.st_size < (off_t)sizeof(struct quipu_recording_file))
        return arena_print(arena, no_recording, recording->path);
    void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return arena_print(arena, "cannot map '%s': %s", recording->path, strerror(errno));
    recording->bytes = bytes;
    recording->size = (size_t)status.st_size;
    return NULL;
}

const char *recording_open(struct arena *arena, const char *path, struct recording *recording) {
    struct quipu_recording_file header;
    *recording = (struct recording){.path = path, .arena = arena, .in_image = true};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return arena_print(arena, "cannot open '%s': %s", path, strerror(errno));
    const char *wrong = map_file(arena, recording, fd);
    close(fd);
    if (wrong)
        return wrong;
    memcpy(&header, recording->bytes, sizeof header);
    if (!begins_as_recording(header.magic))
        wrong = arena_print(arena, no_recording, path);
    else if (header.version != QUIPU_RECORDING_VERSION)
        wrong = arena_print(arena,
                            "'%s' is a recording of version %u, this quipu reads version %d; "
                            "record it anew",
                            path, header.version, QUIPU_RECORDING_VERSION);
    else if (header.begin < sizeof header || header.begin > recording->size)
        wrong = arena_print(arena, "'%s' is corrupt: its begin", path);
    recording->next = header.begin;
    recording->hole = header.begin - sizeof header;
    if (!wrong && !read_packed_files(recording))
        wrong = arena_print(arena, "'%s' is corrupt: the files in it", path);
    if (wrong)
        recording_close(recording);
    return wrong;
}

static void close_blocks(struct recording *recording) {
    free(recording->opened.events);
    free(recording->former.events);
}

void recording_close(struct recording *recording) {
    for (size_t i = 0; i < recording->kept.count; i++)
        free(recording->kept.data[i].bytes);
    recording->kept.count = 0;
    if (recording->bytes)
        munmap(recording->bytes, recording->size);
    if (recording->second)
        close_blocks(recording->second);
    close_blocks(recording);
    *recording = (struct recording){0};
}

/* Reads the compressed BLOCK, whose bytes begin at `next`, into OPENED. */
static bool decompress(const struct recording *recording, const struct quipu_recording_block *block,
                       struct opened_block *opened) {
    if (block->size > QUIPU_RECORDING_BLOCK_MAX)
        return false;
    if (!opened->events || opened->room < block->size) {
        free(opened->events);
        opened->room = block->size > BLOCK_USUAL ? block->size : BLOCK_USUAL;
        opened->events = malloc(opened->room + 1);
        if (!opened->events)
            return false;
    }
    opened->place = recording->block_place;
    return ZSTD_decompress(opened->events, block->size, recording->bytes + recording->next,
                           block->stored) == block->size;
}

/* Sets the events to those of the compressed BLOCK. The one before stays open, as a reader that
 * goes back by some events often goes there. */
static bool open_block(struct recording *recording, const struct quipu_recording_block *block) {
    const struct opened_block former = recording->opened;
    recording->opened = recording->former;
    recording->former = former;
    struct opened_block *opened = &recording->opened;
    if (opened->place != recording->block_place && !decompress(recording, block, opened)) {
        opened->place = 0;
        return false;
    }
    recording->events = (struct cursor){opened->events, opened->events + block->size, false};
    return true;
}

/* Whether BLOCK is of a later image, with which the recording does not begin. */
static bool is_passed_over(struct recording *recording, const struct quipu_recording_block *block) {
    bool is_image = block->kind == QUIPU_RECORDING_IMAGE;
    recording->in_image = recording->in_image && is_image;
    return is_image && !recording->in_image;
}

static bool is_compressed(const struct quipu_recording_block *block) {
    return block->kind == QUIPU_RECORDING_COMPRESSED || block->kind == QUIPU_RECORDING_IMAGE;
}

static enum reading next_block(struct recording *recording, const char **wrong) {
    struct quipu_recording_block block;
    size_t left = recording->size - recording->next, place = recording->next;
    if (left < sizeof block)
        return READING_CUT;
    memcpy(&block, recording->bytes + place, sizeof block);
    recording->block_place = place;
    recording->next += sizeof block;
    left -= sizeof block;
    if (block.kind == QUIPU_RECORDING_OPEN) {
        const uint8_t *begin = recording->bytes + recording->next;
        recording->events = (struct cursor){begin, begin + left, false};
        recording->first = begin;
        recording->next = recording->size;
        return READING_EVENT;
    }
    if (is_compressed(&block) && left < block.stored)
        return READING_CUT;
    if (is_passed_over(recording, &block)) {
        recording->next += block.stored;
        return READING_EVENT;
    }
    if (!is_compressed(&block) || !open_block(recording, &block)) {
        *wrong = arena_print(recording->arena, "'%s' is corrupt: the block at byte %zu",
                             recording->path, place);
        return READING_WRONG;
    }
    recording->first = recording->events.next;
    recording->next += block.stored;
    return READING_EVENT;
}

/* An event that is not whole is the end of an open block that was cut, or of a corrupt one. */
static enum reading cut_event(const struct recording *recording, const char **wrong) {
    if (recording->events.end == recording->bytes + recording->size)
        return READING_CUT;
    *wrong = arena_print(recording->arena, "'%s' is corrupt: a block ends within an event",
                         recording->path);
    return READING_WRONG;
}

/* Remembers where the contents of EVENT, at PLACE, are. */
static void keep_contents(struct recording *recording, const struct event *event,
                          const struct recording_place *place) {
    struct event copy = *event;
    struct cursor contents;
    uint32_t number;
    if (!read_contents_event(&copy, &number, &contents))
        return;
    if (recording->contents.count == 0)
        recording->before = number - 1;
    if (number - recording->before == recording->contents.count + 1)
        vector_push(recording->arena, &recording->contents, *place);
}

enum reading recording_next(struct recording *recording, struct event *event, const char **wrong) {
    while (cursor_left(&recording->events) == 0) {
        enum reading reading = next_block(recording, wrong);
        if (reading != READING_EVENT)
            return reading;
    }
    struct cursor *events = &recording->events;
    const struct recording_place place = recording_tell(recording);
    uint64_t kind = cursor_number(events, 1);
    uint64_t thread = cursor_uleb128_to(events, UINT32_MAX);
    uint64_t size = cursor_uleb128(events);
    if (events->failed || size > cursor_left(events))
        return cut_event(recording, wrong);
    if (kind == 0 || kind >= QUIPU_EVENT_KINDS || size > QUIPU_RECORDING_EVENT_MAX) {
        *wrong = arena_print(recording->arena, "'%s' is corrupt: an event is of no known kind",
                             recording->path);
        return READING_WRONG;
    }
    const uint8_t *bytes = cursor_bytes(events, size);
    event->kind = (enum quipu_event_kind)kind;
    event->thread = (uint32_t)thread;
    event->bytes = (struct cursor){bytes, bytes + size, false};
    if (event->kind == QUIPU_EVENT_CONTENTS)
        keep_contents(recording, event, &place);
    return READING_EVENT;
}

struct recording_place recording_tell(const struct recording *recording) {
    size_t offset = recording->first ? (size_t)(recording->events.next - recording->first) : 0;
    return (struct recording_place){recording->block_place, offset};
}

const char *recording_seek(struct recording *recording, const struct recording_place *place) {
    const char *wrong = NULL;
    if (recording->block_place != place->block) {
        recording->next = place->block;
        recording->in_image = true;
        if (next_block(recording, &wrong) != READING_EVENT)
            return wrong ? wrong : arena_print(recording->arena, "'%s' was cut", recording->path);
    }
    recording->events.failed = false;
    recording->events.next = recording->first + place->offset;
    return NULL;
}

/* Returns another reader of the same file. */
static struct recording *second_reader(struct recording *recording) {
    if (!recording->second) {
        recording->second = ARENA_NEW(recording->arena, struct recording);
        *recording->second = (struct recording){.path = recording->path,
                                                .bytes = recording->bytes,
                                                .size = recording->size,
                                                .arena = recording->arena};
    }
    return recording->second;
}

enum {
    CONTENTS_KEPT_MOST = 256 << 20 /* bytes */
};

/* Reads the contents at INDEX of those that were seen. Returns NULL, or a message. */
static const char *read_contents(struct recording *recording, size_t index,
                                 struct cursor *contents) {
    struct event event;
    uint32_t number;
    struct recording *reader = second_reader(recording);
    const char *wrong = recording_seek(reader, &recording->contents.data[index]);
    if (wrong)
        return wrong;
    if (recording_next(reader, &event, &wrong) == READING_EVENT &&
        event.kind == QUIPU_EVENT_CONTENTS && read_contents_event(&event, &number, contents))
        return NULL;
    return arena_print(recording->arena, "'%s' is corrupt: its contents", recording->path);
}

/* Keeps a copy, if there is room. */
static void keep_copy(struct recording *recording, size_t index, const struct cursor *contents) {
    size_t size = cursor_left(contents);
    if (size > CONTENTS_KEPT_MOST - recording->kept_bytes)
        return;
    while (recording->kept.count <= index)
        vector_push(recording->arena, &recording->kept, ((struct kept_contents){0}));
    struct kept_contents *kept = &recording->kept.data[index];
    kept->bytes = malloc(size + 1);
    if (!kept->bytes)
        return;
    if (size)
        memcpy(kept->bytes, contents->next, size);
    kept->size = size;
    recording->kept_bytes += size;
}

static bool find_kept(const struct recording *recording, size_t index, struct cursor *contents) {
    if (index >= recording->kept.count || !recording->kept.data[index].bytes)
        return false;
    const struct kept_contents *kept = &recording->kept.data[index];
    *contents = (struct cursor){kept->bytes, kept->bytes + kept->size, false};
    return true;
}

const char *recording_contents(struct recording *recording, struct memory_event *memory) {
    struct cursor contents = {0};
    if (!memory->contents)
        return NULL;
    const uint64_t index = (uint64_t)memory->contents - recording->before - 1;
    if (index >= recording->contents.count)
        return arena_print(recording->arena, "'%s' is corrupt: contents %u are missing",
                           recording->path, memory->contents);
    if (!find_kept(recording, index, &contents)) {
        const char *wrong = read_contents(recording, index, &contents);
        if (wrong)
            return wrong;
        keep_copy(recording, index, &contents);
    }
    if (memory->place > cursor_left(&contents))
        return arena_print(recording->arena, "'%s' is corrupt: its contents", recording->path);
    uint64_t left = cursor_left(&contents) - memory->place;
    memory->size = memory->size < left ? memory->size : left;
    memory->bytes = contents.next + memory->place;
    return NULL;
}

bool recording_copy_rest(const struct recording *recording, int fd) {
    return write_whole(fd, recording->bytes + recording->next, recording->size - recording->next);
}

int64_t take_signed(struct cursor *cursor) {
    uint64_t value = cursor_uleb128(cursor);
    return (int64_t)(value >> 1 ^ -(value & 1));
}

/* ---- events ---- */

/* Whether all bytes of the event were taken, and no more. */
static bool is_taken(const struct cursor *bytes) {
    return !bytes->failed && cursor_left(bytes) == 0;
}

/* Takes apart what is about a shared file: it is mapped, or written to. */
static bool read_shared(struct cursor *bytes, struct memory_event *memory) {
    memory->shared = (uint32_t)cursor_uleb128_to(bytes, QUIPU_SHARED_MAX);
    memory->place = cursor_uleb128_to(bytes, QUIPU_SHARED_ROOM);
    if (memory->argument == QUIPU_MEMORY_FILE) {
        memory->size = cursor_left(bytes);
        memory->bytes = cursor_bytes(bytes, memory->size);
        return is_taken(bytes) && memory->shared &&
               memory->size <= QUIPU_SHARED_ROOM - memory->place;
    }
    memory->size = cursor_uleb128_to(bytes, QUIPU_SHARED_ROOM - memory->place);
    memory->bytes = NULL;
    return is_taken(bytes) && memory->shared && memory->size;
}

bool read_memory_event(struct event *event, struct memory_event *memory) {
    struct cursor *bytes = &event->bytes;
    memory->argument = (uint8_t)cursor_number(bytes, 1);
    bool is_addressed =
        memory->argument >= QUIPU_MEMORY_ADDRESS && memory->argument != QUIPU_MEMORY_FILE;
    memory->address = is_addressed ? cursor_number(bytes, sizeof(uint64_t)) : 0;
    memory->contents = memory->shared = 0;
    if (memory->argument == QUIPU_MEMORY_SHARED || memory->argument == QUIPU_MEMORY_FILE)
        return read_shared(bytes, memory);
    if (memory->argument == QUIPU_MEMORY_CONTENTS) {
        memory->contents = (uint32_t)cursor_uleb128_to(bytes, UINT32_MAX);
        memory->place = cursor_uleb128_to(bytes, QUIPU_RECORDING_MEMORY_MAX);
        memory->size = cursor_uleb128_to(bytes, QUIPU_RECORDING_MEMORY_MAX);
        memory->bytes = NULL;
        return is_taken(bytes) && memory->contents;
    }
    memory->size = cursor_left(bytes);
    memory->bytes = cursor_bytes(bytes, memory->size);
    return is_taken(bytes) && memory->argument <= QUIPU_MEMORY_ADDRESS;
}

bool read_contents_event(struct event *event, uint32_t *number, struct cursor *contents) {
    *number = (uint32_t)cursor_uleb128_to(&event->bytes, UINT32_MAX);
    *contents = event->bytes;
    return !event->bytes.failed && *number;
}

bool read_call_event(struct event *event, struct call_event *call) {
    struct cursor *bytes = &event->bytes;
    call->number = cursor_uleb128(bytes);
    call->hash = (uint32_t)cursor_number(bytes, sizeof call->hash);
    call->stream = (uint8_t)cursor_number(bytes, 1);
    call->result = take_signed(bytes);
    return is_taken(bytes) && call->stream <= 2;
}

bool read_entry_event(struct event *event, struct call_event *call) {
    struct cursor *bytes = &event->bytes;
    *call = (struct call_event){.number = cursor_uleb128(bytes)};
    call->hash = (uint32_t)cursor_number(bytes, sizeof call->hash);
    return is_taken(bytes);
}

bool read_clone_event(struct event *event, struct clone_event *made) {
    struct cursor *bytes = &event->bytes;
    *made = (struct clone_event){.maker = (uint32_t)cursor_uleb128_to(bytes, UINT32_MAX)};
    made->hash = (uint32_t)cursor_number(bytes, sizeof made->hash);
    made->kind = (enum quipu_clone_kind)cursor_number(bytes, 1);
    made->number = (uint32_t)cursor_number(bytes, sizeof made->number);
    made->registers = cursor_bytes(bytes, QUIPU_REGISTERS * sizeof(uint64_t));
    return is_taken(bytes) && made->kind >= QUIPU_CLONE_THREAD && made->kind <= QUIPU_CLONE_COPY;
}

bool read_site_event(struct event *event, struct site_event *site) {
    struct cursor *bytes = &event->bytes;
    *site = (struct site_event){.address = cursor_number(bytes, 8), .padding = take_signed(bytes)};
    site->moved = (uint8_t)cursor_number(bytes, 1);
    site->code = cursor_bytes(bytes, (size_t)CALL_SIZE + site->moved);
    if (site->padding)
        site->padding_code = cursor_bytes(bytes, CALL_JUMP_SIZE);
    return !bytes->failed && cursor_left(bytes) == 0 && site->moved <= CALL_MOVED_MOST &&
           site->padding >= INT16_MIN && site->padding <= INT16_MAX;
}

bool read_loop_event(struct event *event, struct loop_event *loop) {
    struct cursor *bytes = &event->bytes;
    loop->address = cursor_number(bytes, sizeof loop->address);
    loop->hash = (uint32_t)cursor_number(bytes, sizeof loop->hash);
    return is_taken(bytes);
}

static void read_left_out(struct arena *arena, struct cursor *bytes, address_range_list *list) {
    *list = (address_range_list){0};
    uint64_t count = cursor_uleb128_to(bytes, LEFT_OUT_MAX);
    for (uint64_t i = 0; i < count && !bytes->failed; i++) {
        struct address_range range = {.start = cursor_number(bytes, sizeof range.start)};
        range.end = cursor_number(bytes, sizeof range.end);
        vector_push(arena, list, range);
    }
}

/* Takes COUNT bytes. */
static void take_bytes(struct cursor *bytes, void *to, size_t count) {
    const uint8_t *from = cursor_bytes(bytes, count);
    if (from && count)
        memcpy(to, from, count);
}

static void read_state(struct cursor *bytes, struct state_check_data *data) {
    take_bytes(bytes, data->vectors, sizeof data->vectors);
    data->float_count = cursor_uleb128_to(bytes, 2 * (uint64_t)CHECK_FLOATS);
    take_bytes(bytes, data->floats, data->float_count * sizeof(uint64_t));
    data->stack_count = cursor_uleb128_to(bytes, CHECK_STACK_MAX);
    take_bytes(bytes, data->stack, data->stack_count * sizeof *data->stack);
    data->word_count = cursor_uleb128_to(bytes, CHECK_WORDS_MAX);
    take_bytes(bytes, data->words, data->word_count * sizeof *data->words);
}

bool read_place_event(struct arena *arena, struct event *event, struct state_place *place) {
    static struct registers registers;
    struct cursor *bytes = &event->bytes;
    _Static_assert(sizeof registers.general == QUIPU_REGISTERS * sizeof(uint64_t), "registers");
    registers.vector_size = 0;
    take_bytes(bytes, &registers.general, sizeof registers.general);
    place->registers = registers.general;
    place->vectors = cursor_number(bytes, sizeof place->vectors);
    place->memory = cursor_number(bytes, sizeof place->memory);
    place->last = cursor_number(bytes, sizeof place->last);
    read_left_out(arena, bytes, &place->left_out);
    set_checked_registers(&place->data, &registers);
    read_state(bytes, &place->data);
    place->quick.kind = (uint8_t)cursor_number(bytes, 1);
    place->quick.place = cursor_uleb128(bytes);
    place->size = (uint8_t)cursor_number(bytes, 1);
    if (place->size > MOVED_MAX || place->quick.kind >= QUICK_KINDS ||
        !set_quick_value(&place->data, &place->quick))
        return false;
    take_bytes(bytes, place->bytes, place->size);
    return is_taken(bytes) && place->data.stack_count &&
           (!place->size || place->size >= LONG_JUMP_SIZE);
}

bool read_exit_event(struct event *event) {
    return is_taken(&event->bytes);
}

bool read_signal_event(struct event *event, struct signal_event *signal) {
    struct cursor *bytes = &event->bytes;
    *signal = (struct signal_event){.signal = (uint8_t)cursor_number(bytes, 1)};
    signal->place = (enum quipu_signal_place)cursor_number(bytes, 1);
    signal->ends = cursor_number(bytes, 1);
    signal->hash = (uint32_t)cursor_number(bytes, sizeof signal->hash);
    signal->info = cursor_bytes(bytes, QUIPU_SIGINFO_SIZE);
    if (!signal->ends) {
        signal->registers = cursor_bytes(bytes, QUIPU_REGISTERS * sizeof(uint64_t));
        signal->vector_size = cursor_uleb128_to(bytes, QUIPU_RECORDING_EVENT_MAX);
        signal->vectors = cursor_bytes(bytes, signal->vector_size);
    }
    return is_taken(bytes) && signal->signal > 0 && signal->signal < NSIG &&
           signal->place >= QUIPU_SIGNAL_BEHIND && signal->place <= QUIPU_SIGNAL_FAULT;
}

bool read_counter_event(struct event *event, struct counter_event *counter) {
    struct cursor *bytes = &event->bytes;
    counter->hash = (uint32_t)cursor_number(bytes, sizeof counter->hash);
    counter->size = (uint8_t)cursor_number(bytes, 1);
    counter->code = cursor_bytes(bytes, counter->size);
    counter->value.value = cursor_number(bytes, sizeof counter->value.value);
    counter->value.detail = cursor_number(bytes, sizeof counter->value.detail);
    return is_taken(bytes);
}

bool read_tick_event(struct event *event, struct tick_event *tick) {
    struct cursor *bytes = &event->bytes;
    tick->place.count = cursor_number(bytes, sizeof tick->place.count);
    tick->place.address = cursor_number(bytes, sizeof tick->place.address);
    tick->hash = (uint32_t)cursor_number(bytes, sizeof tick->hash);
    return is_taken(bytes);
}

bool read_steps_event(struct event *event, struct steps_event *steps) {
    struct cursor *bytes = &event->bytes;
    steps->count = cursor_uleb128(bytes);
    steps->address = cursor_number(bytes, sizeof steps->address);
    steps->hash = (uint32_t)cursor_number(bytes, sizeof steps->hash);
    return is_taken(bytes) && steps->count > 0;
}

bool read_file_event(struct event *event, struct file_event *file) {
    struct cursor *bytes = &event->bytes;
    file->path = cursor_text(bytes);
    file->size = cursor_number(bytes, sizeof file->size);
    file->seconds = cursor_number(bytes, sizeof file->seconds);
    file->nanoseconds = (uint32_t)cursor_number(bytes, sizeof file->nanoseconds);
    return is_taken(bytes);
}

bool read_end_event(struct event *event, int *status) {
    *status = (int)cursor_number(&event->bytes, sizeof(uint32_t));
    return is_taken(&event->bytes) && (WIFEXITED(*status) || WIFSIGNALED(*status));
}

bool read_stopped_event(struct event *event, const char **why) {
    *why = cursor_text(&event->bytes);
    return is_taken(&event->bytes);
}
