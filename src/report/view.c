/* view.c: what all views need; see view.h. */
#include "report/view.h"

#include "report/source_paths.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool matches(const char *pattern, const char *text) {
    if (strcmp(pattern, text) == 0 || fnmatch(pattern, text, 0) == 0)
        return true;
    for (const char *slash = text; (slash = strchr(slash, '/'));)
        if (fnmatch(pattern, ++slash, 0) == 0)
            return true;
    return false;
}

size_t module_number(const struct profile *profile, const struct module *module) {
    size_t number = 0;
    while (number < profile->modules.count && profile->modules.data[number] != module)
        number++;
    return number;
}

bool matches_name(const char *pattern, const char *name) {
    return strcmp(pattern, name) == 0 || fnmatch(pattern, name, 0) == 0;
}

bool matches_function(text_vector patterns, const char *name, const char *demangled) {
    for (size_t i = 0; i < patterns.count; i++)
        if (matches_name(patterns.data[i], name) || matches_name(patterns.data[i], demangled))
            return true;
    return !patterns.count;
}

static bool matches_path(text_vector patterns, const char *path) {
    for (size_t i = 0; i < patterns.count; i++)
        if (matches(patterns.data[i], path))
            return true;
    return !patterns.count;
}

/* Code without a source file is shown if files are not filtered. */
static bool matches_file(text_vector patterns, const struct profile *profile, uint32_t file) {
    return !patterns.count || (file && matches_path(patterns, profile->files.data[file]));
}

bool shows_module(const struct view_input *input, const struct module *module) {
    return matches_path(input->filter.modules, module->path);
}

bool shows_file(const struct view_input *input, uint32_t file) {
    return matches_file(input->filter.files, input->profile, file);
}

bool filter_shows(struct view_filter filter, const struct profile *profile,
                  const struct function *function) {
    return matches_path(filter.modules, function->module->path) &&
           matches_file(filter.files, profile, function->file) &&
           matches_function(filter.functions, function->name, function->demangled);
}

bool shows_function(const struct view_input *input, const struct function *function) {
    return filter_shows(input->filter, input->profile, function);
}

const struct profile *filter_profile(struct arena *arena, const struct profile *profile,
                                     struct view_filter filter) {
    struct profile *part = ARENA_NEW(arena, struct profile);
    *part = *profile;
    part->modules.data = NULL;
    part->modules.count = part->modules.capacity = 0;
    filter.files.count = 0;
    for (size_t i = 0; i < profile->modules.count; i++) {
        const struct module *whole = profile->modules.data[i];
        struct module *module = ARENA_NEW(arena, struct module);
        *module = *whole;
        module->functions.data = NULL;
        module->functions.count = module->functions.capacity = 0;
        for (size_t j = 0; j < whole->functions.count; j++)
            if (filter_shows(filter, profile, &whole->functions.data[j]))
                vector_push(arena, &module->functions, whole->functions.data[j]);
        vector_push(arena, &part->modules, module);
    }
    return part;
}

double share_of_all(const struct view_input *input, uint64_t executed) {
    return input->executed ? (double)executed / (double)input->executed : 0;
}

const char *short_path(struct arena *arena, const char *path) {
    static char *directory; /* found out only once */
    if (!directory)
        directory = getcwd(NULL, 0);
    const char *below = directory ? path_below(path, directory) : NULL;
    return below && *below ? arena_copy(arena, below, strlen(below)) : path;
}

const char *location_text(struct arena *arena, const struct profile *profile, uint32_t file,
                          uint32_t line) {
    if (!file)
        return "";
    const char *path = short_path(arena, profile->files.data[file]);
    return line ? arena_print(arena, "%s:%u", path, line) : path;
}
