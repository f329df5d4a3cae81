/* function_parts.c: functions that gcc has cut in parts; see function_parts.h.
 *
 * Not perfect: static functions of one name and line, in several units of a module, are told apart
 * by how near their code stands to that of the part. */
#include "report/function_parts.h"

#include <stdlib.h>
#include <string.h>

static const char mark[] = ".part.";

bool is_function_part(const struct function *function) {
    return strstr(function->name, mark) != NULL;
}

size_t whole_name_length(const char *name) {
    const char *end = strstr(name, mark);
    return end ? (size_t)(end - name) : strlen(name);
}

/* Whether FUNCTION is the one of the LENGTH bytes of NAME, or a clone of it (f.constprop.0). */
static bool has_whole_name(const struct function *function, const char *name, size_t length) {
    return strncmp(function->name, name, length) == 0 && !is_function_part(function) &&
           (!function->name[length] || function->name[length] == '.');
}

const struct function *whole_function(const struct function *function) {
    const struct function *functions = function->module->functions.data, *nearest = function;
    size_t length = whole_name_length(function->name);
    ptrdiff_t least = PTRDIFF_MAX;
    if (!function->name[length])
        return function;
    for (size_t i = 0; i < function->module->functions.count; i++) {
        const struct function *other = &functions[i];
        ptrdiff_t distance = labs(other - function);
        if (distance < least && other->file == function->file && other->line == function->line &&
            has_whole_name(other, function->name, length)) {
            nearest = other;
            least = distance;
        }
    }
    return nearest;
}
