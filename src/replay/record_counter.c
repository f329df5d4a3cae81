/* record_counter.c: reads of the time stamp counter, of random numbers (rdrand, rdseed), and of
 * what cpuid tells, in a recorded process; see record.h.
 *
 * Wherever code is mapped, the instructions that read them are replaced by one that faults
 * (x86/counter_read.h); the recording has that as memory, so a replay faults there, too. Only an
 * instruction is replaced for sure: it is found by decoding its function from the begin. Where the
 * kernel can make reads of the counter fault, this also covers code that the program makes itself.
 *
 * Not perfect: random numbers, and cpuid, that are read in code without call frame information, or
 * that the program makes itself, are not recorded; nor is the counter on a machine where PR_SET_TSC
 * has no effect. A replay that differs says so. A program that reads its own code sees the change.
 * A thread that has read the clock inside (inside_clock.c) does not fault any more, so its reads in
 * such code are not recorded either. */
#include "replay/record.h"

#include "symbols/code_ranges.h"
#include "util/memory_map.h"
#include "x86/counter_read.h"
#include "x86/kernel.h"

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Code of a file that is mapped. */
struct mapped_code {
    uint64_t size, offset; /* in the file */
};

/* Adds to READS those in the COUNT bytes at CODE of the file, which are MAPPED. Their addresses are
 * relative to the begin of what is mapped. */
static void find_reads_in(struct arena *arena, const code_range_list *ranges, const uint8_t *code,
                          size_t count, const struct mapped_code *mapped,
                          counter_read_list *reads) {
    for (size_t at = find_counter_read(code, count, mapped->offset); at < count;
         at = find_counter_read(code, count, at + 1)) {
        const struct code_range *range = find_code_range(ranges, at);
        if (at - mapped->offset >= mapped->size)
            break;
        if (!range || range->size > count - range->offset ||
            !is_instruction_at(code + range->offset, range->size, at - range->offset))
            continue;
        unsigned size = counter_read_size(code + at, count - at);
        struct counter_read read = {.address = at - mapped->offset, .size = (uint8_t)size};
        memcpy(read.code, code + at, size);
        vector_push(arena, reads, read);
    }
}

/* Adds to READS those in what is MAPPED of the file at PATH. */
static void find_reads(struct arena *arena, const char *path, const struct mapped_code *mapped,
                       counter_read_list *reads) {
    struct arena scratch = {0};
    struct stat status;
    code_range_list ranges = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    bool is_file = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
    size_t size = is_file ? (size_t)status.st_size : 0;
    uint8_t *bytes = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (bytes != MAP_FAILED) {
        if (mapped->offset < size &&
            find_counter_read(bytes, size, mapped->offset) < mapped->offset + mapped->size)
            read_code_ranges(&scratch, fd, &ranges);
        if (ranges.count)
            find_reads_in(arena, &ranges, bytes, size, mapped, reads);
        munmap(bytes, size);
    }
    close(fd);
    arena_release(&scratch);
}

/* Replaces READ in the code that is mapped at ADDRESS. */
static void replace_read(struct recorded_thread *thread, const struct counter_read *read,
                         uint64_t address) {
    struct counter_read replaced = *read;
    uint8_t code[COUNTER_READ_MAX];
    replaced.address += address;
    memcpy(code, read->code, read->size);
    replace_counter_read(code);
    if (!write_memory(thread->number, replaced.address, code, read->size))
        return;
    vector_push(&thread->process->arena, &thread->process->counter_reads, replaced);
    add_recorded_memory(thread, replaced.address, code, read->size, NULL);
}

void replace_counter_reads(struct recorded_thread *thread, const char *path, uint64_t address,
                           uint64_t size, uint64_t offset) {
    struct recorder *recorder = thread->recorder;
    const struct mapped_code mapped = {size, offset};
    counter_read_list reads = {0};
    struct file_part part;
    bool may_know = describe_part(path, offset, size, &part);
    const uint32_t *known = may_know ? find_part(&recorder->code, &part) : NULL;
    if (known) {
        reads = recorder->code_reads.data[*known];
    } else {
        find_reads(may_know ? recorder->arena : &thread->process->arena, path, &mapped, &reads);
        if (may_know) {
            add_part(&recorder->code, &part, (uint32_t)recorder->code_reads.count);
            vector_push(recorder->arena, &recorder->code_reads, reads);
        }
    }
    for (size_t i = 0; i < reads.count; i++)
        replace_read(thread, &reads.data[i], address);
}

void replace_first_counter_reads(struct recorded_thread *thread) {
    struct memory_map map;
    struct memory_mapping mapping;
    memory_map_open(&map, thread->number);
    while (memory_map_next(&map, &mapping))
        if (mapping.is_file && mapping.protection & PROT_EXEC)
            replace_counter_reads(thread, mapping.path, mapping.start, mapping.end - mapping.start,
                                  mapping.offset);
    memory_map_close(&map);
}

/* Sets READ to the instruction at ADDRESS, at which SIGNAL came, if it is such a one. */
static bool find_read(const struct recorded_thread *thread, int signal, uint64_t address,
                      struct counter_read *read) {
    const counter_read_list *reads = &thread->process->counter_reads;
    struct iovec here = {read->code, sizeof read->code};
    struct iovec there = {(void *)address, sizeof read->code};
    for (size_t i = 0; i < reads->count && signal == SIGILL; i++)
        if (reads->data[i].address == address) {
            *read = reads->data[i];
            return true;
        }
    if (signal != SIGSEGV)
        return false;
    ssize_t count = process_vm_readv(thread->number, &here, 1, &there, 1, 0);
    size_t size = count > 0 ? (size_t)count : 0;
    read->size = (uint8_t)counter_read_size(read->code, size);
    return is_time_read(read->code, size);
}

/* Reads what THREAD would get on a processor of its own, where it has chosen others than ours. */
static struct counter_value read_beside(pid_t thread, const struct counter_read *read,
                                        const struct user_regs_struct *registers) {
    cpu_set_t ours, its;
    int here = sched_getcpu();
    bool is_elsewhere = here >= 0 && here < CPU_SETSIZE &&
                        sched_getaffinity(thread, sizeof its, &its) == 0 &&
                        !CPU_ISSET(here, &its) && sched_getaffinity(0, sizeof ours, &ours) == 0;
    if (is_elsewhere)
        sched_setaffinity(0, sizeof its, &its);
    struct counter_value value = read_counter(read->code, read->size, registers);
    if (is_elsewhere)
        sched_setaffinity(0, sizeof ours, &ours);
    return value;
}

/* What the code inside reads by the counter is recorded as the call's result. */
static void allow_counter(struct recorded_thread *thread) {
    const uint64_t arguments[6] = {PR_SET_TSC, PR_TSC_ENABLE};
    inject_call(thread->number, QUIPU_INSIDE, SYS_prctl, arguments, NULL);
}

bool record_counter(struct recorded_thread *thread, int signal) {
    struct user_regs_struct registers;
    struct counter_read read;
    if (!get_general_registers(thread->number, &registers))
        return false;
    if (is_inside(registers.rsp)) { /* in the kernel's code, for a call of the program */
        allow_counter(thread);
        return true;
    }
    if (!find_read(thread, signal, registers.rip, &read))
        return false;
    const struct counter_value value = read_beside(thread->number, &read, &registers);
    struct buffer *event = recording_event(&thread->recorder->writer);
    put_number(event, hash_registers(&registers, false), 4);
    put_number(event, read.size, 1);
    buffer_add(event, read.code, read.size);
    put_number(event, value.value, sizeof value.value);
    put_number(event, value.detail, sizeof value.detail);
    add_recorded_event(thread, QUIPU_EVENT_COUNTER);
    answer_counter_read(thread->number, read.code, read.size, &value);
    set_boundary(thread, false);
    return true;
}
