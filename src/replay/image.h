/* image.h: all processes in the middle of a run, with which a recording can begin
 * (format/recording.h). */
#ifndef QUIPU_REPLAY_IMAGE_H
#define QUIPU_REPLAY_IMAGE_H

#include "replay/recording.h"
#include "replay/writer.h"
#include "util/vector.h"
#include "x86/registers.h"

#include <sys/types.h>

struct run_image {
    uint32_t processor;   /* to which all are bound, or UINT32_MAX */
    uint64_t identity;    /* of the machine's processors */
    uint64_t began, made; /* seconds since 1970: of the run, of the image */
    uint64_t calls, signals;
    uint32_t first; /* number of the first process */
    bool first_ended;
    int status;       /* of wait, then */
    uint32_t threads; /* that had begun */
    const char *path; /* of the first program */
    text_vector command;
    uint64_t processes;
};

struct image_mapping {
    uint64_t start, end;
    uint8_t protection; /* PROT_READ, ... */
    bool grows_down;
    uint32_t shared; /* number of the shared file, from `place` on; 0: none */
    uint64_t place;
};

struct image_process {
    uint32_t number;
    bool is_first, has_armed_ticks;
    uint64_t stack_limit;
    const char *path, *name;
    uint64_t layout[QUIPU_IMAGE_LAYOUT]; /* as in struct prctl_mm_map */
    const uint8_t *auxiliary;            /* the vector */
    size_t auxiliary_size;
    uint64_t threads;
    VECTOR(struct image_mapping) mappings;
};

struct image_thread {
    uint32_t id; /* in the recording */
    uint32_t number;
    const char *name;
    uint32_t children, successors; /* processes and threads that it has made */
    uint64_t stack, stack_end;     /* its alternate stack; equal: none */
    struct registers registers;
};

/* Add an event. The process's is of its thread ID. Return false if it is too large. */
void write_image_head(struct recording_writer *writer, const struct run_image *image);
bool write_image_process(struct recording_writer *writer, uint32_t id,
                         const struct image_process *process);
void write_image_thread(struct recording_writer *writer, const struct image_thread *thread);

/* Take an event apart, which must be of that kind; texts are copied to ARENA. Return false if it is
 * corrupt. */
bool read_image_head(struct arena *arena, struct event *event, struct run_image *image);
bool read_image_process(struct arena *arena, struct event *event, struct image_process *process);
bool read_image_thread(struct arena *arena, struct event *event, struct image_thread *thread);

#endif
