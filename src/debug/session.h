/* session.h: the state of a debugger's session, which its parts share. */
#ifndef QUIPU_DEBUG_SESSION_H
#define QUIPU_DEBUG_SESSION_H

#include "debug/diversion.h"
#include "debug/packet.h"
#include "debug/server.h"
#include "debug/timeline.h"

/* Memory that the client has allocated in the process. */
struct client_region {
    uint64_t address, size;
    int protection;
    uint8_t *bytes; /* what it had last, if there is no copy of the process; owned */
};

enum {
    BOOKMARKS_MAX = 64
};

struct session {
    struct timeline *timeline;
    struct connection connection;
    struct buffer answer; /* to the present packet */
    struct halt halt;     /* the last one */
    pid_t selected;       /* whose registers are asked for; 0: the thread that executes */
    int signal;           /* of HALT_SIGNAL, in a diversion; otherwise 0 */
    struct diversion diversion;
    struct stand bookmarks[BOOKMARKS_MAX]; /* by their numbers, from 1 */
    size_t bookmark_count;
    VECTOR(struct client_region) regions;
    struct arena arena;    /* of the list */
    uint64_t module_place; /* address of the loader's description of where a module's number is, or
                              0 */
    bool is_lldb;          /* the client is that */
    bool names_processes;  /* the client knows processes: threads are "pP.T" */
    bool told_end;         /* how the run ended was told */
    uint64_t program;      /* that the client believes in, of player_program_begin */
};

/* ---- answer.c ---- */

/* Appends to the answer. */
void answer_text(struct session *session, const char *text);
void answer_error(struct session *session, const char *why);

/* The process is that of the recorded run again. Tells if changes are lost. */
void leave_diversion(struct session *session);

/* The process becomes a copy that may be changed. Answers an error, and returns false, if none can
 * be made. */
bool may_change(struct session *session);

/* Writes TEXT to the client's console. It waits for an answer, or the process goes on. */
void tell(struct session *session, const char *text);

/* The same with a NUMBER in FORMAT. */
void tell_line(struct session *session, const char *format, unsigned long long number);

/* ---- threads.c ---- */

/* Returns the recorded number of the thread that the user looks at. */
pid_t shown_thread(const struct session *session);

/* Returns that of the thread that executes, or whose moment this is, or which has gone its own way
 * in a copy. */
pid_t stopped_thread(const struct session *session);

/* Appends the name of that thread. */
void answer_thread(struct session *session);

/* Returns the number of the thread whose registers are asked for. */
pid_t selected_thread(const struct session *session);

/* The client steps the thread that the action TEXT, of vCont, names. */
void take_stepper(struct session *session, const char *text);

void take_selection(struct session *session, const char *text);
void take_alive(struct session *session, const char *text);
void take_first_threads(struct session *session, const char *text);
void take_more_threads(struct session *session, const char *text);
void add_threads(struct session *session, const char *annex, struct buffer *object);

/* ---- the packets that begin with a letter of their own; TEXT is behind it ---- */

/* query.c: q and Q. */
void take_query(struct session *session, const char *text);
void take_setting(struct session *session, const char *text);

/* resume.c: what makes it go on, and the reason of its last stop. */
void take_continue(struct session *session, const char *text);
void take_step(struct session *session, const char *text);
void take_signal_continue(struct session *session, const char *text);
void take_signal_step(struct session *session, const char *text);
void take_backward(struct session *session, const char *text);
void take_actions(struct session *session, const char *text); /* vCont */
void take_run(struct session *session, const char *text);
void answer_halt(struct session *session);

/* Returns gdb's number of the signal, which is its own. */
uint8_t debugger_signal(int signal);

/* lldb.c: what only that asks for. */
void take_host(struct session *session, const char *text);
void take_process(struct session *session, const char *text);
void take_watchpoint_support(struct session *session, const char *text);
void take_region(struct session *session, const char *text);

/* client_memory.c: _M and _m. */
void take_allocation(struct session *session, const char *text);
void take_release(struct session *session, const char *text);

/* A copy of the process was made; or is about to go. */
void map_client_memory(struct session *session);
void keep_client_memory(struct session *session);
void forget_client_memory(struct session *session);
bool is_client_memory(const struct session *session, uint64_t address);

/* host_file.c: vFile. */
void take_host_file(struct session *session, const char *text);

/* monitor.c: a command line of the user's. */
void take_monitor(struct session *session, const char *line);

/* Tells that the process is elsewhere now, which the client does not notice. */
void come_to(struct session *session);

/* bookmarks.c: commands. */
void add_bookmark(struct session *session, const char *argument);
void go_to_bookmark(struct session *session, const char *argument);
void tell_bookmarks(struct session *session);
void forget_bookmarks(struct session *session);

/* memory.c: registers and memory. */

void take_registers_read(struct session *session, const char *text);
void take_register_read(struct session *session, const char *text);
void take_registers_write(struct session *session, const char *text);
void take_register_write(struct session *session, const char *text);
void take_memory_read(struct session *session, const char *text);
void take_memory_write(struct session *session, const char *text);
void take_binary_write(struct session *session, const char *text, size_t size);

#endif
