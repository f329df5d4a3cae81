/* memory.c: the packets that read and write registers and memory; see session.h. */
#include "debug/session.h"

#include "tracee/tracee.h"
#include "x86/debugger.h"

#include <string.h>

static const char no_process[] = "the process is gone";

enum {
    PAGE = 4096
};

/* ---- registers ---- */

static bool read_all(struct session *session, struct registers *registers) {
    pid_t process = selected_thread(session);
    if (!process || !get_registers(process, registers))
        return false;
    hide_way(&registers->general);
    return true;
}

static bool add_register(struct session *session, const struct registers *registers,
                         size_t number) {
    uint8_t bytes[DEBUGGER_REGISTER_MAX];
    size_t size = debugger_register(registers, number, bytes);
    add_digits(&session->answer, bytes, size);
    return size;
}

void take_registers_read(struct session *session, const char *text) {
    static struct registers registers;
    (void)text;
    if (!read_all(session, &registers)) {
        answer_error(session, no_process);
        return;
    }
    for (size_t number = 0; add_register(session, &registers, number); number++)
        ;
}

void take_register_read(struct session *session, const char *text) {
    static struct registers registers;
    uint64_t number;
    if (!take_number(&text, &number))
        answer_error(session, "a number is missing");
    else if (!read_all(session, &registers))
        answer_error(session, no_process);
    else if (!add_register(session, &registers, number))
        answer_error(session, "there is no such register");
}

/* Sets the registers from NUMBER on to BYTES, one, or with ALL as many as there are. */
static void write_registers(struct session *session, size_t number, const struct buffer *bytes,
                            bool all) {
    static struct registers registers;
    uint8_t present[DEBUGGER_REGISTER_MAX];
    if (!may_change(session))
        return;
    pid_t thread = divert_thread(&session->diversion, session->timeline, shown_thread(session));
    bool good = thread && read_all(session, &registers);
    for (size_t at = 0; good && at < bytes->count; number++) {
        size_t size = debugger_register(&registers, number, present);
        good = size && at + size <= bytes->count &&
               set_debugger_register(&registers, number, (const uint8_t *)bytes->data + at, size);
        at += all ? size : bytes->count;
    }
    if (good && set_registers(thread, &registers))
        answer_text(session, "OK");
    else
        answer_error(session, "the register cannot be set");
}

void take_registers_write(struct session *session, const char *text) {
    struct buffer bytes = {0};
    take_bytes(&text, &bytes);
    write_registers(session, 0, &bytes, true);
    buffer_release(&bytes);
}

void take_register_write(struct session *session, const char *text) {
    struct buffer bytes = {0};
    uint64_t number;
    if (take_number(&text, &number) && take_character(&text, '=')) {
        take_bytes(&text, &bytes);
        write_registers(session, number, &bytes, false);
    } else {
        answer_error(session, "a number is missing");
    }
    buffer_release(&bytes);
}

/* ---- memory ---- */

/* Reads as much as is there, of SIZE bytes. */
static size_t read_some(pid_t process, uint64_t address, uint8_t *bytes, size_t size) {
    size_t done = 0;
    while (done < size) {
        size_t part = PAGE - (address + done) % PAGE;
        part = part < size - done ? part : size - done;
        if (!read_memory(process, address + done, bytes + done, part))
            break;
        done += part;
    }
    return done;
}

void take_memory_read(struct session *session, const char *text) {
    static uint8_t bytes[PACKET_MAX / 2];
    uint64_t address, size;
    pid_t process = timeline_process(session->timeline);
    if (!take_number(&text, &address) || !take_character(&text, ',') || !take_number(&text, &size))
        answer_error(session, "an address and a size are missing");
    else if (!process)
        answer_error(session, no_process);
    else {
        size = size < sizeof bytes ? size : sizeof bytes;
        size_t count = read_some(process, address, bytes, size);
        if (count || !size)
            add_digits(&session->answer, bytes, count);
        else
            answer_text(session, "E0e"); /* EFAULT */
    }
}

/* Takes "ADDRESS,SIZE:". */
static bool take_range(const char **text, uint64_t *address, uint64_t *size) {
    return take_number(text, address) && take_character(text, ',') && take_number(text, size) &&
           take_character(text, ':');
}

static void write_bytes(struct session *session, uint64_t address, const void *bytes, size_t size) {
    if (!may_change(session))
        return;
    if (!is_client_memory(session, address))
        session->diversion.changed = true;
    if (write_memory(timeline_process(session->timeline), address, bytes, size))
        answer_text(session, "OK");
    else
        answer_text(session, "E0e"); /* EFAULT */
}

void take_memory_write(struct session *session, const char *text) {
    struct buffer bytes = {0};
    uint64_t address, size;
    if (take_range(&text, &address, &size)) {
        take_bytes(&text, &bytes);
        if (bytes.count == size)
            write_bytes(session, address, bytes.data, bytes.count);
        else
            answer_error(session, "the size is another one");
    } else {
        answer_error(session, "an address and a size are missing");
    }
    buffer_release(&bytes);
}

/* The client asks whether there is this packet by one of no bytes. */
void take_binary_write(struct session *session, const char *text, size_t size) {
    uint64_t address, count;
    const char *bytes = text;
    if (!take_range(&bytes, &address, &count) || count != size - (size_t)(bytes - text))
        answer_error(session, "an address and as many bytes as are named are missing");
    else if (count == 0)
        answer_text(session, "OK");
    else
        write_bytes(session, address, bytes, count);
}
