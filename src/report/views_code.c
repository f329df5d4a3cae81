/* views_code.c: views by function, block and instruction. */
#include "report/view.h"

#include "symbols/demangle.h"

#include <string.h>

/* Calls SHOW for every function that the filter shows. */
static void visit_functions(struct view_input *input,
                            void (*show)(struct view_input *input,
                                         const struct function *function)) {
    for (size_t i = 0; i < input->profile->modules.count; i++) {
        const struct module *module = input->profile->modules.data[i];
        for (size_t j = 0; j < module->functions.count; j++)
            if (shows_function(input, &module->functions.data[j]))
                show(input, &module->functions.data[j]);
    }
}

static const char *shown_name(const struct view_input *input, const struct function *function) {
    return styled_name(input->arena, input->names, function->name, function->demangled);
}

static const char *file_name(const struct view_input *input, uint32_t file) {
    return input->profile->files.data[file];
}

/* ---- functions ---- */

enum function_column {
    FUNCTION_NAME,
    FUNCTION_FILE,
    FUNCTION_LINE,
    FUNCTION_CALLS,
    FUNCTION_INSTRUCTIONS,
    FUNCTION_STATIC,
    FUNCTION_NEVER,
    FUNCTION_DEMANGLED,
    FUNCTION_SHARE,
    FUNCTION_TITLE,
};

static const struct column function_columns[] = {
    [FUNCTION_NAME] = {"name", "symbol", CELL_TEXT, false, NULL},
    [FUNCTION_FILE] = {"file", "file", CELL_TEXT, false, NULL},
    [FUNCTION_LINE] = {"line", "line", CELL_COUNT, false, NULL},
    [FUNCTION_CALLS] = {"calls", "calls", CELL_COUNT, false, "calls"},
    [FUNCTION_INSTRUCTIONS] = {"instructions", "instructions", CELL_COUNT, false, "instructions"},
    [FUNCTION_STATIC] = {"static_instructions", "in function", CELL_COUNT, false,
                         "static_instructions"},
    [FUNCTION_NEVER] = {"never_executed_instructions", "never run", CELL_COUNT, false,
                        "never_executed_instructions"},
    [FUNCTION_DEMANGLED] = {"demangled", "demangled", CELL_TEXT, false, NULL},
    [FUNCTION_SHARE] = {"percent", "%", CELL_SHARE, true, NULL},
    [FUNCTION_TITLE] = {"function", "function", CELL_TEXT, true, NULL},
};

static void show_function(struct view_input *input, const struct function *function) {
    struct row *row = table_add(input->table);
    const char *name = shown_name(input, function);
    const char *place = location_text(input->arena, input->profile, function->file, function->line);
    row->share = share_of_all(input, function->executed);
    row->executed = function->executed;
    row->cells[FUNCTION_NAME] = cell_text(function->name);
    row->cells[FUNCTION_FILE] = cell_text(file_name(input, function->file));
    row->cells[FUNCTION_LINE] = cell_known(function->line, function->line);
    row->cells[FUNCTION_CALLS] = cell_count(function->calls);
    row->cells[FUNCTION_INSTRUCTIONS] = cell_count(function->executed);
    row->cells[FUNCTION_STATIC] = cell_count(function->instruction_count);
    row->cells[FUNCTION_NEVER] = cell_count(function->never_executed);
    row->cells[FUNCTION_DEMANGLED] = cell_text(function->demangled);
    row->cells[FUNCTION_SHARE] = cell_share(row->share);
    row->cells[FUNCTION_TITLE] = cell_text(arena_print(
        input->arena, "%s%s%s%s%s", name, ran_inlined(&input->inlined, function) ? ", inlined" : "",
        *place ? " (" : "", place, *place ? ")" : ""));
}

static void collect_functions(struct view_input *input) {
    input->inlined = find_inlined_lines(input->arena, input->profile);
    visit_functions(input, show_function);
}

static const uint8_t function_text[] = {FUNCTION_INSTRUCTIONS, FUNCTION_SHARE, FUNCTION_CALLS,
                                        FUNCTION_STATIC,       FUNCTION_NEVER, FUNCTION_TITLE};

const struct view view_function = {
    .name = "function",
    .help = "instructions executed, calls, instructions in it, never executed",
    .shape =
        &(const struct table_shape){
            .name = "functions",
            .columns = function_columns,
            .column_count = sizeof function_columns / sizeof *function_columns,
            .text = function_text,
            .text_count = sizeof function_text,
            .sort = "instructions",
        },
    .of_code = true,
    .collect = collect_functions,
};

/* ---- blocks ---- */

enum block_column {
    BLOCK_FUNCTION,
    BLOCK_INDEX,
    BLOCK_FRAGMENT,
    BLOCK_OFFSET,
    BLOCK_ADDRESS,
    BLOCK_FILE,
    BLOCK_LINE,
    BLOCK_MODULE,
    BLOCK_COUNT,
    BLOCK_INSTRUCTIONS,
    BLOCK_STATIC,
    BLOCK_DEMANGLED,
    BLOCK_SHARE,
    BLOCK_PLACE,
    BLOCK_LOCATION,
};

static const struct column block_columns[] = {
    [BLOCK_FUNCTION] = {"function", "symbol", CELL_TEXT, false, NULL},
    [BLOCK_INDEX] = {"index", "index", CELL_COUNT, false, NULL},
    [BLOCK_FRAGMENT] = {"fragment", "fragment", CELL_TEXT, false, NULL},
    [BLOCK_OFFSET] = {"offset", "offset", CELL_COUNT, false, NULL},
    [BLOCK_ADDRESS] = {"address", "address", CELL_ADDRESS, false, NULL},
    [BLOCK_FILE] = {"file", "file", CELL_TEXT, false, NULL},
    [BLOCK_LINE] = {"line", "line", CELL_COUNT, false, NULL},
    [BLOCK_MODULE] = {"module", "module", CELL_TEXT, false, NULL},
    [BLOCK_COUNT] = {"count", "count", CELL_COUNT, false, NULL},
    [BLOCK_INSTRUCTIONS] = {"instructions", "instructions", CELL_COUNT, false, "instructions"},
    [BLOCK_STATIC] = {"static_instructions", "in block", CELL_COUNT, false, "static_instructions"},
    [BLOCK_DEMANGLED] = {"demangled", "demangled", CELL_TEXT, false, NULL},
    [BLOCK_SHARE] = {"percent", "%", CELL_SHARE, true, NULL},
    [BLOCK_PLACE] = {"place", "block", CELL_TEXT, true, NULL},
    [BLOCK_LOCATION] = {"location", "line", CELL_TEXT, true, NULL},
};

/* Returns the fragment's name, or an empty cell for the function itself. */
static struct cell fragment_cell(const struct function *function,
                                 const struct instruction *instruction) {
    return cell_text(instruction->fragment ? fragment_name(function, instruction->fragment) : NULL);
}

/* Returns "main+0x1f", for example. */
static struct cell place_cell(const struct view_input *input, const struct function *function,
                              const struct instruction *instruction) {
    const char *name = shown_name(input, function);
    if (instruction->fragment) {
        const char *symbol = fragment_name(function, instruction->fragment);
        name = styled_name(input->arena, input->names, symbol, demangle(input->arena, symbol));
    }
    return cell_text(arena_print(input->arena, "%s+0x%x", name, instruction->offset));
}

static void show_block(struct view_input *input, const struct function *function,
                       const struct block *block) {
    const struct instruction *first = &function->instructions[block->first_instruction];
    uint64_t executed = (uint64_t)block->count * (block->instruction_count - block->jumped_over);
    struct row *row = table_add(input->table);
    row->share = share_of_all(input, executed);
    row->executed = block->count;
    row->cells[BLOCK_FUNCTION] = cell_text(function->name);
    row->cells[BLOCK_INDEX] = cell_count((uint64_t)(block - function->blocks));
    row->cells[BLOCK_FRAGMENT] = fragment_cell(function, first);
    row->cells[BLOCK_OFFSET] = cell_count(first->offset);
    row->cells[BLOCK_ADDRESS] = cell_known(first->address, first->address);
    row->cells[BLOCK_FILE] = cell_text(file_name(input, first->file));
    row->cells[BLOCK_MODULE] = cell_text(function->module->path);
    row->cells[BLOCK_LINE] = cell_known(first->line, first->line);
    row->cells[BLOCK_COUNT] = cell_count((uint64_t)block->count);
    row->cells[BLOCK_INSTRUCTIONS] = cell_count(executed);
    row->cells[BLOCK_STATIC] = cell_count(block->instruction_count);
    row->cells[BLOCK_DEMANGLED] = cell_text(function->demangled);
    row->cells[BLOCK_SHARE] = cell_share(row->share);
    row->cells[BLOCK_PLACE] = place_cell(input, function, first);
    row->cells[BLOCK_LOCATION] =
        cell_text(location_text(input->arena, input->profile, first->file, first->line));
}

static void show_blocks(struct view_input *input, const struct function *function) {
    for (size_t i = 0; i < function->block_count; i++)
        if (function->blocks[i].instruction_count)
            show_block(input, function, &function->blocks[i]);
}

static void collect_blocks(struct view_input *input) {
    visit_functions(input, show_blocks);
}

static const uint8_t block_text[] = {BLOCK_COUNT,  BLOCK_INSTRUCTIONS, BLOCK_SHARE,
                                     BLOCK_STATIC, BLOCK_PLACE,        BLOCK_LOCATION};

const struct view view_block = {
    .name = "block",
    .help = "how often each basic block ran",
    .shape =
        &(const struct table_shape){
            .name = "blocks",
            .columns = block_columns,
            .column_count = sizeof block_columns / sizeof *block_columns,
            .text = block_text,
            .text_count = sizeof block_text,
        },
    .of_code = true,
    .collect = collect_blocks,
};

/* ---- instructions ---- */

enum instruction_column {
    INSTRUCTION_FUNCTION,
    INSTRUCTION_INDEX,
    INSTRUCTION_FRAGMENT,
    INSTRUCTION_OFFSET,
    INSTRUCTION_TEXT,
    INSTRUCTION_COUNT,
    INSTRUCTION_ADDRESS,
    INSTRUCTION_FILE,
    INSTRUCTION_LINE,
    INSTRUCTION_MODULE,
    INSTRUCTION_DEMANGLED,
    INSTRUCTION_PLACE,
    INSTRUCTION_LOCATION,
    INSTRUCTION_STYLED,
};

static const struct column instruction_columns[] = {
    [INSTRUCTION_FUNCTION] = {"function", "symbol", CELL_TEXT, false, NULL},
    [INSTRUCTION_INDEX] = {"index", "index", CELL_COUNT, false, NULL},
    [INSTRUCTION_FRAGMENT] = {"fragment", "fragment", CELL_TEXT, false, NULL},
    [INSTRUCTION_OFFSET] = {"offset", "offset", CELL_COUNT, false, NULL},
    [INSTRUCTION_TEXT] = {"text", "instruction", CELL_TEXT, false, NULL},
    [INSTRUCTION_COUNT] = {"count", "count", CELL_COUNT, false, "instructions"},
    [INSTRUCTION_ADDRESS] = {"address", "address", CELL_ADDRESS, false, NULL},
    [INSTRUCTION_FILE] = {"file", "file", CELL_TEXT, false, NULL},
    [INSTRUCTION_LINE] = {"line", "line", CELL_COUNT, false, NULL},
    [INSTRUCTION_MODULE] = {"module", "module", CELL_TEXT, false, NULL},
    [INSTRUCTION_DEMANGLED] = {"demangled", "demangled", CELL_TEXT, false, NULL},
    [INSTRUCTION_PLACE] = {"place", "place", CELL_TEXT, true, NULL},
    [INSTRUCTION_LOCATION] = {"location", "line", CELL_TEXT, true, NULL},
    [INSTRUCTION_STYLED] = {"styled", "instruction", CELL_TEXT, true, NULL},
};

static void show_instruction(struct view_input *input, const struct function *function,
                             const struct instruction *instruction) {
    char text[INSTRUCTION_TEXT_MAX];
    instruction_text(function, instruction, text, sizeof text);
    struct row *row = table_add(input->table);
    row->share = share_of_all(input, instruction->count);
    row->executed = instruction->count;
    row->cells[INSTRUCTION_FUNCTION] = cell_text(function->name);
    row->cells[INSTRUCTION_INDEX] = cell_count((uint64_t)(instruction - function->instructions));
    row->cells[INSTRUCTION_FRAGMENT] = fragment_cell(function, instruction);
    row->cells[INSTRUCTION_OFFSET] = cell_count(instruction->offset);
    row->cells[INSTRUCTION_TEXT] = cell_text(arena_copy(input->arena, text, strlen(text)));
    row->cells[INSTRUCTION_STYLED] =
        cell_text(styled_symbols(input->arena, input->names, row->cells[INSTRUCTION_TEXT].text));
    row->cells[INSTRUCTION_COUNT] = cell_count(instruction->count);
    row->cells[INSTRUCTION_ADDRESS] = cell_known(instruction->address, instruction->address);
    row->cells[INSTRUCTION_FILE] = cell_text(file_name(input, instruction->file));
    row->cells[INSTRUCTION_MODULE] = cell_text(function->module->path);
    row->cells[INSTRUCTION_LINE] = cell_known(instruction->line, instruction->line);
    row->cells[INSTRUCTION_DEMANGLED] = cell_text(function->demangled);
    row->cells[INSTRUCTION_PLACE] = place_cell(input, function, instruction);
    row->cells[INSTRUCTION_LOCATION] = cell_text(
        location_text(input->arena, input->profile, instruction->file, instruction->line));
}

static void show_instructions(struct view_input *input, const struct function *function) {
    for (size_t i = 0; i < function->instruction_count; i++)
        show_instruction(input, function, &function->instructions[i]);
}

static void collect_instructions(struct view_input *input) {
    visit_functions(input, show_instructions);
}

static const uint8_t instruction_columns_text[] = {INSTRUCTION_COUNT, INSTRUCTION_PLACE,
                                                   INSTRUCTION_STYLED, INSTRUCTION_LOCATION};

const struct view view_instruction = {
    .name = "instruction",
    .help = "how often each instruction ran",
    .shape =
        &(const struct table_shape){
            .name = "instructions",
            .columns = instruction_columns,
            .column_count = sizeof instruction_columns / sizeof *instruction_columns,
            .text = instruction_columns_text,
            .text_count = sizeof instruction_columns_text,
        },
    .of_code = true,
    .collect = collect_instructions,
};
