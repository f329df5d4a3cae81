/* recording.h: reads a recording (format/recording.h), which may be cut, corrupt, or hostile. */
#ifndef QUIPU_REPLAY_RECORDING_H
#define QUIPU_REPLAY_RECORDING_H

#include "format/recording.h"
#include "tracee/state_stop.h"
#include "tracee/tick_stop.h"
#include "util/arena.h"
#include "util/cursor.h"
#include "util/vector.h"
#include "x86/counter_read.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where an event begins. */
struct recording_place {
    size_t block, offset; /* the block's place in the file, and the event's among its events */
};

/* A file that 'quipu pack' has put into the recording. */
struct packed_file {
    const char *path; /* that it had */
    const char *name; /* by which the loader knows it, or "" */
    uint64_t size;
    size_t parts; /* place of its first one */
};

/* Contents that were read once. */
struct kept_contents {
    uint8_t *bytes; /* NULL: not kept */
    size_t size;
};

/* A block that was compressed. */
struct opened_block {
    size_t place;    /* in the file; 0: none */
    uint8_t *events; /* NULL: none */
    size_t room;     /* of these, at least */
};

struct recording {
    const char *path;
    uint8_t *bytes; /* the file, mapped */
    size_t size, next;
    size_t hole;          /* bytes of the file that are in front of what is played */
    bool in_image;        /* the next block may be of the image with which it begins */
    size_t block_place;   /* of the present block in the file; 0: none yet */
    const uint8_t *first; /* its first event */
    struct opened_block opened, former; /* the block, if it was compressed, and one before */
    struct cursor events;
    struct arena *arena;
    VECTOR(struct recording_place) contents; /* those that were read, by their numbers */
    uint32_t before;                         /* number in front of the first one */
    VECTOR(struct kept_contents) kept;       /* the same, as far as they have room */
    size_t kept_bytes;
    struct recording *second;         /* reads them; NULL: not yet needed */
    VECTOR(struct packed_file) files; /* none: it is not packed */
};

struct event {
    enum quipu_event_kind kind;
    uint32_t thread;
    struct cursor bytes; /* valid up to the next block */
};

enum reading {
    READING_EVENT,
    READING_CUT,  /* there is nothing more: the last event was the last, or the file was cut */
    READING_WRONG /* the file is corrupt */
};

/* Whether the file at PATH begins as a recording does. */
bool recording_is(const char *path);

/* Opens the recording at PATH. Returns NULL, or a message in ARENA. */
const char *recording_open(struct arena *arena, const char *path, struct recording *recording);
void recording_close(struct recording *recording);

/* Sets EVENT to the next event. With READING_WRONG, WRONG becomes a message in the recording's
 * arena. */
enum reading recording_next(struct recording *recording, struct event *event, const char **wrong);

/* Returns the place of the next event. */
struct recording_place recording_tell(const struct recording *recording);

/* The next event is that at PLACE, of recording_tell. Returns NULL, or a message in the recording's
 * arena. */
const char *recording_seek(struct recording *recording, const struct recording_place *place);

/* Adds the events behind what was read to the file FD, as they are. Returns false, with errno set,
 * if it cannot be written. */
bool recording_copy_rest(const struct recording *recording, int fd);

struct memory_event;

/* Sets the bytes of MEMORY that are in contents, valid up to the next call; no more than there are.
 * Returns NULL, or a message in the recording's arena. */
const char *recording_contents(struct recording *recording, struct memory_event *memory);

/* Returns the next number that put_signed has written. */
int64_t take_signed(struct cursor *cursor);

/* ---- events ---- */

struct memory_event {
    uint8_t argument; /* or QUIPU_MEMORY_ADDRESS or QUIPU_MEMORY_CONTENTS */
    uint64_t address;
    uint32_t contents; /* number of those that have the bytes, from `place` on; 0: none */
    uint32_t shared;   /* number of the file that is mapped, from `place` on; 0: none */
    uint64_t place;
    const uint8_t *bytes;
    size_t size;
};

struct call_event {
    uint64_t number;
    uint32_t hash;
    uint8_t stream; /* 1 or 2 if it has written to standard output or error, otherwise 0 */
    int64_t result;
};

struct clone_event {
    uint32_t maker;  /* the thread in whose call it begins */
    uint32_t hash;   /* of that one's registers */
    uint32_t number; /* for the kernel */
    enum quipu_clone_kind kind;
    const uint8_t *registers; /* QUIPU_REGISTERS words */
};

struct loop_event {
    uint64_t address;
    uint32_t hash;
};

struct site_event {
    uint64_t address;
    int64_t padding;
    uint8_t moved;
    const uint8_t *code, *padding_code; /* padding_code is NULL if there is none */
};

struct signal_event {
    uint8_t signal;
    enum quipu_signal_place place;
    bool ends;
    uint32_t hash;
    const uint8_t *info;      /* QUIPU_SIGINFO_SIZE bytes */
    const uint8_t *registers; /* QUIPU_REGISTERS words; NULL if it ends the process */
    const uint8_t *vectors;
    size_t vector_size;
};

struct counter_event {
    uint32_t hash;
    const uint8_t *code; /* the instruction */
    uint8_t size;        /* of it */
    struct counter_value value;
};

struct tick_event {
    struct tick_place place;
    uint32_t hash;
};

struct steps_event {
    uint64_t count, address;
    uint32_t hash;
};

struct file_event {
    const char *path;
    uint64_t size, seconds;
    uint32_t nanoseconds;
};

/* Take an event apart, which must be of that kind. Return false if it is corrupt. */
bool read_memory_event(struct event *event, struct memory_event *memory);
bool read_contents_event(struct event *event, uint32_t *number, struct cursor *contents);
bool read_call_event(struct event *event, struct call_event *call);
bool read_entry_event(struct event *event, struct call_event *call); /* without a result */
bool read_clone_event(struct event *event, struct clone_event *made);
bool read_loop_event(struct event *event, struct loop_event *loop);
/* The list of PLACE is in ARENA. */
bool read_place_event(struct arena *arena, struct event *event, struct state_place *place);
bool read_site_event(struct event *event, struct site_event *site);
bool read_exit_event(struct event *event);
bool read_signal_event(struct event *event, struct signal_event *signal);
bool read_counter_event(struct event *event, struct counter_event *counter);
bool read_tick_event(struct event *event, struct tick_event *tick);
bool read_steps_event(struct event *event, struct steps_event *steps);
bool read_file_event(struct event *event, struct file_event *file);
bool read_end_event(struct event *event, int *status);
bool read_stopped_event(struct event *event, const char **why);

#endif
