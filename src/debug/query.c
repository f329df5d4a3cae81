/* query.c: the packets that ask for something, and set something; see session.h. */
#include "debug/session.h"

#include "tracee/tracee.h"
#include "x86/debugger.h"
#include "x86/thread.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

/* ---- qXfer: objects, by parts ---- */

static void add_description(struct session *session, const char *annex, struct buffer *object) {
    if (strcmp(annex, "target.xml") == 0)
        describe_registers(object);
    (void)session;
}

/* Without the kernel's own code, which is hidden from the program, too. */
static void add_auxiliary(struct session *session, const char *annex, struct buffer *object) {
    char path[64];
    Elf64_auxv_t value;
    (void)annex;
    snprintf(path, sizeof path, "/proc/%d/auxv", (int)timeline_process(session->timeline));
    FILE *file = fopen(path, "re");
    while (file && fread(&value, sizeof value, 1, file) == 1)
        if (value.a_type != AT_SYSINFO_EHDR)
            buffer_add(object, &value, sizeof value);
    if (file)
        fclose(file);
}

static void add_program(struct session *session, const char *annex, struct buffer *object) {
    (void)annex;
    buffer_text(object, player_program(session->timeline->player));
}

static void add_signal(struct session *session, const char *annex, struct buffer *object) {
    uint8_t info[QUIPU_SIGINFO_SIZE];
    (void)annex;
    if (session->halt.kind == HALT_SIGNAL && player_signal(session->timeline->player, info))
        buffer_add(object, info, sizeof info);
}

static const struct {
    const char *name;
    void (*add)(struct session *session, const char *annex, struct buffer *object);
} objects[] = {
    {"features", add_description}, {"auxv", add_auxiliary},  {"exec-file", add_program},
    {"siginfo", add_signal},       {"threads", add_threads},
};

/* Takes the part of *TEXT up to the next colon, which becomes NUL, out of COPY. */
static char *take_part(char **text) {
    char *part = *text, *colon = strchr(part, ':');
    if (!colon)
        return NULL;
    *colon = '\0';
    *text = colon + 1;
    return part;
}

static void answer_part(struct session *session, const struct buffer *object, uint64_t offset,
                        uint64_t size) {
    size = size < PACKET_MAX / 4 ? size : PACKET_MAX / 4;
    if (offset > object->count) {
        answer_error(session, "there is no more");
        return;
    }
    uint64_t left = object->count - offset;
    answer_text(session, left > size ? "m" : "l");
    buffer_add(&session->answer, object->data ? object->data + offset : "",
               left < size ? left : size);
}

/* "OBJECT:read:ANNEX:OFFSET,SIZE" */
static void take_transfer(struct session *session, const char *text) {
    struct arena arena = {0};
    struct buffer object = {0};
    uint64_t offset, size;
    char *rest = arena_copy(&arena, text, strlen(text));
    const char *name = take_part(&rest), *verb = name ? take_part(&rest) : NULL;
    const char *annex = verb ? take_part(&rest) : NULL, *numbers = rest;
    if (annex && strcmp(verb, "read") == 0 && take_number(&numbers, &offset) &&
        take_character(&numbers, ',') && take_number(&numbers, &size))
        for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
            if (strcmp(objects[i].name, name) == 0) {
                objects[i].add(session, annex, &object);
                if (object.count)
                    answer_part(session, &object, offset, size);
                else
                    answer_error(session, "there is none");
            }
    buffer_release(&object);
    arena_release(&arena);
}

/* ---- others ---- */

static void take_supported(struct session *session, const char *text) {
    session->names_processes = strstr(text, "multiprocess+");
    session->timeline->tells_programs = strstr(text, "exec-events+");
    buffer_print(
        &session->answer,
        "PacketSize=%x;QStartNoAckMode+;qXfer:features:read+;qXfer:auxv:read+;"
        "qXfer:exec-file:read+;qXfer:siginfo:read+;qXfer:threads:read+;multiprocess+;"
        "swbreak+;hwbreak+;exec-events+;QCatchSyscalls+;QPassSignals+;ConditionalBreakpoints+;vContSupported+;ReverseContinue+;ReverseStep+",
        PACKET_MAX);
}

static void take_present_thread(struct session *session, const char *text) {
    (void)text;
    answer_text(session, "QC");
    answer_thread(session);
}

/* The client leaves the process when it ends, rather than to kill it. */
static void take_attached(struct session *session, const char *text) {
    (void)text;
    answer_text(session, "1");
}

/* ---- thread-local variables ---- */

/* The C library's, for debuggers: three numbers of 32 bits, the last one is the place of the
 * module's number in a link_map. */
static const char module_symbol[] = "_thread_db_link_map_l_tls_modid";

/* "VALUE:NAME", both empty where the client can look symbols up, VALUE alone where it has none. */
static void take_symbol(struct session *session, const char *text) {
    uint64_t value;
    if (strcmp(text, ":") == 0) {
        answer_text(session, "qSymbol:");
        add_digits(&session->answer, module_symbol, sizeof module_symbol - 1);
        return;
    }
    if (take_number(&text, &value))
        session->module_place = value;
    answer_text(session, "OK");
}

/* "THREAD,OFFSET,LINK_MAP" */
static void take_thread_local(struct session *session, const char *text) {
    uint64_t offset, object, module = 0, address;
    uint32_t place[3];
    pid_t process = timeline_process(session->timeline);
    text += strcspn(text, ",");
    if (!take_character(&text, ',') || !take_number(&text, &offset) ||
        !take_character(&text, ',') || !take_number(&text, &object)) {
        answer_error(session, "an offset and an object are missing");
        return;
    }
    if (session->module_place && read_memory(process, session->module_place, place, sizeof place) &&
        read_memory(process, object + place[2], &module, sizeof module) &&
        read_thread_memory(process, module, &address))
        buffer_print(&session->answer, "%llx", (unsigned long long)(address + offset));
    else
        answer_error(session, "the thread has no such memory yet");
}

/* ---- commands ---- */

static void take_command(struct session *session, const char *text) {
    struct buffer line = {0};
    take_bytes(&text, &line);
    buffer_add(&line, "", 1);
    take_monitor(session, line.data);
    buffer_release(&line);
}

static const struct {
    const char *begin;
    void (*take)(struct session *session, const char *text);
} queries[] = {
    {"Supported", take_supported},
    {"Xfer:", take_transfer},
    {"fThreadInfo", take_first_threads},
    {"sThreadInfo", take_more_threads},
    {"Attached", take_attached},
    {"Symbol:", take_symbol},
    {"GetTLSAddr:", take_thread_local},
    {"Rcmd,", take_command},
    {"HostInfo", take_host},
    {"ProcessInfo", take_process},
    {"MemoryRegionInfo:", take_region},
    {"WatchpointSupportInfo:", take_watchpoint_support},
    {"C", take_present_thread},
};

void take_query(struct session *session, const char *text) {
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        size_t length = strlen(queries[i].begin);
        if (strncmp(text, queries[i].begin, length) == 0) {
            queries[i].take(session, text + length);
            return;
        }
    }
}

/* "0", "1" or "1;NUMBER;...": none, all, or these are caught. */
static void catch_calls(struct session *session, const char *text) {
    struct caught_calls calls = {0};
    uint64_t number = 0;
    bool good = take_number(&text, &number) && number <= 1;
    calls.all = number == 1 && *text == '\0';
    while (good && *text) {
        good = take_character(&text, ';') && take_number(&text, &number) && calls.count < CALLS_MAX;
        if (good)
            calls.numbers[calls.count++] = number;
    }
    if (!good) {
        answer_error(session, "not a list of system calls");
        return;
    }
    session->timeline->calls = calls;
    answer_text(session, "OK");
}

/* "NUMBER;...": of these, by gdb's numbers, the user is not told. */
static void pass_signals(struct session *session, const char *text) {
    uint64_t passed = 0, number;
    while (take_number(&text, &number)) {
        for (int signal = 1; signal <= (int)(8 * sizeof passed); signal++)
            if (debugger_signal(signal) == number)
                passed |= (uint64_t)1 << (signal - 1);
        if (!take_character(&text, ';'))
            break;
    }
    session->timeline->passed_signals = passed;
    answer_text(session, "OK");
}

static void be_quiet(struct session *session, const char *text) {
    (void)text;
    session->connection.is_quiet = true;
    answer_text(session, "OK");
}

static const struct {
    const char *begin;
    void (*take)(struct session *session, const char *text);
} settings[] = {
    {"StartNoAckMode", be_quiet},
    {"CatchSyscalls:", catch_calls},
    {"PassSignals:", pass_signals},
};

void take_setting(struct session *session, const char *text) {
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        size_t length = strlen(settings[i].begin);
        if (strncmp(text, settings[i].begin, length) == 0) {
            settings[i].take(session, text + length);
            return;
        }
    }
}
