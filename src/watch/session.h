/* session.h: one run of a program that is watched. */
#ifndef QUIPU_WATCH_SESSION_H
#define QUIPU_WATCH_SESSION_H

#include "watch/hit.h"
#include "watch/program.h"
#include "watch/ring.h"

struct session_options {
    bool stop; /* a trap at the first hit */
    /* Starts what is to have the process, which stands there, and returns its process; or 0, with
     * an error.  NULL: whoever traces the program has it. */
    pid_t (*on_stop)(void *context, const struct told_hit *told);
    bool backtrace;
    bool follow;    /* pointers: also to what they point to later */
    bool quiet;     /* hits are counted, not told */
    bool fatal;     /* a violation ends the program */
    uint64_t limit; /* hits; 0: none */
    /* Called for each hit that is told while its thread waits; NULL: not. */
    void (*on_hit)(void *context, const struct told_hit *told);
    void *context;
};

/* What a request is for. */
struct role {
    uint32_t watched; /* number of the object */
    bool is_internal; /* it is of something on the way to the object */
};

/* Of a process that has hit, whose calls are told. */
struct process_calls {
    uint32_t process;
    struct unwinder *unwinder; /* NULL: its calls cannot be told */
};

/* Where a module of a process runs, less where it was linked. */
struct module_bias {
    const struct binary *binary; /* NULL: none */
    uint32_t process;
    uint64_t bias;
};

struct session {
    struct arena arena;
    struct binary *binary;
    const char *file;    /* the program's */
    const char *started; /* that of what is run: the same, or what runs the program */
    struct libraries libraries;
    struct session_options options;
    VECTOR(struct watched) watched;
    struct ring ring;
    struct role *roles;  /* by number of the request */
    struct follow *ways; /* by number of the object; NULL: no object has pointers on its way */
    struct program program;
    VECTOR(struct process_calls) calls;
    struct writers writers;
    struct hit_format format;
    struct buffer out; /* not written yet */
    int fd;            /* where hits go */
    const char *log;   /* its name */
    bool is_lost;      /* something could not be written there, or the process left alone */
    int lost_cause;    /* why it could not be written; 0: it was */
    bool is_failed;    /* something was not watched that was asked for */
    uint64_t hits, violations;
    uint64_t modules;              /* that have begun */
    bool is_left;                  /* of a program that ran already: it is not watched any more */
    struct module_bias known_bias; /* that was asked for last */
    pid_t stopped, has_stopped;    /* the process that stood, and what has it; 0: none */
};

/* Runs ARGV with all of `watched`, told in options, format and fd.  Returns NULL, or why it was not
 * started. */
const char *run_session(struct session *session, char **argv);

/* Watches PROCESS, which runs already, until it ends, the limit is reached or we are asked to leave
 * it.  Returns NULL, or why it was not watched: then it runs on as before. */
const char *attach_session(struct session *session, pid_t process);

/* Releases what the run has made, and the arena. */
void end_session(struct session *session);

/* Where the module that WATCHED is of runs in PROCESS, less where it was linked; 0 where it does
 * not.
 */
uint64_t bias_for(struct session *session, struct watched *watched, uint32_t process);

/* Flags of the requests for WATCHED. */
uint32_t flags_of(const struct session *session, const struct watched *watched);

/* Asks for a region in the ROLE.  Returns the number of the request, or REQUESTS_MAX, with an
 * error, where there are too many. */
uint32_t ask(struct session *session, const struct quipu_watch_request *request, struct role role);

#endif
