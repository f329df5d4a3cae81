/* start.h: a process in front of its first instruction: what a recording has of it, and what a
 * replay must begin with. */
#ifndef QUIPU_REPLAY_START_H
#define QUIPU_REPLAY_START_H

#include "replay/recording.h"
#include "replay/writer.h"
#include "util/vector.h"

#include <sys/types.h>
#include <sys/user.h>

struct start_mapping {
    uint64_t start, end, hash; /* of the contents */
    uint8_t protection;        /* PROT_READ, ... */
    const char *path;          /* "": none */
};

struct start {
    pid_t process;
    uint64_t stack_limit; /* RLIMIT_STACK */
    uint32_t processor;   /* to which it is bound, or UINT32_MAX */
    uint64_t identity;    /* of the machine's processors */
    uint64_t seconds;     /* since 1970 */
    struct user_regs_struct registers;
    const char *path; /* of the program's file */
    VECTOR(struct start_mapping) mappings;
    const uint8_t *stack; /* from the stack pointer upwards */
    size_t stack_size;
    uint64_t file_size;      /* of the program's file, if that is in the recording; otherwise 0 */
    VECTOR(uint32_t) pieces; /* numbers of its contents; 0: zeros */
};

/* Describes PROCESS, which is bound to PROCESSOR. Returns false, with errno set, if the kernel does
 * not tell all of it. */
bool describe_start(struct arena *arena, pid_t process, uint32_t processor, struct start *start);

/* Sets LIMIT to the size that the stack of PROCESS has at most. */
bool read_stack_limit(pid_t process, uint64_t *limit);

void write_start(struct recording_writer *writer, uint32_t thread, const struct start *start);

/* Returns false if the event is corrupt. */
bool read_start_event(struct arena *arena, struct event *event, struct start *start);

/* Set ARGV and ENVIRONMENT to those that are on the stack. Return false if it is corrupt. */
bool start_words(struct arena *arena, const struct start *start, char ***argv, char ***environment);

/* Returns NULL if HERE, a process, has the memory that RECORDED has, or a message in ARENA. */
const char *compare_starts(struct arena *arena, const struct start *recorded,
                           const struct start *here);

#endif
