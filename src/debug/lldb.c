/* lldb.c: packets that lldb asks for, and gdb does not; see session.h.
 *
 * lldb's docs/lldb-gdb-remote.txt. Who sends qHostInfo is lldb: it is told of a program that is
 * executed as by lldb's own server. */
#include "debug/session.h"

#include "util/memory_map.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

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

static void answer_region(struct session *session, const struct memory_mapping *region) {
    const int rights = region->protection;
    buffer_print(&session->answer, "start:%" PRIx64 ";size:%" PRIx64 ";", region->start,
                 region->end - region->start);
    if (rights)
        buffer_print(&session->answer, "permissions:%s%s%s;", rights & PROT_READ ? "r" : "",
                     rights & PROT_WRITE ? "w" : "", rights & PROT_EXEC ? "x" : "");
    if (region->is_file) {
        answer_text(session, "name:");
        add_digits(&session->answer, region->path, strlen(region->path));
        answer_text(session, ";");
    }
}

/* "ADDRESS": the mapping that has it, or the room between two of them. */
void take_region(struct session *session, const char *text) {
    uint64_t address = 0;
    struct memory_map map;
    struct memory_mapping region = {0}, found = {.end = UINT64_MAX};
    if (!take_number(&text, &address)) {
        answer_error(session, "no address");
        return;
    }
    memory_map_open(&map, timeline_process(session->timeline));
    while (region.end <= address && memory_map_next(&map, &region))
        if (region.end <= address)
            found.start = region.end;
    if (region.end > address)
        found.end = region.start;
    answer_region(session, region.start <= address && address < region.end ? &region : &found);
    memory_map_close(&map);
}
