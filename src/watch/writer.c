/* writer.c: the instructions that write; see writer.h.
 *
 * Symbols, lines and instructions are looked up when a writer first occurs.
 *
 * Not perfect: a forked process has reported no modules. For its code, the modules of any other
 * process at the same addresses are used. */
#include "watch/writer.h"

#include "moment/sources.h"
#include "symbols/demangle.h"
#include "symbols/moment_name.h"
#include "symbols/procedure.h"
#include "util/path.h"
#include "x86/decode.h"

#include <string.h>

enum {
    COPY_MAX = 64, /* bytes of the instructions in a store's copy */
    CAPACITY_MIN = 256,
    CALL_SIZE_MAX = 8,
    CALL = 0xe8,
    JUMP = 0xe9,
    SHORT_JUMP = 0xeb,
    WAY_MAX = 2048,     /* bytes of the code out of line behind a store */
    ORIGINAL_MAX = 512, /* bytes of a check's range in line */
};

/* ---- Modules ---- */

static struct binary *open_binary(struct writers *writers, const struct quipu_module_record *record,
                                  const char *path) {
    const struct binary *program = writers->program;
    struct binary *binary = NULL;
    if (record->build_id_size == program->build_id_size &&
        memcmp(record->build_id, program->build_id, record->build_id_size) == 0)
        return writers->program;
    for (size_t i = 0; i < writers->modules.count; i++)
        if (strcmp(writers->modules.data[i]->path, path) == 0)
            return writers->modules.data[i]->binary;
    if (binary_open(&writers->arena, path, &binary))
        return NULL;
    if (binary->build_id_size == record->build_id_size &&
        memcmp(binary->build_id, record->build_id, record->build_id_size) == 0)
        return binary;
    warn("'%s' is not the file that runs; what it writes has no names", path);
    binary_close(binary);
    return NULL;
}

/* Returns the path of a module. A relative name is relative to a directory of its process, which
 * may differ from ours. If something in the module is watched, the tool has opened it; otherwise
 * the process is asked, unless it has ended. */
static const char *find_module_path(struct writers *writers,
                                    const struct quipu_module_record *record, const char *name) {
    const char *path = NULL;
    if (*name != '/')
        path = find_opened_path(writers->libraries, record->build_id, record->build_id_size);
    if (*name != '/' && !path)
        path = find_mapped_path(&writers->arena, (pid_t)record->record.pid, record->begin);
    return path ? path : arena_copy(&writers->arena, name, strlen(name));
}

const struct watch_module *writers_module(struct writers *writers,
                                          const struct quipu_module_record *record) {
    const char *name = (const char *)(record + 1);
    struct watch_module *module = ARENA_NEW(&writers->arena, struct watch_module);
    *module = (struct watch_module){.process = record->record.pid,
                                    .number = record->number,
                                    .bias = record->bias,
                                    .begin = record->begin,
                                    .end = record->end,
                                    .path = find_module_path(writers, record, name)};
    module->binary = open_binary(writers, record, module->path);
    vector_push(&writers->arena, &writers->modules, module);
    return module;
}

/* The last match counts, because a process may have executed another program. */
const struct watch_module *writers_find_module(const struct writers *writers, uint32_t process,
                                               uint64_t pc) {
    const struct watch_module *other = NULL;
    for (size_t i = writers->modules.count; i-- > 0;) {
        const struct watch_module *module = writers->modules.data[i];
        if (pc < module->begin || pc >= module->end)
            continue;
        if (module->process == process)
            return module;
        other = other ? other : module;
    }
    return other;
}

/* ---- Instructions ---- */

/* Names an operand as the programmer wrote it, if there is room. */
static bool name_operand(void *context, uint64_t address, char *text, size_t size) {
    if (!binary_name(context, address, text, size))
        return false;
    demangle_name(text, size);
    return true;
}

static const char *disassemble(struct arena *arena, struct binary *binary, uint64_t address) {
    char text[256];
    size_t count = 0;
    const uint8_t *code = binary_code(binary, address, &count);
    if (!code ||
        !disassemble_instruction(code, count, address, text, sizeof text, name_operand, binary))
        return "";
    return arena_copy(arena, text, strlen(text));
}

/* Returns the instruction between FIRST and END that stores; if none is known to, the last one. 0:
 * the bytes are not consecutive instructions, as those of a copy are. */
static uint64_t find_store(const struct binary *binary, uint64_t first, uint64_t end) {
    uint64_t found = 0, at = first;
    bool stores = false;
    while (at < end) {
        struct decoded decoded;
        size_t count = 0;
        const uint8_t *code = binary_code(binary, at, &count);
        if (!code || !decode_instruction(code, count, &decoded) || decoded.class != CLASS_PLAIN)
            return 0;
        if (writes_memory(&decoded) || !stores)
            found = at;
        stores |= writes_memory(&decoded);
        at += decoded.size;
    }
    return at == end ? found : 0;
}

/* Whether the callee of the call at ADDRESS may be quipu_watch_begin, or begin_more. */
static bool begins_store(struct binary *binary, uint64_t address) {
    size_t count = 0;
    char name[64];
    const uint8_t *code = binary_code(binary, address, &count);
    int32_t distance;
    if (!code || !is_direct_call(code, count))
        return false;
    memcpy(&distance, code + 1, sizeof distance);
    uint64_t callee = address + DIRECT_CALL_SIZE + (uint64_t)(int64_t)distance;
    if (!binary_code(binary, callee, &count))
        return false; /* not a call: other bytes that look like one */
    if (!binary_name(binary, callee, name, sizeof name))
        return true; /* the symbol was stripped */
    return strncmp(name, "quipu_watch_begin", strlen("quipu_watch_begin")) == 0;
}

/* Finds the copy of a store. It ends at PC and begins behind a call of quipu_watch_begin
 * (format/watch.h). */
static uint64_t find_copy(struct binary *binary, uint64_t pc) {
    for (uint64_t size = 1; size <= COPY_MAX && size + DIRECT_CALL_SIZE <= pc; size++) {
        if (!begins_store(binary, pc - size - DIRECT_CALL_SIZE))
            continue;
        uint64_t found = find_store(binary, pc - size, pc);
        if (found)
            return found;
    }
    return 0;
}

/* Whether a call or a jump of SIZE bytes may begin with the byte CODE. */
static bool may_begin_call(uint8_t code, uint64_t size) {
    if (code == CALL || code == JUMP)
        return size == DIRECT_CALL_SIZE;
    return code == SHORT_JUMP ? size == 2 : code == 0xff || (code & 0xf0) == 0x40;
}

/* Finds the call, or the jump to a function, that ends at PC. Tries longer ones first, because a
 * prefix belongs to the call. */
static uint64_t find_call(const struct binary *binary, uint64_t pc) {
    for (uint64_t size = CALL_SIZE_MAX; size >= 2 && size < pc; size--) {
        struct decoded decoded;
        size_t count = 0;
        const uint8_t *code = binary_code(binary, pc - size, &count);
        if (code && may_begin_call(*code, size) && decode_instruction(code, count, &decoded) &&
            decoded.size == size &&
            (is_call_class(decoded.class) || decoded.class == CLASS_JUMP ||
             decoded.class == CLASS_JUMP_INDIRECT))
            return pc - size;
    }
    return 0;
}

/* Returns the address in line at which the code out of line behind PC continues, or 0 if
 * unknown. */
static uint64_t find_return(const struct binary *binary, uint64_t pc) {
    for (uint64_t at = pc; at < pc + WAY_MAX;) {
        struct decoded decoded;
        size_t count = 0;
        const uint8_t *code = binary_code(binary, at, &count);
        if (!code || !decode_instruction(code, count, &decoded))
            return 0;
        at += decoded.size;
        if (*code == SHORT_JUMP)
            return at + (uint64_t)(int64_t)(int8_t)code[1];
        if (*code == JUMP) {
            int32_t distance;
            memcpy(&distance, code + 1, sizeof distance);
            return at + (uint64_t)(int64_t)distance;
        }
    }
    return 0;
}

/* Returns the last instruction with that TEXT from which consecutive instructions lead to END, or
 * 0. */
static uint64_t find_text(struct arena *arena, struct binary *binary, uint64_t end,
                          const char *text) {
    for (uint64_t distance = 1; distance <= ORIGINAL_MAX && distance < end; distance++) {
        uint64_t at = end - distance;
        if (strcmp(disassemble(arena, binary, at), text) != 0)
            continue;
        while (at < end) {
            struct decoded decoded;
            size_t count = 0;
            const uint8_t *code = binary_code(binary, at, &count);
            if (!code || !decode_instruction(code, count, &decoded))
                break;
            at += decoded.size;
        }
        if (at == end)
            return end - distance;
    }
    return 0;
}

/* The copy of a store runs only while the store is watched, so its moment needs the original's
 * address. If the original is not found, returns the address behind the check's range. 0:
 * unknown. */
static uint64_t find_original(struct arena *arena, struct binary *binary,
                              const struct writer *writer) {
    uint64_t end = find_return(binary, writer->pc);
    uint64_t original = end ? find_text(arena, binary, end, writer->instruction) : 0;
    return original ? original : end;
}

/* A store's moment is that of its original; there is no counter in between. A call's moment is
 * behind it, since functions that the callee calls back may count. */
static uint64_t find_moment(struct arena *arena, struct binary *binary, const struct writer *writer,
                            uint32_t cause) {
    return cause == QUIPU_CAUSE_STORE ? find_original(arena, binary, writer) : writer->pc;
}

/* ---- Writers ---- */

static void take_place(struct arena *arena, const struct binary *binary, struct writer *writer) {
    const struct symbol *function = binary_function(binary, writer->pc - 1);
    const char *file = find_line(arena, binary, writer->pc - 1, &writer->line);
    if (function)
        writer->function = demangle(arena, function->name);
    if (!file)
        return;
    writer->source = file;
    writer->file = last_part(file);
    writer->place = arena_print(arena, "%s:%u", writer->file, writer->line);
}

/* Whether the user may mean the function SYMBOL by NAME. Parts and copies of a function have its
 * name, too. */
static bool may_be_called(struct arena *arena, const char *symbol, const char *name) {
    return is_called(symbol, name) || strcmp(plain_name(arena, symbol), name) == 0;
}

/* The owners of a write: symbols of the writing function and of functions inlined there, and their
 * source files. */
struct owners {
    text_vector symbols, files;
};

/* Uses the original in line, because debug information has no inlined functions for the code out of
 * line, where the copy of a store is. */
static void find_owners(struct arena *arena, const struct writer *writer, bool is_copy,
                        struct owners *owners) {
    struct binary *binary = writer->module->binary;
    const struct symbol *function = binary_function(binary, writer->pc - 1);
    uint64_t place = is_copy ? find_original(arena, binary, writer) : 0;
    if (!place)
        place = writer->pc - 1;
    if (function)
        vector_push(arena, &owners->symbols, function->name);
    find_inlined(arena, binary, place, &owners->symbols);
    vector_push(arena, &owners->files, writer->source);
    find_sources(arena, binary, place, &owners->files);
}

/* Whether one of FILES is NAME, or ends with it. */
static bool is_one_file(const text_vector *files, const char *name) {
    for (size_t i = 0; i < files->count; i++)
        if (ends_in(files->data[i], name))
            return true;
    return false;
}

/* Whether the user calls one of SYMBOLS, functions of BINARY, NAME. */
static bool is_one_called(struct arena *arena, const struct binary *binary,
                          const text_vector *symbols, const char *name) {
    procedure_list procedures = {0};
    for (size_t i = 0; i < symbols->count; i++)
        if (may_be_called(arena, symbols->data[i], name))
            return true;
    find_procedures(arena, binary, name, &procedures);
    for (size_t i = 0; i < symbols->count; i++)
        for (size_t k = 0; k < procedures.count; k++)
            if (may_be_called(arena, symbols->data[i], procedures.data[k].symbol))
                return true;
    return false;
}

static bool is_allowed(struct writers *writers, const struct writer *writer, bool is_copy) {
    bool is_any = false;
    struct owners owners = {0};
    if (writers->allowed.count)
        find_owners(&writers->arena, writer, is_copy, &owners);
    for (size_t i = 0; i < writers->allowed.count; i++) {
        struct allowed_name *allowed = &writers->allowed.data[i];
        bool is_it =
            is_one_file(&owners.files, allowed->name) ||
            ends_in(writer->module->path, allowed->name) ||
            is_one_called(&writers->arena, writer->module->binary, &owners.symbols, allowed->name);
        allowed->has_written |= is_it;
        is_any |= is_it;
    }
    return is_any;
}

static struct writer *new_writer(struct writers *writers, const struct writer *key) {
    struct writer *writer = ARENA_NEW(&writers->arena, struct writer);
    *writer = *key;
    writer->function = writer->file = writer->source = "";
    writer->place = writer->instruction = "";
    return writer;
}

static struct writer *make_writer(struct writers *writers, const struct writer *key,
                                  const struct quipu_hit *hit) {
    struct writer *writer = new_writer(writers, key);
    struct binary *binary = key->module ? key->module->binary : NULL;
    if (!binary)
        return writer;
    take_place(&writers->arena, binary, writer);
    bool is_copy = hit->cause == QUIPU_CAUSE_STORE;
    writer->address = is_copy ? find_copy(binary, writer->pc) : 0;
    if (!writer->address) { /* includes a call's own store of its return address */
        writer->address = find_call(binary, writer->pc);
        is_copy &= !writer->address;
    }
    if (writer->address)
        writer->instruction = disassemble(&writers->arena, binary, writer->address);
    writer->is_allowed = is_allowed(writers, writer, is_copy);
    if (hit->moment_thread)
        writer->moment = find_moment(&writers->arena, binary, writer, hit->cause);
    return writer;
}

/* A linked pc belongs to a binary, in whichever process it runs. */
static const void *owner_of(const struct watch_module *module) {
    return module && module->binary ? (const void *)module->binary : module;
}

static size_t place_in_table(const struct writers *writers, const struct writer *key) {
    uint64_t hash = key->pc * 0x9e3779b97f4a7c15 + key->watched * 0xff51afd7ed558ccd;
    size_t at = (size_t)(hash >> 20);
    for (;; at++) {
        const struct writer *found = writers->table[at &= writers->capacity - 1];
        if (!found || (found->pc == key->pc && found->watched == key->watched &&
                       owner_of(found->module) == owner_of(key->module)))
            return at;
    }
}

static void grow(struct writers *writers) {
    writers->capacity = writers->capacity ? 2 * writers->capacity : CAPACITY_MIN;
    writers->table = ARENA_ARRAY(&writers->arena, struct writer *, writers->capacity);
    for (size_t i = 0; i < writers->all.count; i++) {
        struct writer *writer = writers->all.data[i];
        writers->table[place_in_table(writers, writer)] = writer;
    }
}

struct writer *writers_find(struct writers *writers, const struct quipu_hit *hit,
                            uint32_t watched) {
    struct writer key = {.module = writers_find_module(writers, hit->record.pid, hit->pc),
                         .watched = watched};
    key.pc = hit->pc - (key.module ? key.module->bias : 0);
    if (writers->all.count * 2 >= writers->capacity)
        grow(writers);
    size_t at = place_in_table(writers, &key);
    if (!writers->table[at]) {
        writers->table[at] = make_writer(writers, &key, hit);
        vector_push(&writers->arena, &writers->all, writers->table[at]);
    }
    return writers->table[at];
}

/* The program as a module of any process. */
static const struct watch_module *program_module(struct writers *writers) {
    for (size_t i = 0; i < writers->modules.count; i++)
        if (writers->modules.data[i]->binary == writers->program)
            return writers->modules.data[i];
    struct watch_module *module = ARENA_NEW(&writers->arena, struct watch_module);
    *module = (struct watch_module){.path = writers->program->path, .binary = writers->program};
    vector_push(&writers->arena, &writers->modules, module);
    return module;
}

struct writer *writers_find_in_program(struct writers *writers, uint64_t address, uint64_t pc,
                                       bool is_call, uint32_t watched) {
    const struct writer key = {
        .module = pc ? program_module(writers) : NULL, .pc = pc, .watched = watched};
    if (writers->all.count * 2 >= writers->capacity)
        grow(writers);
    size_t at = place_in_table(writers, &key);
    if (writers->table[at])
        return writers->table[at];
    struct writer *writer = writers->table[at] = new_writer(writers, &key);
    vector_push(&writers->arena, &writers->all, writer);
    if (!pc)
        return writer;
    take_place(&writers->arena, writers->program, writer);
    writer->address = is_call ? find_call(writers->program, pc) : address;
    if (writer->address)
        writer->instruction = disassemble(&writers->arena, writers->program, writer->address);
    writer->is_allowed = is_allowed(writers, writer, false);
    return writer;
}

struct writer *writers_find_call(struct writers *writers, uint32_t process, uint64_t pc,
                                 uint32_t watched) {
    const struct quipu_hit hit = {
        .record = {.pid = process}, .cause = QUIPU_CAUSE_CALLEE, .pc = pc};
    return writers_find(writers, &hit, watched);
}

const struct call_place *writers_place(struct writers *writers, uint32_t process, uint64_t pc) {
    struct call_place *place = &writers->places[pc * 0x9e3779b97f4a7c15 >> 58];
    const struct watch_module *module = writers_find_module(writers, process, pc);
    if (place->pc == pc && place->process == process)
        return place;
    *place = (struct call_place){pc, process, "", ""};
    if (!module || !module->binary)
        return place;
    struct writer writer = {.pc = pc - module->bias, .function = "", .place = ""};
    take_place(&writers->arena, module->binary, &writer);
    place->function = writer.function;
    place->place = writer.place;
    return place;
}

void writers_release(struct writers *writers) {
    for (size_t i = 0; i < writers->modules.count; i++) {
        struct binary *binary = writers->modules.data[i]->binary;
        for (size_t j = i; j < writers->modules.count; j++)
            if (writers->modules.data[j]->binary == binary)
                writers->modules.data[j]->binary = NULL;
        if (binary && binary != writers->program)
            binary_close(binary);
    }
    arena_release(&writers->arena);
}
