/* part_file.h: files with what one part of a trace gave, for 'quipu cache' and 'quipu reuse'.
 *
 * doc/format.md, "Results of parts", describes the bytes. All numbers are little-endian. A reader
 * trusts nothing in a file: contents are read by util/cursor.h, and each index is compared with
 * what it is an index of. */
#ifndef QUIPU_CACHE_PART_FILE_H
#define QUIPU_CACHE_PART_FILE_H

#include "cache/source.h"
#include "util/buffer.h"
#include "util/cursor.h"

#include <stdint.h>
#include <stdio.h>

enum part_kind {
    PART_CACHE = 1,
    PART_REUSE = 2,
};

enum {
    PARTS_MOST = 65535
};

/* Part `number`, from 1, of `count`. */
struct part_choice {
    uint32_t number, count; /* count 0: the whole */
};

/* A file that was read. */
struct part_file {
    const char *path; /* for messages; not owned */
    enum part_kind kind;
    struct part_choice part;
    uint8_t *contents; /* owned */
    size_t size;
    /* what all kinds of contents begin with */
    const char *trace;   /* path of the trace; not owned */
    uint64_t trace_size; /* bytes of that file */
    uint64_t threads;    /* of the trace */
    uint64_t unsure;     /* accesses that the part has left out */
    struct cursor next;  /* behind that */
};

typedef VECTOR(struct part_file) part_files;

/* Appends the lowest SIZE bytes, at most 8, of NUMBER. */
void part_number(struct buffer *contents, uint64_t number, size_t size);

/* Appends TEXT, which may be NULL. */
void part_text(struct buffer *contents, const char *text);

/* Returns the next text, NULL if it is none; it is in the contents of FILE. */
const char *part_next_text(struct part_file *file);

/* Returns the next number of SIZE bytes. */
static inline uint64_t part_next(struct part_file *file, size_t size) {
    return cursor_number(&file->next, size);
}

/* Returns how many items follow, which the next 8 bytes say. Each has at least LEAST bytes; if they
 * cannot be there, the program ends with an error. */
uint64_t part_next_count(struct part_file *file, size_t least);

/* Ends the program with the error that FILE is corrupt. */
_Noreturn void refuse_part_file(const struct part_file *file);

/* Ends the program with that error if a read of FILE has failed. */
void check_part_file(const struct part_file *file);

/* Appends what all kinds of contents begin with. The part has been read to its end. */
void part_begin(struct buffer *contents, const struct reference_source *source);

/* Writes a file to OUT. Errors stay in the stream. */
void write_part_file(FILE *out, enum part_kind kind, struct part_choice part,
                     const struct buffer *contents);

/* Reads what write_part_file wrote to FD. PATH is for messages. A file of another kind, and a
 * corrupt one, ends the program with an error. part_file_release frees it. */
struct part_file read_part_file(int fd, const char *path, enum part_kind kind);
void part_file_release(struct part_file *file);

/* Reads the files at PATHS, COUNT of them, all parts of one trace, and brings them into their
 * order. If one is missing, is there twice, or is of another trace, ends the program with an error.
 * ARENA has the list. */
part_files read_part_files(struct arena *arena, char **paths, size_t count, enum part_kind kind);

#endif
