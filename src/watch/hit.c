/* hit.c: hits as text and as JSON; see hit.h.
 *
 *     12:  stats.count  3 -> 4  (int)  add_entry  table.c:88  addl $1, 8(%rdi)
 *
 * What is the same for all hits of a writer is made once. */
#include "watch/hit.h"

#include "moment/name.h"
#include "symbols/demangle.h"
#include "util/terminal.h"
#include "util/utf8.h"

#include <string.h>

enum {
    NUMBER_WIDTH = 6,
    WIDTH_MAX = 28 /* to which columns grow; what is longer sticks out */
};

/* Reads what stands behind the bytes.  Returns the size of the region; 0: there is none. */
static uint64_t read_block(const struct quipu_hit *hit, const struct watched *watched,
                           struct quipu_block *block) {
    uint64_t room = 2 * ((hit->told + 7) / 8 * 8);
    if (hit->record.size < sizeof *hit + room + sizeof *block)
        return 0;
    memcpy(block, (const uint8_t *)(hit + 1) + room, sizeof *block);
    uint64_t rest = block->size > watched->address ? block->size - watched->address : 0;
    return block->number ? (rest < watched->size ? rest : watched->size) : 0;
}

/* Sets who may have written besides. */
static void read_candidates(const struct quipu_hit *hit, bool is_block, struct told_hit *told) {
    uint64_t at = sizeof *hit + 2 * ((hit->told + 7) / 8 * 8);
    at += is_block ? sizeof(struct quipu_block) : 0;
    uint64_t room = at < hit->record.size ? (hit->record.size - at) / sizeof *told->candidates : 0;
    told->candidates = (const void *)((const uint8_t *)hit + at);
    told->candidate_count = hit->candidates;
    if (told->candidate_count > room || told->candidate_count > QUIPU_CANDIDATES_MAX)
        told->candidate_count = 0;
    told->is_undecided = hit->flags & QUIPU_HIT_UNDECIDED;
}

bool read_hit(const struct quipu_hit *hit, const struct watched *watched, struct told_hit *told) {
    struct quipu_block block = {0};
    const uint8_t *bytes = (const uint8_t *)(hit + 1);
    uint64_t size = watched->is_blocks ? read_block(hit, watched, &block) : watched->size;
    uint64_t region = hit->region, end = hit->region + size;
    uint64_t low = hit->address > region ? hit->address : region;
    uint64_t high = hit->address + hit->length < end ? hit->address + hit->length : end;
    *told = (struct told_hit){
        .hit = hit,
        .watched = watched,
        .old = {bytes, hit->offset, hit->told},
        .now = {bytes + (hit->told + 7) / 8 * 8, hit->offset, hit->told},
        .begin = low - region,
        .end = high - region,
        .block = block,
    };
    read_candidates(hit, watched->is_blocks, told);
    return low < high && hit->offset <= size && hit->told <= size - hit->offset;
}

/* ---- what was written ---- */

/* Appends its name to NAME. */
static struct part find_part(const struct told_hit *told, struct buffer *name) {
    const struct watched *watched = told->watched;
    struct part part = watched->whole;
    size_t begin = name->count, end;
    bool is_unary = *watched->base == '*'; /* which binds less than what may follow */
    buffer_text(name, is_unary ? "(" : "");
    if (watched->is_blocks)
        buffer_print(name, "block %llu of ", (unsigned long long)told->block.number);
    buffer_text(name, watched->base);
    buffer_text(name, is_unary ? ")" : "");
    end = name->count;
    narrow(&part, &(struct written){told->begin, told->end, &told->old, &told->now}, watched->first,
           name);
    if (is_unary && name->count == end) {
        name->count = begin;
        buffer_text(name, watched->base);
    }
    if (watched->is_blocks && part.count < 9 && watched->words[part.count]) {
        part.shape = watched->words[part.count];
        part.count = 0;
    }
    return part;
}

void print_name(const struct told_hit *told, struct buffer *out) {
    find_part(told, out);
}

void print_values(const struct told_hit *told, struct buffer *old, struct buffer *now) {
    struct buffer name = {0};
    struct part part = find_part(told, &name);
    print_part(old, &part, &told->old, &told->now);
    print_part(now, &part, &told->now, &told->old);
    buffer_release(&name);
}

/* ---- text ---- */

static void pad(struct buffer *out, size_t begin, size_t *width) {
    static const char blanks[] = "                                ";
    size_t length = out->count - begin;
    if (length > *width)
        *width = length < WIDTH_MAX ? length : WIDTH_MAX;
    buffer_add(out, blanks, 2 + (length < *width ? *width - length : 0));
}

static const char *writer_text(struct arena *arena, struct hit_format *format,
                               const struct writer *writer) {
    struct buffer text = {0};
    bool is_known = *writer->function;
    if (is_known)
        buffer_text(&text, short_name(arena, writer->function));
    else
        buffer_print(&text, "0x%llx", (unsigned long long)writer->pc);
    pad(&text, 0, &format->function_width);
    size_t begin = text.count;
    buffer_text(&text, *writer->place ? writer->place : "?");
    pad(&text, begin, &format->place_width);
    buffer_text(&text, *writer->instruction ? writer->instruction : "?");
    const char *copy = arena_copy(arena, text.data, text.count);
    buffer_release(&text);
    return copy;
}

/* What a writer is, in one line without columns. */
static void print_place(struct arena *arena, const struct writer *writer, struct buffer *out) {
    if (*writer->function)
        buffer_text(out, short_name(arena, writer->function));
    else
        buffer_print(out, "0x%llx", (unsigned long long)writer->pc);
    buffer_print(out, "  %s  %s", *writer->place ? writer->place : "?",
                 *writer->instruction ? writer->instruction : "?");
}

/* "work+0x2c@1204311/1~1f3a9c2b"; "" where moments are not counted. */
static const char *moment_of(struct arena *arena, const struct told_hit *told) {
    const struct writer *writer = told->writer;
    if (!told->hit->moment_thread || !writer->module || !writer->module->binary)
        return "";
    return moment_text(arena, writer->module->binary, writer->moment ? writer->moment : writer->pc,
                       told->hit->ticks, told->hit->moment_thread);
}

/* "  (changed during the call, or by thread 4711: owner  pool.c:7  call fill)" */
static void print_decision(struct arena *arena, const struct told_hit *told, struct buffer *out) {
    bool is_change = told->hit->cause == QUIPU_CAUSE_CHANGE;
    buffer_text(out, is_change ? "  (changed during the call" : "  (");
    for (unsigned i = 0; i < told->candidate_count; i++) {
        const struct told_other *other = &told->others[i];
        buffer_text(out, is_change || i ? ", or " : "or ");
        buffer_print(out, "by thread %u: ", other->thread);
        print_place(arena, other->writer, out);
    }
    if (told->hit->flags & QUIPU_HIT_MORE)
        buffer_text(out, is_change || told->candidate_count
                             ? ", or by an earlier call or code that is not known"
                             : "or by an earlier call or code that is not known");
    buffer_text(out, ")");
}

static void print_text_tail(struct hit_format *format, const struct told_hit *told,
                            struct buffer *out) {
    struct arena arena = {0};
    const struct quipu_hit *hit = told->hit;
    if (hit->cause == QUIPU_CAUSE_CHANGE || told->is_undecided)
        print_decision(&arena, told, out);
    if (told->block.freed)
        buffer_text(out, "  after free");
    if (told->freed_by && *told->freed_by->place)
        buffer_print(out, " by %s  %s", short_name(&arena, told->freed_by->function),
                     told->freed_by->place);
    if (hit->moment_thread)
        buffer_print(out, "  %s", moment_of(&arena, told));
    if (format->longer)
        buffer_print(out, "  %llu bytes at 0x%llx, process %u, thread %u",
                     (unsigned long long)hit->length, (unsigned long long)hit->address,
                     hit->record.pid, hit->record.thread);
    if (format->longer && told->block.number)
        buffer_print(out, ", block of %llu at 0x%llx", (unsigned long long)told->block.size,
                     (unsigned long long)told->block.address);
    if (told->is_violation)
        buffer_text(out, "  VIOLATION");
    arena_release(&arena);
}

static void print_text(struct arena *arena, struct hit_format *format, const struct told_hit *told,
                       struct buffer *out) {
    static const char blanks[] = "        ";
    size_t begin = out->count, length;
    print_unsigned(out, told->number);
    length = out->count - begin;
    out->count = begin;
    if (length < NUMBER_WIDTH)
        buffer_add(out, blanks, NUMBER_WIDTH - length);
    print_unsigned(out, told->number);
    buffer_add(out, ":  ", 3);
    begin = out->count;
    struct part part = find_part(told, out);
    pad(out, begin, &format->name_width);
    begin = out->count;
    print_part(out, &part, &told->old, &told->now);
    buffer_add(out, told->hit->flags & QUIPU_HIT_BEHIND ? " ~> " : " -> ", 4);
    print_part(out, &part, &told->now, &told->old);
    pad(out, begin, &format->value_width);
    buffer_add(out, "(", 1);
    print_type(out, &part);
    buffer_add(out, ")  ", 3);
    if (!told->writer->text)
        told->writer->text = writer_text(arena, format, told->writer);
    buffer_text(out, told->writer->text);
    if (format->longer || told->is_violation || told->is_undecided || told->block.freed ||
        told->hit->moment_thread || told->hit->cause == QUIPU_CAUSE_CHANGE)
        print_text_tail(format, told, out);
    buffer_add(out, "\n", 1);
    if (told->backtrace)
        buffer_text(out, told->backtrace);
}

/* ---- JSON ---- */

static void json_text(struct buffer *out, const char *text, size_t length) {
    static const char replacement[] = "\xef\xbf\xbd";
    const char *end = text + length;
    buffer_add(out, "\"", 1);
    while (text < end) {
        size_t size = utf8_length(text);
        if (*text == '"' || *text == '\\')
            buffer_add(out, "\\", 1);
        if (size && acts_on_terminal(utf8_character(text, size)))
            buffer_print(out, "\\u%04x", utf8_character(text, size));
        else if (size)
            buffer_add(out, text, size);
        else
            buffer_text(out, replacement);
        text += size ? size : 1;
    }
    buffer_add(out, "\"", 1);
}

static void json_key(struct buffer *out, const char *key) {
    buffer_add(out, ",\"", 2);
    buffer_text(out, key);
    buffer_add(out, "\":", 2);
}

static void json_member(struct buffer *out, const char *key, const char *value) {
    json_key(out, key);
    json_text(out, value, strlen(value));
}

static void json_number(struct buffer *out, const char *key, uint64_t value) {
    json_key(out, key);
    print_unsigned(out, value);
}

static void json_bool(struct buffer *out, const char *key, bool value) {
    json_key(out, key);
    buffer_text(out, value ? "true" : "false");
}

static const char *writer_json(struct arena *arena, const struct told_hit *told) {
    static const char *const causes[] = {"store", "call", "change"};
    const struct writer *writer = told->writer;
    uint32_t cause = told->hit->cause;
    struct buffer text = {0};
    json_member(&text, "expression", told->watched->text);
    json_member(&text, "function", writer->function);
    json_member(&text, "file", writer->file);
    json_number(&text, "line", writer->line);
    json_member(&text, "instruction", writer->instruction);
    json_number(&text, "pc", writer->pc);
    json_member(&text, "cause", cause < 3 ? causes[cause] : "");
    const char *copy = arena_copy(arena, text.data, text.count);
    buffer_release(&text);
    return copy;
}

/* Who else may have changed it. */
static void json_others(struct buffer *out, const struct told_hit *told) {
    json_bool(out, "undecided", told->is_undecided);
    if (!told->is_undecided)
        return;
    json_key(out, "others");
    buffer_add(out, "[", 1);
    for (unsigned i = 0; i < told->candidate_count; i++) {
        const struct writer *writer = told->others[i].writer;
        buffer_print(out, "%s{\"thread\":%u", i ? "," : "", told->others[i].thread);
        json_member(out, "function", writer->function);
        json_member(out, "file", writer->file);
        json_number(out, "line", writer->line);
        json_member(out, "instruction", writer->instruction);
        json_number(out, "pc", writer->pc);
        buffer_add(out, "}", 1);
    }
    buffer_add(out, "]", 1);
    json_bool(out, "unknown_others", told->hit->flags & QUIPU_HIT_MORE);
}

static void json_backtrace(struct buffer *out, const char *lines) {
    json_key(out, "backtrace");
    buffer_add(out, "[", 1);
    for (bool first = true; *lines; first = false) {
        size_t length = strcspn(lines, "\n");
        size_t blanks = strspn(lines, " ");
        buffer_text(out, first ? "" : ",");
        json_text(out, lines + blanks, length - blanks);
        lines += length + (lines[length] == '\n');
    }
    buffer_add(out, "]", 1);
}

static void print_json_values(const struct told_hit *told, struct buffer *out) {
    struct buffer text = {0};
    struct part part = find_part(told, &text);
    json_member(out, "name", text.data);
    text.count = 0;
    print_type(&text, &part);
    json_member(out, "type", text.data);
    text.count = 0;
    print_part(&text, &part, &told->old, &told->now);
    json_member(out, "old", text.data);
    text.count = 0;
    print_part(&text, &part, &told->now, &told->old);
    json_member(out, "new", text.data);
    buffer_release(&text);
}

/* The bytes that are told, two digits each. */
static void json_bytes(struct buffer *out, const char *key, const struct told_bytes *told) {
    json_key(out, key);
    buffer_add(out, "\"", 1);
    for (uint64_t i = 0; i < told->count; i++)
        buffer_print(out, "%02x", told->bytes[i]);
    buffer_add(out, "\"", 1);
}

static void json_block(struct buffer *out, const struct told_hit *told) {
    const struct quipu_block *block = &told->block;
    const struct call_place *freed_by = told->freed_by;
    json_number(out, "block", block->number);
    json_number(out, "block_address", block->address);
    json_number(out, "block_size", block->size);
    json_number(out, "block_offset", told->hit->region + told->begin - block->address);
    json_key(out, "after_free");
    buffer_text(out, block->freed ? "true" : "false");
    if (!block->freed)
        return;
    json_member(out, "freed_by", freed_by ? freed_by->function : "");
    json_member(out, "freed_at", freed_by ? freed_by->place : "");
}

static void print_json(struct arena *arena, const struct told_hit *told, struct buffer *out) {
    const struct quipu_hit *hit = told->hit;
    buffer_text(out, "{\"hit\":");
    print_unsigned(out, told->number);
    json_number(out, "process", hit->record.pid);
    json_number(out, "thread", hit->record.thread);
    json_number(out, "address", hit->address);
    json_number(out, "bytes", hit->length);
    print_json_values(told, out);
    json_number(out, "offset", hit->offset);
    json_bytes(out, "old_bytes", &told->old);
    json_bytes(out, "new_bytes", &told->now);
    json_bool(out, "exact", !(hit->flags & QUIPU_HIT_BEHIND));
    if (told->block.number)
        json_block(out, told);
    if (!told->writer->json)
        told->writer->json = writer_json(arena, told);
    buffer_text(out, told->writer->json);
    json_bool(out, "violation", told->is_violation);
    json_others(out, told);
    if (hit->moment_thread) {
        struct arena scratch = {0};
        json_member(out, "moment", moment_of(&scratch, told));
        arena_release(&scratch);
    }
    if (told->backtrace)
        json_backtrace(out, told->backtrace);
    buffer_add(out, "}\n", 2);
}

/* Names in it may hold what acts on a terminal. */
static void print_safe_text(struct arena *arena, struct hit_format *format,
                            const struct told_hit *told, struct buffer *out) {
    size_t begin = out->count;
    print_text(arena, format, told, out);
    for (char *line = out->data + begin, *end; *line; line = end) {
        end = strchr(line, '\n');
        if (end)
            *end = '\0';
        make_safe(line);
        if (!end)
            break;
        *end++ = '\n';
    }
}

void print_hit(struct arena *arena, struct hit_format *format, const struct told_hit *told,
               struct buffer *out) {
    if (format->json)
        print_json(arena, told, out);
    else
        print_safe_text(arena, format, told, out);
}
