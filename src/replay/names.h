/* names.h: names of recorded threads and processes. They tell who made them, and as which of its
 * threads or children, so they do not depend on races.
 *
 * The first process is "1", its second child "1/2"; the third thread that the first one of "1/2"
 * has made is "1/2:3", the first that this one has made "1/2:3.1". A process has the name of its
 * first thread. Where a name would be longer than some hundred makers' numbers, it is that of the
 * maker: a recording may be hostile. */
#ifndef QUIPU_REPLAY_NAMES_H
#define QUIPU_REPLAY_NAMES_H

#include "replay/recording.h"
#include "util/arena.h"
#include "util/vector.h"

#include <stdint.h>

struct named_thread {
    const char *name;
    uint32_t first;      /* number in the recording of the first thread of its process */
    uint32_t maker;      /* of the thread that made it; 0: none */
    uint32_t children;   /* processes that it has made */
    uint32_t successors; /* threads that it has made */
};

/* By their numbers in the recording, from 1. */
typedef VECTOR(struct named_thread) thread_names;

/* Adds the first thread. */
void names_begin(struct arena *arena, thread_names *names);

struct image_thread;
struct image_process;

/* Adds COUNT threads that have begun in front of an image. */
void names_begin_image(struct arena *arena, thread_names *names, uint32_t count);

/* Sets the name of THREAD, of PROCESS, in the image. Returns false if there is no such thread. */
bool names_set(struct arena *arena, thread_names *names, const struct image_process *process,
               const struct image_thread *thread);

/* Adds the thread of MADE. Returns it, or NULL if nobody can have made it. */
const struct named_thread *names_add(struct arena *arena, thread_names *names,
                                     const struct clone_event *made);

/* Returns the name of the process of the thread NAME, in ARENA. */
const char *process_of_thread(struct arena *arena, const char *name);

/* Returns the number of the thread that has made the thread NUMBER; 0: none, or it is not there. */
uint32_t names_maker(const thread_names *names, uint32_t number);

/* Threads, by their numbers in the recording. */
typedef VECTOR(uint32_t) thread_path;

/* Sets PATH to the first threads of the processes that lead to that with the NAME, from the first
 * process on, in the recording at FILE. If that begins with an image, they lead from a process of
 * the image, which has the name BEGIN; if there is none with the NAME "1", any may be taken: BEGIN
 * is NULL. Returns NULL, or a message in ARENA. */
const char *find_process(struct arena *arena, const char *file, const char *name, thread_path *path,
                         const char **begin);

#endif
