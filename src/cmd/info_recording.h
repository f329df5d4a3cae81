/* info_recording.h: the part of quipu info that describes recordings (quipu record). */
#ifndef QUIPU_CMD_INFO_RECORDING_H
#define QUIPU_CMD_INFO_RECORDING_H

#include "replay/image.h"
#include "replay/names.h"
#include "replay/start.h"
#include "report/json_writer.h"
#include "util/vector.h"

#include <signal.h>
#include <stdio.h>

struct recorded_process_facts {
    const char *name;    /* by who forked it, and as which of its children; "1": the first */
    uint32_t number;     /* for the kernel */
    const char *program; /* the last that it has executed, or its maker's */
    VECTOR(const char *) programs; /* all of them */
    uint32_t threads;              /* that it had */
    uint64_t events, signals;
    bool ended; /* with `status` of wait */
    int status;
    const char *stopped; /* why it was recorded no further, or NULL */
};

struct recorded_thread_facts {
    const char *name; /* by who made it, and as which of its threads */
    uint32_t process; /* index; of one that has ended in front of the recording 0 */
    uint32_t number;  /* for the kernel */
    uint64_t events;
};

struct recording_facts {
    const char *path;
    struct start start;      /* of the first process */
    const char *const *argv; /* of its program */
    bool in_middle;          /* it begins in the middle of the run, with: */
    struct run_image image;
    uint32_t last_process; /* index of the one that was read last of it */
    VECTOR(struct recorded_process_facts) processes;
    VECTOR(struct recorded_thread_facts) threads; /* by their numbers, from 1 */
    thread_names names;
    size_t packed; /* files in it, of `packed_bytes` */
    uint64_t packed_bytes;
    uint64_t events[QUIPU_EVENT_KINDS];
    uint64_t signals[NSIG];
    uint64_t memory_bytes; /* that calls and signals have written */
    uint64_t file_bytes;
};

typedef VECTOR(struct recording_facts) recording_list;

/* Reads those of the COUNT files at PATHS that are recordings, from begin to end. All is in ARENA.
 * Ends the program with an error if one is corrupt. */
recording_list look_at_recordings(struct arena *arena, char **paths, size_t count);

void write_text_recording(FILE *out, struct arena *arena, const struct recording_facts *facts);
void write_json_recording(struct json_writer *json, const struct recording_facts *facts);

#endif
