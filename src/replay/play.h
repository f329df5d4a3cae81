/* play.h: the state of a player, which its parts share: player.c, play_event.c, play_start.c,
 * play_program.c, play_call.c, play_thread.c, play_tick.c, play_place.c, play_loop.c,
 * play_inside.c, play_mapped.c.
 *
 * One thread at a time plays: that of the next event. All others are stopped, each behind its last
 * event, or in front of a call that waits for its result. */
#ifndef QUIPU_REPLAY_PLAY_H
#define QUIPU_REPLAY_PLAY_H

#include "replay/inside.h"
#include "replay/player.h"
#include "replay/recording.h"
#include "replay/ticks.h"
#include "tracee/affinity.h"
#include "tracee/stop.h"
#include "tracee/tracee.h"
#include "util/buffer.h"
#include "util/vector.h"

/* An instruction that the recorder has replaced. */
struct play_site {
    uint64_t address;
    const struct inside_plan *plan;
};
#define PLAY_OPTIONS                                                                               \
    ((long)PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACECLONE)

struct start;
struct memory_event;

/* The file of a program that is executed. */
struct program_file {
    const char *path;
    uint64_t begin;          /* number of events in front of its first instruction */
    uint64_t size;           /* if its contents are in the recording, but not packed; otherwise 0 */
    VECTOR(uint32_t) pieces; /* numbers of its contents; 0: zeros */
};

/* Contents of the recording that a mapping has. */
struct mapped_part {
    uint32_t contents, place; /* from `place` in the contents on */
    uint64_t size, offset;    /* in the mapping */
};

/* Where contents are in the file of what is mapped. */
struct mapped_slot {
    uint64_t place;
    uint32_t size;
};

/* A copy of what is mapped. */
struct mapped_file {
    uint64_t place, size;
    struct mapped_part *parts;
    size_t count;
};

struct play_process {
    struct play_process *next; /* that is not gone */
    pid_t number;              /* its own; not the recorded one's */
    pid_t recorded;
    unsigned data;                     /* number of its data file; 0: none is kept */
    const struct play_process *lender; /* whose memory it has; NULL: its own */
    bool is_first;                     /* its end is that of the play's */
    const struct program_file *program;
    struct process_ticks ticks;
    struct inside inside;
    VECTOR(struct play_site) sites; /* that are to be replaced */
};

struct play_thread {
    struct play_process *process; /* NULL: the thread has ended */
    pid_t number;                 /* its own */
    pid_t recorded;               /* of the recorded one */
    uint64_t calls;               /* system calls that it has begun */
    bool in_call, stepped;        /* the player's, of the thread that plays */
    bool awaits;                  /* it is in front of `call`, which others' events came behind */
    struct system_call call;      /* the last one that it has come to */
    struct play_stacks stacks;
    uint64_t behind_site;  /* it is in the code of an armed site, which leads there; 0: it is not */
    struct tick_stop tick; /* it goes to the tick of the next event, or to that of the alarm */
};

struct player {
    struct arena *arena;
    struct arena event_arena; /* of the next event */
    struct arena start_arena; /* of the program that has begun last */
    const struct play_hooks *hooks;
    struct recording recording;
    VECTOR(struct play_thread *) threads; /* by their numbers in the recording, from 1 */
    thread_names names;                   /* of these, and of later ones that were seen already */
    struct play_process *processes;
    struct play_process *own; /* the only one that plays, or its ancestor; NULL: all play */
    size_t depth;             /* of `own` in the path of the hooks */
    bool has_come;            /* to the process that plays, of the hooks */
    bool counts;              /* the next event is one of `own`, or all are counted */
    int shared;               /* descriptor of the memory that processes share, in all of them */
    int mapped_file;          /* descriptor of that of mapped files, in all of them, or -1 */
    uint32_t first_contents;  /* number of those in its first slot */
    VECTOR(struct mapped_slot) slots;
    uint64_t slots_end;
    uint64_t copies;                   /* bytes behind the slots */
    VECTOR(struct mapped_file) mapped; /* copies */
    VECTOR(struct mapped_part) parts;  /* of the next mapping */
    struct play_thread *thread;        /* that plays */
    pid_t process;                     /* its number; 0: it is gone */
    struct playing playing;
    pid_t number;           /* of the recorded process */
    uint64_t events;        /* that were done */
    uint64_t event_address; /* of the instruction that the last one was */
    pid_t event_thread;     /* recorded number of the thread that the last one was of */
    unsigned written;       /* registers of the last PAUSE_WRITE */
    bool has_result;        /* the last event was the result of the thread's call */
    uint64_t result_of;     /* of the call with this number */
    uint64_t last;          /* address of the last instruction, behind a step or at a tick */
    bool has_mapped;        /* the last event was a call that was made: the memory map is another */
    bool in_call;           /* it is stopped in front of a system call, which is not made */
    bool is_entered;        /* it was continued so that a call in front of which it stops is made */
    bool stepped;           /* its last instruction was a single step */
    uint64_t steps;         /* since the last event, if the next one comes behind steps */
    bool announced;         /* there was a pause in front of the signal that comes next */
    bool has_state_place;   /* the next event is `state_place` */
    struct state_place state_place;
    struct state_stop state_stop; /* the thread that plays goes there */
    pid_t alarm_thread;           /* recorded number of the thread that pauses at a tick; 0: none */
    uint64_t alarm_count;         /* of its cells and base, at least */
    const struct tick_code *armed_code; /* of the last place that find_armed_place has found */
    struct tick_place armed_of, armed;

    /* The next event that is not of memory, and the memory that it writes. */
    struct recording_place place; /* where they begin */
    struct event event;
    VECTOR(struct memory_event) memory;
    bool has_event; /* it is read */

    /* Calls that are given inside. */
    struct buffer log;
    VECTOR(struct recording_place) given; /* where their events are */
    size_t given_most;                    /* that are given next, at most */

    unsigned data_files; /* that were made, if they are kept */

    bool ended;
};

/* Returns the process that plays; if all do, that of the present thread. */
static inline struct play_process *own_process(const struct player *player) {
    return player->own ? player->own : player->thread->process;
}

/* Of several processes, this one does not play itself, but in the memory of the one that does. */
static inline bool is_other(const struct player *player, const struct play_process *process) {
    return player->own && process != player->own;
}

/* ---- play_event.c ---- */

/* The play ends so, with the MESSAGE in the player's arena, or NULL. */
void end_play(struct player *player, enum played end, const char *message);

/* The run differs: here the process DOES something that the recording does not have. */
void end_by_difference(struct player *player, const char *does);

/* Whether a hash of registers is the recorded one, or says nothing. */
bool is_same_hash(const struct player *player, uint32_t hash, uint32_t recorded);

/* The event is corrupt. */
void end_by_corruption(struct player *player);

/* Reads the next event, if it is not read yet. Returns false if the play has ended for the lack of
 * one. */
bool peek_event(struct player *player);

/* The next event is to be read anew from `place`. */
void forget_event(struct player *player);

/* Writes the event's memory. ARGUMENTS are the call's, or NULL. Returns false if the play ends. */
bool write_event_memory(struct player *player, const uint64_t arguments[6]);

/* Returns the memory of the event that is a mapping of a shared file, or NULL. */
const struct memory_event *find_shared_mapping(const struct player *player);

/* Returns the place of MAPPING in the memory that processes share. */
uint64_t shared_place(const struct memory_event *mapping);

/* Writes to the file that processes share, or ends it. */
bool write_shared_file(struct player *player, const struct memory_event *memory);

/* The event is done, and those behind it that are done without any instruction; they have no
 * number. The play ends if there is no other. */
void finish_event(struct player *player);

/* The event counts as done, but nothing that follows from it is. */
void pass_event(struct player *player);

/* ---- play_inside.c ---- */

/* The thread that plays is about to be continued. It gets the next calls inside, if it can. */
void give_inside(struct player *player);

/* It has stopped. The next event is the first one that it was not given. */
void take_inside(struct player *player);

/* Sets REGISTERS to those that the program has in front of the call at which the thread is. */
bool look_at_call(const struct player *player, struct user_regs_struct *registers);

/* The thread is behind CALL. If a child has had its memory up to now, it has it for itself. */
void end_shared_inside(struct player *player, const struct system_call *call);

/* ---- play_start.c ---- */

/* Starts the first program as it was recorded. Returns NULL, or a message. */
const char *start_play(struct player *player);

/* The process gets the recorded processor, if this machine has it. */
void bind_processor(uint32_t processor);

/* Returns the message that the recording is from a processor with other features. */
const char *other_processor(struct player *player);

/* The next event is that a thread has executed another program. Its process is replaced by one that
 * has been started so. */
void play_program(struct player *player);

/* ---- play_image.c ---- */

/* The next event is that the recording begins with an image: makes its processes. Returns NULL, or
 * a message. */
const char *play_image(struct player *player);
/* ---- play_program.c ---- */

/* Returns the file of the program of START, in ARENA. */
struct program_file *file_of_program(struct arena *arena, const struct start *start);

/* Executes the file at PATH as the program of START, with its limit of the stack, under control.
 * Sets PROCESS to its number. Returns NULL, or a message. */
const char *execute_under_control(struct player *player, const struct start *start,
                                  const char *path, char **argv, char **environment,
                                  pid_t *process);

/* Executes the program of START, out of the recording if it is there. Sets PROCESS to the number of
 * its process. Returns NULL, or a message. */
const char *execute_file(struct player *player, const struct start *start, char **argv,
                         char **environment, pid_t *process);

/* ---- play_thread.c ---- */

/* Adds a process without threads, which was RECORDED with that number. */
struct play_process *add_play_process(struct player *player, pid_t number, pid_t recorded);

/* Adds a thread, and with it a process, which was RECORDED with that number, if PROCESS is NULL. */
struct play_thread *add_play_thread(struct player *player, struct play_process *process,
                                    pid_t number, pid_t recorded);

/* The next event's thread plays. Returns false if the play ends as there is none. */
bool select_thread(struct player *player);

/* PROCESS does not play any more. */
void drop_play_process(struct player *player, struct play_process *process);

/* The thread has made another one: the next event is the begin of that. The thread is stopped in
 * front of CALL, and stays there. */
void play_clone(struct player *player, const struct system_call *call);

/* If the next event is done without any instruction, does it, and returns true. */
bool play_quietly(struct player *player);

/* Returns the flags of the player's own call that makes a thread or process of KIND. */
uint64_t clone_flags(enum quipu_clone_kind kind);

/* THREAD, which is behind a call that was not made, comes to it again. */
bool await_call(pid_t thread);

/* Kills the threads of PROCESS, but not what else plays. */
void kill_process(struct player *player, struct play_process *process);

/* ---- play_tick.c ---- */

/* If the next event is a tick, or there is an alarm, the thread will stop there, or in front of it;
 * with STEP it is about to execute one instruction, and is looked at behind that. */
void approach_tick(struct player *player, bool step);

/* Whether the next event is at a place that is not found in a program whose sites are armed. If so,
 * the play ends.
 */
bool refuse_armed(struct player *player);

/* The thread has executed one instruction of a program that is armed, and NEXT is the next one.
 * Returns whether the recorded run has executed it, too. */
bool is_recorded_step(struct player *player, uint64_t next);

/* PLACE, of the recording, becomes that of the same moment in a program whose sites are armed. */
void find_armed_place(const struct tick_code *code, struct tick_place *place);

/* It will not. */
void leave_tick(struct player *player);

/* Whether the thread, behind a breakpoint, is stopped at a tick: that of the event, or another. */
bool play_tick_stop(struct player *player);

/* If the thread is at the tick of the next event, that is done. Returns whether it is. */
bool play_tick(struct player *player);

/* Whether the thread, which is stopped at a tick, is at its alarm. */
bool is_at_alarm(struct player *player);

/* Whether the thread comes to the next event by a single step. */
bool needs_step(struct player *player);

/* The thread has executed one instruction. Returns whether that was the next event. */
bool play_step(struct player *player);

/* ---- play_place.c ---- */

/* If the next event is a place in code without ticks, the thread will stop at passes of its
 * instruction. With STEP it is about to execute one instruction, and is looked at behind that. */
void approach_place(struct player *player, bool step);

/* The thread has stopped with STATUS, of wait. It will no longer stop there. */
enum state_stopped leave_place(struct player *player, int status);

/* If the thread is at the place of the next event, that is done. Returns whether it is. */
bool play_place(struct player *player);

/* Whether the thread, which is not there, stands in front of the same instruction, or of one of
 * those behind it that may be moved. */
bool is_at_other_pass(struct player *player);

/* ---- play_loop.c ---- */

/* The next event is that the thread waits in a loop. */
void play_loop(struct player *player);

/* ---- play_mapped.c ---- */

/* Makes the file. Where that is not possible, contents are written to each process. */
void begin_mapped_file(struct player *player);

/* The event is one of contents, which may be mapped later. */
void store_contents(struct player *player);

/* If CALL, with its result, maps a file of which the event has the contents, sets PLACE to where
 * these are in the file of mapped files. Then the event has no contents any more. */
bool place_mapped(struct player *player, const struct system_call *call, uint64_t *place);

/* ---- play_data.c ---- */

/* If CALL maps a data file that is kept, sets PLACE to where that is in the shared memory, and
 * returns true. */
bool place_data(struct player *player, const struct system_call *call, uint64_t *place);

/* If CALL, which is given, writes to it, so does this. */
void keep_data(struct player *player, const struct system_call *call);

/* ---- play_call.c ---- */

/* Whether CALL, which has its result, is made in a replay. */
bool is_made_again(const struct player *player, const struct system_call *call);

/* Whether the next event is a call that most probably is made. */
bool will_make_call(const struct player *player);

/* The process is stopped in front of CALL. */
void play_call(struct player *player, const struct system_call *call);

#endif
