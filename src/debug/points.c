/* points.c: breakpoints and watchpoints; see points.h.
 *
 * A watchpoint is hit where the value changes. Debug registers tell of writes; where they do not
 * work, or are too few, each instruction is stepped, and the value compared. Reads: accesses.c. */
#include "debug/points.h"

#include "tracee/tracee.h"
#include "util/diag.h"
#include "x86/trap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

static bool is_watch(const struct point *point) {
    return point->kind >= POINT_WRITE;
}

static struct point *find_point(struct points *points, enum point_kind kind, uint64_t address,
                                size_t size) {
    for (size_t i = 0; i < points->count; i++) {
        struct point *point = &points->points[i];
        if (point->kind == kind && point->address == address && point->size == size)
            return point;
    }
    return NULL;
}

const char *points_add(struct points *points, enum point_kind kind, uint64_t address, size_t size) {
    struct point point = {.kind = kind, .address = address, .size = size};
    if (is_watch(&point) && (size == 0 || size > WATCHED_MAX))
        return "at most 4096 bytes can be watched";
    if (find_point(points, kind, address, size))
        return NULL; /* the protocol: adding it again has no effect */
    if (points->count == POINTS_MAX)
        return "too many breakpoints";
    if (is_watch(&point)) {
        point.value = calloc(1, size);
        if (!point.value)
            return "no memory";
    }
    points->points[points->count++] = point;
    return NULL;
}

static void free_point(struct point *point) {
    free(point->value);
    conditions_free(point->conditions);
}

void points_set_conditions(struct points *points, enum point_kind kind, uint64_t address,
                           size_t size, struct point_condition *conditions) {
    struct point *point = find_point(points, kind, address, size);
    conditions_free(point->conditions);
    point->conditions = conditions;
}

bool points_remove(struct points *points, enum point_kind kind, uint64_t address, size_t size) {
    struct point *point = find_point(points, kind, address, size);
    if (!point)
        return false;
    free_point(point);
    *point = points->points[--points->count];
    return true;
}

void points_clear(struct points *points) {
    for (size_t i = 0; i < points->count; i++)
        free_point(&points->points[i]);
    points->count = 0;
}

struct points *points_put_aside(struct points *points) {
    struct points *aside = malloc(sizeof *aside);
    CHECK(aside);
    *aside = *points;
    points->count = 0;
    return aside;
}

void points_put_back(struct points *points, struct points *aside) {
    points_clear(points);
    *points = *aside;
    free(aside);
}

const struct point *points_find(const struct points *points, uint64_t address) {
    for (size_t i = 0; i < points->count; i++)
        if (!is_watch(&points->points[i]) && points->points[i].address == address)
            return &points->points[i];
    return NULL;
}

const struct point *points_hit(const struct points *points, uint64_t address, pid_t thread) {
    for (size_t i = 0; i < points->count; i++) {
        const struct point *point = &points->points[i];
        if (!is_watch(point) && point->address == address &&
            conditions_hold(point->conditions, points, thread))
            return point;
    }
    return NULL;
}

bool points_watch(const struct points *points) {
    for (size_t i = 0; i < points->count; i++)
        if (is_watch(&points->points[i]))
            return true;
    return false;
}

/* ---- debug registers ---- */

/* Adds the aligned objects that cover the point. Returns false if there are not enough registers.
 */
static bool cover(struct watch *watched, const struct point *point) {
    uint64_t address = point->address, end = address + point->size;
    while (address < end) {
        uint32_t size = sizeof(uint64_t);
        while (address % size || size > end - address)
            size /= 2;
        if (watched->count == WATCHES_MAX)
            return false;
        watched->addresses[watched->count] = address;
        watched->sizes[watched->count++] = size;
        address += size;
    }
    return true;
}

bool points_cover(const struct points *points, struct watch *watched) {
    watched->count = 0;
    for (size_t i = 0; i < points->count; i++)
        if (is_watch(&points->points[i]) && !cover(watched, &points->points[i]))
            return false;
    return true;
}

/* Sets the registers of each watchpoint, which are in their order. Returns those whose reads are
 * told, too. */
static unsigned number_registers(struct points *points) {
    struct watch before = {.count = 0};
    unsigned reads = 0;
    for (size_t i = 0; i < points->count; i++) {
        struct point *point = &points->points[i];
        unsigned first = (unsigned)before.count;
        if (!is_watch(point) || !cover(&before, point))
            continue;
        point->registers = (1u << before.count) - (1u << first);
        if (is_accessed(point))
            reads |= point->registers;
    }
    return reads;
}

bool points_need_steps(const struct points *points) {
    struct watch watched = {.count = 0};
    return points_watch(points) && (!points->has_registers || !points_cover(points, &watched));
}

/* ---- in a process ---- */

/* Sets the byte at ADDRESS, also of code that the process may not write. OLD becomes the former
 * one. */
static bool set_byte(pid_t process, uint64_t address, uint8_t byte, uint8_t *old) {
    errno = 0;
    long word = ptrace(PTRACE_PEEKTEXT, process, (void *)address, NULL);
    if (errno)
        return false;
    *old = (uint8_t)word;
    word = (long)(((uint64_t)word & ~(uint64_t)UINT8_MAX) | byte);
    return ptrace(PTRACE_POKETEXT, process, (void *)address, (void *)word) == 0;
}

static void insert(struct points *points, pid_t process, uint64_t address) {
    uint8_t byte;
    if (points_inserted(points, address) || !set_byte(process, address, BREAKPOINT_BYTE, &byte))
        return;
    points->inserted[points->inserted_count].address = address;
    points->inserted[points->inserted_count++].byte = byte;
}

void points_insert(struct points *points, pid_t process, uint64_t extra) {
    struct watch watched = {.count = 0};
    points->inserted_count = 0;
    for (size_t i = 0; i < points->count; i++)
        if (!is_watch(&points->points[i]))
            insert(points, process, points->points[i].address);
    if (extra)
        insert(points, process, extra);
    points->watching =
        points_watch(points) && !points_need_steps(points) && points_cover(points, &watched);
    if (!points->watching)
        return;
    unsigned reads = number_registers(points);
    points->watching =
        watch_accesses(process, watched.addresses, watched.sizes, watched.count, reads);
}

void points_insert_one(struct points *points, pid_t process, uint64_t address) {
    points->inserted_count = 0;
    points->watching = false;
    if (address)
        insert(points, process, address);
}

/* Where the breakpoint instruction is no longer there, other memory has been mapped. */
void points_take_out(struct points *points, pid_t process) {
    uint8_t trap;
    for (size_t i = 0; i < points->inserted_count; i++)
        if (read_memory(process, points->inserted[i].address, &trap, 1) && trap == BREAKPOINT_BYTE)
            set_byte(process, points->inserted[i].address, points->inserted[i].byte, &trap);
    points->inserted_count = 0;
    if (points->watching)
        watch_memory(process, NULL, NULL, 0);
    points->watching = false;
}

void points_forget(struct points *points) {
    points->inserted_count = 0;
    points->watching = false;
}

bool points_inserted(const struct points *points, uint64_t address) {
    for (size_t i = 0; i < points->inserted_count; i++)
        if (points->inserted[i].address == address)
            return true;
    return false;
}

/* ---- values ---- */

void points_look(struct points *points, pid_t process) {
    for (size_t i = 0; i < points->count; i++) {
        struct point *point = &points->points[i];
        if (is_watch(point))
            point->has_value = peek_memory(process, point->address, point->value, point->size);
    }
}

const struct point *points_changed(struct points *points, pid_t process) {
    static uint8_t now[WATCHED_MAX];
    const struct point *changed = NULL;
    for (size_t i = 0; i < points->count; i++) {
        struct point *point = &points->points[i];
        if (!is_watch(point))
            continue;
        bool has_value = peek_memory(process, point->address, now, point->size);
        bool differs = has_value != point->has_value ||
                       (has_value && memcmp(now, point->value, point->size) != 0);
        point->has_changed = differs;
        if (!changed && differs && point->kind != POINT_READ)
            changed = point;
        if (has_value)
            memcpy(point->value, now, point->size);
        point->has_value = has_value;
    }
    return changed;
}
