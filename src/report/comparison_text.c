/* comparison_text.c: writes comparisons as text, in a table that fits the terminal:
 *
 *     before  after  delta   percent  calls before  calls after  function
 *      10000  12500  +2500   +25.00%           100          125  scan (src/scan.c:12)
 *          -    900   +900       new             -            3  grow (src/table.c:40)
 *      10000  13400  +3400   +34.00%           100          128  total
 *
 * For calls, the last column is "look_up from scan (src/scan.c:13)". */
#include "report/comparison_output.h"
#include "report/style.h"
#include "report/table.h"
#include "report/view.h"

#include <inttypes.h>
#include <math.h>

enum comparison_column {
    COLUMN_BEFORE,
    COLUMN_AFTER,
    COLUMN_DELTA,
    COLUMN_PERCENT,
    COLUMN_CALLS_BEFORE,
    COLUMN_CALLS_AFTER,
    COLUMN_NAME,
    COLUMNS
};

static const uint8_t text_columns[COLUMNS] = {
    COLUMN_BEFORE,       COLUMN_AFTER,       COLUMN_DELTA, COLUMN_PERCENT,
    COLUMN_CALLS_BEFORE, COLUMN_CALLS_AFTER, COLUMN_NAME};

/* Returns a count, or "-" if the side does not have the row. */
static struct cell count_cell(const struct comparison_style *style, uint64_t count, bool present) {
    char text[NUMBER_MAX];
    print_number(text, count, style->human);
    return cell_text(present ? arena_print(style->arena, "%s", text) : "-");
}

static struct cell delta_cell(const struct comparison_style *style, const uint64_t counts[SIDES]) {
    char text[NUMBER_MAX];
    bool grew = counts[AFTER] >= counts[BEFORE];
    print_number(text, grew ? counts[AFTER] - counts[BEFORE] : counts[BEFORE] - counts[AFTER],
                 style->human);
    return cell_text(arena_print(style->arena, "%c%s", grew ? '+' : '-', text));
}

static struct cell percent_cell(const struct comparison_style *style,
                                const struct compared_row *row) {
    double percent = delta_percent(row->instructions);
    if (!row->present[BEFORE] || !row->present[AFTER])
        return cell_text(comparison_status(row));
    if (isinf(percent))
        return cell_text("from 0");
    return cell_text(arena_print(style->arena, "%+.2f%%", percent));
}

static struct cell name_cell(const struct comparison_style *style, const struct compared_row *row) {
    struct arena *arena = style->arena;
    const char *name = styled_name(arena, style->names, row->name, row->demangled);
    if (*row->callee_demangled)
        name =
            arena_print(arena, "%s from %s",
                        styled_name(arena, style->names, row->callee, row->callee_demangled), name);
    if (*row->file)
        name = arena_print(arena, "%s (%s:%" PRIu32 ")", name, short_path(arena, row->file),
                           row->line);
    return cell_text(name);
}

static void add_row(struct table *table, const struct compared_row *row,
                    const struct comparison_style *style) {
    struct row *added = table_add(table);
    added->share = row->instructions[AFTER] > row->instructions[BEFORE]; /* for colour */
    added->executed = true;
    added->cells[COLUMN_BEFORE] =
        count_cell(style, row->instructions[BEFORE], row->present[BEFORE]);
    added->cells[COLUMN_AFTER] = count_cell(style, row->instructions[AFTER], row->present[AFTER]);
    added->cells[COLUMN_DELTA] = delta_cell(style, row->instructions);
    added->cells[COLUMN_PERCENT] = percent_cell(style, row);
    added->cells[COLUMN_CALLS_BEFORE] = count_cell(style, row->calls[BEFORE], row->present[BEFORE]);
    added->cells[COLUMN_CALLS_AFTER] = count_cell(style, row->calls[AFTER], row->present[AFTER]);
    added->cells[COLUMN_NAME] = name_cell(style, row);
}

static void add_total(struct table *table, const struct comparison *comparison,
                      const struct comparison_style *style) {
    struct compared_row total = {
        .name = "", .demangled = "total", .callee_demangled = "", .file = ""};
    for (int i = 0; i < SIDES; i++) {
        total.present[i] = true;
        total.instructions[i] = comparison->instructions[i];
        total.calls[i] = comparison->calls[i];
    }
    add_row(table, &total, style);
}

void write_comparison_text(const struct comparison *comparison, size_t count,
                           const struct comparison_style *style) {
    const struct column columns[COLUMNS] = {
        [COLUMN_BEFORE] = {"before", "before", CELL_FIGURE, true, NULL},
        [COLUMN_AFTER] = {"after", "after", CELL_FIGURE, true, NULL},
        [COLUMN_DELTA] = {"delta", "delta", CELL_FIGURE, true, NULL},
        [COLUMN_PERCENT] = {"percent", "percent", CELL_FIGURE, true, NULL},
        [COLUMN_CALLS_BEFORE] = {"calls_before", "calls before", CELL_FIGURE, true, NULL},
        [COLUMN_CALLS_AFTER] = {"calls_after", "calls after", CELL_FIGURE, true, NULL},
        [COLUMN_NAME] = {"name", style->headline, CELL_TEXT, true, NULL},
    };
    const struct table_shape shape = {.name = style->by,
                                      .columns = columns,
                                      .column_count = COLUMNS,
                                      .text = text_columns,
                                      .text_count = COLUMNS};
    struct table table = {.arena = style->arena, .shape = &shape};
    for (size_t i = 0; i < count; i++)
        add_row(&table, &comparison->rows[i], style);
    add_total(&table, comparison, style);
    table_write(&table, &table_text,
                &(const struct table_style){
                    .out = style->out, .color = style->color, .width = style->width},
                0);
    size_t changed = comparison->count - comparison->unchanged;
    if (count < changed)
        fprintf(style->out, "%zu more that changed are not shown\n", changed - count);
    if (comparison->unchanged)
        fprintf(style->out, "%zu %s did not change\n", comparison->unchanged, style->unit);
}
