/* record_counter.c: reads of the time stamp counter in a recorded process; see record.h.
 *
 * Wherever code is mapped, the instructions that read the counter are replaced by one that faults
 * (x86/counter_read.h); the recording has that as memory, so a replay faults there, too. Only an
 * instruction is replaced for sure: it is found by decoding its function from the begin. Where the
 * kernel can make the instructions fault, this also covers code that the program makes itself.
 *
 * Not perfect: on a machine where PR_SET_TSC has no effect, reads in code without call frame
 * information, or that the program makes itself, are not recorded. A replay that differs says so.
 * A program that reads its own code sees the change. */
#include "replay/record.h"

#include "symbols/code_ranges.h"
#include "x86/counter_read.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* Code of a file that is mapped. */
struct mapped_code {
    uint64_t address, size, offset; /* in the file */
};

static void replace_at(struct recorded_thread *thread, uint64_t address, uint8_t *code,
                       unsigned size) {
    struct counter_read replaced = {.address = address, .size = (uint8_t)size};
    memcpy(replaced.code, code, size);
    replace_counter_read(code);
    if (!write_memory(thread->number, address, code, size))
        return;
    vector_push(&thread->process->arena, &thread->process->counter_reads, replaced);
    add_recorded_memory(thread, address, code, size, NULL);
}

/* Replaces the reads in the COUNT bytes at CODE of the file, which are MAPPED. */
static void replace_in(struct recorded_thread *thread, const code_range_list *ranges, uint8_t *code,
                       size_t count, const struct mapped_code *mapped) {
    for (size_t at = find_counter_read(code, count, mapped->offset); at < count;
         at = find_counter_read(code, count, at + 1)) {
        const struct code_range *range = find_code_range(ranges, at);
        if (at - mapped->offset >= mapped->size)
            break;
        if (range && range->size <= count - range->offset &&
            is_instruction_at(code + range->offset, range->size, at - range->offset))
            replace_at(thread, mapped->address + (at - mapped->offset), code + at,
                       counter_read_size(code + at, count - at));
    }
}

/* Replaces the reads in what is MAPPED of the file of which FD is. */
static void replace_in_file(struct recorded_thread *thread, int fd,
                            const struct mapped_code *mapped) {
    struct arena arena = {0};
    struct stat status;
    code_range_list ranges = {0};
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0)
        return;
    size_t size = (size_t)status.st_size;
    uint8_t *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return;
    if (mapped->offset < size &&
        find_counter_read(bytes, size, mapped->offset) < mapped->offset + mapped->size)
        read_code_ranges(&arena, fd, &ranges);
    if (ranges.count)
        replace_in(thread, &ranges, bytes, size, mapped);
    munmap(bytes, size);
    arena_release(&arena);
}

void replace_counter_reads(struct recorded_thread *thread, const char *path, uint64_t address,
                           uint64_t size, uint64_t offset) {
    const struct mapped_code mapped = {address, size, offset};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    replace_in_file(thread, fd, &mapped);
    close(fd);
}

/* Reads "START-END r-xp OFFSET DEVICE INODE PATH". */
void replace_first_counter_reads(struct recorded_thread *thread) {
    char name[64], *line = NULL;
    size_t room = 0;
    snprintf(name, sizeof name, "/proc/%d/maps", (int)thread->number);
    FILE *file = fopen(name, "re");
    while (file && getline(&line, &room, file) > 0) {
        char *at, *path = strchr(line, '/');
        uint64_t start = strtoull(line, &at, 16), end = strtoull(at + 1, &at, 16);
        if (!path || strlen(at) < 6 || at[3] != 'x')
            continue;
        uint64_t offset = strtoull(at + 5, NULL, 16);
        path[strcspn(path, "\n")] = '\0';
        replace_counter_reads(thread, path, start, end - start, offset);
    }
    free(line);
    if (file)
        fclose(file);
}

static unsigned size_of_read(const struct recorded_thread *thread, int signal, uint64_t address) {
    uint8_t code[COUNTER_READ_MAX] = {0};
    struct iovec here = {code, sizeof code}, there = {(void *)address, sizeof code};
    ssize_t count = process_vm_readv(thread->number, &here, 1, &there, 1, 0);
    if (signal == SIGSEGV)
        return counter_read_size(code, count > 0 ? (size_t)count : 0);
    for (size_t i = 0; i < thread->process->counter_reads.count && signal == SIGILL; i++)
        if (thread->process->counter_reads.data[i].address == address)
            return thread->process->counter_reads.data[i].size;
    return 0;
}

bool record_counter(struct recorded_thread *thread, int signal) {
    struct user_regs_struct registers;
    uint32_t processor;
    if (!get_general_registers(thread->number, &registers))
        return false;
    unsigned size = size_of_read(thread, signal, registers.rip);
    if (!size)
        return false;
    uint64_t value = read_counter(&processor);
    struct buffer *event = recording_event(&thread->recorder->writer);
    put_number(event, hash_registers(&registers, false), 4);
    put_number(event, size, 1);
    put_number(event, value, sizeof value);
    put_number(event, processor, sizeof processor);
    add_recorded_event(thread, QUIPU_EVENT_COUNTER);
    answer_counter_read(thread->number, size, value, processor);
    set_boundary(thread, false);
    return true;
}
