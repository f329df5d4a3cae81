/* export_cobertura.c: writes Cobertura's XML, which GitLab, Jenkins, Azure and many others read.
 *
 * Source: Cobertura's coverage-04.dtd. Sample:
 *
 *     <coverage line-rate="1.0000" ... version="quipu 1" timestamp="1700000000">
 *       <sources><source>/home/user</source></sources>
 *       <packages>
 *         <package name="src" ...><classes>
 *           <class name="max_c" filename="src/max.c" ...>
 *             <methods>
 *               <method name="main" signature="" ...><lines><line .../></lines></method>
 *             </methods>
 *             <lines>
 *               <line number="13" hits="1000" branch="true" condition-coverage="50% (1/2)"/>
 *
 * A package is a directory, and a class is a file. There is one source root, and all file names are
 * relative to it. If a directory was requested, that is the root, and only files below it are
 * written. Otherwise the root is the deepest directory that contains all files. line_counts.h
 * defines the counts of lines, and branches. `timestamp` is the start of the latest run, in seconds
 * since 1970. A rate of nothing is 1, as in Cobertura itself.
 *
 * Not perfect: `complexity` is not measured, and always 0. */
#include "report/export.h"
#include "report/line_counts.h"
#include "report/source_functions.h"
#include "report/source_paths.h"
#include "util/path.h"
#include "util/utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A class. */
struct source_file {
    const char *name; /* relative to the root */
    const struct file_lines *lines;
    struct coverage coverage;
};

struct cobertura {
    FILE *out;
    struct source_file *files; /* sorted by directory, then by name */
    size_t file_count;
    struct source_functions functions;
    struct coverage coverage;
};

/* ---- text ---- */

/* Writes TEXT inside of an element or attribute. The result is valid, whatever TEXT contains. */
static void write_text(FILE *out, const char *text) {
    static const struct {
        char byte;
        const char *text;
    } escapes[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};
    while (*text) {
        size_t length = utf8_length(text);
        const char *escape = NULL;
        for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++)
            if (*text == escapes[i].byte)
                escape = escapes[i].text;
        bool other = length == 3 && memcmp(text, "\xef\xbf", 2) == 0 && (text[2] & 0x3e) == 0x3e;
        if (length == 0 || (unsigned char)*text < 0x20 || other) /* XML 1.0 has no such character */
            escape = "&#xfffd;";
        if (escape)
            fputs(escape, out);
        else if (acts_on_terminal(utf8_character(text, length)))
            fprintf(out, "&#x%x;", utf8_character(text, length));
        else
            fwrite(text, 1, length, out);
        text += length ? length : 1;
    }
}

static void write_attribute(FILE *out, const char *name, const char *value) {
    fprintf(out, " %s=\"", name);
    write_text(out, value);
    fputc('"', out);
}

/* ---- counts ---- */

static double rate(size_t part, size_t whole) {
    return whole ? (double)part / (double)whole : 1;
}

static void write_rates(FILE *out, struct coverage coverage) {
    fprintf(out, " line-rate=\"%.4f\" branch-rate=\"%.4f\" complexity=\"0\"",
            rate(coverage.lines_hit, coverage.lines),
            rate(coverage.branches_hit, coverage.branches));
}

/* ---- elements ---- */

static void write_lines(FILE *out, const struct file_lines *lines, const char *indent) {
    fprintf(out, "%s<lines>\n", indent);
    for (size_t i = 0; lines && i < lines->line_count; i++) {
        const struct line_count *line = &lines->lines[i];
        struct coverage coverage = line_coverage(line);
        fprintf(out, "%s  <line number=\"%" PRIu32 "\" hits=\"%" PRIu64 "\"", indent, line->line,
                line->executions);
        if (coverage.branches)
            fprintf(out, " branch=\"true\" condition-coverage=\"%zu%% (%zu/%zu)\"",
                    100 * coverage.branches_hit / coverage.branches, coverage.branches_hit,
                    coverage.branches);
        else
            fputs(" branch=\"false\"", out);
        fputs("/>\n", out);
    }
    fprintf(out, "%s</lines>\n", indent);
}

static void write_method(FILE *out, const struct source_function *function) {
    struct arena arena = {0};
    const struct line_counts *counts =
        count_function_lines(&arena, function->copies, function->copy_count);
    const struct file_lines *lines = find_file_lines(counts, function->file);
    fputs("            <method", out);
    write_attribute(out, "name", function->demangled);
    fputs(" signature=\"\"", out);
    write_rates(out, file_coverage(lines));
    fputs(">\n", out);
    write_lines(out, lines, "              ");
    fputs("            </method>\n", out);
    arena_release(&arena);
}

static void write_class(const struct cobertura *cobertura, const struct source_file *file) {
    struct arena arena = {0};
    FILE *out = cobertura->out;
    const char *base = last_part(file->name);
    char *name = arena_copy(&arena, base, strlen(base));
    for (char *c = name; *c; c++)
        *c = *c == '.' ? '_' : *c;
    fputs("        <class", out);
    write_attribute(out, "name", name);
    write_attribute(out, "filename", file->name);
    write_rates(out, file->coverage);
    fputs(">\n          <methods>\n", out);
    const struct source_function *end;
    const struct source_function *function =
        functions_of_file(&cobertura->functions, file->lines->file, &end);
    for (; function < end; function++)
        write_method(out, function);
    fputs("          </methods>\n", out);
    write_lines(out, file->lines, "          ");
    fputs("        </class>\n", out);
    arena_release(&arena);
}

static size_t directory_length(const char *name) {
    const char *slash = strrchr(name, '/');
    return slash ? (size_t)(slash - name) : 0;
}

static bool same_directory(const char *a, const char *b) {
    size_t length = directory_length(a);
    return length == directory_length(b) && memcmp(a, b, length) == 0;
}

/* Writes the package of COUNT files, from FILES on. */
static void write_package(const struct cobertura *cobertura, const struct source_file *files,
                          size_t count) {
    struct arena arena = {0};
    FILE *out = cobertura->out;
    struct coverage coverage = {0};
    for (size_t i = 0; i < count; i++)
        add_coverage(&coverage, files[i].coverage);
    char *name = arena_copy(&arena, files->name, directory_length(files->name));
    for (char *c = name; *c; c++)
        *c = *c == '/' ? '.' : *c;
    fputs("    <package", out);
    write_attribute(out, "name", name);
    write_rates(out, coverage);
    fputs(">\n      <classes>\n", out);
    for (size_t i = 0; i < count; i++)
        write_class(cobertura, &files[i]);
    fputs("      </classes>\n    </package>\n", out);
    arena_release(&arena);
}

static void write_head(const struct cobertura *cobertura, const struct export_input *input,
                       const char *root) {
    FILE *out = cobertura->out;
    const struct coverage *coverage = &cobertura->coverage;
    uint64_t latest = 0;
    for (size_t i = 0; i < input->profile->processes.count; i++)
        if (input->profile->processes.data[i].start_time > latest)
            latest = input->profile->processes.data[i].start_time;
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          "<!DOCTYPE coverage SYSTEM \"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">\n"
          "<coverage",
          out);
    write_rates(out, *coverage);
    fprintf(out,
            " lines-covered=\"%zu\" lines-valid=\"%zu\" branches-covered=\"%zu\""
            " branches-valid=\"%zu\" version=\"quipu %s\" timestamp=\"%" PRIu64 "\">\n",
            coverage->lines_hit, coverage->lines, coverage->branches_hit, coverage->branches,
            input->version, latest / 1000000000);
    fputs("  <sources>\n    <source>", out);
    write_text(out, root);
    fputs("</source>\n  </sources>\n", out);
}

static int compare_files(const void *left, const void *right) {
    const struct source_file *a = left, *b = right;
    size_t a_length = directory_length(a->name), b_length = directory_length(b->name);
    int order = memcmp(a->name, b->name, a_length < b_length ? a_length : b_length);
    if (!order)
        order = (a_length > b_length) - (a_length < b_length);
    return order ? order : strcmp(a->name, b->name);
}

/* Returns the root that was given, or the deepest directory that contains all files with code. */
static const char *find_root(struct arena *arena, const struct export_input *input,
                             const char *const *files, const struct line_counts *counts) {
    if (input->source_root)
        return input->source_root;
    const char **used = ARENA_ARRAY(arena, const char *, counts->file_count);
    for (size_t i = 0; i < counts->file_count; i++)
        used[i] = files[counts->files[i].file];
    return common_directory(arena, used, counts->file_count);
}

static void find_classes(struct arena *arena, struct cobertura *cobertura, const char *const *files,
                         const struct line_counts *counts, const char *root) {
    cobertura->files = ARENA_ARRAY(arena, struct source_file, counts->file_count);
    for (size_t i = 0; i < counts->file_count; i++) {
        const struct file_lines *lines = &counts->files[i];
        const char *path = files[lines->file];
        if (!path)
            continue;
        const char *name = path_below(path, root);
        struct source_file *file = &cobertura->files[cobertura->file_count++];
        *file = (struct source_file){name ? name : path, lines, file_coverage(lines)};
        add_coverage(&cobertura->coverage, file->coverage);
    }
    qsort(cobertura->files, cobertura->file_count, sizeof *cobertura->files, compare_files);
}

void export_cobertura(const struct export_input *input, FILE *out) {
    struct arena arena = {0};
    struct cobertura cobertura = {.out = out};
    const struct line_counts *counts = count_covered_lines(&arena, input->profile);
    const char **files = source_files(&arena, input->profile, input->source_root);
    const char *root = find_root(&arena, input, files, counts);
    find_classes(&arena, &cobertura, files, counts, root);
    cobertura.functions = find_source_functions(&arena, input->profile);
    write_head(&cobertura, input, root);
    fputs("  <packages>\n", out);
    for (size_t i = 0, count; i < cobertura.file_count; i += count) {
        const struct source_file *first = &cobertura.files[i];
        for (count = 1;
             i + count < cobertura.file_count && same_directory(first->name, first[count].name);
             count++)
            continue;
        write_package(&cobertura, first, count);
    }
    fputs("  </packages>\n</coverage>\n", out);
    arena_release(&arena);
}
