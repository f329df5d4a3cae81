/* start.c: a process in front of its first instruction; see start.h.
 *
 * The AMD64 System V ABI, section 3.4.1: the stack begins with the number of arguments, their
 * addresses, 0, those of the environment, and 0. */
#include "replay/start.h"

#include "replay/known_files.h"
#include "util/memory_map.h"
#include "x86/processor.h"
#include "x86/registers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum {
    PIECE = 1 << 16, /* bytes that are read and hashed at once */
    STACK_MAX = QUIPU_RECORDING_EVENT_MAX / 2
};

_Static_assert(sizeof(struct user_regs_struct) == QUIPU_REGISTERS * sizeof(uint64_t), "27 words");

/* ---- describing ---- */

/* FNV-1a, by words. */
static uint64_t hash_bytes(uint64_t hash, const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i + sizeof hash <= size; i += sizeof hash) {
        uint64_t word;
        memcpy(&word, bytes + i, sizeof word);
        hash = (hash ^ word) * 0x100000001b3u;
        hash ^= hash >> 32;
    }
    return hash;
}

/* Returns the hash of the memory. What cannot be read, as behind the end of a file, is not in it.
 */
static uint64_t hash_memory(pid_t process, uint64_t start, uint64_t end) {
    static uint8_t bytes[PIECE];
    uint64_t hash = 0xcbf29ce484222325u;
    while (start < end) {
        size_t size = end - start < PIECE ? end - start : PIECE;
        struct iovec here = {bytes, size}, there = {(void *)start, size};
        ssize_t count = process_vm_readv(process, &here, 1, &there, 1, 0);
        if (count > 0)
            hash = hash_bytes(hash, bytes, (size_t)count);
        start += size;
    }
    return hash;
}

/* The hashes of what programs begin with, which many do. */
static struct {
    struct known_parts parts; /* indices */
    VECTOR(uint64_t) hashes;
} known;

/* Returns the hash of a mapping of the file at PATH from OFFSET on. */
static uint64_t hash_mapping(pid_t process, const struct start_mapping *mapping, uint64_t offset) {
    struct file_part part;
    uint64_t length = mapping->end - mapping->start;
    bool may_know = *mapping->path == '/' && describe_part(mapping->path, offset, length, &part);
    const uint32_t *index = may_know ? find_part(&known.parts, &part) : NULL;
    if (index)
        return known.hashes.data[*index];
    uint64_t hash = hash_memory(process, mapping->start, mapping->end);
    if (may_know) {
        add_part(&known.parts, &part, (uint32_t)known.hashes.count);
        vector_push(&known.parts.arena, &known.hashes, hash);
    }
    return hash;
}

/* Whether the mapping is the kernel's own, or the stack, whose contents are compared apart. */
static bool is_left_out(const char *path) {
    return *path == '[' && strcmp(path, "[heap]") != 0;
}

/* Adds the mapping FOUND. Sets STACK_END if it is that of the stack. */
static void add_mapping(struct arena *arena, struct start *start,
                        const struct memory_mapping *found, uint64_t *stack_end) {
    struct start_mapping mapping = {
        .start = found->start, .end = found->end, .protection = (uint8_t)found->protection};
    if (found->start <= start->registers.rsp && start->registers.rsp < found->end)
        *stack_end = found->end;
    if (is_left_out(found->path) || *stack_end == found->end)
        return;
    mapping.path = arena_copy(arena, found->path, strlen(found->path));
    mapping.hash = hash_mapping(start->process, &mapping, found->offset);
    vector_push(arena, &start->mappings, mapping);
}

static bool describe_memory(struct arena *arena, struct start *start) {
    struct memory_map map;
    struct memory_mapping mapping;
    uint64_t stack_end = 0;
    memory_map_open(&map, start->process);
    while (memory_map_next(&map, &mapping))
        add_mapping(arena, start, &mapping, &stack_end);
    if (!memory_map_close(&map))
        return false;
    size_t size = stack_end > start->registers.rsp ? stack_end - start->registers.rsp : 0;
    if (size == 0 || size > STACK_MAX) {
        errno = E2BIG;
        return false;
    }
    uint8_t *stack = arena_alloc(arena, size);
    struct iovec here = {stack, size}, there = {(void *)start->registers.rsp, size};
    start->stack = stack;
    start->stack_size = size;
    return process_vm_readv(start->process, &here, 1, &there, 1, 0) == (ssize_t)size;
}

/* prlimit would need privileges where the process has changed its user. */
bool read_stack_limit(pid_t process, uint64_t *limit) {
    static const char key[] = "Max stack size";
    char name[64], *line = NULL;
    size_t room = 0;
    bool found = false;
    snprintf(name, sizeof name, "/proc/%d/limits", (int)process);
    FILE *file = fopen(name, "re");
    while (file && getline(&line, &room, file) > 0) {
        if (strncmp(line, key, sizeof key - 1) != 0)
            continue;
        const char *value = line + sizeof key - 1 + strspn(line + sizeof key - 1, " ");
        *limit = *value == 'u' ? RLIM_INFINITY : strtoull(value, NULL, 10);
        found = true;
    }
    free(line);
    if (file)
        fclose(file);
    return found;
}

bool describe_start(struct arena *arena, pid_t process, uint32_t processor, struct start *start) {
    char name[64], path[PATH_MAX];
    *start = (struct start){.process = process,
                            .processor = processor,
                            .identity = processor_identity(),
                            .seconds = (uint64_t)time(NULL)};
    snprintf(name, sizeof name, "/proc/%d/exe", (int)process);
    ssize_t length = readlink(name, path, sizeof path);
    if (length <= 0 || !read_stack_limit(process, &start->stack_limit) ||
        !get_general_registers(process, &start->registers))
        return false;
    start->path = arena_copy(arena, path, (size_t)length);
    return describe_memory(arena, start);
}

/* ---- in the file ---- */

static void put_text(struct buffer *event, const char *text) {
    buffer_add(event, text, strlen(text) + 1);
}

void write_start(struct recording_writer *writer, uint32_t thread, const struct start *start) {
    struct buffer *event = recording_event(writer);
    put_number(event, (uint64_t)start->process, 4);
    put_number(event, start->stack_limit, 8);
    put_number(event, start->processor, 4);
    put_number(event, start->identity, 8);
    buffer_add(event, &start->registers, sizeof start->registers);
    put_number(event, start->seconds, 8);
    put_text(event, start->path);
    buffer_uleb128(event, start->mappings.count);
    for (size_t i = 0; i < start->mappings.count; i++) {
        const struct start_mapping *mapping = &start->mappings.data[i];
        put_number(event, mapping->start, 8);
        put_number(event, mapping->end, 8);
        put_number(event, mapping->protection, 1);
        put_number(event, mapping->hash, 8);
        put_text(event, mapping->path);
    }
    buffer_uleb128(event, start->stack_size);
    buffer_add(event, start->stack, start->stack_size);
    put_number(event, start->file_size, 8);
    buffer_uleb128(event, start->pieces.count);
    for (size_t i = 0; i < start->pieces.count; i++)
        buffer_uleb128(event, start->pieces.data[i]);
    recording_add(writer, QUIPU_EVENT_START, thread);
}

static void take_mapping(struct arena *arena, struct cursor *bytes, struct start *start) {
    struct start_mapping mapping = {.start = cursor_number(bytes, 8)};
    mapping.end = cursor_number(bytes, 8);
    mapping.protection = (uint8_t)cursor_number(bytes, 1);
    mapping.hash = cursor_number(bytes, 8);
    const char *path = cursor_text(bytes);
    mapping.path = arena_copy(arena, path, strlen(path));
    if (!bytes->failed)
        vector_push(arena, &start->mappings, mapping);
}

bool read_start_event(struct arena *arena, struct event *event, struct start *start) {
    struct cursor *bytes = &event->bytes;
    *start = (struct start){.process = (pid_t)cursor_number(bytes, 4)};
    start->stack_limit = cursor_number(bytes, 8);
    start->processor = (uint32_t)cursor_number(bytes, 4);
    start->identity = cursor_number(bytes, 8);
    const uint8_t *registers = cursor_bytes(bytes, sizeof start->registers);
    if (registers)
        memcpy(&start->registers, registers, sizeof start->registers);
    start->seconds = cursor_number(bytes, 8);
    const char *path = cursor_text(bytes);
    start->path = arena_copy(arena, path, strlen(path));
    uint64_t count = cursor_uleb128_to(bytes, QUIPU_RECORDING_EVENT_MAX);
    for (uint64_t i = 0; i < count && !bytes->failed; i++)
        take_mapping(arena, bytes, start);
    start->stack_size = cursor_uleb128_to(bytes, STACK_MAX);
    const uint8_t *stack = cursor_bytes(bytes, start->stack_size);
    start->file_size = cursor_number(bytes, 8);
    count = cursor_uleb128_to(bytes, QUIPU_RECORDING_EVENT_MAX);
    for (uint64_t i = 0; i < count && !bytes->failed; i++)
        vector_push(arena, &start->pieces, (uint32_t)cursor_uleb128_to(bytes, UINT32_MAX));
    if (bytes->failed || cursor_left(bytes) || start->stack_size == 0)
        return false;
    uint8_t *copy = arena_alloc(arena, start->stack_size);
    memcpy(copy, stack, start->stack_size);
    start->stack = copy;
    return true;
}

/* ---- the words on the stack ---- */

static bool stack_word(const struct start *start, size_t number, uint64_t *word) {
    if (start->stack_size < sizeof *word || number > (start->stack_size - sizeof *word) / 8)
        return false;
    memcpy(word, start->stack + number * sizeof *word, sizeof *word);
    return true;
}

/* Returns a copy of the text at ADDRESS of the stack, or NULL. */
static char *stack_text(struct arena *arena, const struct start *start, uint64_t address) {
    uint64_t place = address - start->registers.rsp;
    if (place >= start->stack_size)
        return NULL;
    const char *text = (const char *)start->stack + place;
    size_t most = start->stack_size - place, length = strnlen(text, most);
    return length < most ? arena_copy(arena, text, length) : NULL;
}

/* Sets WORDS to the texts from word NUMBER on, up to the 0, and NUMBER to what is behind it. */
static bool take_words(struct arena *arena, const struct start *start, size_t *number,
                       char ***words) {
    VECTOR(char *) list = {0};
    for (;; ++*number) {
        uint64_t address;
        if (!stack_word(start, *number, &address))
            return false;
        char *text = address ? stack_text(arena, start, address) : NULL;
        if (address && !text)
            return false;
        vector_push(arena, &list, text);
        if (!address)
            break;
    }
    ++*number;
    *words = list.data;
    return true;
}

bool start_words(struct arena *arena, const struct start *start, char ***argv,
                 char ***environment) {
    size_t number = 1; /* word 0 is the number of arguments */
    return take_words(arena, start, &number, argv) &&
           take_words(arena, start, &number, environment);
}

/* ---- comparing ---- */

static const struct start_mapping *find_mapping(const struct start *start, uint64_t address) {
    for (size_t i = 0; i < start->mappings.count; i++)
        if (start->mappings.data[i].start == address)
            return &start->mappings.data[i];
    return NULL;
}

const char *compare_starts(struct arena *arena, const struct start *recorded,
                           const struct start *here) {
    for (size_t i = 0; i < recorded->mappings.count; i++) {
        const struct start_mapping *then = &recorded->mappings.data[i];
        const struct start_mapping *now = find_mapping(here, then->start);
        const char *path = *then->path ? then->path : recorded->path;
        if (!now || now->end != then->end || now->protection != then->protection)
            return arena_print(arena,
                               "'%s' is not mapped at the same addresses as in the recording; play "
                               "it with the file, the kernel and the limits it was recorded with",
                               path);
        if (now->hash != then->hash)
            return arena_print(arena,
                               "'%s' is not the file that was recorded; play the recording with "
                               "that one",
                               path);
    }
    if (recorded->mappings.count != here->mappings.count)
        return arena_print(arena, "'%s' has more memory here than in the recording",
                           recorded->path);
    return NULL;
}
