/* lldb.c: packets that lldb asks for, and gdb does not; see session.h.
 *
 * lldb's docs/lldb-gdb-remote.txt. Who sends qHostInfo is lldb: it is told of a program that is
 * executed as by lldb's own server. */
#include "debug/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char triple[] = "x86_64-pc-linux-gnu";

static void answer_machine(struct session *session) {
    answer_text(session, "triple:");
    add_digits(&session->answer, triple, sizeof triple - 1);
    answer_text(session, ";ostype:linux;endian:little;ptrsize:8;");
}

void take_host(struct session *session, const char *text) {
    (void)text;
    session->is_lldb = session->timeline->tells_programs = true;
    answer_machine(session);
}

void take_process(struct session *session, const char *text) {
    (void)text;
    buffer_print(&session->answer, "pid:%x;", (unsigned)player_number(session->timeline->player));
    answer_machine(session);
}

/* As many watchpoints as one wants. */
void take_watchpoint_support(struct session *session, const char *text) {
    (void)text;
    buffer_print(&session->answer, "num:%d;", POINTS_MAX);
}

struct region {
    uint64_t start, end;
    char permissions[4]; /* "rwx", those that it has */
    char *name;          /* in the line */
};

/* Reads "START-END rwxp OFFSET DEVICE INODE   NAME". */
static struct region read_region(char *line) {
    char *at;
    struct region region = {.start = strtoull(line, &at, 16), .name = strchr(line, '/')};
    region.end = strtoull(at + (*at == '-'), &at, 16);
    line[strcspn(line, "\n")] = '\0';
    for (size_t i = 0, count = 0; i < 3 && strlen(at) > i + 1; i++)
        if (at[i + 1] != '-')
            region.permissions[count++] = at[i + 1];
    return region;
}

static void answer_region(struct session *session, const struct region *region) {
    buffer_print(&session->answer, "start:%" PRIx64 ";size:%" PRIx64 ";", region->start,
                 region->end - region->start);
    if (*region->permissions)
        buffer_print(&session->answer, "permissions:%s;", region->permissions);
    if (region->name) {
        answer_text(session, "name:");
        add_digits(&session->answer, region->name, strlen(region->name));
        answer_text(session, ";");
    }
}

/* "ADDRESS": the mapping that has it, or the room between two of them. */
void take_region(struct session *session, const char *text) {
    char path[64], *line = NULL;
    size_t room = 0;
    uint64_t address = 0;
    struct region region = {0}, found = {.end = UINT64_MAX};
    if (!take_number(&text, &address)) {
        answer_error(session, "no address");
        return;
    }
    snprintf(path, sizeof path, "/proc/%d/maps", (int)timeline_process(session->timeline));
    FILE *file = fopen(path, "re");
    while (file && region.end <= address && getline(&line, &room, file) > 0) {
        region = read_region(line);
        if (region.end <= address)
            found.start = region.end;
    }
    if (region.end > address)
        found.end = region.start;
    answer_region(session, region.start <= address && address < region.end ? &region : &found);
    free(line);
    if (file)
        fclose(file);
}
