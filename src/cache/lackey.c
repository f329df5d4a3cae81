/* lackey.c: references from the text that valgrind's lackey writes with --trace-mem=yes.
 *
 *     I  04000a90,3      fetch: address in hexadecimal, size in decimal
 *      L 1ffeffe7e,8     load
 *      S 1ffeffe78,8     store
 *      M 0421c7cc,4      load and then store of the same bytes: one read, as in cachegrind
 *
 * Source: valgrind, lackey/lk_main.c. Any other line is skipped: valgrind's own begin with "==",
 * and the program's output may be among them. A line that begins as a reference and is not one is
 * an error, and so is a last line without its end: the file is cut off there. */
#include "cache/source.h"

#include "util/diag.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BUFFER_SIZE = 1 << 20,
    HEX_DIGITS_MAX = 16,
    SIZE_DIGITS_MAX = 4,
    HEAD = 3, /* characters in front of an address */
};

struct lackey_source {
    struct reference_source base; /* the first member: pointers to it are pointers to this */
    int fd;
    bool ended;
    const char *next, *end; /* what was read and not used, in `buffer` */
    uint64_t line;          /* of the next one, from 1 */
    uint64_t references;
    char buffer[BUFFER_SIZE];
};

static const struct {
    char head[HEAD + 1];
    enum reference_kind kind;
} heads[] = {
    {"I  ", REFERENCE_FETCH},
    {" L ", REFERENCE_READ},
    {" S ", REFERENCE_WRITE},
    {" M ", REFERENCE_READ},
};

_Noreturn static void refuse(const struct lackey_source *source, const char *cause) {
    die("'%s', line %" PRIu64 ": %s; write it anew with 'valgrind --tool=lackey --trace-mem=yes "
        "--log-file=FILE'",
        source->base.path, source->line, cause);
}

/* Moves what is left to the begin of the buffer, and reads more behind it. */
static void fill(struct lackey_source *source) {
    size_t left = (size_t)(source->end - source->next);
    memmove(source->buffer, source->next, left);
    source->next = source->buffer;
    ssize_t got;
    do
        got = read(source->fd, source->buffer + left, BUFFER_SIZE - left);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        die("cannot read '%s': %s", source->base.path, strerror(errno));
    source->ended = got == 0;
    source->end = source->buffer + left + got;
}

/* Returns the end of the next line, its '\n', or NULL at the end of the file. */
static const char *find_line(struct lackey_source *source) {
    for (;;) {
        size_t left = (size_t)(source->end - source->next);
        const char *end = left ? memchr(source->next, '\n', left) : NULL;
        if (end || (source->ended && !left))
            return end;
        if (source->ended)
            refuse(source, "the file is cut off here");
        if (left == BUFFER_SIZE) /* no reference is so long: the program's own output */
            source->next = source->end;
        fill(source);
    }
}

static unsigned hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a' + 10);
    return 16;
}

/* Reads "address,size" up to END. Returns false if it is something else. */
static bool read_address(const char *text, const char *end, struct memory_reference *reference) {
    uint64_t address = 0, size = 0;
    const char *from = text;
    for (unsigned digit; text < end && (digit = hex_digit(*text)) < 16; text++)
        address = address << 4 | digit;
    if (text == from || text - from > HEX_DIGITS_MAX || text == end || *text++ != ',')
        return false;
    from = text;
    for (; text < end && *text >= '0' && *text <= '9' && text - from < SIZE_DIGITS_MAX; text++)
        size = 10 * size + (uint64_t)(*text - '0');
    if (text != end || size < 1 || size > REFERENCE_SIZE_MAX || address + size - 1 < address)
        return false;
    reference->address = address;
    reference->size = (uint32_t)size;
    return true;
}

/* Reads the line from TEXT to END. Returns false if it is none of lackey's. */
static bool read_line(struct lackey_source *source, const char *text, const char *end,
                      struct memory_reference *reference) {
    if (end - text < HEAD)
        return false;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        if (memcmp(text, heads[i].head, HEAD) != 0)
            continue;
        if (!read_address(text + HEAD, end, reference))
            refuse(source, "this is no address in hexadecimal, comma and size in decimal");
        reference->kind = (uint8_t)heads[i].kind;
        return true;
    }
    return false;
}

static size_t next_lines(struct reference_source *base, struct memory_reference *references,
                         size_t most) {
    struct lackey_source *source = (struct lackey_source *)base;
    size_t count = 0;
    const char *end;
    while (count < most && (end = find_line(source))) {
        references[count] = (struct memory_reference){0};
        count += read_line(source, source->next, end, &references[count]);
        source->next = end + 1;
        source->line++;
    }
    source->references += count;
    if (!source->references)
        die("'%s' has no references; 'valgrind --tool=lackey --trace-mem=yes --log-file=FILE' "
            "writes them",
            base->path);
    return count;
}

static void close_lackey(struct reference_source *base) {
    struct lackey_source *source = (struct lackey_source *)base;
    if (source->fd != STDIN_FILENO)
        close(source->fd);
    arena_release(&base->arena);
    free(source);
}

struct reference_source *open_lackey_source(const char *path, enum place_kind kind) {
    bool input = strcmp(path, "-") == 0;
    CHECK(kind == PLACE_PROGRAM);
    struct lackey_source *source = calloc(1, sizeof *source);
    if (!source)
        die("out of memory");
    source->base.path = input ? "standard input" : path;
    source->base.shortens = true;
    source->base.next = next_lines;
    source->base.close = close_lackey;
    source->fd = input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (source->fd < 0)
        die("cannot open '%s': %s", path, strerror(errno));
    source->next = source->end = source->buffer;
    source->line = 1;
    vector_push(&source->base.arena, &source->base.places, (struct reference_place){0});
    return &source->base;
}
