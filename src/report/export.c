/* export.c: the table of export formats. */
#include "report/export.h"

#include "util/near.h"

const struct export_format export_formats[] = {
    {"html", "a page for a browser: functions, files, source, assembly, calls, flame graph",
     export_html, EXPORT_CALLS, true, false, false, true},
    {"callgrind", "for KCachegrind and callgrind_annotate: instructions, lines, jumps, calls",
     export_callgrind, EXPORT_CALLS, false, false, false, false},
    {"lcov", "for genhtml and lcov: lines, functions, branches", export_lcov, EXPORT_NO_CALLS,
     false, false, true, false},
    {"cobertura", "XML for CI systems: lines, functions, branches", export_cobertura,
     EXPORT_NO_CALLS, false, false, true, false},
    {"gcov-json", "as 'gcov --json-format' of gcc 12 writes it; gzip with -o NAME.json.gz",
     export_gcov_json, EXPORT_NO_CALLS, false, false, true, false},
    {"gcovr", "for 'gcovr -a FILE': lines, functions, branches", export_gcovr, EXPORT_NO_CALLS,
     false, false, true, false},
    {"json", "all there is: processes, functions, blocks, edges, instructions, lines, calls",
     export_json, EXPORT_CALLS, false, false, false, false},
    {"collapsed", "for flamegraph.pl and the like: paths of calls (--quipu=calls)",
     export_collapsed, EXPORT_CALLS_ONLY, false, false, false, false},
    {"pprof", "for 'go tool pprof': paths of calls (--quipu=calls); always compressed",
     export_pprof, EXPORT_CALLS_ONLY, false, true, false, false},
    {"speedscope", "for speedscope: paths of calls of each thread (--quipu=calls)",
     export_speedscope, EXPORT_CALLS_ONLY, true, false, false, false},
};

const size_t export_format_count = sizeof export_formats / sizeof *export_formats;

static const char *format_name_at(size_t i) {
    return i < export_format_count ? export_formats[i].name : NULL;
}

const struct export_format *choose_export_format(const char *name) {
    return &export_formats[choose_name("--to", "format", name, format_name_at)];
}
