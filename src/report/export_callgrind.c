/* export_callgrind.c: writes the format of callgrind, for KCachegrind and callgrind_annotate.
 *
 * Source: "Callgrind Format Specification", Valgrind's manual. Sample:
 *
 *     positions: instr line
 *     events: Ir
 *     summary: 3005
 *
 *     ob=(1) /home/user/max
 *     fl=(1) /home/user/max.c
 *     fn=(1) main
 *     0x1139 12 1
 *     0x113d 13 1000
 *     jcnd=999/1000 0x113d 13
 *     0x1140 13
 *     fi=(2) /home/user/inline.h         the code behind this was inlined from there
 *     0x1142 4 1
 *
 * Addresses are those of the binary as linked. So a viewer that disassembles it finds each count at
 * its instruction. As in callgrind's own output, an instruction that never ran has no line.
 *
 * With positions of lines only, for readers that know no others, such as speedscope, a cost is
 * "12 1". There are no jumps, and the cost of inlined code of another file is at line 0.
 *
 * Invariant: the costs of all lines add up to `summary`.
 *
 * Not perfect:
 * - Calls are only written if the program was built with --quipu=calls. Each call must have the
 *   inclusive cost of what it calls, and the format has no value for "not known". With zeros,
 *   KCachegrind does not show a call graph, and 'callgrind_annotate --inclusive=yes' shows every
 *   callee as free.
 * - No-operations in front of an aligned label are at other addresses in this binary, or do not
 *   exist. Their cost has address 0.
 * - If indirect jumps share their table (computed goto), it is not known which jump had which
 *   target. They have no jump= lines.
 * - Counts of all processes are added up. */
#include "format/notes.h"
#include "report/callgrind.h"
#include "report/export.h"
#include "report/line_counts.h"
#include "report/view.h"

#include <inttypes.h>

/* Writes TEXT in one line, whatever it contains. */
static void write_name(FILE *out, const char *text) {
    for (; *text; text++)
        fputc((unsigned char)*text < 0x20 ? '?' : *text, out);
    fputc('\n', out);
}

void callgrind_file(struct callgrind *callgrind, const char *key, uint32_t file) {
    uint32_t *id = &callgrind->file_ids[file];
    if (*id) {
        fprintf(callgrind->out, "%s=(%" PRIu32 ")\n", key, *id);
        return;
    }
    *id = ++callgrind->next_file;
    fprintf(callgrind->out, "%s=(%" PRIu32 ") ", key, *id);
    write_name(callgrind->out, file ? callgrind->profile->files.data[file] : "???");
}

void callgrind_enter_file(struct callgrind *callgrind, uint32_t file, uint32_t home) {
    if (file == callgrind->file || callgrind->lines_only)
        return;
    callgrind_file(callgrind, file == home ? "fe" : "fi", file);
    callgrind->file = file;
}

void callgrind_module(struct callgrind *callgrind, const char *key, const struct module *module) {
    size_t number = module_number(callgrind->profile, module);
    fprintf(callgrind->out, "%s=(%zu)", key, number + 1);
    if (!callgrind->modules_written[number]) {
        fputc(' ', callgrind->out);
        write_name(callgrind->out, module ? module->path : "???");
    } else {
        fputc('\n', callgrind->out);
    }
    callgrind->modules_written[number] = true;
}

void callgrind_function(struct callgrind *callgrind, const char *key, const struct module *module,
                        uint64_t address, const char *name) {
    struct {
        const struct module *module;
        uint64_t address;
    } *place = arena_alloc(callgrind->arena, sizeof *place);
    place->module = module;
    place->address = address;
    uint32_t fresh = callgrind->next_function + 1;
    uint32_t id = *map_add(callgrind->arena, &callgrind->function_ids, (const char *)place,
                           sizeof *place, fresh);
    fprintf(callgrind->out, "%s=(%" PRIu32 ")", key, id);
    if (id == fresh) {
        callgrind->next_function = fresh;
        fputc(' ', callgrind->out);
        write_name(callgrind->out, name);
    } else {
        fputc('\n', callgrind->out);
    }
}

void callgrind_position(const struct callgrind *callgrind, uint64_t address, uint32_t line) {
    if (!callgrind->lines_only)
        fprintf(callgrind->out, "0x%" PRIx64 " ", address);
    fprintf(callgrind->out, "%" PRIu32, line);
}

static void write_position(const struct callgrind *callgrind,
                           const struct instruction *instruction) {
    callgrind_position(callgrind, instruction->address, instruction->line);
}

/* Returns the first instruction at or behind the start of BLOCK that this binary has, or NULL. */
static const struct instruction *block_start(const struct function *function, uint32_t block) {
    for (size_t i = function->blocks[block].first_instruction; i < function->instruction_count; i++)
        if (function->instructions[i].address)
            return &function->instructions[i];
    return NULL;
}

/* Writes a jump along EDGE from JUMP. EXECUTED: how often the conditional jump was executed; 0: it
 * is unconditional. */
static void write_jump(struct callgrind *callgrind, const struct function *function,
                       const struct instruction *jump, const struct flow_edge *edge,
                       uint64_t executed) {
    if (edge->count <= 0 || edge->target == 0 || edge->target > function->block_count)
        return;
    const struct instruction *target = block_start(function, edge->target - 1);
    if (!target)
        return;
    if (target->file != callgrind->file)
        callgrind_file(callgrind, "jfi", target->file);
    if (executed)
        fprintf(callgrind->out, "jcnd=%" PRId64 "/%" PRIu64 " ", edge->count, executed);
    else
        fprintf(callgrind->out, "jump=%" PRId64 " ", edge->count);
    write_position(callgrind, target);
    fputc('\n', callgrind->out);
    write_position(callgrind, jump);
    fputc('\n', callgrind->out);
}

/* Writes the jumps of the block that JUMP ends. BRANCH is its branch, or NULL. */
static void write_jumps(struct callgrind *callgrind, const struct function *function,
                        const struct instruction *jump, const struct line_branch *branch) {
    if (branch && branch->targets[1].edge->kind == QUIPU_EDGE_NOT_TAKEN) {
        write_jump(callgrind, function, jump, branch->targets[0].edge, branch->executed);
        return;
    }
    for (size_t i = 0; branch && i < branch->target_count; i++)
        write_jump(callgrind, function, jump, branch->targets[i].edge, 0);
    if (branch)
        return;
    const struct block *block = &function->blocks[jump->block];
    for (uint32_t i = 0; i < block->edge_count; i++) {
        const struct flow_edge *edge = &function->edges[block->first_edge + i];
        if (edge->kind == QUIPU_EDGE_JUMP || edge->kind == QUIPU_EDGE_INDIRECT)
            write_jump(callgrind, function, jump, edge, 0);
    }
}

static void write_instructions(struct callgrind *callgrind, const struct function *function,
                               const struct function_branches *branches) {
    size_t next = 0; /* index of the next branch */
    for (size_t i = 0; i < function->instruction_count; i++) {
        const struct instruction *instruction = &function->instructions[i];
        const struct block *block = &function->blocks[instruction->block];
        const struct line_branch *branch = NULL;
        if (next < branches->count && branches->data[next].instruction == i)
            branch = &branches->data[next++];
        if (!instruction->count)
            continue;
        callgrind_enter_file(callgrind, instruction->file, function->file);
        if (callgrind->lines_only && instruction->file != function->file)
            callgrind_position(callgrind, 0, 0);
        else
            write_position(callgrind, instruction);
        fprintf(callgrind->out, " %" PRIu64 "\n", instruction->count);
        if (i + 1 == block->first_instruction + block->instruction_count && !callgrind->lines_only)
            write_jumps(callgrind, function, instruction, branch);
    }
}

static void write_function(struct callgrind *callgrind, const struct function *function) {
    struct arena arena = {0};
    struct function_branches branches = find_branches(&arena, function);
    fputc('\n', callgrind->out);
    callgrind_file(callgrind, "fl", function->file);
    callgrind->file = function->file;
    callgrind_function(callgrind, "fn", function->module, function->address, function->demangled);
    write_instructions(callgrind, function, &branches);
    callgrind_calls_of(callgrind, function);
    arena_release(&arena);
}

static void write_head(const struct callgrind *callgrind, const char *version, uint64_t executed) {
    const struct profile *profile = callgrind->profile;
    FILE *out = callgrind->out;
    const struct process *first = profile->processes.count ? profile->processes.data : NULL;
    fprintf(out, "# callgrind format\nversion: 1\ncreator: quipu %s\n", version);
    if (profile->processes.count == 1 && first->pid)
        fprintf(out, "pid: %" PRIu32 "\n", first->pid);
    fputs("cmd: ", out);
    write_name(out, first ? first->command : "");
    fprintf(out, "part: 1\n\ndesc: Counts: exact, by quipu%s\n",
            callgrind->calls ? "" : "; no inclusive costs");
    if (first && first->merged) /* their number is not recorded */
        fputs("desc: Processes: merged\n", out);
    else
        fprintf(out, "desc: Processes: %zu\n", profile->processes.count);
    fprintf(out, "\npositions: %sline\nevent: Ir : Instruction Fetch\nevents: Ir\n",
            callgrind->lines_only ? "" : "instr ");
    fprintf(out, "summary: %" PRIu64 "\n", executed);
}

static void write_modules(struct callgrind *callgrind) {
    const struct profile *profile = callgrind->profile;
    for (size_t m = 0; m < profile->modules.count; m++) {
        const struct module *module = profile->modules.data[m];
        fputc('\n', callgrind->out);
        callgrind_module(callgrind, "ob", module);
        for (size_t f = 0; f < module->functions.count; f++)
            if (module->functions.data[f].executed)
                write_function(callgrind, &module->functions.data[f]);
        callgrind_write_uncounted(callgrind, module);
    }
    if (callgrind->calls) {
        fputc('\n', callgrind->out);
        callgrind_module(callgrind, "ob", NULL);
        callgrind_write_uncounted(callgrind, NULL);
    }
}

void export_callgrind(const struct export_input *input, FILE *out) {
    const struct profile *profile = input->profile;
    struct arena arena = {0};
    struct callgrind callgrind = {
        .out = out, .arena = &arena, .profile = profile, .lines_only = input->lines_only};
    if (input->contexts)
        callgrind.calls = callgrind_find_calls(&arena, input->contexts);
    callgrind.file_ids = ARENA_ARRAY(&arena, uint32_t, profile->files.count + 1);
    callgrind.modules_written = ARENA_ARRAY(&arena, bool, profile->modules.count + 1);
    uint64_t executed = profile->executed + callgrind_uncounted(&callgrind);
    write_head(&callgrind, input->version, executed);
    write_modules(&callgrind);
    fprintf(out, "\ntotals: %" PRIu64 "\n", executed);
    arena_release(&arena);
}
