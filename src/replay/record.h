/* record.h: the state of a recorder, which its parts share.
 *
 * Threads that share memory which they may write form a group. One thread of a group has the turn,
 * and only that one executes instructions; the others stand, or are in system calls. What a thread
 * has done is recorded when it has the turn, so the order of a group's events is the order in which
 * its memory has changed. Groups run in parallel. */
#ifndef QUIPU_REPLAY_RECORD_H
#define QUIPU_REPLAY_RECORD_H

#include "replay/image.h"
#include "replay/inside.h"
#include "replay/known_files.h"
#include "replay/start.h"
#include "replay/streams.h"
#include "replay/ticks.h"
#include "replay/writer.h"
#include "tracee/affinity.h"
#include "tracee/call_effects.h"
#include "tracee/stop.h"
#include "tracee/tracee.h"
#include "util/address_range.h"
#include "x86/call_stop.h"
#include "x86/counter_read.h"

#include <signal.h>
#include <time.h>

enum {
    KEEP_SIGNAL = SIGUSR1, /* by which another process asks for what is recorded up to now */
    HELD_SECONDS = 2,      /* a signal is held back no longer, */
    HELD_TRIES = 8,        /* but for so many tries to stop the thread at a place */
    ALONE_SECONDS = 30     /* nor a turn, if others wait */
};

/* Where a thread is, as far as the recording knows. */
enum record_state {
    RECORD_RUNS,        /* in the program's code */
    RECORD_IN_CALL,     /* between the two stops of a call */
    RECORD_INTERRUPTED, /* behind a call that was interrupted, and is not in the recording yet */
    RECORD_TURNED_BACK, /* in a call that is not made, as a signal comes in front of it */
    RECORD_EXECUTES,    /* in a call that has executed another program */
    RECORD_ENDS,        /* it does not execute any more */
    RECORD_LEAVES,      /* it is no longer recorded, and will be released at its next stop */
    RECORD_LEFT         /* it is released, or is no more */
};

/* An instruction that read the time stamp counter, and now faults. */
struct counter_read {
    uint64_t address;
    uint8_t size, code[COUNTER_READ_MAX]; /* the instruction */
};

typedef VECTOR(struct counter_read) counter_read_list;

/* A segment of System V shared memory. */
struct attached_segment {
    uint64_t address, size;
    uint32_t number; /* of the shared file that it is */
};

/* A file that recorded processes share as memory. */
struct shared_file {
    uint64_t device, inode;
    int64_t seconds; /* at which it was made */
    uint32_t nanoseconds;
};

struct recorder;
struct recorded_thread;

/* Random turns. */
struct shuffle {
    bool on;
    uint64_t random; /* the state of the generator */
    double until;    /* up to then the priorities hold */
};

struct group {
    struct group *next;
    struct inside *inside; /* of its only process, whose threads pass the turn; NULL: they do not */
    bool is_fresh;         /* it has a thread that was not continued yet */
    struct recorded_thread *turn; /* that has it; NULL: none */
    uint32_t last;                /* that had it */
    size_t threads;               /* zombies, too */
    double until;                 /* behind this time the turn ends at the next call */
    uint64_t ticks;               /* without a call, behind which it ends; 0: any number */
};

struct recorded_process {
    struct arena arena; /* of what its program has */
    struct recorder *recorder;
    struct recorded_process *next;
    struct group *group;
    pid_t number;
    size_t threads;
    struct affinity affinity;
    struct streams streams;
    counter_read_list counter_reads;
    struct process_ticks ticks;
    uint64_t site; /* of an instruction that makes a call; 0: none seen yet */
    struct inside inside;
    bool filters;   /* the program has a filter for system calls of its own */
    int hides_rest; /* descriptor + 1 of a memory map of which the rest of a line is hidden; or 0 */
    const char *path;                         /* of its program, in `arena` */
    VECTOR(struct attached_segment) segments; /* some may be detached */
    VECTOR(uint32_t) shared;                  /* numbers of the files that it has mapped so */
    bool shares_pages;                        /* it has mapped memory that a child of it shares */
    bool is_undumpable;                       /* as it has asked for; it is not */
    bool shares_all;                          /* its memory is that of another process */
    bool knows_files;                         /* `files` is still right */
    address_range_list files;                 /* its memory that is mapped files */
    uint64_t data_end;                        /* of brk; 0: it has made no such call */
    char *name;                               /* by who has made it */
};

struct recorded_thread {
    struct recorder *recorder;
    struct recorded_process *process;
    struct recorded_thread *next;
    pid_t number;
    uint32_t id; /* in the recording */

    enum record_state state;
    struct call_effects effects;
    struct system_call call;
    uint32_t call_hash; /* of the registers in front of it */
    uint64_t behind;    /* the address behind its instruction */
    bool was_tried;     /* it was tried inside, where it would have waited */
    bool first_filter;  /* the call adds the first filter for calls of the program */
    bool is_instead;    /* the call is made with other arguments */
    int64_t refused;    /* the call is not made, and fails with this error; 0: it is made */
    const char *opened; /* the path that the call opens, or "" */
    uint32_t maps;      /* number of the file that the call maps as shared memory; 0: none */
    uint32_t writes;    /* number of the shared file that it writes to; 0: none */
    int stream;         /* 1 or 2: the call writes to standard output or error */
    int signal;         /* to be delivered when it continues; 0: none */
    uint64_t clear;     /* the kernel sets this word to 0 when it ends; 0: none */

    bool stop_asked;       /* a SIGSTOP of ours has not come yet */
    bool tick_asked;       /* the same, to end its turn at its next tick */
    struct tick_stop tick; /* it goes to its next tick */
    double next_look;      /* whether it waits in a loop; 0: not asked yet */
    double look_pause;     /* seconds from that look to the one behind it */
    double next_place;     /* it is stopped at no place before, */
    double next_held;      /* or for a signal not before */

    /* Its turn. */
    uint32_t priority;    /* if turns are random */
    bool stands;          /* it is stopped, and would continue */
    bool waits;           /* it stands until another one has written to its stream */
    bool yields;          /* it gives its turn to others */
    bool at_event;        /* it has executed nothing since its last event */
    bool is_stopped;      /* a signal has stopped its process, as without us */
    bool is_entry;        /* the call that it is in has an event */
    bool vforks;          /* it waits for a child that shares its memory */
    bool waits_inside;    /* it waits in a call that it has entered inside */
    bool stands_for_turn; /* and has the result of that */
    bool is_pending;
    int pending; /* a status of wait that was not handled yet */

    /* Where the registers were when the last event was recorded. A signal that comes while they
     * are the same comes behind that event, or in front of the next call. */
    struct user_regs_struct boundary;
    bool has_boundary, before_call;

    /* Signals that came between are held back, in the kernel, up to the next call. */
    bool held;
    uint64_t mask; /* the program's own */
    int held_signal;
    double held_until;
    unsigned tries; /* to stop it at a place, since then */

    /* For images. */
    char *name;                    /* by who has made it */
    uint32_t children, successors; /* processes and threads that it has made */
    uint64_t stack, stack_end;     /* its alternate stack; equal: none */
    struct registers *entry;       /* in front of its last call; NULL: not kept */
    bool stands_for_image, had_tick;
};

/* A part of memory in an image. */
struct memory_part {
    struct image_mapping mapping;
    bool is_anonymous, is_empty; /* it has no file; no pages */
};

typedef VECTOR(struct memory_part) memory_part_list;

/* A part of the file with which a recording can begin. */
struct kept_part {
    uint64_t place; /* in the file */
    double time;
};

/* Of a recording of the last SECONDS of a run. */
struct last {
    double seconds; /* 0: all of the run is kept */
    double next;    /* time of the next image */
    uint64_t end;   /* place in the file behind the last image; 0: there is none */
    const char *program;
    char **command;
    VECTOR(struct kept_part) parts;
};

/* A stop of a process that its parent has not told of yet. */
struct early_stop {
    pid_t number;
    int status;
};

/* Numbers of threads that are no longer recorded, but must be traced. */
typedef VECTOR(pid_t) passing_list;

struct recorder {
    struct arena *arena;
    const char *path; /* of the recording */
    struct recording_writer writer;
    struct recorded_process *processes;
    struct recorded_thread *threads;
    VECTOR(struct early_stop) early;
    struct group *groups;
    bool has_fresh;                       /* a group is fresh, or empty */
    struct recorded_thread *writing;      /* to a stream; NULL: none */
    struct affinity affinity;             /* of the first process as it began, and ours */
    struct known_parts pieces;            /* numbers of their contents in the recording; 0: zeros */
    VECTOR(size_t) contents;              /* sizes of those in the recording */
    struct known_parts files;             /* that were told of */
    struct known_parts code;              /* indices of the reads of the counter in it */
    VECTOR(counter_read_list) code_reads; /* by addresses relative to the code's begin */
    VECTOR(struct shared_file) shared;    /* by their numbers, from 1 */
    struct shuffle shuffle;
    bool stops;    /* at each call */
    bool filters;  /* calls that the memory inside makes do not stop, all others do */
    bool promises; /* for that no process gets further privileges */
    struct inside_files inside_files;
    passing_list passing;
    struct last last;
    struct timespec began; /* by the clock of files */
    uint64_t calls, signals;
    uint32_t begun; /* threads */
    pid_t first;    /* number of the first process */
    bool first_ended;
    bool keeps_running; /* the program goes on if the recorder is killed */
    bool failed;        /* the recording cannot be written, which was told */
    int status;         /* of wait, once the first process has ended */
};

/* ---- record.c ---- */

struct recorded_thread *find_recorded_thread(struct recorder *recorder, pid_t number);

/* As waitpid for THREAD, without waiting. Returns -1 if the thread is no more: another one has its
 * number. */
pid_t poll_status(const struct recorded_thread *thread, int *status);

/* Waits for the next stop of THREAD, or its end. Returns false if neither comes: it has been
 * killed, and is the first of its process, so its end is told behind those of the others. */
bool await_status(const struct recorded_thread *thread, int *status);

/* Whether the thread could continue, if it had the turn. */
bool is_ready(const struct recorded_thread *thread);

/* Whether others than THREAD in its group could continue, if they had the turn. */
bool others_are_ready(const struct recorded_thread *thread);

/* Adds a thread to PROCESS. */
struct recorded_thread *add_recorded_thread(struct recorded_process *process, pid_t number);

/* Adds a process without threads in a group of its own. */
struct recorded_process *add_recorded_process(struct recorder *recorder, pid_t number);

/* The thread is no more. Its process, and its group, go with the last one. */
void remove_recorded_thread(struct recorded_thread *thread);

/* PROCESS goes to GROUP, or to a new one, which is fresh: NULL. */
void change_group(struct recorded_process *process, struct group *group);

/* GROUP has a thread that can be continued, or no thread any more. */
void make_fresh(struct recorder *recorder, struct group *group);

/* Adds the event that the recorder's buffer has. */
void add_recorded_event(struct recorded_thread *thread, enum quipu_event_kind kind);

/* Adds events for memory, as recording_add_memory does. */
void add_recorded_memory(struct recorded_thread *thread, uint64_t address, const void *bytes,
                         size_t size, const uint64_t arguments[6]);

/* Whether what was made at that time was made since the recording began. */
bool is_made_since_begin(const struct recorder *recorder, int64_t seconds, uint32_t nanoseconds);

/* The thread has its registers; what comes now, comes behind the last event, or if BEFORE_CALL in
 * front of the next call. */
void set_boundary(struct recorded_thread *thread, bool before_call);

/* The thread is in front of a call, with REGISTERS, which an image may need. */
void keep_entry(struct recorded_thread *thread, const struct user_regs_struct *registers);

/* The program gets the signals that are held back when it continues. */
void release_held(struct recorded_thread *thread);

/* The thread that writes to a stream has done so; others may. */
void end_writing(struct recorder *recorder);

/* Adds the event of the call, which has its result. */
void record_call(struct recorded_thread *thread);

/* Others execute before the call that the thread is in has its result. */
void record_entry(struct recorded_thread *thread);

/* Returns the text at ADDRESS of the process, "" if there is none. */
const char *read_path(struct recorded_thread *thread, uint64_t address);

/* ---- record_inside.c ---- */

/* The process is in front of its first instruction. From now on, calls can be made inside of it,
 * and of those that it makes. Nothing changes if that is not possible. */
void record_inside_begin(struct recorded_thread *thread);

/* Adds the calls that were made inside since the last stop of THREAD, which has the turn. */
void record_inside(struct recorded_thread *thread);

/* THREAD is behind a call, which was recorded. */
void record_inside_call(struct recorded_thread *thread);

/* Adds which instructions make calls inside now, for a replay that begins with the image here. */
void record_sites(struct recorder *recorder);

/* ---- record_continue.c ---- */

/* Whether calls of the process stop by our filter alone. */
bool stops_by_filter(const struct recorded_process *process);

/* Whether THREAD may give the turn away within a call, to threads of its process. */
bool may_wait_inside(const struct recorded_thread *thread);

/* Returns which calls of THREAD are left to the recorder: bits as in format/inside.h. */
uint32_t calls_left(const struct recorded_thread *thread);

/* Continues THREAD to its next stop, with SIGNAL or 0. */
void continue_thread(struct recorded_thread *thread, int signal);

/* The turn of THREAD, which executes, ends at its next call. */
void end_inside(struct recorded_thread *thread);

/* ---- record_waiters.c ---- */

/* If the threads of GROUP pass the turn to each other, they no longer do. The group's turn is that
 * of the thread that has it then. */
void take_turn_back(struct recorder *recorder, struct group *group);

/* Nobody in GROUP has the turn, or can be continued. If some wait inside, they pass it to each
 * other. */
void leave_turn(struct recorder *recorder, struct group *group);

/* THREAD has stopped with STATUS. If it only tells that it gives its turn away, it goes on. Returns
 * whether it did. */
bool take_given_turn(struct recorded_thread *thread, int status);

/* THREAD is in front of a call. Returns whether it only waits for its turn. */
bool record_stand(struct recorded_thread *thread);

/* Whether THREAD, which has the turn, goes on to wait inside and needs no turn for that. */
bool goes_on_waiting(const struct recorded_thread *thread);
void continue_waiting(struct recorded_thread *thread);

/* ---- record_maps.c ---- */

/* The memory inside is not in what the call of THREAD has read of a memory map. */
void hide_inside(struct recorded_thread *thread);

/* ---- record_pass.c ---- */

/* Releases the thread NUMBER, which is stopped. SIGNAL is delivered, or 0. */
void pass_thread(struct recorder *recorder, pid_t number, int signal);

/* Whether NUMBER was released, and still has to be continued. It has stopped, or ended, with
 * STATUS. */
bool pass_status(struct recorder *recorder, pid_t number, int status);

/* ---- record_turn.c ---- */

/* THREAD has stopped with STATUS, which is pending until it has the turn. */
void take_status(struct recorded_thread *thread, int status);

/* Continues what can run in the groups that are fresh. Returns a thread of which the pending status
 * must be handled first, or NULL. */
struct recorded_thread *run_groups(struct recorder *recorder);

/* Looks whether threads that write to streams can go on. */
void look_at_streams(struct recorder *recorder);

/* How long a turn is, in seconds. */
#define TURN_SECONDS 0.01

/* Whether others wait for the turn of THREAD, which executes. */
bool keeps_waiting(const struct recorded_thread *thread);

/* ---- record_call.c ---- */

/* In front of a call, and behind it. */
void record_call_entry(struct recorded_thread *thread);
void record_call_exit(struct recorded_thread *thread);

/* THREAD has stopped. If it was waiting in a call that it makes inside, it is now in that call as
 * if it had made it by itself, which was interrupted or has just ended. Returns whether it was. */
bool record_interrupted(struct recorded_thread *thread);

/* Adds the call, which has its result, with what it has written. */
void record_call_end(struct recorded_thread *thread);

/* ---- record_child.c ---- */

/* THREAD has made the process or thread CHILD, and is still in the call. */
void record_child(struct recorded_thread *thread, pid_t child);

/* Returns the status of the first stop of CHILD, which a thread has made just now. It may have come
 * before that of its maker. */
int take_first_status(struct recorder *recorder, pid_t child);

/* Ends what was made by a thread that was killed before it could tell of it. */
void end_orphans(struct recorder *recorder);

/* Adds what the call that makes a thread or process has written in the memory of THREAD. */
void record_child_numbers(struct recorded_thread *thread);

/* THREAD, which is recorded no further, is in front of a call. A child that it makes is traced even
 * if it should not: otherwise our filter would let all calls of the child fail. */
void keep_child_traced(const struct recorded_thread *thread);

/* Returns NULL, or why the call in front of which THREAD is cannot be recorded. */
const char *refuse_child(struct recorded_thread *thread);

/* ---- record_exec.c ---- */

/* Returns NULL, or why the program that THREAD is about to execute cannot be recorded. */
const char *refuse_program(struct recorded_thread *thread);

/* THREAD has executed another program, and is still in the call. */
void record_exec(struct recorded_thread *thread);

/* THREAD is stopped in front of the first instruction of its program. Sets START to what that
 * begins with, in its process's arena. Returns NULL, or why it cannot be recorded. */
const char *describe_program(struct recorded_thread *thread, struct start *start);

/* Adds START. */
void record_program_start(struct recorded_thread *thread, struct start *start);

/* ---- record_end.c ---- */

/* THREAD is about to end. */
void record_exit(struct recorded_thread *thread);

/* THREAD has ended, with STATUS. If it was the first of its process, that has ended, too. */
void record_end(struct recorded_thread *thread, int status);

/* ---- record_mapping.c ---- */

/* Returns NULL, or why the mapping call in front of which the thread is cannot be recorded. */
const char *refuse_mapping(struct recorded_thread *thread);

/* Adds the contents of what the call has mapped. */
void record_mapping(struct recorded_thread *thread);

/* Adds the file of the program of START, and where it is, if it may be gone in a replay. */
void keep_program(struct recorded_thread *thread, struct start *start);

/* ---- record_instead.c ---- */

/* In front of a call: it gets other arguments, if the recorder must see what it makes. */
void begin_instead(struct recorded_thread *thread);

/* Behind a call: the thread has the program's arguments again. */
void end_instead(struct recorded_thread *thread);

/* ---- record_reset.c ---- */

/* Adds the memory to which the call has given the contents of its file again. */
void record_reset(struct recorded_thread *thread);

/* ---- record_segment.c ---- */

/* The process of THREAD is about to attach a segment of System V shared memory. Returns false if
 * others may have it. */
bool share_segment(struct recorded_thread *thread);

/* Adds what the call has attached or detached. */
void record_segment(struct recorded_thread *thread);

/* ---- record_file.c ---- */

/* Adds that the run has mapped the file at PATH, which has the NAME, if that was not added yet. */
void record_file(struct recorded_thread *thread, const char *path, const char *name);

/* Adds all files that the processes have mapped: what was added before may be dropped. */
void record_files_again(struct recorder *recorder);

/* ---- record_shared.c ---- */

/* The process of THREAD is about to map the file at PATH, which has the NAME, as shared memory.
 * Returns its number, or 0 if others may write it. */
uint32_t share_file(struct recorded_thread *thread, const char *path, const char *name);

/* The same for memory that only this process and its children will have. */
uint32_t share_memory(struct recorded_thread *thread);

/* Whether FILE was mapped as shared memory before. */
bool is_known_shared(const struct recorder *recorder, const struct shared_file *file);

/* The process of THREAD is about to map FILE, which belongs to the recording. Returns its number,
 * or 0 if there are too many. */
uint32_t share_known(struct recorded_thread *thread, const struct shared_file *file);

/* Adds that the shared file NUMBER, from its begin, is the SIZE bytes at ADDRESS. */
void record_shared_memory(struct recorded_thread *thread, uint64_t address, uint64_t size,
                          uint32_t number);

/* Adds which file the call has mapped so. */
void record_shared(struct recorded_thread *thread);

/* Adds that the shared file NUMBER ends at PLACE: what it has behind that is zeros. */
void record_shared_end(struct recorded_thread *thread, uint32_t number, uint64_t place);

/* The call of THREAD may write to such a file, which its group shares then. */
void begin_file_write(struct recorded_thread *thread);

/* Adds what the call has written to it. */
void record_file_write(struct recorded_thread *thread);

/* ---- record_signal.c ---- */

/* The thread, which stands, is about to execute. Unless a signal comes at once, what comes later
 * comes no longer behind the last event, even where the registers are the same again. */
void leave_boundary(struct recorded_thread *thread);

/* The thread is about to get the signal of STOP. */
void record_signal(struct recorded_thread *thread, const struct thread_stop *stop);
void record_fault(struct recorded_thread *thread, const struct thread_stop *stop);

/* The process of THREAD is stopped. If the thread makes a call inside, it comes to the end of that
 * first, as others may make calls there meanwhile. Returns false if it has come to a stop, which is
 * pending. */
bool come_to_exit(struct recorded_thread *thread);

/* ---- record_job.c ---- */

/* SIGNAL has stopped THREAD, and stops all of its process. */
void record_stop(struct recorded_thread *thread, int signal);

/* SIGCONT has come to PROCESS. */
void continue_stopped(struct recorded_process *process);

/* Looks which processes have got SIGCONT. */
void look_at_stopped(struct recorder *recorder);

/* ---- record_shuffle.c ---- */

/* Turns are random from now on, by SEED. */
void shuffle_begin(struct shuffle *shuffle, uint64_t seed);

/* Returns the thread of GROUP that gets the turn, or NULL if none can run. */
struct recorded_thread *shuffle_choose(struct recorder *recorder, const struct group *group);

/* Says how long the turn is that begins in GROUP. */
void shuffle_turn(struct recorder *recorder, struct group *group);

/* Returns how many instructions a turn has behind its last tick. */
unsigned shuffle_steps(struct recorder *recorder);

/* ---- record_tick.c ---- */

/* The thread, which is stopped, will stop within TICKS ticks, if it has any. */
void begin_tick(struct recorded_thread *thread, uint64_t ticks);

/* It has stopped for another reason. */
void end_tick(struct recorded_thread *thread);

/* Whether the thread, behind a breakpoint, is stopped at a tick. Adds the event if it has gone
 * there. */
bool record_tick(struct recorded_thread *thread);

/* Executes one instruction of THREAD that is no system call. Returns whether it has. If it has
 * stopped for another reason, that is pending. */
bool record_step(struct recorded_thread *thread);

/* The thread, which executes, is stopped, to go to its next tick then. */
void ask_for_tick(struct recorded_thread *thread);

/* The thread is stopped, whatever it waits for. */
void ask_to_stop(struct recorded_thread *thread);

/* Whether STOP came, or came in time, for that. */
bool take_asked_stop(struct recorded_thread *thread, const struct thread_stop *stop);

/* ---- record_counter.c ---- */

/* Replaces the instructions that read the time stamp counter in what the process has mapped of the
 * file at PATH: SIZE bytes at ADDRESS, from OFFSET in the file. */
void replace_counter_reads(struct recorded_thread *thread, const char *path, uint64_t address,
                           uint64_t size, uint64_t offset);

/* The same in all that a process has that begins. */
void replace_first_counter_reads(struct recorded_thread *thread);

/* Whether the thread has got SIGNAL as it was about to read the counter. If so, gives it the
 * value. */
bool record_counter(struct recorded_thread *thread, int signal);

/* ---- record_loop.c ---- */

/* THREAD, which executes, is stopped by us. Returns whether it stands then. Otherwise it has come
 * to a stop of its own, which is pending, or its end. */
bool stop_executing(struct recorded_thread *thread);

/* THREAD executes, and others wait for its turn, or a signal for its next call. If it is in a loop
 * that changes nothing, or comes to a place that a replay finds, its turn ends there, and signals
 * come in; returns true then. */
bool record_loop(struct recorded_thread *thread);

/* ---- record_place.c ---- */

/* THREAD, which has the turn, stands in its program's code; it waits in no loop. Goes on to a place
 * there that a replay finds, and adds its event. Returns whether it has. If it has not, the thread
 * stands all the same, or has a pending stop. */
bool record_place(struct recorded_thread *thread);

/* ---- record_image.c ---- */

/* Whether STATUS, of the thread NUMBER, is of a stop in front of a call. */
bool is_entry_stop(pid_t number, int status);

/* Only the last SECONDS are kept; 0: all. */
void begin_last(struct recorder *recorder, double seconds, const char *program, char **command);

/* Makes an image, if it is time for that, and drops what is no longer wanted. */
void look_at_last(struct recorder *recorder, double now);

/* ---- record_keep.c ---- */

/* Other processes may ask for what is recorded up to now (keep_recording). OLD is the earlier
 * action of the signal for that. */
void begin_keeping(struct sigaction *old);
void end_keeping(const struct sigaction *old);

/* Writes it, if one has asked. */
void look_at_requests(struct recorder *recorder);

/* ---- record_memory.c ---- */

/* Appends to PARTS the memory that the process of THREAD has. Returns false if it cannot be told.
 */
bool describe_memory_parts(const struct recorded_thread *thread, struct arena *arena,
                           memory_part_list *parts);

/* Adds the contents of PARTS to the image, as events of the thread ID. Those of shared files that
 * are in WRITTEN are there already, or are added to it. */
bool record_memory_parts(struct recorder *recorder, pid_t number, uint32_t id,
                         const memory_part_list *parts, struct arena *arena,
                         memory_part_list *written);

/* ---- record_leave.c ---- */

/* Ends the recording of the process, and of those that it shares memory with, with a warning that
 * says WHY. They go on by themselves. With AGAIN, the thread is stopped in front of a call, which
 * it makes then. */
void stop_recording(struct recorded_thread *thread, const char *why, bool again);

/* The same for a process alone: it is about to execute a program, and then shares no memory. */
void stop_before_program(struct recorded_thread *thread, const char *why);

/* Ends the recording of all processes. */
void stop_whole_recording(struct recorder *recorder, const char *why);

/* The thread leaves the call in front of which it is stopped, and makes it when it continues. */
void leave_call(struct recorded_thread *thread);

/* Releases THREAD, which leaves, and has stopped with STATUS. */
void leave_at_stop(struct recorded_thread *thread, int status);

#endif
