/* hit.c: hits as text and as JSON; see hit.h.
 *
 *     12:  stats.count  3 -> 4  (int)  add_entry  table.c:88  addl $1, 8(%rdi)
 *
 * The part of the text that is the same for all hits of a writer is made once. */
#include "watch/hit.h"

#include "symbols/demangle.h"
#include "symbols/moment_name.h"
#include "util/page_text.h"
#include "util/terminal.h"
#include "util/utf8.h"

#include <string.h>

enum {
    NUMBER_WIDTH = 6,
    WIDTH_MAX = 28 /* columns grow up to this; longer text goes beyond it */
};

/* Reads the description of the heap block that follows the bytes. Returns the size of the watched
 * part of the block, or 0 if there is none. */
static uint64_t read_block(const struct quipu_hit *hit, const struct watched *watched,
                           struct quipu_block *block) {
    uint64_t room = 2 * ((hit->told + 7) / 8 * 8);
    if (hit->record.size < sizeof *hit + room + sizeof *block)
        return 0;
    memcpy(block, (const uint8_t *)(hit + 1) + room, sizeof *block);
    uint64_t rest = block->size > watched->address ? block->size - watched->address : 0;
    return block->number ? (rest < watched->size ? rest : watched->size) : 0;
}

/* Sets which other calls may have made the change. */
static void read_candidates(const struct quipu_hit *hit, bool is_block, struct hit_report *report) {
    uint64_t at = sizeof *hit + 2 * ((hit->told + 7) / 8 * 8);
    at += is_block ? sizeof(struct quipu_block) : 0;
    uint64_t room =
        at < hit->record.size ? (hit->record.size - at) / sizeof *report->candidates : 0;
    report->candidates = (const void *)((const uint8_t *)hit + at);
    report->candidate_count = hit->candidates;
    if (report->candidate_count > room || report->candidate_count > QUIPU_CANDIDATES_MAX)
        report->candidate_count = 0;
    report->is_undecided = hit->flags & QUIPU_HIT_UNDECIDED;
}

bool read_hit(struct quipu_hit *hit, const struct watched *watched, struct hit_report *report) {
    struct quipu_block block = {0};
    const uint8_t *bytes = (const uint8_t *)(hit + 1);
    uint64_t size = watched->is_blocks ? read_block(hit, watched, &block) : watched->size;
    /* the program may have unmapped the begin of the block since, which then begins later */
    uint64_t region = block.number ? block.address + watched->address : hit->region;
    uint64_t end = region + size, offset = hit->offset + (hit->region - region);
    uint64_t low = hit->address > region ? hit->address : region;
    uint64_t high = hit->address + hit->length < end ? hit->address + hit->length : end;
    *report = (struct hit_report){
        .hit = hit,
        .watched = watched,
        .old = {bytes, offset, hit->told},
        .now = {bytes + (hit->told + 7) / 8 * 8, offset, hit->told},
        .begin = low - region,
        .end = high - region,
        .block = block,
    };
    read_candidates(hit, watched->is_blocks, report);
    return low < high && offset <= size && hit->told <= size - offset;
}

/* ---- what was written ---- */

/* Returns the part of the object that was written, and appends its name to NAME. */
static struct part find_part(const struct hit_report *report, struct buffer *name) {
    const struct watched *watched = report->watched;
    struct part part = watched->whole;
    size_t begin = name->count, end;
    bool is_unary = *watched->base == '*'; /* a suffix would bind more tightly */
    buffer_text(name, is_unary ? "(" : "");
    if (watched->is_blocks)
        buffer_print(name, "block %llu of ", (unsigned long long)report->block.number);
    buffer_text(name, watched->base);
    buffer_text(name, is_unary ? ")" : "");
    end = name->count;
    narrow(&part, &(struct written){report->begin, report->end, &report->old, &report->now},
           watched->first, name);
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

void print_name(const struct hit_report *report, struct buffer *out) {
    find_part(report, out);
}

void print_values(const struct hit_report *report, struct buffer *old, struct buffer *now) {
    struct buffer name = {0};
    struct part part = find_part(report, &name);
    print_part(old, &part, &report->old, &report->now);
    print_part(now, &part, &report->now, &report->old);
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

/* Appends WRITER, without columns. */
static void print_place(struct arena *arena, const struct writer *writer, struct buffer *out) {
    if (*writer->function)
        buffer_text(out, short_name(arena, writer->function));
    else
        buffer_print(out, "0x%llx", (unsigned long long)writer->pc);
    buffer_print(out, "  %s  %s", *writer->place ? writer->place : "?",
                 *writer->instruction ? writer->instruction : "?");
}

static bool has_moment(const struct hit_report *report) {
    return report->moment || report->hit->moment_thread;
}

/* Returns the moment, such as "work+0x2c@1204311/1~1f3a9c2b", or "" if moments are not counted. */
static const char *moment_of(struct arena *arena, const struct hit_report *report) {
    const struct writer *writer = report->writer;
    if (report->moment)
        return report->moment;
    if (!report->hit->moment_thread || !writer->module || !writer->module->binary)
        return "";
    return moment_text(arena, writer->module->binary, writer->moment ? writer->moment : writer->pc,
                       report->hit->ticks, report->hit->moment_thread);
}

/* "  (changed during the call, or by thread 4711: owner  pool.c:7  call fill)" */
static void print_decision(struct arena *arena, const struct hit_report *report,
                           struct buffer *out) {
    bool is_change = report->hit->cause == QUIPU_CAUSE_CHANGE;
    bool is_late = report->hit->flags & QUIPU_HIT_LATE;
    buffer_text(out, is_change ? "  (changed during the call" : "  (");
    buffer_text(out, is_late ? " and found later" : "");
    for (unsigned i = 0; i < report->candidate_count; i++) {
        const struct other_call *other = &report->others[i];
        buffer_text(out, is_change || i ? ", or " : "or ");
        buffer_print(out, "by thread %u: ", other->thread);
        print_place(arena, other->writer, out);
    }
    if (report->hit->flags & QUIPU_HIT_MORE)
        buffer_text(out, is_change || report->candidate_count
                             ? ", or by an earlier call or code that is not known"
                             : "or by an earlier call or code that is not known");
    buffer_text(out, ")");
}

static void print_text_tail(struct hit_format *format, const struct hit_report *report,
                            struct buffer *out) {
    struct arena arena = {0};
    const struct quipu_hit *hit = report->hit;
    if (hit->cause == QUIPU_CAUSE_CHANGE || report->is_undecided)
        print_decision(&arena, report, out);
    if (report->block.freed)
        buffer_text(out, "  after free");
    if (report->freed_by && *report->freed_by->place)
        buffer_print(out, " by %s  %s", short_name(&arena, report->freed_by->function),
                     report->freed_by->place);
    if (has_moment(report))
        buffer_print(out, "  %s", moment_of(&arena, report));
    if (format->longer)
        buffer_print(out, "  %llu bytes at 0x%llx, process %u, thread %u",
                     (unsigned long long)hit->length, (unsigned long long)hit->address,
                     hit->record.pid, hit->record.thread);
    if (format->longer && report->block.number)
        buffer_print(out, ", block of %llu at 0x%llx", (unsigned long long)report->block.size,
                     (unsigned long long)report->block.address);
    if (report->is_violation)
        buffer_text(out, "  VIOLATION");
    arena_release(&arena);
}

static void print_text(struct arena *arena, struct hit_format *format,
                       const struct hit_report *report, struct buffer *out) {
    static const char blanks[] = "        ";
    size_t begin = out->count, length;
    print_unsigned(out, report->number);
    length = out->count - begin;
    out->count = begin;
    if (length < NUMBER_WIDTH)
        buffer_add(out, blanks, NUMBER_WIDTH - length);
    print_unsigned(out, report->number);
    buffer_add(out, ":  ", 3);
    begin = out->count;
    struct part part = find_part(report, out);
    pad(out, begin, &format->name_width);
    begin = out->count;
    print_part(out, &part, &report->old, &report->now);
    buffer_add(out, report->hit->flags & QUIPU_HIT_BEHIND ? " ~> " : " -> ", 4);
    print_part(out, &part, &report->now, &report->old);
    pad(out, begin, &format->value_width);
    buffer_add(out, "(", 1);
    print_type(out, &part);
    buffer_add(out, ")  ", 3);
    if (!report->writer->text)
        report->writer->text = writer_text(arena, format, report->writer);
    buffer_text(out, report->writer->text);
    if (format->longer || report->is_violation || report->is_undecided || report->block.freed ||
        has_moment(report) || report->hit->cause == QUIPU_CAUSE_CHANGE)
        print_text_tail(format, report, out);
    buffer_add(out, "\n", 1);
    if (report->backtrace)
        buffer_text(out, report->backtrace);
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

static const char *writer_json(struct arena *arena, const struct hit_report *report) {
    static const char *const causes[] = {"store", "call", "change"};
    const struct writer *writer = report->writer;
    uint32_t cause = report->hit->cause;
    struct buffer text = {0};
    json_member(&text, "expression", report->watched->text);
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

/* Appends the other calls that may have made the change. */
static void json_others(struct buffer *out, const struct hit_report *report) {
    json_bool(out, "undecided", report->is_undecided);
    if (!report->is_undecided)
        return;
    json_key(out, "others");
    buffer_add(out, "[", 1);
    for (unsigned i = 0; i < report->candidate_count; i++) {
        const struct writer *writer = report->others[i].writer;
        buffer_print(out, "%s{\"thread\":%u", i ? "," : "", report->others[i].thread);
        json_member(out, "function", writer->function);
        json_member(out, "file", writer->file);
        json_number(out, "line", writer->line);
        json_member(out, "instruction", writer->instruction);
        json_number(out, "pc", writer->pc);
        buffer_add(out, "}", 1);
    }
    buffer_add(out, "]", 1);
    json_bool(out, "unknown_others", report->hit->flags & QUIPU_HIT_MORE);
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

static void print_json_values(const struct hit_report *report, struct buffer *out) {
    struct buffer text = {0};
    struct part part = find_part(report, &text);
    json_member(out, "name", text.data);
    text.count = 0;
    print_type(&text, &part);
    json_member(out, "type", text.data);
    text.count = 0;
    print_part(&text, &part, &report->old, &report->now);
    json_member(out, "old", text.data);
    text.count = 0;
    print_part(&text, &part, &report->now, &report->old);
    json_member(out, "new", text.data);
    buffer_release(&text);
}

/* Appends the KNOWN bytes, two digits each. */
static void json_bytes(struct buffer *out, const char *key, const struct known_bytes *known) {
    json_key(out, key);
    buffer_add(out, "\"", 1);
    for (uint64_t i = 0; i < known->count; i++)
        buffer_print(out, "%02x", known->bytes[i]);
    buffer_add(out, "\"", 1);
}

static void json_block(struct buffer *out, const struct hit_report *report) {
    const struct quipu_block *block = &report->block;
    const struct call_place *freed_by = report->freed_by;
    json_number(out, "block", block->number);
    json_number(out, "block_address", block->address);
    json_number(out, "block_size", block->size);
    json_number(out, "block_offset", report->watched->address + report->begin);
    json_key(out, "after_free");
    buffer_text(out, block->freed ? "true" : "false");
    if (!block->freed)
        return;
    json_member(out, "freed_by", freed_by ? freed_by->function : "");
    json_member(out, "freed_at", freed_by ? freed_by->place : "");
}

static void print_json(struct arena *arena, const struct hit_report *report, struct buffer *out) {
    const struct quipu_hit *hit = report->hit;
    buffer_text(out, "{\"hit\":");
    print_unsigned(out, report->number);
    json_number(out, "process", hit->record.pid);
    json_number(out, "thread", hit->record.thread);
    json_number(out, "address", hit->address);
    json_number(out, "bytes", hit->length);
    print_json_values(report, out);
    json_number(out, "offset", report->old.begin);
    json_bytes(out, "old_bytes", &report->old);
    json_bytes(out, "new_bytes", &report->now);
    json_bool(out, "exact", !(hit->flags & QUIPU_HIT_BEHIND));
    if (report->block.number)
        json_block(out, report);
    if (!report->writer->json)
        report->writer->json = writer_json(arena, report);
    buffer_text(out, report->writer->json);
    json_bool(out, "violation", report->is_violation);
    json_bool(out, "found_later", hit->flags & QUIPU_HIT_LATE);
    json_others(out, report);
    if (has_moment(report)) {
        struct arena scratch = {0};
        json_member(out, "moment", moment_of(&scratch, report));
        arena_release(&scratch);
    }
    if (report->backtrace)
        json_backtrace(out, report->backtrace);
    buffer_add(out, "}\n", 2);
}

/* As print_text, but names may contain bytes that control a terminal; these are replaced. */
static void print_safe_text(struct arena *arena, struct hit_format *format,
                            const struct hit_report *report, struct buffer *out) {
    size_t begin = out->count;
    print_text(arena, format, report, out);
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

static void print_markup(struct arena *arena, const struct hit_report *report, struct buffer *out) {
    struct buffer line = {0};
    struct page_text text = {0};
    print_json(arena, report, &line);
    page_text_add(&text, line.data, line.count, out);
    buffer_release(&line);
}

void print_hit(struct arena *arena, struct hit_format *format, const struct hit_report *report,
               struct buffer *out) {
    if (format->markup)
        print_markup(arena, report, out);
    else if (format->json)
        print_json(arena, report, out);
    else
        print_safe_text(arena, format, report, out);
}
