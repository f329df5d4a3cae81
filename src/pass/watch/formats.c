/* formats.c: what a call of printf or a similar function writes according to its format; see
 * formats.h.
 *
 * With %n it writes anywhere. Most formats are literals without %n, so the callee's row is right
 * (format/watch_callees.h). A format that is not understood counts as writing. Formats that are no
 * literals are read when the program reaches the call. The scan never skips a '%', except the
 * second of two. So it sees each begin of a conversion that any C library sees, whatever that makes
 * of an invalid one.
 *
 * The literal is found by what may have set the argument's register last, on each path to the call:
 * compilers load addresses into registers before loops.
 *
 * requires: a graph    maintains: all
 * Not perfect: calls are assumed to preserve the registers that the psABI requires them to
 * preserve. */
#include "pass/watch/formats.h"

#include "asm/literal.h"
#include "asm/operand.h"
#include "format/watch_callees.h"

#include <string.h>

enum {
    FORMAT_MOST = 4096, /* bytes */
    PLACES_MOST = 64    /* on the paths back from a call */
};

static bool is_one_of(char c, const char *list) {
    return c && strchr(list, c);
}

/* Starts behind a '%'. Returns the last character of the conversion, or NULL if it writes. */
static const char *read_conversion(const char *c, struct format_use *use) {
    for (; is_one_of(*c, QUIPU_CONVERSION_FLAGS); c++) {
        use->arguments += *c == '*';
        use->arguments += *c == '$' ? FORMAT_ON_STACK : 0; /* any argument may be meant */
    }
    const char *size = c;
    while (is_one_of(*c, QUIPU_CONVERSION_SIZES))
        c++;
    if (!is_one_of(*c, QUIPU_CONVERSION_ENDS))
        return NULL;
    bool is_long = c - size > 1 || is_one_of(*size, "Lq");
    if (is_long && is_one_of(*c, "eEfFgGaA"))
        use->arguments += FORMAT_ON_STACK;
    use->arguments += *c != 'm';
    return c;
}

struct format_use use_of_format(const char *format) {
    struct format_use use = {0};
    for (const char *c = format; *c; c++) {
        if (*c != '%' || *++c == '%')
            continue;
        c = read_conversion(c, &use);
        if (!c)
            return (struct format_use){.writes = true};
    }
    return use;
}

/* Returns the symbol if the instruction loads exactly its address into a register, or NULL. */
static const struct symbol *named_symbol(const struct planner *p,
                                         const struct graph_instruction *instruction) {
    static const char relative[] = "(%rip)";
    const struct unit *unit = p->graph->unit;
    const struct statement *s = statement_of(p, instruction);
    struct span operand;
    if (s->intel)
        return NULL;
    if (find_memory_operand(unit, s, &operand) && span_ends(operand, relative))
        operand.length -= sizeof relative - 1;
    else if (!find_immediate_operand(unit, s, &operand))
        return NULL;
    uint32_t *symbol = map_find(&unit->symbol_index, operand.start, operand.length);
    return symbol ? &unit->symbols.data[*symbol] : NULL;
}

/* Returns the use of the literal whose address INSTRUCTION loads into REG. */
static struct format_use use_of_literal(const struct planner *p,
                                        const struct graph_instruction *instruction, uint16_t reg) {
    char format[FORMAT_MOST];
    const struct symbol *symbol =
        instruction->decoded->address_to == reg ? named_symbol(p, instruction) : NULL;
    if (!symbol || !read_literal(p->graph->unit, symbol, format, sizeof format))
        return (struct format_use){.writes = true};
    return use_of_format(format);
}

/* A position, behind the first COUNT instructions of the block, at which the format's address is in
 * REG, a set of one register. */
struct place {
    const struct basic_block *block;
    uint32_t count;
    uint16_t reg;
};

struct search {
    struct place places[PLACES_MOST];
    uint32_t count;
};

/* Searches backward for the instruction that sets the place's register. Follows copies: the copied
 * register becomes the place's. Returns NULL if no instruction of the block sets it. */
static const struct graph_instruction *find_setter(const struct planner *p, struct place *place) {
    while (place->count--) {
        const struct graph_instruction *instruction =
            &p->graph->instructions.data[place->block->first + place->count];
        const struct decoded *decoded = instruction->decoded;
        if (!(decoded->registers_written & place->reg))
            continue;
        if (decoded->linear.kind != LINEAR_COPY || !decoded->linear.wide)
            return instruction;
        place->reg = (uint16_t)(1u << decoded->linear.other);
    }
    return NULL;
}

static bool add_place(struct search *search, struct place place) {
    for (uint32_t i = 0; i < search->count; i++)
        if (search->places[i].block == place.block && search->places[i].count == place.count &&
            search->places[i].reg == place.reg)
            return true;
    if (search->count == PLACES_MOST)
        return false;
    search->places[search->count++] = place;
    return true;
}

/* Whether the instruction preserves REG, as far as find_setter does not check that. Inline assembly
 * may call functions with a convention of their own. */
static bool keeps(const struct graph *graph, const struct graph_instruction *instruction,
                  uint16_t reg) {
    static const uint16_t kept =
        REGISTER_RBX | REGISTER_RBP | REGISTER_R12 | REGISTER_R13 | REGISTER_R14 | REGISTER_R15;
    uint8_t class = instruction->decoded->class;
    if (!is_call_class(class) && class != CLASS_SYSTEM)
        return true;
    return reg & kept && !graph->unit->statements.data[instruction->statement].inline_asm;
}

/* Adds the ends of the blocks from which control may come. Returns false if one of them, or the
 * value of the register there, cannot be known. */
static bool add_sources(struct search *search, const struct graph *graph,
                        const struct basic_block *block, uint16_t reg) {
    for (size_t i = 0; i < block->in.count; i++) {
        uint32_t end = graph->edges.data[block->in.data[i]].source;
        if (!is_block(graph, end))
            return false;
        const struct basic_block *source = &graph->blocks.data[end - 1];
        const struct graph_instruction *last = last_instruction(graph, source);
        if ((last && !keeps(graph, last, reg)) ||
            !add_place(search, (struct place){source, source->count, reg}))
            return false;
    }
    return true;
}

struct format_use use_of_argument(const struct planner *p, const struct basic_block *block,
                                  uint32_t argument) {
    static const uint16_t registers[] = {REGISTER_RDI, REGISTER_RSI, REGISTER_RDX,
                                         REGISTER_RCX, REGISTER_R8,  REGISTER_R9};
    struct search search = {.places = {{block, block->count - 1, registers[argument]}}, .count = 1};
    struct format_use use = {.writes = true};
    for (uint32_t i = 0; i < search.count; i++) {
        struct place place = search.places[i];
        const struct graph_instruction *setter = find_setter(p, &place);
        struct format_use one = {0};
        if (setter)
            one = use_of_literal(p, setter, place.reg);
        else
            one.writes = !add_sources(&search, p->graph, place.block, place.reg);
        if (one.writes)
            return one;
        use.writes &= !setter;
        use.arguments = one.arguments > use.arguments ? one.arguments : use.arguments;
    }
    return use;
}
