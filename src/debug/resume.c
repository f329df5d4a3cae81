/* resume.c: the packets that make the process go on, and the answer when it stops; see session.h.
 */
#include "debug/program.h"
#include "debug/session.h"

#include "x86/debugger.h"
#include "x86/kernel.h"

#include <signal.h>
#include <string.h>

/* gdb/signals.def. Those from SIGRTMIN are ranges. */
uint8_t debugger_signal(int signal) {
    static const uint8_t numbers[] = {
        [SIGHUP] = 1,   [SIGINT] = 2,    [SIGQUIT] = 3,  [SIGILL] = 4,   [SIGTRAP] = 5,
        [SIGABRT] = 6,  [SIGFPE] = 8,    [SIGKILL] = 9,  [SIGBUS] = 10,  [SIGSEGV] = 11,
        [SIGSYS] = 12,  [SIGPIPE] = 13,  [SIGALRM] = 14, [SIGTERM] = 15, [SIGURG] = 16,
        [SIGSTOP] = 17, [SIGTSTP] = 18,  [SIGCONT] = 19, [SIGCHLD] = 20, [SIGTTIN] = 21,
        [SIGTTOU] = 22, [SIGIO] = 23,    [SIGXCPU] = 24, [SIGXFSZ] = 25, [SIGVTALRM] = 26,
        [SIGPROF] = 27, [SIGWINCH] = 28, [SIGUSR1] = 30, [SIGUSR2] = 31, [SIGPWR] = 32,
    };
    enum {
        REALTIME_FIRST = 33,
        REALTIME_LAST = 63,
        OF_REALTIME_FIRST = 45,
        OF_32 = 77,
        OF_64 = 78,
        UNKNOWN = 143
    };
    if (signal > 0 && (size_t)signal < sizeof numbers && numbers[signal])
        return numbers[signal];
    if (signal >= REALTIME_FIRST && signal <= REALTIME_LAST)
        return (uint8_t)(signal - REALTIME_FIRST + OF_REALTIME_FIRST);
    return signal == REALTIME_FIRST - 1 ? OF_32 : signal == REALTIME_LAST + 1 ? OF_64 : UNKNOWN;
}

/* ---- the answer ---- */

/* Registers that a client nearly always asks for next. */
static void answer_registers(struct session *session) {
    static const uint8_t numbers[] = {DEBUGGER_FRAME, DEBUGGER_STACK, DEBUGGER_ADDRESS};
    static struct registers registers;
    pid_t process = own_number(session->timeline, stopped_thread(session));
    if (!process || !get_general_registers(process, &registers.general))
        return;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        uint8_t bytes[DEBUGGER_REGISTER_MAX];
        size_t size = debugger_register(&registers, numbers[i], bytes);
        buffer_print(&session->answer, "%02x:", numbers[i]);
        add_digits(&session->answer, bytes, size);
        answer_text(session, ";");
    }
}

static void answer_point(struct session *session, const struct point *point) {
    if (!point)
        return;
    static const char *const names[] = {[POINT_SOFTWARE] = "swbreak",
                                        [POINT_HARDWARE] = "hwbreak",
                                        [POINT_WRITE] = "watch",
                                        [POINT_READ] = "rwatch",
                                        [POINT_ACCESS] = "awatch"};
    buffer_print(&session->answer, "%s:", names[point->kind]);
    if (point->kind >= POINT_WRITE)
        buffer_print(&session->answer, "%llx", (unsigned long long)point->address);
    answer_text(session, ";");
}

void answer_halt(struct session *session) {
    const struct halt *halt = &session->halt;
    uint8_t info[QUIPU_SIGINFO_SIZE];
    int signal = SIGTRAP;
    if (halt->kind == HALT_SIGNAL && session->signal)
        signal = session->signal;
    else if (halt->kind == HALT_SIGNAL)
        signal = player_signal(session->timeline->player, info);
    if (halt->kind == HALT_INTERRUPT)
        signal = SIGINT;
    buffer_print(&session->answer, "T%02x", debugger_signal(signal));
    answer_registers(session);
    answer_text(session, "thread:");
    answer_thread(session);
    answer_text(session, ";");
    if (halt->kind == HALT_POINT || halt->kind == HALT_WATCH)
        answer_point(session, halt->point);
    if (halt->kind == HALT_CALL)
        buffer_print(&session->answer, "syscall_entry:%llx;", (unsigned long long)halt->call);
    if (halt->kind == HALT_RETURN)
        buffer_print(&session->answer, "syscall_return:%llx;", (unsigned long long)halt->call);
    if (halt->kind == HALT_BEGIN)
        answer_text(session, "replaylog:begin;");
    if (halt->kind == HALT_END)
        answer_text(session, "replaylog:end;");
}

/* Tells the client of the program of the present place, if that is another one. Its points were in
 * the one before. */
static void answer_program(struct session *session) {
    const struct timeline *timeline = session->timeline;
    const char *path = player_program(timeline->player);
    if (!timeline->tells_programs || timeline->program == session->program)
        return;
    if (session->is_lldb) {
        answer_text(session, "reason:exec;");
    } else {
        answer_text(session, "exec:");
        add_digits(&session->answer, path, strlen(path));
        answer_text(session, ";");
    }
    points_clear(&session->timeline->points);
    session->program = timeline->program;
}

static void end_halt(struct session *session, struct halt halt) {
    if (halt.kind == HALT_END && !session->timeline->here.ended) {
        tell(session,
             "quipu: the place is not found again on the way to it; nothing has changed\n");
        halt.kind = HALT_STEP;
    }
    session->halt = halt;
    session->selected = stopped_thread(session); /* the client takes it for selected */
    if (halt.kind == HALT_END && session->timeline->here.ended && !session->told_end) {
        session->told_end = true;
        struct arena arena = {0};
        tell(session, arena_print(&arena, "quipu: %s\n", describe_end(&arena, session->timeline)));
        arena_release(&arena);
    }
    answer_halt(session);
    answer_program(session);
}

/* ---- going on ---- */

/* Whether the client believes in another program, as it was not told of a jump. Then it is told,
 * and goes on by itself. */
static bool is_mistaken(struct session *session) {
    const struct timeline *timeline = session->timeline;
    if (!timeline->tells_programs || timeline->program == session->program)
        return false;
    end_halt(session, (struct halt){.kind = HALT_PROGRAM});
    return true;
}

/* Goes forwards in the diversion, if it stands elsewhere, or in the recorded run. */
static struct halt go(struct session *session, bool step) {
    if (is_elsewhere(&session->diversion, session->timeline))
        return run_diversion(&session->diversion, session->timeline, step, &session->signal);
    leave_diversion(session);
    if (packet_interrupts(&session->connection))
        return (struct halt){.kind = HALT_INTERRUPT};
    return go_forwards(session->timeline, step);
}

void take_continue(struct session *session, const char *text) {
    (void)text;
    if (!is_mistaken(session))
        end_halt(session, go(session, false));
}

void take_step(struct session *session, const char *text) {
    (void)text;
    if (!is_mistaken(session))
        end_halt(session, go(session, true));
}

/* The signal is that of the recording, whichever is named. */
void take_signal_continue(struct session *session, const char *text) {
    take_continue(session, text);
}

void take_signal_step(struct session *session, const char *text) {
    take_step(session, text);
}

void take_backward(struct session *session, const char *text) {
    leave_diversion(session);
    if (is_mistaken(session))
        return;
    if (packet_interrupts(&session->connection))
        end_halt(session, (struct halt){.kind = HALT_INTERRUPT});
    else if (*text == 's')
        end_halt(session, step_backwards(session->timeline));
    else if (*text == 'c')
        end_halt(session, go_backwards(session->timeline));
}

/* Steps as long as the process is between the addresses of "START,END". */
static void step_range(struct session *session, const char *text) {
    uint64_t start = 0, end = 0;
    struct halt halt;
    if (is_mistaken(session))
        return;
    if (take_number(&text, &start) && take_character(&text, ','))
        take_number(&text, &end);
    do
        halt = go(session, true);
    while (halt.kind == HALT_STEP &&
           next_instruction(timeline_process(session->timeline)) - start < end - start &&
           !packet_interrupts(&session->connection));
    end_halt(session, halt);
}

/* The first action is that of the thread which the user looks at. */
void take_actions(struct session *session, const char *text) {
    take_stepper(session, text);
    switch (*text) {
    case 'c':
    case 'C':
        take_continue(session, text);
        break;
    case 's':
    case 'S':
        take_step(session, text);
        break;
    case 'r':
        step_range(session, text + 1);
        break;
    default:
        answer_error(session, "an action is not known");
        break;
    }
}

/* Runs again: goes to the begin. */
void take_run(struct session *session, const char *text) {
    (void)text;
    leave_diversion(session);
    if (!go_to_events(session->timeline, 0)) {
        answer_error(session, "the begin is not reached");
        return;
    }
    session->halt = (struct halt){.kind = HALT_STEP};
    session->selected = 0;
    answer_halt(session);
}
