/* export_lcov.c: writes lcov's .info, for genhtml and lcov.
 *
 * Source: geninfo(1), "FILES". Every lcov reads this form. Sample:
 *
 *     TN:
 *     SF:/home/user/max.c
 *     FN:12,main
 *     FNDA:1,main
 *     FNF:1
 *     FNH:1
 *     BRDA:13,0,0,999
 *     BRDA:13,0,1,1
 *     BRF:2
 *     BRH:2
 *     DA:12,1
 *     DA:13,1000
 *     LF:2
 *     LH:2
 *     end_of_record
 *
 * line_counts.h defines the counts of lines, and branches. A branch block is one jump, in the order
 * of the line's code. Branch 0 of a conditional jump is "taken", and 1 is "not taken". A jump that
 * was never executed has "-".
 *
 * Not perfect: functions that only exist inlined have no FN, but their lines are written. */
#include "report/export.h"
#include "report/line_counts.h"
#include "report/source_functions.h"
#include "report/source_paths.h"

#include <inttypes.h>

static void write_functions(const struct source_functions *functions, uint32_t file, FILE *out) {
    const struct source_function *end;
    const struct source_function *first = functions_of_file(functions, file, &end);
    size_t found = 0, hit = 0;
    for (const struct source_function *function = first; function < end; function++)
        if (function->line)
            fprintf(out, "FN:%" PRIu32 ",%s\n", function->line, function->name);
    for (const struct source_function *function = first; function < end; function++) {
        if (!function->line)
            continue;
        fprintf(out, "FNDA:%" PRIu64 ",%s\n", function->calls, function->name);
        found++;
        hit += function->calls > 0;
    }
    fprintf(out, "FNF:%zu\nFNH:%zu\n", found, hit);
}

static void write_branches(const struct file_lines *lines, FILE *out) {
    size_t found = 0, hit = 0;
    for (size_t i = 0; i < lines->line_count; i++) {
        const struct line_count *line = &lines->lines[i];
        for (size_t b = 0; b < line->branch_count; b++) {
            const struct line_branch *branch = &line->branches[b];
            for (size_t t = 0; t < branch->target_count; t++) {
                uint64_t taken = branch->targets[t].count;
                fprintf(out, "BRDA:%" PRIu32 ",%zu,%zu,", line->line, b, t);
                if (branch->executed)
                    fprintf(out, "%" PRIu64 "\n", taken);
                else
                    fputs("-\n", out);
                found++;
                hit += taken > 0;
            }
        }
    }
    fprintf(out, "BRF:%zu\nBRH:%zu\n", found, hit);
}

static void write_lines(const struct file_lines *lines, FILE *out) {
    size_t hit = 0;
    for (size_t i = 0; i < lines->line_count; i++) {
        const struct line_count *line = &lines->lines[i];
        fprintf(out, "DA:%" PRIu32 ",%" PRIu64 "\n", line->line, line->executions);
        hit += line->executions > 0;
    }
    fprintf(out, "LF:%zu\nLH:%zu\n", lines->line_count, hit);
}

void export_lcov(const struct export_input *input, FILE *out) {
    struct arena arena = {0};
    const struct line_counts *counts = count_covered_lines(&arena, input->profile);
    struct source_functions functions = find_source_functions(&arena, input->profile);
    const char **files = source_files(&arena, input->profile, input->source_root);
    fputs("TN:\n", out);
    for (size_t i = 0; i < counts->file_count; i++) {
        const struct file_lines *lines = &counts->files[i];
        if (!files[lines->file])
            continue;
        fprintf(out, "SF:%s\n", files[lines->file]);
        write_functions(&functions, lines->file, out);
        write_branches(lines, out);
        write_lines(lines, out);
        fputs("end_of_record\n", out);
    }
    arena_release(&arena);
}
