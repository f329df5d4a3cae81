/* client_memory.c: memory in the process that lldb allocates for itself, for code and values of
 * expressions; see session.h.
 *
 * It is in copies only (diversion.h), and these are thrown away when the run goes on. lldb takes it
 * for lasting. So what it has there is kept, and each copy that is made later has it again. It is
 * where no program has memory by itself. */
#include "debug/session.h"

#include "tracee/tracee.h"
#include "x86/kernel.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum {
    PAGE = 4096
};

#define CLIENT_MEMORY_BEGIN ((uint64_t)1 << 40)
#define CLIENT_MEMORY_MOST  ((uint64_t)1 << 26) /* bytes of one region */

static bool map_region(struct session *session, const struct client_region *region) {
    const uint64_t arguments[6] = {region->address,
                                   region->size,
                                   (uint64_t)region->protection,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
                                   UINT64_MAX,
                                   0};
    pid_t process = timeline_process(session->timeline);
    return inject_call(process, session->timeline->site, SYS_mmap, arguments, NULL) ==
               (int64_t)region->address &&
           (!region->bytes || write_memory(process, region->address, region->bytes, region->size));
}

void map_client_memory(struct session *session) {
    for (size_t i = 0; i < session->regions.count; i++)
        map_region(session, &session->regions.data[i]);
}

void keep_client_memory(struct session *session) {
    for (size_t i = 0; i < session->regions.count; i++) {
        struct client_region *region = &session->regions.data[i];
        if (!region->bytes)
            region->bytes = malloc(region->size);
        if (region->bytes)
            read_memory(timeline_process(session->timeline), region->address, region->bytes,
                        region->size);
    }
}

void forget_client_memory(struct session *session) {
    for (size_t i = 0; i < session->regions.count; i++)
        free(session->regions.data[i].bytes);
    session->regions.count = 0;
    arena_release(&session->arena);
}

bool is_client_memory(const struct session *session, uint64_t address) {
    for (size_t i = 0; i < session->regions.count; i++)
        if (address - session->regions.data[i].address < session->regions.data[i].size)
            return true;
    return false;
}

/* "SIZE,rwx" */
void take_allocation(struct session *session, const char *text) {
    struct client_region region = {.address = CLIENT_MEMORY_BEGIN};
    if (!take_number(&text, &region.size) || !take_character(&text, ',') || !region.size ||
        region.size > CLIENT_MEMORY_MOST) {
        answer_error(session, "a size and permissions are missing");
        return;
    }
    region.size = (region.size + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    region.protection = (strchr(text, 'r') ? PROT_READ : 0) | (strchr(text, 'w') ? PROT_WRITE : 0) |
                        (strchr(text, 'x') ? PROT_EXEC : 0);
    for (size_t i = 0; i < session->regions.count; i++) {
        const struct client_region *other = &session->regions.data[i];
        if (other->address + other->size + PAGE > region.address)
            region.address = other->address + other->size + PAGE;
    }
    if (!may_change(session))
        return;
    if (map_region(session, &region)) {
        vector_push(&session->arena, &session->regions, region);
        buffer_print(&session->answer, "%llx", (unsigned long long)region.address);
    } else {
        answer_error(session, "there is no memory");
    }
}

/* "ADDRESS" */
void take_release(struct session *session, const char *text) {
    uint64_t address = 0;
    take_number(&text, &address);
    for (size_t i = 0; i < session->regions.count; i++)
        if (session->regions.data[i].address == address) {
            free(session->regions.data[i].bytes);
            session->regions.data[i] = session->regions.data[--session->regions.count];
            answer_text(session, "OK");
            return;
        }
    answer_error(session, "it was not allocated");
}
