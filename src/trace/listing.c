/* listing.c: a trace as rows; see listing.h.
 *
 * All of an instruction's row that is the same each time it runs is made once. A format says how it
 * begins a row, what is constant, and how a reference is written. */
#include "trace/listing.h"

#include "report/csv_writer.h"
#include "report/json_writer.h"
#include "symbols/moment_name.h"
#include "trace/gap.h"
#include "trace/listing_switch.h"
#include "trace/order.h"
#include "trace/piece_table.h"
#include "trace/place.h"
#include "trace/row_buffer.h"
#include "util/near.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The constant part of an instruction's rows. */
struct constant {
    bool known;
    bool chosen; /* it is of the function that was asked for */
    uint32_t size;
    const char *text;
    const char *place, *build; /* in front of the moment's ticks, and behind its thread */
};

struct listing {
    struct listing_options options;
    const struct traced_thread *thread;
    bool unordered;               /* the next row has no order to the one in front of it */
    struct piece_table constants; /* struct constant of each instruction */
    struct gap_names gaps;
    struct row_buffer rows;
};

struct listing_format {
    const char *name;
    void (*begin)(struct listing *listing);
    void (*begin_thread)(struct listing *listing);
    void (*write_constant)(FILE *out, const struct trace_step *step, const char *assembly);
    void (*write_step)(struct listing *listing, const struct trace_step *step,
                       const struct constant *constant);
    void (*write_gap)(FILE *out, const struct listing *listing, const char *name,
                      const reference_list *references);
    write_switch_row *write_switch;
};

static void put_constant(struct listing *listing, const struct constant *constant) {
    put_bytes(&listing->rows, constant->text, constant->size);
}

/* Writes the name of the moment in front of the step, or OTHERWISE if it is not known; and END. */
static void put_moment(struct listing *listing, const struct trace_step *step,
                       const struct constant *constant, const char *otherwise, const char *end) {
    struct row_buffer *rows = &listing->rows;
    if (step->counted) {
        put_text(rows, constant->place);
        put_bytes(rows, "@", 1);
        put_decimal(rows, step->ticks);
        put_bytes(rows, "/", 1);
        put_decimal(rows, step->counted);
        put_text(rows, constant->build);
    } else {
        put_text(rows, otherwise);
    }
    put_text(rows, end);
}

static void no_heading(struct listing *listing) {
    (void)listing;
}

/* ---- text ---- */

static void begin_text_thread(struct listing *listing) {
    put_text(&listing->rows, "process ");
    put_decimal(&listing->rows, listing->thread->process->pid);
    put_text(&listing->rows, " thread ");
    put_decimal(&listing->rows, listing->thread->tid);
    put_text(&listing->rows, listing->unordered ? " unordered\n" : "\n");
}

static void write_text_constant(FILE *out, const struct trace_step *step, const char *assembly) {
    struct step_place place = find_step_place(step);
    const char *slash = strrchr(place.file, '/');
    fprintf(out, " %u %s+0x%" PRIx32, step->instruction->shown_size, place.function, place.offset);
    if (place.line)
        fprintf(out, " %s:%" PRIu32, slash ? slash + 1 : place.file, place.line);
    else
        fputs(" -", out);
    if (assembly)
        fprintf(out, " %s", assembly);
    fputc('\n', out);
}

static void write_text_step(struct listing *listing, const struct trace_step *step,
                            const struct constant *constant) {
    struct row_buffer *rows = &listing->rows;
    if (listing->options.moments)
        put_moment(listing, step, constant, "-", " ");
    put_hexadecimal(rows, step->address, 1);
    put_constant(listing, constant);
    for (size_t i = 0; i < step->references.count; i++) {
        const struct reference *reference = &step->references.data[i];
        put_bytes(rows, reference->writes ? "  W " : "  R ", 4);
        put_hexadecimal(rows, reference->address, 1);
        put_bytes(rows, " ", 1);
        put_decimal(rows, reference->size);
        put_text(rows, reference->sure ? "\n" : " ?\n");
    }
}

static void write_text_gap(FILE *out, const struct listing *listing, const char *name,
                           const reference_list *references) {
    (void)listing;
    fprintf(out, "-- not traced: %s\n", name);
    for (size_t i = 0; i < references->count; i++) {
        const struct reference *reference = &references->data[i];
        fprintf(out, "  %c %" PRIx64 " %" PRIu64 "%s\n", reference->writes ? 'W' : 'R',
                reference->address, reference->size, reference->sure ? "" : " ?");
    }
}

/* ---- JSON: an object a line ---- */

static void write_json_constant(FILE *out, const struct trace_step *step, const char *assembly) {
    struct step_place place = find_step_place(step);
    fprintf(out, ", \"size\": %u, \"function\": ", step->instruction->shown_size);
    json_write_string(out, place.function);
    fprintf(out, ", \"offset\": %" PRIu32 ", \"file\": ", place.offset);
    json_write_string(out, place.file);
    fprintf(out, ", \"line\": %" PRIu32, place.line);
    if (assembly) {
        fputs(", \"assembly\": ", out);
        json_write_string(out, assembly);
    }
    fputs(", \"references\": [", out);
}

static void write_json_step(struct listing *listing, const struct trace_step *step,
                            const struct constant *constant) {
    struct row_buffer *rows = &listing->rows;
    put_text(rows, "{\"process\": ");
    put_decimal(rows, listing->thread->process->pid);
    put_text(rows, ", \"thread\": ");
    put_decimal(rows, listing->thread->tid);
    if (listing->options.moments && step->counted) {
        put_text(rows, ", \"moment\": \"");
        put_moment(listing, step, constant, "", "\"");
    }
    put_text(rows, ", \"address\": ");
    put_decimal(rows, step->address);
    put_constant(listing, constant);
    for (size_t i = 0; i < step->references.count; i++) {
        const struct reference *reference = &step->references.data[i];
        put_text(rows, i ? ", {\"write\": " : "{\"write\": ");
        put_text(rows, reference->writes ? "true, \"address\": " : "false, \"address\": ");
        put_decimal(rows, reference->address);
        put_text(rows, ", \"size\": ");
        put_decimal(rows, reference->size);
        put_text(rows, reference->sure ? ", \"sure\": true}" : ", \"sure\": false}");
    }
    put_text(rows, !listing->options.global ? "]}\n"
                   : listing->unordered     ? "], \"ordered\": false}\n"
                                            : "], \"ordered\": true}\n");
}

static void write_json_gap(FILE *out, const struct listing *listing, const char *name,
                           const reference_list *references) {
    fprintf(out, "{\"process\": %" PRIu32 ", \"thread\": %" PRIu32 ", \"gap\": ",
            listing->thread->process->pid, listing->thread->tid);
    json_write_string(out, name);
    fputs(", \"references\": [", out);
    for (size_t i = 0; i < references->count; i++) {
        const struct reference *reference = &references->data[i];
        fprintf(out,
                "%s{\"write\": %s, \"address\": %" PRIu64 ", \"size\": %" PRIu64 ", \"sure\": %s}",
                i ? ", " : "", reference->writes ? "true" : "false", reference->address,
                reference->size, reference->sure ? "true" : "false");
    }
    fputs("]}\n", out);
}

/* ---- CSV: a row for each reference, or one for an instruction without ---- */

static void begin_csv(struct listing *listing) {
    put_text(&listing->rows, listing->options.moments ? "process,thread,moment,address,"
                                                      : "process,thread,address,");
    put_text(&listing->rows, "size,function,offset,file,line,");
    if (listing->options.assembly)
        put_text(&listing->rows, "assembly,");
    put_text(&listing->rows, "reference,access,data_address,data_size,sure");
    put_text(&listing->rows, listing->options.global ? ",ordered\r\n" : "\r\n");
}

static void write_csv_constant(FILE *out, const struct trace_step *step, const char *assembly) {
    struct step_place place = find_step_place(step);
    fprintf(out, ",%u,", step->instruction->shown_size);
    csv_field(out, place.function);
    fprintf(out, ",%" PRIu32 ",", place.offset);
    csv_field(out, place.file);
    fputc(',', out);
    if (place.line)
        fprintf(out, "%" PRIu32, place.line);
    fputc(',', out);
    if (assembly) {
        csv_field(out, assembly);
        fputc(',', out);
    }
}

static void begin_csv_row(struct listing *listing, const struct trace_step *step,
                          const struct constant *constant) {
    put_decimal(&listing->rows, listing->thread->process->pid);
    put_bytes(&listing->rows, ",", 1);
    put_decimal(&listing->rows, listing->thread->tid);
    put_bytes(&listing->rows, ",", 1);
    if (listing->options.moments)
        put_moment(listing, step, constant, "", ",");
    put_decimal(&listing->rows, step->address);
    put_constant(listing, constant);
}

static void end_csv_row(struct listing *listing) {
    if (listing->options.global)
        put_text(&listing->rows, listing->unordered ? ",0" : ",1");
    put_text(&listing->rows, "\r\n");
}

static void write_csv_step(struct listing *listing, const struct trace_step *step,
                           const struct constant *constant) {
    struct row_buffer *rows = &listing->rows;
    for (size_t i = 0; i < step->references.count; i++) {
        const struct reference *reference = &step->references.data[i];
        begin_csv_row(listing, step, constant);
        put_decimal(rows, i + 1);
        put_text(rows, reference->writes ? ",write," : ",read,");
        put_decimal(rows, reference->address);
        put_bytes(rows, ",", 1);
        put_decimal(rows, reference->size);
        put_text(rows, reference->sure ? ",1" : ",0");
        end_csv_row(listing);
    }
    if (!step->references.count) {
        begin_csv_row(listing, step, constant);
        put_text(rows, "0,,,,");
        end_csv_row(listing);
    }
}

static void begin_csv_gap(FILE *out, const struct listing *listing, const char *name) {
    fprintf(out, "%" PRIu32 ",%" PRIu32 ",,,%s", listing->thread->process->pid,
            listing->thread->tid, listing->options.moments ? "," : "");
    csv_field(out, name);
    fprintf(out, ",,,%s,", listing->options.assembly ? "," : "");
}

static void write_csv_gap(FILE *out, const struct listing *listing, const char *name,
                          const reference_list *references) {
    begin_csv_gap(out, listing, name);
    const char *end = listing->options.global ? ",\r\n" : "\r\n";
    fprintf(out, ",gap,,,%s", end);
    for (size_t i = 0; i < references->count; i++) {
        const struct reference *reference = &references->data[i];
        begin_csv_gap(out, listing, name);
        fprintf(out, "%zu,gap %s,%" PRIu64 ",%" PRIu64 ",%d%s", i + 1,
                reference->writes ? "write" : "read", reference->address, reference->size,
                reference->sure, end);
    }
}

/* ---- all formats ---- */

static const struct listing_format formats[] = {
    {"text", no_heading, begin_text_thread, write_text_constant, write_text_step, write_text_gap,
     write_text_switch},
    {"json", no_heading, no_heading, write_json_constant, write_json_step, write_json_gap,
     write_json_switch},
    {"csv", begin_csv, no_heading, write_csv_constant, write_csv_step, write_csv_gap,
     write_csv_switch},
};

static const char *format_at(size_t number) {
    return number < sizeof formats / sizeof *formats ? formats[number].name : NULL;
}

const struct listing_format *choose_listing_format(const char *name) {
    return &formats[choose_name("--format", "format", name, format_at)];
}

struct listing *begin_listing(const struct listing_options *options, FILE *out) {
    struct listing *listing = calloc(1, sizeof *listing);
    if (!listing)
        die("out of memory: %zu bytes asked for", sizeof *listing);
    listing->options = *options;
    if (!options->format)
        listing->options.format = formats;
    listing->rows.out = out;
    listing->constants.size = sizeof(struct constant);
    if (!options->begun)
        listing->options.format->begin(listing);
    return listing;
}

/* Makes the constant part of the rows of the step's instruction. */
static void make_constant(struct listing *listing, const struct trace_step *step,
                          struct constant *constant) {
    const struct listing_options *options = &listing->options;
    struct arena *arena = &listing->constants.arena;
    char *text = NULL;
    size_t size = 0;
    constant->known = true;
    constant->chosen = !options->function || strcmp(step->function->name, options->function) == 0;
    if (!constant->chosen)
        return;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        die("out of memory: no stream for text");
    options->format->write_constant(out, step, options->assembly ? step_text(arena, step) : NULL);
    if (fclose(out) != 0)
        die("out of memory: no stream for text");
    constant->text = arena_copy(arena, text, size);
    constant->size = (uint32_t)size;
    free(text);
    if (options->moments) {
        const struct binary *binary = step->function->module->binary;
        constant->place = place_text(arena, binary, step->instruction->address);
        constant->build = build_text(arena, binary);
    }
}

/* Writes the row of GAP if there is one, and if its function is one of those that are listed. */
static void list_gap(struct listing *listing, const struct trace_gap *gap,
                     const reference_list *references) {
    const char *function = listing->options.function;
    char *text = NULL;
    size_t size = 0;
    if (!is_gap(gap) || (function && gap->function && strcmp(gap->function->name, function) != 0))
        return;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        die("out of memory: no stream for text");
    listing->options.format->write_gap(out, listing, gap_name(&listing->gaps, gap), references);
    if (fclose(out) != 0)
        die("out of memory: no stream for text");
    put_bytes(&listing->rows, text, size);
    free(text);
}

/* Whether more rows are wanted behind the first NUMBER ones of those that are chosen. */
static bool wants_more(const struct listing *listing, uint64_t number) {
    const struct listing_options *options = &listing->options;
    return (number - options->skip < options->most || number < options->skip) &&
           !ferror(listing->rows.out);
}

/* Returns the constant part of the rows of the step's instruction. */
static const struct constant *constant_of(struct listing *listing, const struct trace_step *step) {
    struct constant *constant = instruction_data(&listing->constants, step);
    if (!constant->known)
        make_constant(listing, step, constant);
    return constant;
}

static void list_steps(struct listing *listing, struct trace_walk *walk) {
    const struct listing_options *options = &listing->options;
    struct trace_step *step;
    uint64_t number = 0; /* of the chosen instructions so far */
    while (wants_more(listing, number)) {
        if (!trace_step(walk, &step)) {
            const reference_list *references;
            struct trace_gap last = trace_last_gap(walk, &references);
            if (number >= options->skip)
                list_gap(listing, &last, references);
            return;
        }
        if (number >= options->skip)
            list_gap(listing, &step->gap, &step->gap_references);
        const struct constant *constant = constant_of(listing, step);
        if (constant->chosen && number++ >= options->skip)
            options->format->write_step(listing, step, constant);
    }
}

const char *list_thread(struct listing *listing, struct trace *trace,
                        const struct traced_thread *thread) {
    struct trace_walk *walk = trace_begin(trace, thread);
    listing->thread = thread;
    if (!listing->options.continues)
        listing->options.format->begin_thread(listing);
    list_steps(listing, walk);
    flush_rows(&listing->rows);
    const char *fault = trace_fault(walk);
    trace_end(walk);
    return fault;
}

/* Makes THREAD that of the next row. */
static void enter_thread(struct listing *listing, const struct traced_thread *thread) {
    if (listing->thread == thread)
        return;
    listing->thread = thread;
    listing->options.format->begin_thread(listing);
}

/* Writes the row of a switch of THREAD. */
static void list_switch(struct listing *listing, const struct traced_thread *thread,
                        const struct order_switch *leaves) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        die("out of memory: no stream for text");
    listing->options.format->write_switch(out, thread, leaves, listing->options.moments,
                                          listing->options.assembly);
    if (fclose(out) != 0)
        die("out of memory: no stream for text");
    put_bytes(&listing->rows, text, size);
    free(text);
}

static void list_ordered_steps(struct listing *listing, struct trace_order *order,
                               const struct traced_thread **threads) {
    const struct listing_options *options = &listing->options;
    struct ordered_step next;
    uint64_t number = 0; /* of the chosen instructions so far */
    while (wants_more(listing, number) && trace_order_step(order, &next)) {
        if (!next.step) {
            if (number >= options->skip)
                list_switch(listing, threads[next.thread], &next.leaves);
            continue;
        }
        const struct constant *constant = constant_of(listing, next.step);
        if (number < options->skip) {
            number += constant->chosen;
            continue;
        }
        if (!constant->chosen)
            continue;
        listing->unordered = next.unordered;
        enter_thread(listing, threads[next.thread]);
        list_gap(listing, &next.step->gap, &next.step->gap_references);
        options->format->write_step(listing, next.step, constant);
        trace_order_keep(order);
        number++;
    }
    listing->unordered = false;
    for (size_t i = 0; threads[i] && wants_more(listing, number); i++) {
        const reference_list *references;
        struct trace_gap last = trace_last_gap(trace_order_walk(order, i), &references);
        if (!last.function || trace_order_has_ended(order))
            continue;
        enter_thread(listing, threads[i]);
        list_gap(listing, &last, references);
    }
}

bool list_in_order(struct listing *listing, struct trace *trace,
                   const struct traced_thread **threads, report_listing_fault *report) {
    size_t count = 0;
    bool whole = true;
    while (threads[count])
        count++;
    struct trace_order *order = trace_order_begin(trace, threads, count);
    if (listing->options.switches)
        trace_order_tell_switches(order);
    list_ordered_steps(listing, order, threads);
    flush_rows(&listing->rows);
    for (size_t i = 0; i < count; i++) {
        const char *fault = trace_fault(trace_order_walk(order, i));
        if (!fault)
            continue;
        report(trace, threads[i], fault);
        whole = false;
    }
    trace_order_end(order);
    return whole;
}

void end_listing(struct listing *listing) {
    flush_rows(&listing->rows);
    piece_table_release(&listing->constants);
    gap_names_release(&listing->gaps);
    free(listing);
}
