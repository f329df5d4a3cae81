/* options.c: what quipu cc tells quipu as; see options.h. */
#include "cmd/options.h"

#include <stdio.h>
#include <string.h>

static const char *const mode_names[] = {[MODE_COUNT] = "count", [MODE_NONE] = "none"};
static const char *const placement_names[] = {
    [PLACEMENT_TREE] = "tree", [PLACEMENT_BLOCK] = "block"};

struct shim_options default_options(void) {
    return (struct shim_options){.mode = MODE_COUNT, .placement = PLACEMENT_TREE};
}

/* The position of NAME in NAMES, or -1. */
static int find_name(const char *const *names, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return (int)i;
    return -1;
}

bool set_mode(struct shim_options *options, const char *name) {
    int found = find_name(mode_names, sizeof mode_names / sizeof *mode_names, name);
    if (found >= 0)
        options->mode = (enum mode)found;
    return found >= 0;
}

bool set_placement(struct shim_options *options, const char *name) {
    int found = find_name(placement_names, sizeof placement_names / sizeof *placement_names, name);
    if (found >= 0)
        options->placement = (enum placement)found;
    return found >= 0;
}

void parse_options(struct shim_options *options, const char *text) {
    char field[128];
    while (*text) {
        if (strncmp(text, "profile=", 8) == 0) {
            options->profile = text + 8;
            return;
        }
        size_t length = strcspn(text, ":");
        snprintf(field, sizeof field, "%.*s", (int)length, text);
        text += length + (text[length] == ':');
        if (strncmp(field, "placement=", 10) == 0)
            set_placement(options, field + 10);
        else if (strcmp(field, "shared") == 0)
            options->shared = true;
        else if (strcmp(field, "dump") == 0)
            options->dump = true;
        else
            set_mode(options, field);
    }
}

void print_options(const struct shim_options *options, const char *version, char *text,
                   size_t size) {
    snprintf(text, size, "%s:placement=%s%s%s:%s%s%s", mode_names[options->mode],
             placement_names[options->placement], options->shared ? ":shared" : "",
             options->dump ? ":dump" : "", version, options->profile ? ":profile=" : "",
             options->profile ? options->profile : "");
}
