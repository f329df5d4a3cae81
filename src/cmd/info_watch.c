/* info_watch.c: what 'quipu info' shows of watched memory; see info_watch.h. */
#include "cmd/info_watch.h"

#include "cmd/process_number.h"
#include "symbols/sites.h"
#include "util/diag.h"
#include "util/terminal.h"
#include "watch/attach.h"
#include "x86/access.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* ---- of a binary ---- */

struct checks {
    uint64_t all, variables, stack; /* variables and stack are left out until they are needed */
};

/* A check that is left out has a row for its site, and its code is out of line. */
static struct checks count_checks(const struct binary *binary) {
    struct checks checks = {0};
    struct site_table table = find_sites(binary);
    for (size_t i = 0; i < table.count; i++) {
        struct linked_site site = read_site(&table, i);
        if (!site.place || !site.code || site.size >= QUIPU_SITE_BEGIN)
            continue;
        bool is_of_variable = site.target && site.size < QUIPU_SITE_FRAME_CALL;
        checks.variables += is_of_variable;
        checks.stack += !is_of_variable;
    }
    size_t size = 0;
    const uint8_t *code = binary_section(binary, ".text", &size);
    for (size_t at = 0; code && at < size; at++)
        checks.all += is_store_check(code + at, size - at);
    return checks;
}

void write_text_checks(FILE *out, const struct binary *binary) {
    struct checks checks = count_checks(binary);
    if (checks.all)
        fprintf(out,
                "  checks        %" PRIu64 "; left out until they are needed: %" PRIu64
                " of variables, %" PRIu64 " of the stack\n",
                checks.all, checks.variables, checks.stack);
}

void write_json_checks(struct json_writer *json, const struct binary *binary) {
    struct checks checks = count_checks(binary);
    json_unsigned(json, "checks", checks.all);
    json_unsigned(json, "checks_of_variables", checks.variables);
    json_unsigned(json, "checks_of_stack", checks.stack);
}

/* ---- of a process ---- */

struct watching look_at_watching(struct arena *arena, const char *text) {
    char path[64], name[4096];
    struct quipu_watch_area area = {0};
    pid_t process = read_process_number(text);
    const char *wrong = read_area(arena, process, &area);
    if (wrong)
        die("process %d: %s", (int)process, wrong);
    snprintf(path, sizeof path, "/proc/%d/exe", (int)process);
    ssize_t size = readlink(path, name, sizeof name);
    return (struct watching){.program = arena_copy(arena, name, size > 0 ? (size_t)size : 0),
                             .process = process,
                             .consumer = find_consumer(process, &area),
                             .regions = area.count,
                             .has_shadow = !area.no_shadow};
}

void write_text_watching(FILE *out, const struct watching *watching) {
    fprintf(out, "process %d\n", (int)watching->process);
    print_line(out, "  program       %s", watching->program);
    fprintf(out, "  regions       %" PRIu64 " watched", watching->regions);
    if (watching->consumer)
        fprintf(out, "; process %d is told of writes", (int)watching->consumer);
    fprintf(out, "\n  shadow        %s\n",
            watching->has_shadow
                ? "of 2 TiB of addresses, reserved"
                : "refused by the kernel, as by 'ulimit -v'; a bitmap of two levels does instead");
}

void write_json_watching(struct json_writer *json, const struct watching *watching) {
    json_open_object(json, NULL);
    json_string(json, "program", watching->program);
    json_unsigned(json, "process", (uint64_t)watching->process);
    json_unsigned(json, "consumer", (uint64_t)watching->consumer);
    json_unsigned(json, "regions", watching->regions);
    json_bool(json, "shadow", watching->has_shadow);
    json_close(json);
}
