/* paths.c: how many bytes the path of a traced run would take in other ways than by witnesses.
 *
 *     paths TRACE
 *
 * Prints, for each way, "NAME EVENTS BYTES STORED": how many events the program would have to
 * record, how many bytes they have, and how many are left behind zstd at level 1. The ways are:
 *
 * - branches: a bit for each conditional jump, and which of its targets an indirect jump or call
 *   took. Returns are where the caller goes on.
 * - paths: the number of each acyclic path, which ends where its loop begins again and where the
 *   function ends (Ball and Larus 1996). Calls do not end it.
 * - turns: the same, but equal paths of a loop that follow each other are a number and a count.
 *
 * A number has one byte in functions of at most 256 paths, two in others. Functions have the paths
 * that ran: by all that may run some would need more, so this is the least. */
#include "open.h"

#include <Zydis/Zydis.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define FRAMES_MAX 4096 /* deeper ones are counted with the deepest */
#define TABLE_SIZE ((size_t)1 << 22)
#define BLOCK_SIZE ((size_t)1 << 20)
#define MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)

/* ---- what a way would record ---- */

/* Blocks are compressed as soon as they are full. */
struct stream {
    uint8_t *bytes;
    size_t count;
    uint64_t stored;
};

static void *allocate(size_t size) {
    void *memory = calloc(1, size);
    if (!memory) {
        fputs("paths: out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

static void compress(struct stream *stream) {
    static uint8_t *room;
    const size_t size = ZSTD_compressBound(BLOCK_SIZE);
    if (!room)
        room = allocate(size);
    if (stream->count)
        stream->stored += ZSTD_compress(room, size, stream->bytes, stream->count, 1);
    stream->count = 0;
}

static void add_byte(struct stream *stream, unsigned byte) {
    if (!stream->bytes)
        stream->bytes = allocate(BLOCK_SIZE);
    stream->bytes[stream->count++] = (uint8_t)byte;
    if (stream->count == BLOCK_SIZE)
        compress(stream);
}

struct way {
    const char *name;
    uint64_t events, bytes;
    struct stream low, high; /* lower and upper bytes, so that these compress well */
};

static struct way branches = {.name = "branches"}, paths = {.name = "paths"},
                  turns = {.name = "turns"};

static void add_number(struct way *way, unsigned number, unsigned bytes) {
    way->bytes += bytes;
    add_byte(&way->low, number);
    if (bytes > 1)
        add_byte(&way->high, number >> 8);
}

static void add_bit(bool bit) {
    static unsigned bits, count;
    branches.events++;
    bits |= (unsigned)bit << count++;
    if (count < 8)
        return;
    add_number(&branches, bits, 1);
    bits = count = 0;
}

/* ---- numbers ---- */

/* Something with a key gets the next number of its owner: a path of its function, a target of its
 * jump. Functions and jumps are owners, with the numbers that they have given. */
struct row {
    uint64_t key; /* 0: free */
    uint32_t number;
};

static struct row *find_row(struct row *table, uint64_t key) {
    size_t at = (size_t)(key * MULTIPLIER >> 42), tries = 0;
    while (table[at].key && table[at].key != key) {
        at = (at + 1) % TABLE_SIZE;
        if (++tries == TABLE_SIZE) {
            fputs("paths: too many paths\n", stderr);
            exit(1);
        }
    }
    table[at].key = key;
    return &table[at];
}

/* Returns the number of KEY among those of OWNER, from 0. */
static unsigned find_number(uint64_t key, uint64_t owner) {
    static struct row *numbers, *owners;
    if (!numbers) {
        numbers = allocate(TABLE_SIZE * sizeof *numbers);
        owners = allocate(TABLE_SIZE * sizeof *owners);
    }
    struct row *row = find_row(numbers, (key ^ owner * MULTIPLIER) | 1);
    if (!row->number)
        row->number = ++find_row(owners, owner)->number;
    return row->number - 1;
}

/* ---- the run ---- */

struct frame {
    uint64_t path;             /* a hash of the jumps since its begin */
    const char *function;      /* NULL: none */
    unsigned last, last_count; /* the path that ended last in the same loop, and how often */
};

static struct frame frames[FRAMES_MAX];
static size_t depth;

static void end_turns(struct frame *frame) {
    if (!frame->last_count)
        return;
    turns.events++;
    add_number(&turns, frame->last, frame->last > 255 ? 2 : 1);
    add_number(&turns, frame->last_count, frame->last_count > 255 ? 2 : 1);
    frame->last_count = 0;
}

/* The path of FRAME ends, and with AGAIN its loop begins again at the address HEAD. */
static void end_path(struct frame *frame, bool again, uint64_t head) {
    if (!frame->function)
        return;
    unsigned number = find_number(frame->path, (uint64_t)frame->function);
    paths.events++;
    add_number(&paths, number, number > 255 ? 2 : 1);
    if (number != frame->last || frame->last_count == UINT16_MAX)
        end_turns(frame);
    frame->last = number;
    frame->last_count++;
    if (!again)
        end_turns(frame);
    *frame = (struct frame){.path = head,
                            .function = again ? frame->function : NULL,
                            .last = frame->last,
                            .last_count = frame->last_count};
}

static void begin_path(const struct quipu_trace_record *record) {
    frames[depth] = (struct frame){.path = record->address, .function = record->function};
}

static ZydisInstructionCategory category_of(const struct quipu_trace_record *record,
                                            bool *is_indirect) {
    static ZydisDecoder decoder;
    ZydisDecodedInstruction instruction;
    if (!decoder.stack_width)
        ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (!record->code || !ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, record->code,
                                                                     record->size, &instruction)))
        return ZYDIS_CATEGORY_INVALID;
    *is_indirect = instruction.raw.imm[0].size == 0;
    return instruction.meta.category;
}

/* What is known of an instruction. */
struct kind {
    uint64_t address, behind;
    ZydisInstructionCategory category;
    bool is_indirect;
};

static struct kind *find_kind(const struct quipu_trace_record *record) {
    static struct kind *table;
    if (!table)
        table = allocate(TABLE_SIZE * sizeof *table);
    struct kind *kind = &table[record->address % TABLE_SIZE];
    if (kind->address != record->address) {
        *kind = (struct kind){.address = record->address, .behind = record->address + record->size};
        kind->category = category_of(record, &kind->is_indirect);
    }
    return kind;
}

/* A jump led to NEXT. */
static void follow_jump(const struct kind *jump, const struct quipu_trace_record *next) {
    struct frame *frame = &frames[depth];
    if (next->function != frame->function) {
        end_path(frame, false, 0);
        begin_path(next);
        return;
    }
    frame->path = (frame->path ^ next->address) * MULTIPLIER;
    frame->path ^= frame->path >> 29;
    if (next->address <= jump->address)
        end_path(frame, true, next->address);
}

/* NEXT was executed behind an instruction of the KIND. */
static void follow(const struct kind *kind, const struct quipu_trace_record *next) {
    bool is_behind = next->address == kind->behind;
    if (kind->is_indirect && (kind->category == ZYDIS_CATEGORY_UNCOND_BR ||
                              (kind->category == ZYDIS_CATEGORY_CALL && !is_behind))) {
        unsigned number = find_number(next->address, kind->address);
        branches.events++;
        add_number(&branches, number, number > 255 ? 2 : 1);
    }
    switch (kind->category) {
    case ZYDIS_CATEGORY_COND_BR:
        add_bit(!is_behind);
        follow_jump(kind, next);
        break;
    case ZYDIS_CATEGORY_UNCOND_BR:
        if (kind->is_indirect || next->function != frames[depth].function ||
            next->address <= kind->address)
            follow_jump(kind, next);
        break;
    case ZYDIS_CATEGORY_CALL:
        if (!is_behind) {
            depth += depth + 1 < FRAMES_MAX;
            begin_path(next);
        }
        break;
    case ZYDIS_CATEGORY_RET:
        end_path(&frames[depth], false, 0);
        depth -= depth > 0;
        break;
    default:
        break;
    }
    if (frames[depth].function != next->function)
        begin_path(next); /* a signal handler, or code that a library called */
}

static uint64_t read_thread(struct quipu_trace *trace, size_t thread) {
    struct quipu_trace_reader *reader = quipu_trace_begin(trace, thread);
    const struct quipu_trace_record *record;
    const struct kind *last = NULL;
    uint64_t count = 0;
    depth = 0;
    for (; reader && (record = quipu_trace_next(reader)); count++) {
        if (last)
            follow(last, record);
        else
            begin_path(record);
        last = find_kind(record);
    }
    end_reader(reader, thread);
    return count;
}

int main(int argc, char **argv) {
    struct way *const ways[] = {&branches, &paths, &turns};
    struct quipu_trace *trace = open_argument(argc, argv, "paths");
    uint64_t count = 0;
    for (size_t thread = 0; thread < quipu_trace_threads(trace); thread++)
        count += read_thread(trace, thread);
    quipu_trace_close(trace);
    printf("instructions %" PRIu64 "\n", count);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        compress(&ways[i]->low);
        compress(&ways[i]->high);
        printf("%s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", ways[i]->name, ways[i]->events,
               ways[i]->bytes, ways[i]->low.stored + ways[i]->high.stored);
    }
    return 0;
}
