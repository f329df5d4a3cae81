/* patterns.c: errors for patterns of functions, files and modules; see patterns.h. */
#include "report/patterns.h"

#include "symbols/binary.h"
#include "symbols/demangle.h"
#include "util/diag.h"
#include "util/near.h"
#include "util/path.h"

#include <string.h>

/* ---- functions ---- */

/* Whether only symbols of the module's functions are known, because it records only calls. */
static bool has_symbols_only(const struct module *module) {
    return !module->functions.count && module->binary;
}

static bool any_function(const struct profile *profile, const char *pattern) {
    for (size_t i = 0; i < profile->modules.count; i++) {
        const struct module *module = profile->modules.data[i];
        for (size_t j = 0; j < module->functions.count; j++)
            if (matches_name(pattern, module->functions.data[j].name) ||
                matches_name(pattern, module->functions.data[j].demangled))
                return true;
        for (size_t j = 0; has_symbols_only(module) && j < module->binary->symbols.count; j++)
            if (matches_name(pattern, module->binary->symbols.data[j].name))
                return true;
    }
    return false;
}

/* Returns "take" for "store::pool<a::b>::take". */
static const char *innermost(const char *name) {
    const char *last = name;
    size_t depth = 0;
    for (; *name; name++) {
        depth += *name == '<';
        depth -= depth && *name == '>';
        if (!depth && strncmp(name, "::", 2) == 0)
            last = name + 2;
    }
    return last;
}

/* Offers a whole C++ name, "store::pool<int>::take(int)". The user may have omitted the parameters,
 * or the classes and namespaces in front. */
static void offer_function(struct arena *arena, struct near_names *near_names,
                           const struct function *function) {
    offer_name(near_names, function->demangled);
    if (strcmp(function->name, function->demangled) == 0)
        return;
    const char *plain = plain_name(arena, function->name);
    offer_name_as(near_names, plain, function->demangled);
    offer_name_as(near_names, innermost(plain), function->demangled);
}

static _Noreturn void refuse_function(const struct profile *profile, const char *pattern) {
    struct arena arena = {0};
    struct near_names near_names = {.wanted = pattern};
    for (size_t i = 0; i < profile->modules.count; i++) {
        const struct module *module = profile->modules.data[i];
        for (size_t j = 0; j < module->functions.count; j++)
            offer_function(&arena, &near_names, &module->functions.data[j]);
        for (size_t j = 0; has_symbols_only(module) && j < module->binary->symbols.count; j++)
            offer_name(&near_names, module->binary->symbols.data[j].name);
    }
    die_near(&near_names, "'--function=%s': no function has such a name; 'quipu report' lists them",
             pattern);
}

/* ---- files and modules ---- */

/* Returns the end of PATH that has as many slashes as LIKE. */
static const char *similar_end(const char *path, const char *like) {
    const char *end = path + strlen(path);
    size_t slashes = 0;
    for (; *like; like++)
        slashes += *like == '/';
    for (; end > path; end--)
        if (end[-1] == '/' && slashes-- == 0)
            break;
    return end;
}

static void offer_path(struct near_names *near_names, const char *path, const char *pattern) {
    offer_name_as(near_names, last_part(path), similar_end(path, pattern));
}

void refuse_file(const struct profile *profile, const char *subject, const char *pattern) {
    struct near_names near_names = {.wanted = last_part(pattern)};
    for (size_t i = 1; i < profile->files.count; i++)
        offer_path(&near_names, profile->files.data[i], pattern);
    die_near(&near_names,
             "'%s': nothing is of such a file; 'quipu report --by=file' lists the files", subject);
}

static bool any_file(const struct profile *profile, const char *pattern) {
    for (size_t i = 1; i < profile->files.count; i++)
        if (matches(pattern, profile->files.data[i]))
            return true;
    return false;
}

static bool any_module(const struct profile *profile, const char *pattern) {
    for (size_t i = 0; i < profile->modules.count; i++)
        if (matches(pattern, profile->modules.data[i]->path))
            return true;
    return false;
}

static _Noreturn void refuse_module(const struct profile *profile, const char *pattern) {
    struct near_names near_names = {.wanted = last_part(pattern)};
    for (size_t i = 0; i < profile->modules.count; i++)
        offer_path(&near_names, profile->modules.data[i]->path, pattern);
    die_near(&near_names, "'--module=%s': no such module; 'quipu report --by=module' lists them",
             pattern);
}

/* ---- all of them ---- */

void need_matches(const struct profile *profile, struct view_filter filter) {
    struct arena arena = {0};
    for (size_t i = 0; i < filter.modules.count; i++)
        if (!any_module(profile, filter.modules.data[i]))
            refuse_module(profile, filter.modules.data[i]);
    for (size_t i = 0; i < filter.files.count; i++) {
        const char *pattern = filter.files.data[i];
        if (!any_file(profile, pattern))
            refuse_file(profile, arena_print(&arena, "--file=%s", pattern), pattern);
    }
    for (size_t i = 0; i < filter.functions.count; i++)
        if (!any_function(profile, filter.functions.data[i]))
            refuse_function(profile, filter.functions.data[i]);
}

void refuse_filter(const struct profile *profile, struct view_filter filter) {
    need_matches(profile, filter);
    if (filter.files.count && !filter.functions.count && !filter.modules.count)
        die("'--file=%s': no function begins in it; 'quipu report --by=line --file=%s' tells of "
            "its lines",
            filter.files.data[0], filter.files.data[0]);
    die(NOTHING_TOGETHER);
}
