/* schedule_recorder.c: the schedule of threads on one processor; see schedule_recorder.h.
 *
 * Mazieres and Smith 1994, section 3, change a kernel so that it logs each context switch. Linux
 * tells the same: a software event of context switches gives the user's registers of the thread
 * that leaves the processor, and the kernel's records of switches tell whether it was preempted.
 * Children inherit the event. Without the right to see registers, times are left; without events,
 * the times of tickets.
 *
 * Not perfect: a thread that moves itself to another processor leaves the schedule. Threads of a
 * program that gets other rights by execve (set-user-ID) are not seen. */
#include "trace/schedule_recorder.h"

#include "format/trace.h"
#include "util/diag.h"
#include "util/vector.h"
#include "x86/switch_registers.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    PAGES_MOST = 1024, /* of the ring that the kernel writes; a power of two */
    PAGES_LEAST = 8,
    SWITCHES = 4096, /* in a block */
    TIMES = 4096,    /* in a block; numbers of tickets in one begin with a multiple of it */
    BEHIND = 4096    /* so many last tickets may have no time yet */
};

/* The events that are asked for, the best first. */
static const struct {
    enum quipu_trace_source source;
    uint64_t event;
    bool registers;
} sources[] = {
    {QUIPU_TRACE_BY_REGISTERS, PERF_COUNT_SW_CONTEXT_SWITCHES, true},
    {QUIPU_TRACE_BY_TIMES, PERF_COUNT_SW_DUMMY, false},
};

/* Identifies a record of the kernel: PERF_SAMPLE_TID, _TIME and _CPU. */
struct event_identity {
    uint32_t pid, tid;
    uint64_t time;
    uint32_t processor, unused;
};

struct event_sample {
    struct event_identity identity;
    uint64_t abi; /* PERF_SAMPLE_REGS_ABI_NONE: there are no registers */
    uint64_t registers[SWITCH_REGISTER_COUNT];
};

/* PERF_RECORD_EXIT */
struct event_exit {
    uint32_t pid, parent, tid, parent_tid;
    uint64_t time;
};

struct schedule_recorder {
    struct trace_writer *writer;
    cpu_set_t allowed; /* of this process */
    int processor;
    enum quipu_trace_source source;
    int event;                         /* -1: none */
    struct perf_event_mmap_page *ring; /* behind it is the data */
    struct event_sample sample;        /* of the switch that follows */
    uint64_t lost;
    int times;
    uint64_t taken;                      /* tickets whose times are in the trace */
    struct quipu_trace_time read[TIMES]; /* for take_times */
    uint64_t contents[TIMES];
    struct {
        struct quipu_trace_schedule head;
        struct quipu_trace_switch switches[SWITCHES];
    } block;
    uint32_t count; /* switches in it */
};

/* ---- the processor ---- */

static int choose_processor(const cpu_set_t *allowed, int wanted) {
    int last = -1;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, allowed))
            last = i;
    if (wanted < 0)
        return last;
    if (wanted >= CPU_SETSIZE || !CPU_ISSET(wanted, allowed))
        die("--processor=%d: quipu may not use it; the last one that it may use is %d", wanted,
            last);
    return wanted;
}

void schedule_enter_processor(const struct schedule_recorder *recorder) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(recorder->processor, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        die("--schedule: cannot run on processor %d: %s", recorder->processor, strerror(errno));
}

void schedule_leave_processor(const struct schedule_recorder *recorder) {
    cpu_set_t others = recorder->allowed;
    CPU_CLR(recorder->processor, &others);
    sched_setaffinity(0, sizeof others, CPU_COUNT(&others) ? &others : &recorder->allowed);
}

/* ---- events ---- */

/* Opens the event of a row of `sources`. Returns whether there is one. */
static bool open_event(struct schedule_recorder *recorder, size_t row) {
    struct perf_event_attr wanted = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof wanted,
        .config = sources[row].event,
        .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
        .inherit = 1,
        .sample_id_all = 1,
        .context_switch = 1,
        .task = 1,
        .use_clockid = 1,
        .clockid = QUIPU_TRACE_CLOCK,
    };
    if (sources[row].registers) {
        wanted.sample_period = 1;
        wanted.sample_type |= PERF_SAMPLE_REGS_USER;
        wanted.sample_regs_user = SWITCH_REGISTERS;
    } else {
        wanted.exclude_kernel = wanted.exclude_hv = 1;
    }
    recorder->event = (int)syscall(SYS_perf_event_open, &wanted, 0, recorder->processor, -1,
                                   PERF_FLAG_FD_CLOEXEC);
    if (recorder->event < 0)
        return false;
    for (size_t pages = PAGES_MOST; pages >= PAGES_LEAST; pages /= 2) {
        void *ring =
            mmap(NULL, (pages + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, recorder->event, 0);
        if (ring == MAP_FAILED)
            continue;
        recorder->ring = ring;
        recorder->source = sources[row].source;
        return true;
    }
    close(recorder->event);
    recorder->event = -1;
    return false;
}

/* Copies SIZE bytes of the ring, from AT on, to OUT. */
static void copy_event(const struct perf_event_mmap_page *ring, uint64_t at, void *out,
                       size_t size) {
    const uint8_t *data = (const uint8_t *)ring + ring->data_offset;
    uint64_t from = at % ring->data_size, first = ring->data_size - from;
    if (first > size)
        first = size;
    memcpy(out, data + from, first);
    memcpy((uint8_t *)out + first, data, size - first);
}

/* Writes the switches that there are. The block is written even if there are none: it has what is
 * known of the schedule. */
static void write_switches(struct schedule_recorder *recorder) {
    struct quipu_trace_chunk chunk = {.kind = QUIPU_TRACE_SCHEDULE};
    recorder->block.head = (struct quipu_trace_schedule){
        recorder->source, (uint32_t)recorder->processor, recorder->lost};
    recorder->lost = 0;
    writer_add(recorder->writer, &chunk, &recorder->block,
               sizeof recorder->block.head + recorder->count * sizeof *recorder->block.switches);
    recorder->count = 0;
}

static void add_switch(struct schedule_recorder *recorder, struct quipu_trace_switch one) {
    if (one.pid == (uint32_t)getpid())
        return;
    recorder->block.switches[recorder->count++] = one;
    if (recorder->count == SWITCHES)
        write_switches(recorder);
}

static void take_switch(struct schedule_recorder *recorder, uint16_t misc,
                        const struct event_identity *identity) {
    const struct event_sample *sample = &recorder->sample;
    bool known = sample->abi && sample->identity.tid == identity->tid;
    if (!(misc & PERF_RECORD_MISC_SWITCH_OUT))
        return;
    add_switch(recorder,
               (struct quipu_trace_switch){
                   .time = identity->time,
                   .pid = identity->pid,
                   .tid = identity->tid,
                   .address = known ? sample->registers[SWITCH_ADDRESS] : 0,
                   .cursor = known ? sample->registers[SWITCH_CURSOR] : 0,
                   .cause = misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? QUIPU_TRACE_PREEMPTED
                                                                       : QUIPU_TRACE_BLOCKED,
               });
    recorder->sample.abi = 0;
}

static void take_event(struct schedule_recorder *recorder, const struct perf_event_header *header,
                       uint64_t at) {
    union {
        struct event_sample sample;
        struct event_identity identity;
        struct event_exit exit;
        uint64_t numbers[2];
    } event = {0};
    size_t size = header->size - sizeof *header;
    copy_event(recorder->ring, at, &event, size < sizeof event ? size : sizeof event);
    if (header->type == PERF_RECORD_SAMPLE)
        recorder->sample = event.sample;
    else if (header->type == PERF_RECORD_SWITCH)
        take_switch(recorder, header->misc, &event.identity);
    else if (header->type == PERF_RECORD_EXIT)
        add_switch(recorder, (struct quipu_trace_switch){.time = event.exit.time,
                                                         .pid = event.exit.pid,
                                                         .tid = event.exit.tid,
                                                         .cause = QUIPU_TRACE_ENDED});
    else if (header->type == PERF_RECORD_LOST)
        recorder->lost += event.numbers[1];
}

static void take_events(struct schedule_recorder *recorder) {
    struct perf_event_mmap_page *ring = recorder->ring;
    uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
    uint64_t at = ring->data_tail;
    while (at < head) {
        struct perf_event_header header;
        copy_event(ring, at, &header, sizeof header);
        if (header.size < sizeof header)
            break;
        take_event(recorder, &header, at + sizeof header);
        at += header.size;
    }
    __atomic_store_n(&ring->data_tail, head, __ATOMIC_RELEASE);
}

/* ---- times of tickets ---- */

/* Stores the times of the next COUNT tickets, at most TIMES, and frees their memory. */
static void take_times(struct schedule_recorder *recorder, size_t count) {
    enum {
        NANOSECONDS = 1000000000
    };
    struct quipu_trace_time *times = recorder->read;
    uint64_t *contents = recorder->contents;
    off_t at = (off_t)((uint32_t)recorder->taken * sizeof *times);
    ssize_t size = pread(recorder->times, times, count * sizeof *times, at);
    size_t read = size > 0 ? (size_t)size / sizeof *times : 0;
    for (size_t i = 0; i < count; i++)
        contents[i] = i < read ? times[i].seconds * NANOSECONDS + times[i].nanoseconds : 0;
    struct quipu_trace_chunk chunk = {.kind = QUIPU_TRACE_TIMES, .begin = recorder->taken};
    writer_add(recorder->writer, &chunk, contents, count * sizeof *contents);
    fallocate(recorder->times, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at,
              (off_t)(count * sizeof *times));
    recorder->taken += count;
}

/* ---- all of it ---- */

struct schedule_recorder *schedule_recorder_new(struct arena *arena, int processor) {
    struct schedule_recorder *recorder = ARENA_NEW(arena, struct schedule_recorder);
    recorder->event = -1;
    recorder->source = QUIPU_TRACE_BY_TICKETS;
    if (sched_getaffinity(0, sizeof recorder->allowed, &recorder->allowed) != 0)
        die("--schedule: cannot ask which processors there are: %s", strerror(errno));
    recorder->processor = choose_processor(&recorder->allowed, processor);
    return recorder;
}

void schedule_recorder_begin(struct schedule_recorder *recorder, struct trace_writer *writer,
                             int directory) {
    recorder->writer = writer;
    recorder->times =
        openat(directory, QUIPU_TRACE_TIMES_FILE, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (recorder->times < 0 || ftruncate(recorder->times, (off_t)QUIPU_TRACE_TIMES_SIZE) != 0) {
        warn("--schedule: there are no times of tickets: cannot make their file: %s",
             strerror(errno));
        unlinkat(directory, QUIPU_TRACE_TIMES_FILE, 0);
    }
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (open_event(recorder, i))
            break;
    write_switches(recorder);
}

void schedule_recorder_take(struct schedule_recorder *recorder, uint64_t tickets) {
    if (recorder->ring)
        take_events(recorder);
    while (tickets - recorder->taken >= TIMES + BEHIND)
        take_times(recorder, TIMES);
}

void schedule_recorder_end(struct schedule_recorder *recorder, uint64_t tickets) {
    schedule_recorder_take(recorder, tickets);
    while (recorder->taken < tickets)
        take_times(recorder, tickets - recorder->taken < TIMES ? tickets - recorder->taken : TIMES);
    if (recorder->count || recorder->lost)
        write_switches(recorder);
    if (recorder->event >= 0)
        close(recorder->event);
    close(recorder->times);
}
