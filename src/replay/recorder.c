/* recorder.c: runs a program and records it; see recorder.h.
 *
 * What comes from outside, and how it is recorded:
 *   - system calls, with the memory that they write: record_call.c, record_mapping.c
 *   - signals: record_signal.c, record_tick.c
 *   - the time stamp counter, random numbers: each read faults: record_counter.c
 *   - the kernel's own code (vDSO): hidden, so the clock is a system call
 *   - arguments, environment, auxiliary vector: the stack in front of the first instruction of each
 *     program: record_exec.c
 *   - the order of threads: one at a time, record_turn.c; their begins and ends: record_child.c,
 *     record_end.c
 *   - addresses: randomization is off
 *   - the number of the processor, and what cpuid tells of it: all processes are bound to one
 */
#include "replay/recorder.h"

#include "replay/group_signals.h"
#include "replay/record.h"
#include "util/clock.h"
#include "util/diag.h"
#include "util/process.h"
#include "util/refusal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

enum {
    LOOK_EVERY = 20000 /* microseconds between two looks at threads that others wait for */
};

#define RECORD_OPTIONS                                                                             \
    ((long)PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |                      \
     PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_TRACESECCOMP)

/* ---- stops ---- */

static void take_entry(struct recorded_thread *thread, const struct thread_stop *stop) {
    if (thread->state != RECORD_INTERRUPTED)
        thread->call = stop->call;
    if (stop->has_other_numbers)
        stop_recording(thread, "it makes a 32-bit system call", true);
    else
        record_call_entry(thread);
}

static void take_stop(struct recorded_thread *thread, int status) {
    struct thread_stop stop = read_stop(thread->number, status, &thread->call);
    thread->stands = true;
    bool at_call = stop.reason == REASON_CALL_ENTRY || stop.reason == REASON_CALL_EXIT;
    if (at_call || stop.reason == REASON_EXIT ||
        !inside_is_busy(&thread->process->inside, thread->number))
        record_inside(thread);
    if (stop.is_filtered && thread->state == RECORD_IN_CALL)
        return; /* it was reported already */
    if (stop.reason == REASON_BREAKPOINT && record_tick(thread))
        return;
    end_tick(thread);
    if (take_asked_stop(thread, &stop))
        return;
    if (stop.reason == REASON_CALL_ENTRY && record_stand(thread))
        return;
    switch (stop.reason) {
    case REASON_CALL_ENTRY:
        take_entry(thread, &stop);
        break;
    case REASON_CALL_EXIT:
        thread->call.result = stop.call.result;
        record_call_exit(thread);
        break;
    case REASON_FAULT:
    case REASON_BREAKPOINT:
    case REASON_STEP:
        record_fault(thread, &stop);
        break;
    case REASON_SIGNAL:
        record_signal(thread, &stop);
        break;
    case REASON_JOB:
        if (!thread->waits_inside)
            come_to_exit(thread);
        record_stop(thread, stop.signal);
        break;
    case REASON_FORK:
    case REASON_VFORK:
    case REASON_CLONE:
        record_child(thread, stop.child);
        break;
    case REASON_EXEC:
        record_exec(thread);
        break;
    case REASON_EXIT:
        record_exit(thread);
        break;
    case REASON_KILLED:
        thread->stands = false;
        break;
    default:
        break;
    }
}

/* Handles a stop of THREAD, which has the turn, or its end. */
static void handle_status(struct recorded_thread *thread, int status) {
    if (thread->state == RECORD_LEAVES)
        leave_at_stop(thread, status);
    else if (WIFSTOPPED(status))
        take_stop(thread, status);
    else
        record_end(thread, status);
}

/* A thread that executes another program gets the number of its process. Returns it. */
static struct recorded_thread *take_number(struct recorder *recorder, pid_t number) {
    struct recorded_thread *first = find_recorded_thread(recorder, number);
    unsigned long former = 0;
    if (!read_event_message(number, PTRACE_EVENT_EXEC, &former))
        return first;
    struct recorded_thread *thread = find_recorded_thread(recorder, (pid_t)former);
    if (!thread || thread == first)
        return first;
    if (first)
        first->state = RECORD_LEFT;
    thread->number = number;
    return thread;
}

/* ---- the loop ---- */

static volatile sig_atomic_t looks;

static void take_alarm(int number) {
    (void)number;
    looks = 1;
}

/* Whether a signal waits for the next call of the thread, which executes. */
static bool holds_signal(const struct recorded_thread *thread) {
    return thread->held && !thread->stands && !thread->is_pending && thread->state == RECORD_RUNS;
}

/* Looks whether the thread waits in a loop, or can be stopped at a place. That is asked ever more
 * rarely, unless a signal waits for it. Returns whether it does, or is. */
static bool look_for_loop(struct recorded_thread *thread, double now) {
    static const double first = 0.02, last = 2;
    bool is_time = thread->next_look != 0 && now >= thread->next_look;
    if (thread->next_look == 0 || thread->held)
        thread->look_pause = first;
    if (thread->next_look == 0 || is_time) {
        thread->next_look = now + thread->look_pause;
        thread->look_pause = thread->look_pause < last ? 2 * thread->look_pause : last;
    }
    return is_time && record_loop(thread);
}

/* Returns why THREAD, which executes, cannot be recorded any more, or NULL. */
static const char *find_end(const struct recorded_thread *thread, double now) {
    struct arena *arena = thread->recorder->arena;
    if (holds_signal(thread) && now > thread->held_until && thread->tries >= HELD_TRIES)
        return arena_print(arena,
                           "signal %d came, and then it made no system call for %d seconds, at "
                           "which the signal could be recorded",
                           thread->held_signal, HELD_SECONDS);
    if (keeps_waiting(thread) && now > thread->process->group->until + ALONE_SECONDS)
        return arena_print(arena,
                           "a thread of it made no system call for %d seconds, and other threads "
                           "waited for their turn",
                           ALONE_SECONDS);
    return NULL;
}

/* Whether the thread has been asked to stop at a tick just now. */
static bool goes_to_tick(const struct recorded_thread *thread, double now) {
    static const double seconds = 1;
    return thread->tick_asked ||
           (thread->tick.block && now < thread->process->group->until + seconds);
}

/* Whether the thread, which has the turn and other threads beside it, has been killed, and its end
 * is not told yet. */
static bool is_killed(const struct recorded_thread *thread) {
    const struct recorded_process *process = thread->process;
    return process->group->turn == thread && thread->number == process->number &&
           process->threads > 1 && !thread->stands && !thread->is_pending &&
           thread->state < RECORD_ENDS && has_ended(process->number, thread->number);
}

/* The end of THREAD is told when the other threads of its process have ended. They wait for its
 * turn with their own ends. */
static void pass_turn_of_killed(struct recorded_thread *thread) {
    thread->state = RECORD_ENDS;
    make_fresh(thread->recorder, thread->process->group);
}

static void look(struct recorder *recorder) {
    double now = clock_seconds();
    looks = 0;
    look_at_streams(recorder);
    look_at_turns(recorder);
    look_at_stopped(recorder);
    end_orphans(recorder);
    for (struct recorded_thread *at = recorder->threads; at; at = at->next) {
        if (is_killed(at)) {
            pass_turn_of_killed(at);
            continue;
        }
        if (!holds_signal(at) && !keeps_waiting(at))
            continue;
        if (keeps_waiting(at) && now > at->process->group->until) {
            end_inside(at);
            if (at->process->inside.is_mapped && is_asleep(at->process->number, at->number))
                ask_to_stop(at);
            ask_for_tick(at);
        }
        if (!goes_to_tick(at, now) && look_for_loop(at, now))
            continue;
        const char *why = find_end(at, now);
        if (why)
            stop_recording(at, why, false);
    }
    look_at_last(recorder, now);
}

/* Handles what is pending, and continues what can run. */
static void go_on(struct recorder *recorder) {
    struct recorded_thread *thread;
    while ((thread = run_groups(recorder))) {
        thread->is_pending = false;
        handle_status(thread, thread->pending);
    }
}

static void take(struct recorder *recorder, pid_t number, int status) {
    bool executed = status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8);
    if (pass_status(recorder, number, status))
        return;
    struct recorded_thread *thread =
        executed ? take_number(recorder, number) : find_recorded_thread(recorder, number);
    if (thread && !WIFSTOPPED(status)) { /* it waits for no turn */
        handle_status(thread, status);
    } else if (thread) {
        take_status(thread, status);
    } else if (WIFSTOPPED(status)) {
        keep_early(recorder, number, status);
    } else if (number == recorder->first) {
        recorder->first_ended = true;
        recorder->status = status;
    }
}

static sigset_t awaited_signals(void) {
    sigset_t awaited;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGALRM);
    sigaddset(&awaited, KEEP_SIGNAL);
    return awaited;
}

/* Waits for the next stop or end. The alarm and requests interrupt no other wait than this one. */
static pid_t wait_for_any(int *status) {
    const sigset_t awaited = awaited_signals();
    sigprocmask(SIG_UNBLOCK, &awaited, NULL);
    pid_t number = waitpid(-1, status, __WALL);
    int cause = errno;
    sigprocmask(SIG_BLOCK, &awaited, NULL);
    errno = cause;
    return number;
}

/* There is no process any more. Those that were killed while the recorder made a call in them have
 * ended unseen; nothing else than SIGKILL ends a thread that is stopped. */
static void end_lost(struct recorder *recorder) {
    for (struct recorded_thread *at = recorder->threads; at; at = at->next)
        if (at->state < RECORD_LEAVES)
            record_end(at, SIGKILL);
}

static void run(struct recorder *recorder) {
    go_on(recorder);
    while (recorder->threads || !recorder->first_ended || recorder->passing.count) {
        int status = 0;
        if (looks)
            look(recorder);
        look_at_requests(recorder);
        pid_t number = wait_for_any(&status);
        if (number > 0)
            take(recorder, number, status);
        else if (errno == ECHILD) {
            end_lost(recorder);
            break;
        }
        go_on(recorder);
        if (recorder->writer.failure && !recorder->failed) {
            recorder->failed = true;
            stop_whole_recording(recorder, arena_print(recorder->arena, "cannot write it: %s",
                                                       strerror(recorder->writer.failure)));
            go_on(recorder);
        }
    }
}

/* ---- the begin ---- */

/* Returns NULL, or why the program in the process NUMBER, in front of its first instruction, cannot
 * be recorded. */
static const char *begin(struct recorder *recorder, pid_t number) {
    struct start start;
    long options = RECORD_OPTIONS | (recorder->keeps_running ? 0 : (long)PTRACE_O_EXITKILL);
    if (ptrace(PTRACE_SETOPTIONS, number, NULL, (void *)options) != 0)
        return refusal(recorder->arena, "ptrace", 0, errno);
    bind_affinity(&recorder->affinity, number);
    struct recorded_process *process = add_recorded_process(recorder, number);
    process->affinity = recorder->affinity;
    process->streams = streams_begin();
    struct recorded_thread *thread = add_recorded_thread(process, number);
    const char *wrong = describe_program(thread, &start);
    if (wrong)
        return arena_copy(recorder->arena, wrong, strlen(wrong));
    if (!recorder->stops && !recorder->keeps_running) /* a filter needs a tracer */
        record_inside_begin(thread);
    if (!recording_begin(&recorder->writer, recorder->path))
        return arena_print(recorder->arena, "cannot write '%s': %s", recorder->path,
                           strerror(errno));
    thread->name = strdup("1");
    process->name = strdup("1");
    CHECK(thread->name && process->name);
    record_program_start(thread, &start);
    thread->stands = true;
    return NULL;
}

/* Signals of the terminal are the program's. A file that becomes too long is an error. */
static const int ignored[] = {SIGINT, SIGQUIT, SIGTSTP, SIGXFSZ};

enum {
    IGNORED = sizeof ignored / sizeof *ignored
};

/* The earlier actions. */
struct old_actions {
    struct sigaction group[NSIG], ignored[IGNORED], alarm, keep;
};

static void begin_signals(struct old_actions *old) {
    const struct sigaction ignore = {.sa_handler = SIG_IGN}, alarm = {.sa_handler = take_alarm};
    const struct itimerval timer = {{0, LOOK_EVERY}, {0, LOOK_EVERY}};
    const sigset_t awaited = awaited_signals();
    sigprocmask(SIG_BLOCK, &awaited, NULL);
    begin_group_signals(getpid(), old->group);
    for (int i = 0; i < IGNORED; i++)
        sigaction(ignored[i], &ignore, &old->ignored[i]);
    sigaction(SIGALRM, &alarm, &old->alarm);
    begin_keeping(&old->keep);
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void end_signals(const struct old_actions *old) {
    const struct itimerval none = {{0}, {0}};
    const struct timespec at_once = {0};
    const sigset_t awaited = awaited_signals();
    setitimer(ITIMER_REAL, &none, NULL);
    while (sigtimedwait(&awaited, NULL, &at_once) > 0) /* some may be pending */
        ;
    sigprocmask(SIG_UNBLOCK, &awaited, NULL);
    for (int i = 0; i < IGNORED; i++)
        sigaction(ignored[i], &old->ignored[i], NULL);
    sigaction(SIGALRM, &old->alarm, NULL);
    end_keeping(&old->keep);
    end_group_signals(old->group);
}

/* Our short waits end in time. The program has been started with the slack that it had. */
static void set_timer_slack(unsigned long nanoseconds) {
    prctl(PR_SET_TIMERSLACK, nanoseconds, 0, 0, 0);
}

static void release_recorder(struct recorder *recorder) {
    while (recorder->threads)
        remove_recorded_thread(recorder->threads);
    go_on(recorder);
    forget_parts(&recorder->pieces);
    forget_parts(&recorder->files);
    forget_parts(&recorder->code);
    forget_inside_files(&recorder->inside_files);
    restore_our_affinity(&recorder->affinity);
}

/* Sets BEGAN to a time by the clock of files which is that of no file that is there already: that
 * clock has steps of some milliseconds. */
static void await_time_of_files(struct timespec *began) {
    const struct timespec pause = {0, 100000};
    struct timespec before;
    clock_gettime(CLOCK_REALTIME_COARSE, &before);
    do {
        nanosleep(&pause, NULL);
        clock_gettime(CLOCK_REALTIME_COARSE, began);
    } while (began->tv_sec == before.tv_sec && began->tv_nsec == before.tv_nsec);
}

const char *record_program(struct arena *arena, const struct record_request *request, int *status) {
    struct recorder recorder = {.arena = arena,
                                .path = request->path,
                                .stops = request->stops,
                                .keeps_running = request->note};
    struct old_actions old;
    struct tracee tracee;
    await_time_of_files(&recorder.began);
    const char *wrong = start_tracee(&tracee, request->argv);
    if (wrong)
        return wrong;
    recorder.first = tracee.process;
    if (request->shuffle)
        shuffle_begin(&recorder.shuffle, request->seed);
    wrong = begin(&recorder, tracee.process);
    if (wrong) {
        kill_tracee(&tracee);
    } else {
        unsigned long slack = (unsigned long)prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
        begin_signals(&old);
        set_timer_slack(1);
        if (request->note)
            request->note->first = recorder.first;
        begin_last(&recorder, request->last, recorder.threads->process->path, request->argv);
        run(&recorder);
        set_timer_slack(slack);
        recording_compact(&recorder.writer, request->path);
        recording_end(&recorder.writer);
        end_signals(&old);
        if (recorder.writer.failure && !recorder.failed)
            error("cannot write '%s': %s", request->path, strerror(recorder.writer.failure));
    }
    release_recorder(&recorder);
    arena_release(&tracee.arena);
    *status = recorder.status;
    if (request->note)
        request->note->has_ended = true;
    return wrong;
}
