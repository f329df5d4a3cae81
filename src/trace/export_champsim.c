/* export_champsim.c: a thread's trace for ChampSim.
 *
 * A record is struct record, ChampSim's input_instr (inc/trace_instruction.h), little endian. 0 is
 * no register and no address. ChampSim knows three registers by number, and tells the kind of a
 * branch by which of them it reads and writes:
 *
 *     direct jump         writes IP
 *     indirect jump       writes IP; reads another register
 *     conditional jump    writes IP; reads IP and FLAGS
 *     direct call         writes IP and SP; reads IP and SP
 *     indirect call       writes IP and SP; reads IP, SP and another register
 *     return              writes IP and SP; reads SP
 *
 * General registers have Pin's numbers, as in ChampSim's own traces. Vector registers are 64 and
 * more: Pin's numbers for them differ between its versions, and ChampSim only compares them.
 *
 * A record has room for 2 registers that are written and 4 that are read, and for 2 writes and 4
 * reads of memory. Further registers are left out, flags first, then vector registers. Further
 * references go into further records of the same instruction, which are no branches.
 *
 * Not perfect: a signal handler that begins right behind a conditional jump makes it a taken one.
 * The last conditional jump of a thread is not taken. What is not instrumented is missing: behind a
 * call of it, the next instruction is that behind the call. */
#include "trace/export.h"

#include "format/notes.h"
#include "trace/piece_table.h"
#include "trace/place.h"
#include "x86/vector_registers.h"

#include <string.h>

enum {
    WRITTEN_MAX = 2,
    READ_MAX = 4
};

struct record {
    uint64_t ip;
    uint8_t is_branch;
    uint8_t taken;
    uint8_t written[WRITTEN_MAX]; /* registers */
    uint8_t read[READ_MAX];
    uint64_t writes[WRITTEN_MAX]; /* addresses */
    uint64_t reads[READ_MAX];
};
_Static_assert(sizeof(struct record) == 64, "as ChampSim has it");

enum {
    NUMBER_SP = 6,
    NUMBER_FLAGS = 25,
    NUMBER_IP = 26,
    NUMBER_MEMORY = 63, /* what an indirect branch reads that takes no register */
    NUMBER_VECTOR = 64  /* %zmm0 */
};

/* By number, as encoded. */
static const uint8_t general_numbers[GENERAL_REGISTERS] = {
    10, 9, 8, 7, NUMBER_SP, 5, 4, 3, 11, 12, 13, 14, 15, 16, 17, 18,
};

/* The registers of a kind of branch, in general; `other` reads the target. */
struct branch_kind {
    bool is_branch, other;
    uint8_t written[WRITTEN_MAX], read[READ_MAX];
};

static const struct branch_kind branch_kinds[] = {
    [CLASS_JUMP] = {true, false, {NUMBER_IP}, {0}},
    [CLASS_JUMP_INDIRECT] = {true, true, {NUMBER_IP}, {0}},
    [CLASS_CONDITIONAL] = {true, false, {NUMBER_IP}, {NUMBER_IP, NUMBER_FLAGS}},
    [CLASS_CONDITIONAL_NEAR] = {true, false, {NUMBER_IP}, {NUMBER_IP, NUMBER_FLAGS}},
    [CLASS_CALL] = {true, false, {NUMBER_IP, NUMBER_SP}, {NUMBER_IP, NUMBER_SP}},
    [CLASS_CALL_INDIRECT] = {true, true, {NUMBER_IP, NUMBER_SP}, {NUMBER_IP, NUMBER_SP}},
    [CLASS_RETURN] = {true, false, {NUMBER_IP, NUMBER_SP}, {NUMBER_SP}},
    [CLASS_TRANSACTION] = {false},
};

/* ---- the constant part of an instruction's records ---- */

struct constant {
    bool known, conditional;
    struct record record;
};

static void add_number(uint8_t *list, size_t most, uint8_t number) {
    for (size_t i = 0; i < most; i++)
        if (!list[i] || list[i] == number) {
            list[i] = number;
            return;
        }
}

static void add_registers(uint8_t *list, size_t most, uint16_t general, uint32_t vector,
                          bool flags) {
    for (unsigned i = 0; i < GENERAL_REGISTERS; i++)
        if (general >> i & 1)
            add_number(list, most, general_numbers[i]);
    for (unsigned i = 0; i < 32; i++)
        if (vector >> i & 1)
            add_number(list, most, (uint8_t)(NUMBER_VECTOR + i));
    if (flags)
        add_number(list, most, NUMBER_FLAGS);
}

/* Adds a register that the target of an indirect branch comes from. It must not be the stack
 * pointer, which would make it another kind. */
static void add_target(struct record *record, const struct decoded *decoded) {
    uint16_t registers = decoded->registers_read & (uint16_t)~REGISTER_RSP;
    unsigned number = registers ? (unsigned)__builtin_ctz(registers) : 0;
    add_number(record->read, READ_MAX, registers ? general_numbers[number] : NUMBER_MEMORY);
}

static void make_constant(const struct trace_step *step, struct constant *constant) {
    const struct decoded *decoded = &step->instruction->decoded;
    struct record *record = &constant->record;
    const struct branch_kind *kind = NULL;
    if (decoded->class < sizeof branch_kinds / sizeof *branch_kinds)
        kind = &branch_kinds[decoded->class];
    constant->known = true;
    constant->conditional =
        decoded->class == CLASS_CONDITIONAL || decoded->class == CLASS_CONDITIONAL_NEAR;
    if (kind && kind->is_branch) {
        record->is_branch = 1;
        memcpy(record->written, kind->written, sizeof record->written);
        memcpy(record->read, kind->read, sizeof record->read);
        if (kind->other)
            add_target(record, decoded);
        return;
    }
    size_t count;
    struct vector_registers vectors = {0, 0};
    const uint8_t *code = step_code(step, &count);
    if (code)
        vectors = find_vector_registers(code, count);
    add_registers(record->written, WRITTEN_MAX, decoded->registers_written, vectors.written,
                  decoded->flags_written);
    add_registers(record->read, READ_MAX, decoded->registers_read, vectors.read,
                  decoded->flags_read);
}

/* ---- records ---- */

/* What is written so far. The last instruction waits for the next one, which tells whether its jump
 * was taken. */
struct writer {
    FILE *out;
    struct record first; /* record of the waiting instruction, if it has one */
    bool waits, conditional;
    const struct traced_function *function; /* of the waiting instruction */
    const struct piece *piece;
    uint64_t behind;   /* the address behind it */
    struct arena more; /* of its further records */
    VECTOR(struct record) further;
};

/* Returns the piece with instructions that EDGE leads to, past padding; or NULL. */
static const struct piece *find_target(const struct traced_function *function, uint32_t edge) {
    for (uint32_t steps = 0; steps <= function->piece_count; steps++) {
        uint32_t target = function->edges[edge].target;
        if (!target || target > function->piece_count)
            return NULL;
        const struct piece *piece = &function->pieces[target - 1];
        bool has_instructions = piece->size && !piece->padding; /* decoded or not */
        if (has_instructions || piece->edge_count != 1)
            return piece;
        edge = piece->first_edge;
    }
    return NULL;
}

/* Whether the conditional jump that waits was taken, if NEXT follows. Inserted code may lie behind
 * it, so its edges decide, and not the address, but in a layout. */
static bool was_taken(const struct writer *writer, const struct trace_step *next) {
    if (!next || next->address == writer->behind)
        return false;
    if (writer->piece->shown)
        return true;
    for (uint32_t i = 0; i < writer->piece->edge_count; i++) {
        uint32_t edge = writer->piece->first_edge + i;
        if (writer->function->edges[edge].kind == QUIPU_EDGE_NOT_TAKEN)
            return find_target(writer->function, edge) != next->piece;
    }
    return true;
}

static void end_step(struct writer *writer, const struct trace_step *next) {
    if (!writer->waits)
        return;
    if (writer->conditional)
        writer->first.taken = was_taken(writer, next);
    fwrite(&writer->first, sizeof writer->first, 1, writer->out);
    if (writer->further.count)
        fwrite(writer->further.data, sizeof *writer->further.data, writer->further.count,
               writer->out);
    writer->further.count = 0;
    writer->waits = false;
}

/* Puts ADDRESS into the record if it has room. */
static bool take_address(uint64_t *addresses, size_t most, uint64_t address) {
    for (size_t i = 0; i < most; i++)
        if (!addresses[i]) {
            addresses[i] = address;
            return true;
        }
    return false;
}

static void begin_step(struct writer *writer, const struct trace_step *step,
                       const struct constant *constant) {
    writer->waits = true;
    writer->conditional = constant->conditional;
    writer->function = step->function;
    writer->piece = step->piece;
    writer->behind = step->address + step->instruction->shown_size;
    writer->first = constant->record;
    writer->first.ip = step->address;
    writer->first.taken = constant->record.is_branch;
    struct record *record = &writer->first;
    for (size_t i = 0; i < step->references.count; i++) {
        const struct reference *reference = &step->references.data[i];
        uint64_t address = reference->address;
        if (reference->writes ? take_address(record->writes, WRITTEN_MAX, address)
                              : take_address(record->reads, READ_MAX, address))
            continue;
        struct record next = constant->record;
        next.ip = step->address;
        next.is_branch = 0;
        (reference->writes ? next.writes : next.reads)[0] = address;
        vector_push(&writer->more, &writer->further, next);
        record = &writer->further.data[writer->further.count - 1];
    }
}

const char *export_champsim(struct trace *trace, const struct traced_thread *thread, FILE *out) {
    struct writer writer = {.out = out};
    struct piece_table constants = {.size = sizeof(struct constant)};
    struct trace_walk *walk = trace_begin(trace, thread);
    struct trace_step *step;
    while (!ferror(out) && trace_step(walk, &step)) {
        struct constant *constant = instruction_data(&constants, step);
        if (!constant->known)
            make_constant(step, constant);
        end_step(&writer, step);
        begin_step(&writer, step, constant);
    }
    bool has_next = writer.waits && trace_step_behind(walk, &step);
    end_step(&writer, has_next ? step : NULL);
    const char *fault = trace_fault(walk);
    trace_end(walk);
    piece_table_release(&constants);
    arena_release(&writer.more);
    return fault;
}
