/* reuse_svg.c: the results of 'quipu reuse' as a picture in SVG 1.1: above, the share of references
 * that a fully associative cache misses, by its size in powers of two; below, the lines that each
 * window of references used. */
#include "cmd/reuse.h"

#include "report/output.h"

#include <inttypes.h>

enum {
    WIDTH = 800, /* of the picture; units are pixels */
    LEFT = 90,   /* of a plot */
    RIGHT = 780,
    HEIGHT = 220,
    FIRST_TOP = 50,
    SECOND_TOP = 360,
    PICTURE_HEIGHT = 630,
    LABEL = 18, /* from a plot's border to its labels */
    LABELS = 8, /* at most so many below a plot */
};

/* A plot: from (0, 0) at the lower left to (1, 1) at the upper right. */
struct plot {
    FILE *out;
    int top;
};

static double x_of(double x) {
    return LEFT + x * (RIGHT - LEFT);
}

static double y_of(const struct plot *plot, double y) {
    return plot->top + (1 - y) * HEIGHT;
}

/* Writes text that may contain any character. */
static void write_text(FILE *out, const char *text) {
    for (; *text; text++)
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else
            fputc((unsigned char)*text < ' ' ? '?' : *text, out);
}

static void begin_plot(const struct plot *plot, const char *title, const char *highest) {
    fprintf(plot->out,
            "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#888\"/>\n",
            LEFT, plot->top, RIGHT - LEFT, HEIGHT);
    fprintf(plot->out, "<text x=\"%d\" y=\"%d\">%s</text>\n", LEFT, plot->top - 8, title);
    fprintf(plot->out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", LEFT - 6,
            plot->top + LABEL / 2, highest);
    fprintf(plot->out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">0</text>\n", LEFT - 6,
            plot->top + HEIGHT);
    fputs("<polyline fill=\"none\" stroke=\"#0b62a4\" stroke-width=\"1.5\" points=\"", plot->out);
}

static void write_point(const struct plot *plot, double x, double y) {
    fprintf(plot->out, "%.1f,%.1f ", x_of(x), y_of(plot, y));
}

static void end_points(const struct plot *plot) {
    fputs("\"/>\n", plot->out);
}

static void write_label(const struct plot *plot, double x, uint64_t number) {
    static const char units[] = " KMG";
    size_t unit = 0;
    for (; number >= 1024 && number % 1024 == 0 && units[unit + 1]; number /= 1024)
        unit++;
    fprintf(plot->out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%" PRIu64 "%.*s</text>\n",
            x_of(x), plot->top + HEIGHT + LABEL, number, unit != 0, &units[unit]);
}

static void write_sizes(FILE *out, const struct reuse *reuse) {
    struct plot plot = {out, FIRST_TOP};
    unsigned steps = 1;
    while (reuse_misses(reuse, UINT64_C(1) << steps) > reuse->first_uses)
        steps++;
    begin_plot(&plot, "misses by size of a fully associative cache, in bytes", "100 %");
    for (unsigned i = 0; i <= steps && reuse->references; i++)
        write_point(&plot, (double)i / steps,
                    (double)reuse_misses(reuse, UINT64_C(1) << i) / (double)reuse->references);
    end_points(&plot);
    unsigned every = steps / LABELS + 1;
    for (unsigned i = 0; i <= steps; i += every)
        write_label(&plot, (double)i / steps, UINT64_C(1) << (i + reuse->line_bits));
}

static void write_windows(FILE *out, const struct reuse *reuse) {
    struct plot plot = {out, SECOND_TOP};
    size_t count = reuse->working_set.count;
    uint64_t most = 1;
    char highest[24];
    for (size_t i = 0; i < count; i++)
        if (reuse->working_set.data[i] > most)
            most = reuse->working_set.data[i];
    snprintf(highest, sizeof highest, "%" PRIu64, most);
    begin_plot(&plot, "working set: lines used in each window of references", highest);
    for (size_t i = 0; i < count; i++) { /* a step for each window */
        double y = (double)reuse->working_set.data[i] / (double)most;
        write_point(&plot, (double)i / (double)count, y);
        write_point(&plot, (double)(i + 1) / (double)count, y);
    }
    end_points(&plot);
    write_label(&plot, 0, 0);
    write_label(&plot, 1, reuse->references);
}

void write_reuse_svg(const struct reuse_options *options, const struct reuse *reuse,
                     const char *path) {
    FILE *out = begin_output(options->output);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<text x=\"%d\" y=\"20\">",
            WIDTH, PICTURE_HEIGHT, LEFT);
    write_text(out, path);
    fprintf(out, ": %" PRIu64 " references to %zu lines of %u bytes</text>\n", reuse->references,
            reuse->lines.count, options->line);
    write_sizes(out, reuse);
    write_windows(out, reuse);
    fputs("</svg>\n", out);
    end_output(out, options->output);
}
