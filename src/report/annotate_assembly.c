/* annotate_assembly.c: writes functions as assembly with counts, with source lines between:
 *
 *     sum (max.c:23): 11 calls, 154 instructions executed, 4 of 12 never
 *                   max.c:25  while (n > 0)
 *               11  +0x4        jle sum.cold                  taken 0, not taken 11
 *               11  +0x6        nop                           padding
 *
 * Offsets are those in the compiler's own code. Padding is what the assembler put before an aligned
 * label. */
#include "format/notes.h"
#include "report/annotate.h"

#include "report/line_counts.h"
#include "report/patterns.h"
#include "report/style.h"
#include "util/buffer.h"
#include "util/diag.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    COUNT_WIDTH = 16,
    TEXT_WIDTH = 44,
};

typedef VECTOR(const struct function *) function_list;

static int compare_executed(const void *left, const void *right) {
    const struct function *a = *(const struct function *const *)left;
    const struct function *b = *(const struct function *const *)right;
    if (a->executed != b->executed)
        return a->executed < b->executed ? 1 : -1;
    return a < b ? -1 : a > b;
}

static function_list find_functions(const struct annotation *annotation) {
    function_list list = {0};
    for (size_t i = 0; i < annotation->profile->modules.count; i++) {
        const struct module *module = annotation->profile->modules.data[i];
        for (size_t j = 0; j < module->functions.count; j++) {
            const struct function *function = &module->functions.data[j];
            if (filter_shows(annotation->filter, annotation->profile, function) &&
                annotates_file(annotation, function->file))
                vector_push(annotation->arena, &list, function);
        }
    }
    if (annotation->by_count && list.count)
        qsort(list.data, list.count, sizeof *list.data, compare_executed);
    return list;
}

static void write_heading(const struct annotation *annotation, const struct function *function) {
    char executed[NUMBER_MAX], calls[NUMBER_MAX];
    const char *place =
        location_text(annotation->arena, annotation->profile, function->file, function->line);
    print_number(executed, function->executed, annotation->human);
    print_number(calls, function->calls, annotation->human);
    fputs(style_start(annotation->color, STYLE_TITLE), annotation->out);
    write_safely(annotation->out, styled_name(annotation->arena, annotation->names, function->name,
                                              function->demangled));
    if (*place) {
        fputs(" (", annotation->out);
        write_safely(annotation->out, place);
        fputc(')', annotation->out);
    }
    fprintf(annotation->out, ": %s call%s, %s instructions executed, %zu of %zu never%s\n", calls,
            function->calls == 1 ? "" : "s", executed, function->never_executed,
            function->instruction_count, style_end(annotation->color, STYLE_TITLE));
}

static void write_source(struct annotation *annotation, const struct instruction *instruction) {
    const struct source_text *text = source_text(&annotation->sources, instruction->file);
    const char *line = source_line(text, instruction->line);
    fprintf(annotation->out, "%*s  %s", COUNT_WIDTH, "", style_start(annotation->color, STYLE_DIM));
    write_safely(annotation->out, location_text(annotation->arena, annotation->profile,
                                                instruction->file, instruction->line));
    fputs("  ", annotation->out);
    write_source_line(annotation->out, line ? line : "");
    fprintf(annotation->out, "%s\n", style_end(annotation->color, STYLE_DIM));
}

/* Returns how often the call at the end of BLOCK did not return to the next block. This is 0 in
 * most cases. */
static int64_t lost_calls(const struct function *function, const struct block *block) {
    int64_t lost = 0;
    for (size_t i = 0; i < block->edge_count; i++) {
        const struct flow_edge *edge = &function->edges[block->first_edge + i];
        if (edge->kind == QUIPU_EDGE_CALL_LOST)
            lost += edge->count;
    }
    return lost;
}

/* Prints the text behind an instruction: that it is padding or, for the last instruction of a
 * block, where control continued. */
static void print_ways(struct buffer *out, const struct function *function,
                       const struct instruction *instruction, const struct line_branch *branch) {
    const struct block *block = &function->blocks[instruction->block];
    if (block->padding) {
        buffer_text(out, "padding");
        return;
    }
    size_t last = block->first_instruction + block->instruction_count - 1;
    if ((size_t)(instruction - function->instructions) != last)
        return;
    int64_t lost = lost_calls(function, block);
    if (lost)
        buffer_print(out, "%" PRId64 " did not return", lost);
    for (size_t i = 0; branch && i < branch->target_count; i++) {
        const struct flow_edge *edge = branch->targets[i].edge;
        char where[INSTRUCTION_TEXT_MAX] = "taken";
        if (edge->kind == QUIPU_EDGE_NOT_TAKEN)
            snprintf(where, sizeof where, "not taken");
        else if (edge->kind == QUIPU_EDGE_INDIRECT && edge->target &&
                 edge->target <= function->block_count)
            instruction_place(
                function,
                &function->instructions[function->blocks[edge->target - 1].first_instruction],
                where, sizeof where);
        buffer_print(out, "%s%s %" PRIu64, i ? ", " : "", where, branch->targets[i].count);
    }
}

/* Writes TEXT, which may have symbols in it, in at least WIDTH columns. */
static void write_symbols(const struct annotation *annotation, const char *text, int width) {
    struct arena scratch = {0};
    const char *styled = styled_symbols(&scratch, annotation->names, text);
    write_safely(annotation->out, styled);
    fprintf(annotation->out, "%*s", width > (int)strlen(styled) ? width - (int)strlen(styled) : 0,
            "");
    arena_release(&scratch);
}

static void write_instruction(const struct annotation *annotation, const struct function *function,
                              const struct instruction *instruction,
                              const struct line_branch *branch) {
    char text[INSTRUCTION_TEXT_MAX], count[NUMBER_MAX];
    double share = annotation->profile->executed
                       ? (double)instruction->count / (double)annotation->profile->executed
                       : 0;
    enum style look = style_of_share(share);
    if (function->blocks[instruction->block].padding)
        look = STYLE_DIM;
    else if (!instruction->count)
        look = STYLE_NEVER;
    instruction_text(function, instruction, text, sizeof text);
    print_number(count, instruction->count, annotation->human);
    struct buffer ways = {0};
    print_ways(&ways, function, instruction, branch);
    fprintf(annotation->out, "%s%*s  +0x%-6" PRIx32 "  ", style_start(annotation->color, look),
            COUNT_WIDTH, count, instruction->offset);
    write_symbols(annotation, text, ways.count ? TEXT_WIDTH + 2 : 0);
    if (ways.count)
        write_symbols(annotation, ways.data, 0);
    fprintf(annotation->out, "%s\n", style_end(annotation->color, look));
    buffer_release(&ways);
}

static void write_fragment(const struct annotation *annotation, const char *name) {
    fprintf(annotation->out, "%*s  ", COUNT_WIDTH, "");
    write_symbols(annotation, name, 0);
    fputs(":\n", annotation->out);
}

static void write_function(struct annotation *annotation, const struct function *function) {
    struct arena scratch = {0};
    struct function_branches branches = find_branches(&scratch, function);
    size_t next = 0;
    write_heading(annotation, function);
    const struct instruction *before = NULL;
    for (size_t i = 0; i < function->instruction_count; i++) {
        const struct instruction *instruction = &function->instructions[i];
        if (instruction->fragment && (!before || before->fragment != instruction->fragment))
            write_fragment(annotation, fragment_name(function, instruction->fragment));
        if (instruction->file && instruction->line &&
            (!before || before->file != instruction->file || before->line != instruction->line))
            write_source(annotation, instruction);
        while (next < branches.count && branches.data[next].instruction < i)
            next++;
        bool branches_here = next < branches.count && branches.data[next].instruction == i;
        write_instruction(annotation, function, instruction,
                          branches_here ? &branches.data[next] : NULL);
        before = instruction;
    }
    arena_release(&scratch);
}

void annotate_assembly(struct annotation *annotation) {
    function_list functions = find_functions(annotation);
    if (!functions.count && is_narrow(annotation))
        die(NOTHING_TOGETHER);
    if (!functions.count && annotation->file_count)
        die("'%s': no function of it is instrumented; 'quipu report --by=file' lists the files",
            annotation->files[0]);
    if (!functions.count)
        die("no function is instrumented; 'quipu info' tells what was left alone, and why");
    for (size_t i = 0; i < functions.count; i++) {
        if (i)
            fputc('\n', annotation->out);
        write_function(annotation, functions.data[i]);
    }
}
