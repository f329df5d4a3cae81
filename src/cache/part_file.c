/* part_file.c: files with the results of parts; see part_file.h. */
#include "cache/part_file.h"

#include "util/diag.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

enum {
    HEADER_SIZE = 48,
    HASHED_SIZE = 40, /* of the header, in front of its checksum */
    VERSION = 3,
    RATIO_MOST = 1 << 15, /* zstd makes at most 128 kB of 4 bytes */
    LEVEL = 1,            /* of zstd; a higher one takes longer than the part itself */
};

static const uint8_t magic[8] = {0x89, 'q', 'p', 'a', 'r', 't', 's', '\r'};
static const char *const kind_names[] = {[PART_CACHE] = "cache", [PART_REUSE] = "reuse"};
static const uint32_t NO_TEXT = UINT32_MAX;

/* ---- contents ---- */

void part_number(struct buffer *contents, uint64_t number, size_t size) {
    uint8_t bytes[8];
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(number >> 8 * i);
    buffer_add(contents, bytes, size);
}

void part_text(struct buffer *contents, const char *text) {
    part_number(contents, text ? strlen(text) : NO_TEXT, 4);
    if (text)
        buffer_add(contents, text, strlen(text) + 1);
}

const char *part_next_text(struct part_file *file) {
    uint64_t length = part_next(file, 4);
    if (length == NO_TEXT)
        return NULL;
    const uint8_t *text = cursor_bytes(&file->next, length + 1);
    if (!text || memchr(text, '\0', length + 1) != text + length)
        refuse_part_file(file);
    return (const char *)text;
}

uint64_t part_next_count(struct part_file *file, size_t least) {
    uint64_t count = part_next(file, 8);
    if (file->next.failed || count > cursor_left(&file->next) / least)
        refuse_part_file(file);
    return count;
}

void refuse_part_file(const struct part_file *file) {
    die("'%s' is corrupt; make this part again: 'quipu %s --part=I/N -o FILE TRACE'", file->path,
        kind_names[file->kind]);
}

void check_part_file(const struct part_file *file) {
    if (file->next.failed)
        refuse_part_file(file);
}

void part_begin(struct buffer *contents, const struct reference_source *source) {
    part_text(contents, source->path);
    part_number(contents, source->file_size, 8);
    part_number(contents, source->threads, 8);
    part_number(contents, source->unsure, 8);
}

/* Reads what part_begin has written. */
static void read_begin(struct part_file *file) {
    file->next = (struct cursor){file->contents, file->contents + file->size, false};
    file->trace = part_next_text(file);
    file->trace_size = part_next(file, 8);
    file->threads = part_next(file, 8);
    file->unsure = part_next(file, 8);
    if (file->next.failed || !file->trace)
        refuse_part_file(file);
}

/* ---- files ---- */

/* Goes on with the FNV-1a hash of 64 bits of BYTES. */
static uint64_t add_to_hash(uint64_t hash, const void *bytes, size_t size) {
    const uint8_t *next = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ next[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t checksum_of(const void *header, const void *stored, size_t size) {
    uint64_t hash = add_to_hash(UINT64_C(0xcbf29ce484222325), header, HASHED_SIZE);
    return add_to_hash(hash, stored, size);
}

void write_part_file(FILE *out, enum part_kind kind, struct part_choice part,
                     const struct buffer *contents) {
    size_t room = ZSTD_compressBound(contents->count);
    void *stored = malloc(room);
    size_t size = stored ? ZSTD_compress(stored, room, contents->data, contents->count, LEVEL) : 0;
    if (!stored || ZSTD_isError(size))
        die("out of memory: no room for the results of a part");
    struct buffer header = {0};
    buffer_add(&header, magic, sizeof magic);
    part_number(&header, VERSION, 4);
    part_number(&header, kind, 4);
    part_number(&header, part.number, 4);
    part_number(&header, part.count, 4);
    part_number(&header, size, 8);
    part_number(&header, contents->count, 8);
    part_number(&header, checksum_of(header.data, stored, size), 8);
    (void)!fwrite(header.data, 1, header.count, out);
    (void)!fwrite(stored, 1, size, out);
    buffer_release(&header);
    free(stored);
}

/* Reads the header at the begin of BYTES. Returns the bytes that are STORED behind it. */
static size_t read_header(struct part_file *file, const struct buffer *bytes) {
    enum part_kind wanted = file->kind;
    const char *data = bytes->data;
    if (bytes->count < HEADER_SIZE || memcmp(data, magic, sizeof magic) != 0)
        die("'%s' is not the result of a part; 'quipu %s --part=I/N -o FILE TRACE' writes one",
            file->path, kind_names[wanted]);
    file->next = (struct cursor){(const uint8_t *)data + sizeof magic,
                                 (const uint8_t *)data + HEADER_SIZE, false};
    uint64_t version = part_next(file, 4), kind = part_next(file, 4);
    if (version != VERSION)
        die("'%s' has version %" PRIu64 ", this quipu reads version %d; make this part again",
            file->path, version, VERSION);
    file->part.number = (uint32_t)part_next(file, 4);
    file->part.count = (uint32_t)part_next(file, 4);
    uint64_t stored = part_next(file, 8);
    file->size = part_next(file, 8);
    if (stored != bytes->count - HEADER_SIZE || file->size / RATIO_MOST > stored ||
        file->part.number < 1 || file->part.number > file->part.count ||
        file->part.count > PARTS_MOST ||
        part_next(file, 8) != checksum_of(data, data + HEADER_SIZE, stored))
        refuse_part_file(file);
    if (kind != wanted)
        die("'%s' is a part of 'quipu %s', not of 'quipu %s'", file->path,
            kind == PART_CACHE || kind == PART_REUSE ? kind_names[kind] : "another command",
            kind_names[wanted]);
    return stored;
}

struct part_file read_part_file(int fd, const char *path, enum part_kind kind) {
    struct part_file file = {.path = path, .kind = kind};
    struct buffer bytes = {0};
    if (!buffer_read(&bytes, fd))
        die("cannot read '%s': %s", path, strerror(errno));
    size_t stored = read_header(&file, &bytes);
    file.contents = malloc(file.size + 1);
    if (!file.contents)
        die("out of memory: '%s' has %zu bytes", path, file.size);
    if (ZSTD_decompress(file.contents, file.size, bytes.data + HEADER_SIZE, stored) != file.size)
        refuse_part_file(&file);
    buffer_release(&bytes);
    read_begin(&file);
    return file;
}

void part_file_release(struct part_file *file) {
    free(file->contents);
    *file = (struct part_file){0};
}

static struct part_file read_path(const char *path, enum part_kind kind) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        die("cannot open '%s': %s", path, strerror(errno));
    struct part_file file = read_part_file(fd, path, kind);
    close(fd);
    return file;
}

static int compare_parts(const void *a, const void *b) {
    uint32_t first = ((const struct part_file *)a)->part.number;
    uint32_t second = ((const struct part_file *)b)->part.number;
    return (first > second) - (first < second);
}

/* Ends the program with an error if FILE does not belong to what FIRST is a part of. */
static void compare_traces(const struct part_file *first, const struct part_file *file) {
    if (file->part.count != first->part.count)
        die("'%s' is one of %u parts, '%s' one of %u; merge the parts of one cut", first->path,
            first->part.count, file->path, file->part.count);
    if (file->trace_size != first->trace_size || file->threads != first->threads)
        die("'%s' is a part of '%s', '%s' of another trace, '%s'", first->path, first->trace,
            file->path, file->trace);
}

part_files read_part_files(struct arena *arena, char **paths, size_t count, enum part_kind kind) {
    part_files files = {0};
    if (!count)
        die("--merge needs the files of all parts; 'quipu %s --part=I/N -o FILE TRACE' writes them",
            kind_names[kind]);
    for (size_t i = 0; i < count; i++) {
        vector_push(arena, &files, read_path(paths[i], kind));
        compare_traces(&files.data[0], &files.data[i]);
    }
    qsort(files.data, files.count, sizeof *files.data, compare_parts);
    for (size_t i = 0; i < count; i++) {
        const struct part_file *file = &files.data[i];
        if (i && file->part.number == files.data[i - 1].part.number)
            die("'%s' and '%s' are both part %u of %u; name each part once", files.data[i - 1].path,
                file->path, file->part.number, file->part.count);
        if (file->part.number != i + 1)
            break;
    }
    for (size_t i = 0; i < files.data[0].part.count; i++)
        if (i == count || files.data[i].part.number != i + 1)
            die("part %zu of %u is missing; --merge needs all of them", i + 1,
                files.data[0].part.count);
    return files;
}
