/* info_schedule.c: quipu info of a trace's schedule; see info_schedule.h. */
#include "cmd/info_schedule.h"

#include "trace/schedule.h"

#include <inttypes.h>

void add_switch(struct schedule_sums *sums, const struct order_switch *leaves) {
    sums->switches++;
    sums->of_cause[leaves->cause]++;
    sums->inexact += leaves->earlier != 0;
    if (leaves->earlier > sums->most)
        sums->most = leaves->earlier;
}

void write_text_schedule(FILE *out, const struct trace *trace, const struct schedule_sums *sums) {
    const struct trace_schedule *schedule = trace->schedule;
    if (!schedule)
        return;
    if (schedule->source == QUIPU_TRACE_BY_RECORDING)
        fprintf(out, "  schedule      of the recording: %" PRIu64 " switches", sums->switches);
    else
        fprintf(out, "  schedule      on processor %" PRIu32 ", by %s: %" PRIu64 " switches",
                schedule->processor, schedule_source_name(schedule->source), sums->switches);
    for (int cause = QUIPU_TRACE_BLOCKED; cause <= QUIPU_TRACE_ENDED && sums->switches; cause++)
        fprintf(out, ", %" PRIu64 " %s", sums->of_cause[cause], switch_cause_name(cause));
    fputc('\n', out);
    if (schedule->source == QUIPU_TRACE_BY_TICKETS)
        fprintf(out, "    between two tickets of a thread it is not known where others ran\n");
    else if (sums->inexact)
        fprintf(out, "    %" PRIu64 " may have been earlier, by at most %" PRIu64 " instructions\n",
                sums->inexact, sums->most);
    if (schedule->others)
        fprintf(out, "    %" PRIu64 " more of threads that have no records\n", schedule->others);
    if (schedule->lost)
        fprintf(out, "    %" PRIu64 " events were lost\n", schedule->lost);
}

void write_json_schedule(struct json_writer *json, const struct trace *trace,
                         const struct schedule_sums *sums) {
    const struct trace_schedule *schedule = trace->schedule;
    if (!schedule) {
        json_null(json, "schedule");
        return;
    }
    json_open_object(json, "schedule");
    json_unsigned(json, "processor", schedule->processor);
    json_string(json, "source", schedule_source_name(schedule->source));
    json_unsigned(json, "switches", sums->switches);
    for (int cause = QUIPU_TRACE_BLOCKED; cause <= QUIPU_TRACE_ENDED; cause++)
        json_unsigned(json, switch_cause_name(cause), sums->of_cause[cause]);
    json_unsigned(json, "inexact", sums->inexact);
    json_unsigned(json, "earlier_most", sums->most);
    json_unsigned(json, "others", schedule->others);
    json_unsigned(json, "lost", schedule->lost);
    json_close(json);
}
