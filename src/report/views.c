/* views.c: the table of views; see view.h. */
#include "report/view.h"
#include "util/near.h"

static const struct view *const rows[] = {
    &view_function, &view_file,   &view_line,    &view_block,    &view_instruction,
    &view_module,   &view_thread, &view_process, &view_callsite,
};

const struct view *view_at(size_t i) {
    return i < sizeof rows / sizeof *rows ? rows[i] : NULL;
}

static const char *view_name_at(size_t i) {
    return view_at(i) ? view_at(i)->name : NULL;
}

const struct view *choose_view(const char *name) {
    return rows[choose_name("--by", "view", name, view_name_at)];
}
