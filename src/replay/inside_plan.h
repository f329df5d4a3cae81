/* inside_plan.h: how the system call instructions of files can be replaced by jumps
 * (x86/call_patch.h). What was found for a file holds for all processes that map it. */
#ifndef QUIPU_REPLAY_INSIDE_PLAN_H
#define QUIPU_REPLAY_INSIDE_PLAN_H

#include "replay/known_files.h"
#include "util/vector.h"
#include "x86/call_patch.h"

#include <time.h>

/* How one instruction can be replaced. With neither padding nor moved bytes, it cannot. */
struct inside_plan {
    uint64_t offset; /* of the instruction, in its file */
    int16_t padding; /* its place, relative to the instruction; 0: there is none */
    uint8_t moved;   /* bytes behind the instruction that are moved instead */
    uint8_t code[CALL_SIZE + CALL_MOVED_MOST]; /* its bytes, and those */
    uint8_t padding_code[CALL_JUMP_SIZE];
};

struct inside_file;

/* The files that were looked at. One of zeros is empty. */
struct inside_files {
    struct arena arena;
    struct known_parts known; /* their indices */
    VECTOR(struct inside_file *) files;
    struct inside_file *young; /* that has changed in the last seconds, looked at last; or NULL */
    const char *young_path;
    struct timespec young_changed; /* its time */
};

/* Returns how the instruction at OFFSET of the file at PATH can be replaced, or NULL if it cannot.
 * Valid as long as FILES. */
const struct inside_plan *find_inside_plan(struct inside_files *files, const char *path,
                                           uint64_t offset);

/* Returns the SIZE bytes of the function in the file at PATH that has OFFSET at PLACE, as the call
 * frame information tells; NULL if that is not known. Valid as long as FILES. */
const uint8_t *find_code_function(struct inside_files *files, const char *path, uint64_t offset,
                                  size_t *size, size_t *place);

/* Whether code of other functions of the file at PATH may enter a function between the offsets FROM
 * and TO, or that is not known: glibc's mempcpy jumps behind the first instruction of memcpy. */
bool is_entered_from_other_functions(struct inside_files *files, const char *path, uint64_t from,
                                     uint64_t to);
void forget_inside_files(struct inside_files *files);

#endif
