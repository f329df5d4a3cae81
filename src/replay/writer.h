/* writer.h: writes a recording (format/recording.h).
 *
 * Each event is in the file when it has been added, as it is, or when those that are gathered have.
 * So whatever ends this process, at most a block that was being compressed is lost. */
#ifndef QUIPU_REPLAY_WRITER_H
#define QUIPU_REPLAY_WRITER_H

#include "format/recording.h"
#include "util/buffer.h"

#include <stdbool.h>
#include <stdint.h>

struct recording_writer {
    int fd;
    uint64_t begin;       /* place of the first block that is played */
    uint64_t block;       /* place of the open block in the file */
    bool in_image;        /* events are those of an image, which is not open */
    struct buffer events; /* of the open block */
    struct buffer event;  /* the event that is being made */
    bool gathers;
    size_t written; /* bytes of `events` that are in the file */
    struct ZSTD_CCtx_s *context;
    char *stored; /* room for a compressed block */
    size_t room;  /* its bytes */
    int failure;  /* errno of the first write that failed; 0: none. Nothing is written then */
};

/* Makes the file at PATH anew. Returns false, with errno set, if that fails. */
bool recording_begin(struct recording_writer *writer, const char *path);

/* An event of THREAD is made: its bytes are added to the buffer that this returns, and then
 * recording_add writes it. */
struct buffer *recording_event(struct recording_writer *writer);
void recording_add(struct recording_writer *writer, enum quipu_event_kind kind, uint32_t thread);

/* Adds the event of a call of THREAD, which has written to STREAM, or 0. HASH is that of the event.
 */
void recording_add_call(struct recording_writer *writer, uint32_t thread, uint64_t number,
                        uint32_t hash, int stream, int64_t result);

/* Adds events for the SIZE bytes at BYTES, of memory at ADDRESS. ARGUMENTS are those of the call
 * that wrote them, or NULL. */
void recording_add_memory(struct recording_writer *writer, uint32_t thread, uint64_t address,
                          const uint8_t *bytes, size_t size, const uint64_t arguments[6]);

/* With ON, events are not in the file until a call with ON false. */
void recording_gather(struct recording_writer *writer, bool on);

/* Compresses the open block, and closes the file. */
void recording_end(struct recording_writer *writer);

/* The events up to recording_end_image are an image. Returns its place in the file. */
uint64_t recording_begin_image(struct recording_writer *writer);
void recording_end_image(struct recording_writer *writer);

/* The recording begins with the image at PLACE. What is in front of it is given back to the file
 * system, if that can do so. */
void recording_drop(struct recording_writer *writer, uint64_t place);

/* Writes the recording as it is now to the file FD, which is empty, and behind it the events ENDS.
 * Returns 0, or errno. */
int recording_copy(const struct recording_writer *writer, int fd, const struct buffer *ends);

/* The file at PATH, which is the writer's, gets rid of the hole in front. */
void recording_compact(struct recording_writer *writer, const char *path);

/* Appends an event with the SIZE bytes at BYTES to others. */
void put_event(struct buffer *events, enum quipu_event_kind kind, uint32_t thread,
               const void *bytes, size_t size);

/* Appends numbers of the format to an event. */
void put_number(struct buffer *event, uint64_t value, size_t size);
void put_signed(struct buffer *event, int64_t value);

#endif
