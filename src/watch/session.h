/* session.h: one run of a program that is watched. */
#ifndef QUIPU_WATCH_SESSION_H
#define QUIPU_WATCH_SESSION_H

#include "watch/hit.h"
#include "watch/program.h"
#include "watch/ring.h"

struct session_options {
    bool stop; /* the program gets SIGTRAP after the first hit */
    /* Starts a command, such as a debugger, for the process, which is stopped there. Returns the
     * command's process, or 0 after an error message. NULL: a debugger traces the program already.
     */
    pid_t (*on_stop)(const void *context, const struct hit_report *report);
    bool backtrace;
    bool follow;    /* what pointers point to later is watched, too */
    bool quiet;     /* hits are counted, not printed */
    bool fatal;     /* a violation ends the program */
    uint64_t limit; /* of hits; 0: none */
    /* Called for each reported hit, whose thread waits; NULL: nothing is called. */
    void (*on_hit)(const void *context, const struct hit_report *report);
    const void *context;
};

/* What a request is for. */
struct role {
    uint32_t watched; /* number of the object */
    bool is_internal; /* it is for a pointer to the object */
};

/* The unwinder of a process whose hits are reported with backtraces. */
struct process_calls {
    uint32_t process;
    struct unwinder *unwinder; /* NULL: it has none */
};

/* The load address of a module in a process, minus its address as linked. */
struct module_bias {
    const struct binary *binary; /* NULL: none */
    uint32_t process;
    uint64_t bias;
};

struct session {
    struct arena arena;
    struct binary *binary;
    const char *file;    /* of the program */
    const char *started; /* the file that is executed: the same, or a launcher of the program */
    struct libraries libraries;
    struct session_options options;
    VECTOR(struct watched) watched;
    struct ring ring;
    struct role *roles; /* by number of the request */
    struct path *paths; /* by number of the object; NULL: no object is reached through pointers */
    struct program program;
    VECTOR(struct process_calls) calls;
    struct writers writers;
    struct hit_format format;
    struct buffer out; /* text that is not written yet */
    int fd;            /* hits are written to it */
    const char *log;   /* its file name */
    bool is_lost;      /* some text could not be written, or the process could not be released */
    int lost_cause;    /* errno of the failed write; 0: none has failed */
    bool is_failed;    /* a request was not fulfilled */
    uint64_t hits, violations;
    uint64_t modules;              /* that have started, ever */
    bool is_left;                  /* an attached program is not watched any more */
    struct module_bias known_bias; /* the last result of bias_for */
    pid_t stopped, has_stopped;    /* the stopped process, and the command for it; 0: none */
};

/* Runs ARGV, with everything in `watched` watched. Options, format and fd say how hits are
 * reported. Returns NULL, or an error message if it was not started. */
const char *run_session(struct session *session, char **argv);

/* Watches the running process PROCESS until it ends, the limit is reached, or a signal asks quipu
 * to leave it. Returns NULL, or an error message if it was not watched: then it continues as
 * before. */
const char *attach_session(struct session *session, pid_t process);

/* Releases everything that belongs to the session. */
void end_session(struct session *session);

/* Returns the load address in PROCESS of WATCHED's module, minus its address as linked; 0 if it is
 * not loaded. */
uint64_t bias_for(struct session *session, struct watched *watched, uint32_t process);

/* Returns the flags of the requests for WATCHED. */
uint32_t flags_of(const struct session *session, const struct watched *watched);

/* Requests a region for ROLE. Returns the number of the request, or REQUESTS_MAX, after an error
 * message, if there are too many. */
uint32_t ask(struct session *session, const struct quipu_watch_request *request, struct role role);

#endif
