/* record.h: what the parts of a recorder do for each other. Their state is that of record_state.h.
 */
#ifndef QUIPU_REPLAY_RECORD_H
#define QUIPU_REPLAY_RECORD_H

#include "replay/record_state.h"

/* ---- record.c ---- */

struct recorded_thread *find_recorded_thread(struct recorder *recorder, pid_t number);

/* Whether the system call NUMBER executes a program. */
bool is_program_call(uint64_t number);

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

/* Adds that others execute before the call NUMBER of the thread, with the HASH of its registers,
 * has its result. */
void add_recorded_entry(struct recorded_thread *thread, uint64_t number, uint32_t hash);

/* The same for the call that the thread is in. */
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

/* Looks whether threads that keep the turn in a call have fallen asleep there. */
void look_at_turns(struct recorder *recorder);

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

/* Keeps the STATUS of a stop of CHILD, of which nothing is known yet. */
void keep_early(struct recorder *recorder, pid_t child, int status);

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

/* The thread leaves the call in front of which it is stopped, and makes it when it continues. If it
 * has been killed, that status is pending, or still to come. */
void leave_call(struct recorded_thread *thread);

/* Releases THREAD, which leaves, and has stopped with STATUS. */
void leave_at_stop(struct recorded_thread *thread, int status);

#endif
