/* listing_switch.c: rows for switches of a schedule; see listing_switch.h. */
#include "trace/listing_switch.h"

#include "report/csv_writer.h"
#include "report/json_writer.h"
#include "trace/place.h"
#include "trace/schedule.h"

#include <inttypes.h>
#include <string.h>

/* Returns the place of the thread's last instruction; its function is "" if there is none. */
static struct step_place place_of(const struct order_switch *leaves) {
    const struct switch_place *place = &leaves->place;
    if (!place->function)
        return (struct step_place){.function = "", .file = ""};
    return find_step_place(&(struct trace_step){
        .function = place->function, .piece = place->piece, .instruction = place->instruction});
}

void write_text_switch(FILE *out, const struct traced_thread *thread,
                       const struct order_switch *leaves, bool moments, bool assembly) {
    struct step_place place = place_of(leaves);
    const char *slash = strrchr(place.file, '/');
    (void)moments;
    (void)assembly;
    fprintf(out, "-- switch: process %" PRIu32 " thread %" PRIu32 " %s", thread->process->pid,
            thread->tid, switch_cause_name(leaves->cause));
    if (*place.function)
        fprintf(out, " behind %s+0x%" PRIx32, place.function, place.offset);
    if (place.line)
        fprintf(out, " %s:%" PRIu32, slash ? slash + 1 : place.file, place.line);
    if (leaves->earlier)
        fprintf(out, ", or up to %" PRIu64 " instructions earlier", leaves->earlier);
    fputc('\n', out);
}

void write_json_switch(FILE *out, const struct traced_thread *thread,
                       const struct order_switch *leaves, bool moments, bool assembly) {
    struct step_place place = place_of(leaves);
    (void)moments;
    (void)assembly;
    fprintf(out,
            "{\"process\": %" PRIu32 ", \"thread\": %" PRIu32
            ", \"switch\": \"%s\", \"time\": %" PRIu64 ", \"earlier\": %" PRIu64 ", \"function\": ",
            thread->process->pid, thread->tid, switch_cause_name(leaves->cause), leaves->time,
            leaves->earlier);
    json_write_string(out, place.function);
    fprintf(out, ", \"offset\": %" PRIu32 ", \"file\": ", place.offset);
    json_write_string(out, place.file);
    fprintf(out, ", \"line\": %" PRIu32 "}\n", place.line);
}

void write_csv_switch(FILE *out, const struct traced_thread *thread,
                      const struct order_switch *leaves, bool moments, bool assembly) {
    struct step_place place = place_of(leaves);
    fprintf(out, "%" PRIu32 ",%" PRIu32 ",,,%s", thread->process->pid, thread->tid,
            moments ? "," : "");
    csv_field(out, place.function);
    fprintf(out, ",%" PRIu32 ",", place.offset);
    csv_field(out, place.file);
    fputc(',', out);
    if (place.line)
        fprintf(out, "%" PRIu32, place.line);
    fprintf(out, ",%s,switch %s,,%" PRIu64 ",%d,\r\n", assembly ? "," : "",
            switch_cause_name(leaves->cause), leaves->earlier, leaves->earlier == 0);
}
