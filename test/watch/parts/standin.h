/* standin.h: a stand-in for the runtime of --quipu=watch, so that what 'quipu watch' makes of hits is
 * tested by itself: maps $QUIPU_WATCH, and writes records as format/watch.h says.
 *
 * A program includes it and writes by standin_write. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "format/watch.h"

#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct quipu_watch_file *standin_file;
static struct quipu_watch_request *standin_requests;
static char *standin_ring;
static uint64_t standin_bias;
static int standin_dies; /* by SIGKILL in the middle of the next hit */

/* By this name a program is known to be instrumented. */
void quipu_watch_begin(void);
void quipu_watch_begin(void) {
}

static void *standin_at(uint64_t at) {
    return standin_ring + at % standin_file->ring_size;
}

static void standin_publish(struct quipu_record *record, uint64_t size) {
    __atomic_store_n(&record->size, (uint32_t)size, __ATOMIC_SEQ_CST);
    if (__atomic_exchange_n(&standin_file->waiting, 0, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &standin_file->waiting, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Fills the SIZE bytes at AT, which go over the ring's end. */
static void standin_pad(uint64_t at, uint64_t size) {
    uint64_t first = standin_file->ring_size - at % standin_file->ring_size;
    struct quipu_record *front = standin_at(at), *behind = standin_at(at + first);
    front->kind = QUIPU_RECORD_PAD;
    standin_publish(front, first);
    behind->kind = QUIPU_RECORD_PAD;
    standin_publish(behind, size - first);
}

static void *standin_reserve(uint64_t size) {
    for (;;) {
        uint64_t at = __atomic_fetch_add(&standin_file->head, size, __ATOMIC_SEQ_CST);
        while (at + size - __atomic_load_n(&standin_file->tail, __ATOMIC_SEQ_CST) >
               standin_file->ring_size)
            usleep(10);
        if (at % standin_file->ring_size + size <= standin_file->ring_size)
            return standin_at(at);
        standin_pad(at, size);
    }
}

static void standin_look(void) {
    for (uint32_t i = 0; i < __atomic_load_n(&standin_file->request_count, __ATOMIC_SEQ_CST); i++) {
        uint32_t *state = &standin_requests[i].state;
        uint32_t is = __atomic_load_n(state, __ATOMIC_SEQ_CST);
        if (is == QUIPU_REQUEST_WANTED)
            __atomic_store_n(state, QUIPU_REQUEST_MADE, __ATOMIC_SEQ_CST);
        if (is == QUIPU_REQUEST_UNWANTED)
            __atomic_store_n(state, QUIPU_REQUEST_GONE, __ATOMIC_SEQ_CST);
    }
}

/* ---- hits ---- */

static void standin_wait(struct quipu_hit *hit) {
    uint32_t answer;
    while (!(answer = __atomic_load_n(&hit->answer, __ATOMIC_SEQ_CST)))
        syscall(SYS_futex, &hit->answer, FUTEX_WAIT, 0, NULL, NULL, 0);
    __atomic_store_n(&hit->answer, QUIPU_ANSWER_TAKEN, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &hit->answer, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    if (answer & QUIPU_ANSWER_LOOK)
        standin_look();
    if (answer & QUIPU_ANSWER_TRAP)
        raise(SIGTRAP);
    if (answer & QUIPU_ANSWER_END)
        abort();
}

/* Tells of LENGTH bytes at ADDRESS to request NUMBER, whose region is at REGION; OLD and NOW are
 * what is told, from OFFSET of the region on. */
static void standin_tell(uint32_t number, uint64_t region, uint64_t address, uint64_t length,
                         uint64_t offset, uint64_t told, const void *old, const void *now,
                         void *pc) {
    uint64_t room = (told + 7) / 8 * 8, size = sizeof(struct quipu_hit) + 2 * room;
    struct quipu_hit *hit = standin_reserve(size);
    hit->record.kind = QUIPU_RECORD_HIT;
    hit->record.pid = (uint32_t)getpid();
    hit->record.thread = (uint32_t)syscall(SYS_gettid);
    hit->request = number;
    hit->pc = (uint64_t)pc;
    hit->address = address;
    hit->length = length;
    hit->region = region;
    hit->offset = offset;
    hit->told = told;
    memcpy(hit + 1, old, told);
    memcpy((char *)(hit + 1) + room, now, told);
    if (standin_dies)
        kill(getpid(), SIGKILL);
    uint32_t waits = standin_requests[number].flags & QUIPU_REQUEST_WAITS;
    standin_publish(&hit->record, size);
    if (waits)
        standin_wait(hit);
}

/* Copies SIZE bytes, as if by the instruction that ends at PC. */
static void standin_copy(void *to, const void *from, uint64_t size, void *pc) {
    uint64_t address = (uint64_t)to;
    uint32_t count = standin_file ? standin_file->request_count : 0;
    char whole[2][4096], before[4096];
    memcpy(before, to, size);
    for (uint32_t i = 0; i < count; i++) {
        const struct quipu_watch_request *request = &standin_requests[i];
        uint64_t begin = request->address + (request->build_id_size ? standin_bias : 0);
        uint64_t end = begin + request->size, low = begin, high = end;
        if (request->state != QUIPU_REQUEST_MADE || address >= end || address + size <= begin)
            continue;
        if (request->size > 64) { /* as much as was written */
            low = address > begin ? address : begin;
            high = address + size < end ? address + size : end;
        }
        memcpy(whole[0], (void *)low, high - low);
        memcpy(whole[1], whole[0], high - low);
        for (uint64_t at = low; at < high; at++)
            if (at >= address && at < address + size) {
                whole[0][at - low] = before[at - address];
                whole[1][at - low] = ((const char *)from)[at - address];
            }
        if (request->flags & QUIPU_REQUEST_CHANGES && memcmp(whole[0], whole[1], high - low) == 0)
            continue;
        memmove(to, from, size);
        standin_tell(i, begin, address, size, low - begin, high - low, whole[0], whole[1], pc);
    }
    memmove(to, from, size);
}

static unsigned standin_stores;

/* Copies SIZE bytes, by what looks like the copy of a store that the shim writes. */
#define standin_move(to, from, size)                                                               \
    do {                                                                                           \
        void *standin_pc;                                                                          \
        __asm__ volatile("leaq -128(%%rsp), %%rsp\n\tcall quipu_watch_begin\n\tincl %1\n"          \
                         "1:\tleaq 128(%%rsp), %%rsp\n\tleaq 1b(%%rip), %0"                        \
                         : "=b"(standin_pc), "+m"(standin_stores)                                  \
                         :                                                                         \
                         : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc");     \
        standin_copy((void *)(to), from, size, standin_pc);                                        \
    } while (0)

/* *TO = NOW */
#define standin_write(to, now)                                                                     \
    do {                                                                                           \
        __typeof__(*(to)) standin_now = (now);                                                     \
        standin_move(to, &standin_now, sizeof standin_now);                                        \
    } while (0)

/* ---- the module ---- */

static void standin_note(struct quipu_module_record *module, const char *at, const char *end) {
    while (at < end) {
        const ElfW(Nhdr) *note = (const void *)at;
        const char *name = (const char *)(note + 1), *body = name + (note->n_namesz + 3) / 4 * 4;
        if (note->n_type == 3 && note->n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
            module->build_id_size = note->n_descsz;
            memcpy(module->build_id, body, note->n_descsz);
        }
        at = body + (note->n_descsz + 3) / 4 * 4;
    }
}

static int standin_module(struct dl_phdr_info *info, size_t size, void *argument) {
    struct quipu_module_record *module = argument;
    (void)size;
    standin_bias = module->bias = info->dlpi_addr;
    module->begin = UINT64_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uint64_t begin = info->dlpi_addr + header->p_vaddr, end = begin + header->p_memsz;
        if (header->p_type == PT_NOTE)
            standin_note(module, (const char *)begin, (const char *)end);
        if (header->p_type != PT_LOAD)
            continue;
        module->begin = begin < module->begin ? begin : module->begin;
        module->end = end > module->end ? end : module->end;
    }
    return 1;
}

__attribute__((constructor)) static void standin_start(void) {
    const char *path = getenv("QUIPU_WATCH");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    struct stat status;
    char name[PATH_MAX] = "";
    struct quipu_module_record found = {0};
    if (fd < 0 || fstat(fd, &status) != 0)
        return;
    standin_file =
        mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    standin_requests = (void *)((char *)standin_file + standin_file->request_offset);
    standin_ring = (char *)standin_file + standin_file->ring_offset;
    dl_iterate_phdr(standin_module, &found);
    if (readlink("/proc/self/exe", name, sizeof name - 1) < 0)
        return;
    found.record.kind = QUIPU_RECORD_MODULE;
    found.record.pid = found.record.thread = (uint32_t)getpid();
    found.name_size = (uint32_t)strlen(name) + 1;
    uint64_t size = (sizeof found + found.name_size + 7) / 8 * 8;
    struct quipu_module_record *module = standin_reserve(size);
    *module = found;
    memcpy(module + 1, name, found.name_size);
    standin_publish(&module->record, size);
    standin_look();
}
