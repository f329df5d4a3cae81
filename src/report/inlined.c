/* inlined.c: functions that ran only as parts of others; see inlined.h.
 *
 * A function ran inlined if one of its own lines, not a line that is inlined into it, ran as a part
 * of an inlined call elsewhere.
 *
 * Not perfect: two functions on one line are not told apart. */
#include "report/inlined.h"

static void note_lines(struct inlined_lines *lines, const struct function *function, bool is_set) {
    for (size_t i = 0; i < function->instruction_count; i++) {
        const struct instruction *instruction = &function->instructions[i];
        if (!instruction->count || !instruction->copy)
            continue;
        struct inlined_file *file = &lines->files[instruction->file];
        if (is_set)
            file->ran[instruction->line] = true;
        else if (instruction->line >= file->count)
            file->count = instruction->line + 1;
    }
}

static void note_all(struct inlined_lines *lines, const struct profile *profile, bool is_set) {
    for (size_t m = 0; m < profile->modules.count; m++) {
        const struct module *module = profile->modules.data[m];
        for (size_t f = 0; f < module->functions.count; f++)
            note_lines(lines, &module->functions.data[f], is_set);
    }
}

struct inlined_lines find_inlined_lines(struct arena *arena, const struct profile *profile) {
    struct inlined_lines lines = {ARENA_ARRAY(arena, struct inlined_file, profile->files.count)};
    note_all(&lines, profile, false);
    for (size_t i = 0; i < profile->files.count; i++)
        lines.files[i].ran = ARENA_ARRAY(arena, bool, lines.files[i].count);
    note_all(&lines, profile, true);
    return lines;
}

bool ran_inlined(const struct inlined_lines *lines, const struct function *function) {
    if (function->calls || function->executed)
        return false;
    for (size_t i = 0; i < function->instruction_count; i++) {
        const struct instruction *instruction = &function->instructions[i];
        const struct inlined_file *file = &lines->files[instruction->file];
        bool is_own = instruction->address && !instruction->copy; /* padding may have any line */
        if (is_own && instruction->line && instruction->line < file->count &&
            file->ran[instruction->line])
            return true;
    }
    return false;
}
