/* gap.c: the names of what is not in a trace; see gap.h. */
#include "trace/gap.h"

#include "format/system_calls.h"
#include "symbols/binary.h"
#include "trace/place.h"

#include <inttypes.h>
#include <string.h>

#define NAME_OF_ROW(name, repeats, condition, accesses, measures) {SYS_##name, #name},

enum {
    TEXT_MAX = 512 /* of an instruction; a longer name in it is cut */
};

/* An operand's name, as the disassembler asks for it. */
struct operand {
    const struct traced_function *function;
    bool jumps;
    char text[TEXT_MAX];
};

static bool keep_name(void *context, uint64_t address, char *text, size_t size) {
    struct operand *operand = context;
    const struct binary *binary = operand->function->module->binary;
    if (operand->jumps)
        address = jump_target(operand->function, address);
    bool known = binary_name(binary, address, operand->text, sizeof operand->text);
    if (known && size) {
        text[0] = '\0';
        strncat(text, operand->text, size - 1);
    }
    return known;
}

/* Returns the name of what the call or jump leads to through a slot that the loader fills in, or
 * NULL. */
static const char *find_slot_name(const struct binary *binary,
                                  const struct traced_instruction *call) {
    const struct access *load = &call->decoded.loads[0];
    if (!call->decoded.load_count || !load->relative)
        return NULL;
    uint64_t next = call->address + call->decoded.size;
    return binary_import(binary, next + (uint64_t)load->displacement);
}

static const char *find_system_call_name(struct arena *arena, uint64_t number) {
    static const struct {
        uint64_t number;
        const char *name;
    } names[] = {QUIPU_SYSTEM_CALLS(NAME_OF_ROW)};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == number)
            return arena_print(arena, "system call %s", names[i].name);
    return arena_print(arena, "system call %" PRIu64, number);
}

static const char *find_name(struct arena *arena, const struct trace_gap *gap) {
    static const char plt[] = "@plt";
    if (!gap->call)
        return arena_print(arena, "caller of %s", gap->function->name);
    if (gap->behind)
        return arena_print(arena, "code behind %s", gap->function->name);
    uint8_t class = gap->call->decoded.class;
    if (gap->system_call)
        return find_system_call_name(arena, gap->system_call - 1);
    const struct binary *binary = gap->function->module->binary;
    struct operand operand = {.function = gap->function, .jumps = !is_call_class(class)};
    if (class == CLASS_SYSTEM)
        return "system call";
    char text[TEXT_MAX];
    size_t count;
    const uint8_t *code = binary_code(binary, gap->call->address, &count);
    if (code)
        disassemble_instruction(code, count, gap->call->address, text, sizeof text, keep_name,
                                &operand);
    size_t length = strlen(operand.text);
    const char *slot = length ? NULL : find_slot_name(binary, gap->call);
    if (slot)
        return slot;
    if (!length)
        return is_call_class(class) ? "indirect call" : "indirect jump";
    if (length > strlen(plt) && strcmp(operand.text + length - strlen(plt), plt) == 0)
        length -= strlen(plt);
    return arena_copy(arena, operand.text, length);
}

const char *gap_name(struct gap_names *names, const struct trace_gap *gap) {
    struct trace_gap key = *gap;
    if (gap->missing)
        return "not recorded";
    uint32_t *known = map_find(&names->numbers, (const char *)&key, sizeof key);
    if (known)
        return names->names.data[*known];
    const char *name = find_name(&names->arena, gap);
    map_add_copy(&names->arena, &names->numbers, &key, sizeof key, (uint32_t)names->names.count);
    vector_push(&names->arena, &names->names, name);
    return name;
}

void gap_names_release(struct gap_names *names) {
    arena_release(&names->arena);
}
