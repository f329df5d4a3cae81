/* export_references.c: traces as text of addresses, for cache simulators.
 *
 * lackey (Valgrind manual, chapter 13):
 *     I  addr,size        an instruction
 *      L addr,size        what it reads
 *      S addr,size        what it writes
 *      M addr,size        both, at one address
 * An address has at least 8 hexadecimal digits. lackey itself writes a string instruction with a
 * repeat prefix anew for each turn; here it is one instruction with all its references.
 *
 * din (Dinero IV): a label and an address in hexadecimal: 0 reads, 1 writes, 2 executes. */
#include "trace/export.h"

#include "trace/listing.h"
#include "trace/row_buffer.h"

#include <stdlib.h>

typedef void write_row(struct row_buffer *rows, const struct trace_step *step);

static const char *export_rows(struct trace *trace, const struct traced_thread *thread, FILE *out,
                               write_row *write) {
    struct row_buffer rows = {.out = out};
    struct trace_walk *walk = trace_begin(trace, thread);
    struct trace_step *step;
    while (!ferror(out) && trace_step(walk, &step))
        write(&rows, step);
    flush_rows(&rows);
    const char *fault = trace_fault(walk);
    trace_end(walk);
    return fault;
}

/* ---- lackey ---- */

enum {
    LACKEY_DIGITS = 8,
    LONGEST = 4096
};

static void put_lackey(struct row_buffer *rows, const char *kind, uint64_t address, uint64_t size) {
    put_bytes(rows, kind, 3);
    put_hexadecimal(rows, address, LACKEY_DIGITS);
    put_bytes(rows, ",", 1);
    put_decimal(rows, size);
    put_bytes(rows, "\n", 1);
}

/* Whether the instruction changes memory there: the next reference writes what this one reads. */
static bool is_changed(const struct trace_step *step, size_t i) {
    const struct reference *read = &step->references.data[i];
    const struct reference *next = read + 1;
    return !read->writes && i + 1 < step->references.count && next->writes &&
           next->address == read->address && next->size == read->size;
}

/* What functions of the C library have accessed belongs to no instruction of the trace. What is
 * longer than a page is cut. */
static void write_lackey_gap(struct row_buffer *rows, const struct trace_step *step) {
    for (size_t i = 0; i < step->gap_references.count; i++) {
        const struct reference *reference = &step->gap_references.data[i];
        uint64_t address = reference->address, left = reference->sure ? reference->size : 0;
        for (uint64_t size; left; address += size, left -= size) {
            size = left < LONGEST ? left : LONGEST;
            put_lackey(rows, reference->writes ? " S " : " L ", address, size);
        }
    }
}

static void write_lackey(struct row_buffer *rows, const struct trace_step *step) {
    write_lackey_gap(rows, step);
    put_lackey(rows, "I  ", step->address, step->instruction->shown_size);
    for (size_t i = 0; i < step->references.count; i++) {
        const struct reference *reference = &step->references.data[i];
        bool changed = is_changed(step, i);
        put_lackey(rows,
                   changed             ? " M "
                   : reference->writes ? " S "
                                       : " L ",
                   reference->address, reference->size);
        i += changed;
    }
}

const char *export_lackey(struct trace *trace, const struct traced_thread *thread, FILE *out) {
    return export_rows(trace, thread, out, write_lackey);
}

/* ---- din ---- */

static void put_din(struct row_buffer *rows, const char *label, uint64_t address) {
    put_bytes(rows, label, 2);
    put_hexadecimal(rows, address, 1);
    put_bytes(rows, "\n", 1);
}

static void write_din_gap(struct row_buffer *rows, const struct trace_step *step) {
    for (size_t i = 0; i < step->gap_references.count; i++)
        if (step->gap_references.data[i].sure)
            put_din(rows, step->gap_references.data[i].writes ? "1 " : "0 ",
                    step->gap_references.data[i].address);
}

static void write_din(struct row_buffer *rows, const struct trace_step *step) {
    write_din_gap(rows, step);
    put_din(rows, "2 ", step->address);
    for (size_t i = 0; i < step->references.count; i++)
        put_din(rows, step->references.data[i].writes ? "1 " : "0 ",
                step->references.data[i].address);
}

const char *export_din(struct trace *trace, const struct traced_thread *thread, FILE *out) {
    return export_rows(trace, thread, out, write_din);
}

/* ---- JSON ---- */

const char *export_trace_json(struct trace *trace, const struct traced_thread *thread, FILE *out) {
    struct listing_options options = {.most = UINT64_MAX, .format = choose_listing_format("json")};
    struct listing *listing = begin_listing(&options, out);
    const char *fault = list_thread(listing, trace, thread);
    end_listing(listing);
    return fault;
}
