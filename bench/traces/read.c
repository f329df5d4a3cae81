/* read.c: reads all records of a trace through the C interface, and takes the time of that.
 *
 *     read TRACE
 *
 * Prints how many records there are, and how many were read in a second of processor time. The sum
 * of all that they tell keeps the compiler from leaving anything out. */
#include "open.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

static double processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static uint64_t sum_of(const struct quipu_trace_record *record) {
    uint64_t sum = record->address + record->size;
    for (size_t i = 0; i < record->reference_count; i++)
        sum = sum * 31 + record->references[i].address + record->references[i].size;
    return sum;
}

int main(int argc, char **argv) {
    struct quipu_trace *trace = open_argument(argc, argv, "read");
    uint64_t records = 0, sum = 0;
    double begin = processor_seconds();
    for (size_t thread = 0; thread < quipu_trace_threads(trace); thread++) {
        struct quipu_trace_reader *reader = quipu_trace_begin(trace, thread);
        const struct quipu_trace_record *record;
        for (; reader && (record = quipu_trace_next(reader)); records++)
            sum = sum * 31 + sum_of(record);
        end_reader(reader, thread);
    }
    double seconds = processor_seconds() - begin;
    quipu_trace_close(trace);
    printf("%" PRIu64 " %.6g %" PRIx64 "\n", records, (double)records / seconds, sum);
    return 0;
}
