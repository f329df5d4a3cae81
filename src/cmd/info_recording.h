/* info_recording.h: the part of quipu info that describes recordings (quipu record). */
#ifndef QUIPU_CMD_INFO_RECORDING_H
#define QUIPU_CMD_INFO_RECORDING_H

#include "replay/start.h"
#include "report/json_writer.h"
#include "util/vector.h"

#include <signal.h>
#include <stdio.h>

struct recording_facts {
    const char *path;
    struct start start; /* of the process */
    char **argv;        /* of its program */
    uint64_t events[QUIPU_EVENT_KINDS];
    uint64_t signals[NSIG];
    uint64_t memory_bytes; /* that calls and signals have written */
    uint64_t file_bytes;
    uint32_t threads;
    bool ended; /* the process has ended, with `status` of wait */
    int status;
    const char *stopped; /* why the recording ends while the process went on, or NULL */
};

typedef VECTOR(struct recording_facts) recording_list;

/* Reads those of the COUNT files at PATHS that are recordings, from begin to end. All is in ARENA.
 * Ends the program with an error if one is corrupt. */
recording_list look_at_recordings(struct arena *arena, char **paths, size_t count);

void write_text_recording(FILE *out, struct arena *arena, const struct recording_facts *facts);
void write_json_recording(struct json_writer *json, const struct recording_facts *facts);

#endif
