/* export.c: the formats for traces; see export.h. */
#include "trace/export.h"

#include <string.h>

const struct trace_export trace_exports[] = {
    {"lackey", "instructions and data, as valgrind --tool=lackey --trace-mem=yes", export_lackey,
     false, false},
    {"din", "instructions and data for Dinero IV and other cache simulators", export_din, false,
     false},
    {"champsim", "instructions with registers and data for ChampSim; of one thread",
     export_champsim, true, true},
    {"json", "an object a line, as quipu print --format=json", export_trace_json, false, false},
};
const size_t trace_export_count = sizeof trace_exports / sizeof *trace_exports;

const struct trace_export *find_trace_export(const char *name) {
    for (size_t i = 0; i < trace_export_count; i++)
        if (strcmp(trace_exports[i].name, name) == 0)
            return &trace_exports[i];
    return NULL;
}
