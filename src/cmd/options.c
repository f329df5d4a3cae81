/* options.c: the options that quipu cc passes to the shim; see options.h. */
#include "cmd/options.h"

#include "pass/stages.h"
#include "util/buffer.h"
#include "util/near.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    unsigned modes;
} mode_names[] = {
    {"none", 0},           {"count", MODE_COUNT}, {"event", MODE_EVENT}, {"moment", MODE_MOMENT},
    {"calls", MODE_CALLS}, {"watch", MODE_WATCH}, {"trace", MODE_TRACE}, {"null", MODE_NULL}};

enum {
    MODE_NAMES = sizeof mode_names / sizeof *mode_names
};

static const char *const placement_names[] = {
    [PLACEMENT_TREE] = "tree", [PLACEMENT_BLOCK] = "block"};

struct shim_options default_options(void) {
    return (struct shim_options){.modes = MODE_COUNT, .placement = PLACEMENT_TREE};
}

static const char *refuse_mode(struct arena *arena, const char *name) {
    struct near_names near_names = {.wanted = name};
    for (size_t i = 0; i < MODE_NAMES; i++)
        offer_name(&near_names, mode_names[i].name);
    return arena_print(
        arena,
        "no such mode; there are 'count', 'event', 'moment', 'calls', 'watch', 'trace', "
        "several with commas between, and 'none' and 'null'%s",
        suggest(arena, &near_names));
}

/* Returns the first name of the list NAMES, in ARENA, and moves NAMES behind it. */
static const char *take_name(struct arena *arena, const char **names) {
    size_t length = strcspn(*names, ",+");
    const char *name = arena_copy(arena, *names, length);
    *names += length + ((*names)[length] != '\0');
    return name;
}

const char *set_modes(struct shim_options *options, const char *names) {
    unsigned modes = 0;
    while (*names) {
        const char *name = take_name(&options->arena, &names);
        size_t found = 0;
        while (found < MODE_NAMES && strcmp(mode_names[found].name, name) != 0)
            found++;
        if (found == MODE_NAMES)
            return refuse_mode(&options->arena, name);
        modes |= mode_names[found].modes;
    }
    options->modes = modes;
    return NULL;
}

static const char *refuse_stage(struct arena *arena, const char *name) {
    struct near_names near_names = {.wanted = name};
    struct buffer names = {0};
    for (unsigned i = 0; stage_name(i); i++) {
        offer_name(&near_names, stage_name(i));
        buffer_print(&names, "%s'%s'", i ? ", " : "", stage_name(i));
    }
    const char *text = arena_print(arena, "no such stage; there are %s%s", names.data,
                                   suggest(arena, &near_names));
    buffer_release(&names);
    return text;
}

const char *set_dump(struct shim_options *options, const char *names) {
    uint32_t dump = 0;
    while (*names) {
        const char *name = take_name(&options->arena, &names);
        unsigned found = 0;
        while (stage_name(found) && strcmp(stage_name(found), name) != 0)
            found++;
        if (!stage_name(found))
            return refuse_stage(&options->arena, name);
        dump |= UINT32_C(1) << found;
    }
    options->dump = dump;
    return NULL;
}

const char *placement_name_at(size_t number) {
    return number < sizeof placement_names / sizeof *placement_names ? placement_names[number]
                                                                     : NULL;
}

static void set_placement(struct shim_options *options, const char *name) {
    for (size_t i = 0; placement_name_at(i); i++)
        if (strcmp(placement_name_at(i), name) == 0)
            options->placement = (enum placement)i;
}

static const char *refuse_event(struct arena *arena, const char *name) {
    struct near_names near_names = {.wanted = name};
    for (size_t i = 0; event_kind_at(i); i++)
        offer_name(&near_names, event_kind_at(i)->name);
    return arena_print(arena, "no such kind of events; 'man quipu.h' lists them%s",
                       suggest(arena, &near_names));
}

const char *add_event(struct shim_options *options, const char *text) {
    const struct event_kind *kind = find_event_kind(text);
    if (!kind && strchr(text, '='))
        return add_event_class(&options->events, text, &options->arena);
    if (!kind)
        return refuse_event(&options->arena, text);
    add_event_kind(&options->events, kind);
    return NULL;
}

struct event_set events_of(const struct shim_options *options) {
    struct event_set events = options->events;
    if (!(options->modes & MODE_EVENT))
        events = (struct event_set){0};
    if (options->modes & MODE_CALLS || (options->modes & MODE_EVENT && !events.count))
        add_event_kind(&events, find_event_kind("instructions"));
    if (options->modes & MODE_MOMENT)
        add_event_kind(&events, find_event_kind("ticks"));
    return events;
}

/* Appends TEXT, a pattern. It passes through -Wa, specs and shells, so each character that may have
 * a meaning there becomes %XX. */
static void add_encoded(struct buffer *out, const char *text) {
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-=";
    for (; *text; text++)
        if (strchr(plain, *text))
            buffer_add(out, text, 1);
        else
            buffer_print(out, "%%%02X", (unsigned char)*text);
}

static void decode(char *text) {
    char *to = text;
    for (; *text; text++) {
        char digits[3] = {0}, *end = digits;
        if (*text == '%' && text[1] && text[2]) {
            memcpy(digits, text + 1, 2);
            *to = (char)strtoul(digits, &end, 16);
        }
        if (end == digits + 2)
            text += 2;
        else
            *to = *text;
        to++;
    }
    *to = '\0';
}

void parse_options(struct shim_options *options, const char *text) {
    while (*text) {
        if (strncmp(text, "profile=", 8) == 0) {
            options->profile = text + 8;
            return;
        }
        size_t length = strcspn(text, ":");
        char *field = arena_copy(&options->arena, text, length);
        decode(field);
        text += length + (text[length] == ':');
        if (strncmp(field, "placement=", 10) == 0)
            set_placement(options, field + 10);
        else if (strncmp(field, "event=", 6) == 0)
            add_event(options, field + 6);
        else if (strcmp(field, "all-checks") == 0)
            options->all_checks = true;
        else if (strcmp(field, "libc") == 0)
            options->libc = true;
        else if (strcmp(field, "shared") == 0)
            options->shared = true;
        else if (strncmp(field, "dump=", 5) == 0)
            set_dump(options, field + 5);
        else
            set_modes(options, field);
    }
}

static void add_event_text(struct buffer *out, const struct event_kind *kind) {
    buffer_print(out, ":event=%s", kind->name);
    if (kind->pattern) {
        buffer_text(out, "=");
        add_encoded(out, kind->pattern);
    }
}

static void add_dump_text(struct buffer *out, uint32_t dump) {
    const char *before = ":dump=";
    for (unsigned i = 0; stage_name(i); i++)
        if (dump >> i & 1) {
            buffer_print(out, "%s%s", before, stage_name(i));
            before = "+";
        }
}

const char *print_options(struct shim_options *options, const char *version) {
    struct buffer out = {0};
    const struct event_set *events = &options->events;
    for (size_t i = 0; i < MODE_NAMES; i++)
        if (options->modes ? options->modes & mode_names[i].modes : !mode_names[i].modes)
            buffer_print(&out, "%s%s", out.count ? "+" : "", mode_names[i].name);
    for (uint32_t i = 0; i < events->count; i++)
        add_event_text(&out, events->kinds[i]);
    buffer_print(&out, ":placement=%s%s%s%s", placement_names[options->placement],
                 options->all_checks ? ":all-checks" : "", options->libc ? ":libc" : "",
                 options->shared ? ":shared" : "");
    add_dump_text(&out, options->dump);
    buffer_print(&out, ":%s", version);
    if (options->profile)
        buffer_print(&out, ":content=%s:profile=%s", options->content, options->profile);
    const char *text = arena_copy(&options->arena, out.data, out.count);
    buffer_release(&out);
    return text;
}
