/* conditions.c: see conditions.h. */
#include "debug/conditions.h"

#include "debug/agent_expression.h"
#include "debug/packet.h"
#include "debug/points.h"

#include "tracee/tracee.h"
#include "x86/debugger.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

struct point_condition {
    struct point_condition *next;
    uint8_t code[];
};

/* ---- the packet ---- */

static struct point_condition *make_condition(const struct buffer *code) {
    if (!agent_verify((const uint8_t *)code->data, code->count))
        return NULL;
    struct point_condition *made = malloc(sizeof *made + code->count);
    if (!made)
        return NULL;
    made->next = NULL;
    memcpy(made->code, code->data, code->count);
    return made;
}

const char *conditions_read(const char *text, struct point_condition **conditions) {
    struct buffer code = {0};
    const char *wrong = NULL;
    bool all = true;
    uint64_t size;
    *conditions = NULL;
    while (*text && !wrong) {
        code.count = 0;
        bool good = take_character(&text, ';') && take_character(&text, 'X') &&
                    take_number(&text, &size) && take_character(&text, ',');
        if (good)
            take_bytes(&text, &code);
        if (!good || code.count != size) {
            wrong = "not a list of conditions";
            break;
        }
        struct point_condition *made = make_condition(&code);
        all &= made != NULL;
        if (made) {
            made->next = *conditions;
            *conditions = made;
        }
    }
    buffer_release(&code);
    if (wrong || !all) {
        conditions_free(*conditions);
        *conditions = NULL;
    }
    return wrong;
}

void conditions_free(struct point_condition *conditions) {
    while (conditions) {
        struct point_condition *next = conditions->next;
        free(conditions);
        conditions = next;
    }
}

/* ---- values in a thread ---- */

struct stopped {
    const struct points *points;
    pid_t thread;
    struct registers *registers;
    bool has_general, has_all; /* of `registers` */
};

static bool read_register(void *context, unsigned number, uint64_t *value) {
    struct stopped *stopped = context;
    struct registers *registers = stopped->registers;
    uint8_t bytes[DEBUGGER_REGISTER_MAX];
    bool is_general = is_general_debugger_register(number);
    if (!stopped->has_general && !stopped->has_all && is_general) {
        registers->vector_size = 0;
        stopped->has_general = get_general_registers(stopped->thread, &registers->general);
    } else if (!stopped->has_all && !is_general) {
        stopped->has_all = get_registers(stopped->thread, registers);
    }
    if (!stopped->has_all && !(is_general && stopped->has_general))
        return false;
    hide_way(&registers->general);
    size_t size = debugger_register(registers, number, bytes);
    if (size == 0 || size > sizeof *value)
        return false;
    *value = 0;
    memcpy(value, bytes, size);
    return true;
}

/* By one call, where the whole word that begins there can be read. */
static bool read_word(pid_t thread, uint64_t address, void *bytes, size_t size) {
    errno = 0;
    long word = ptrace(PTRACE_PEEKDATA, thread, (void *)address, NULL);
    if (errno)
        return peek_memory(thread, address, bytes, size);
    memcpy(bytes, &word, size);
    return true;
}

static bool read_bytes(void *context, uint64_t address, void *bytes, size_t size) {
    const struct stopped *stopped = context;
    const struct points *points = stopped->points;
    if (!read_word(stopped->thread, address, bytes, size))
        return false;
    for (size_t i = 0; i < points->inserted_count; i++) {
        uint64_t place = points->inserted[i].address - address;
        if (place < size)
            ((uint8_t *)bytes)[place] = points->inserted[i].byte;
    }
    return true;
}

bool conditions_hold(const struct point_condition *conditions, const struct points *points,
                     pid_t thread) {
    static struct registers registers;
    struct stopped stopped = {points, thread, &registers, false, false};
    const struct agent_context context = {&stopped, read_register, read_bytes};
    uint64_t value;
    for (const struct point_condition *at = conditions; at; at = at->next)
        if (!agent_evaluate(at->code, &context, &value) || value)
            return true;
    return !conditions;
}
