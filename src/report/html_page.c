/* html_page.c: the frame of the HTML pages, from the files in page/; see html_page.h.
 *
 * The Makefile builds this file anew when one of them changes. */
#include "report/html_page.h"

#include "util/diag.h"
#include "util/page_text.h"

#include <stdlib.h>
#include <string.h>

#define PART(name, path)                                                                           \
    __asm__(".pushsection .rodata\n"                                                               \
            "begin_of_" #name ": .incbin \"" path "\"\n"                                           \
            "end_of_" #name ": .byte 0\n"                                                          \
            ".popsection\n");                                                                      \
    extern const char begin_of_##name[], end_of_##name[];                                          \
    const struct page_part page_##name = {begin_of_##name, end_of_##name}

extern const struct page_part page_markup, page_style, page_common;
PART(markup, "src/report/page/page.html");
PART(style, "src/report/page/page.css");
PART(common, "src/report/page/common.js");
PART(profile, "src/report/page/profile.js");
PART(comparison, "src/report/page/comparison.js");
PART(hits, "src/report/page/hits.js");

static void write_part(FILE *out, const struct page_part *part) {
    fwrite(part->begin, 1, (size_t)(part->end - part->begin), out);
}

/* ---- the data ---- */

struct page_data {
    FILE *out; /* not owned */
    struct page_text text;
    struct buffer written;
};

static ssize_t write_data(void *cookie, const char *text, size_t size) {
    struct page_data *data = cookie;
    data->written.count = 0;
    page_text_add(&data->text, text, size, &data->written);
    if (data->written.count)
        fwrite(data->written.data, 1, data->written.count, data->out);
    return ferror(data->out) ? 0 : (ssize_t)size; /* 0 is an error for the stream */
}

static int close_data(void *cookie) {
    struct page_data *data = cookie;
    buffer_release(&data->written);
    free(data);
    return 0;
}

FILE *html_open_data(FILE *out) {
    struct page_data *data = calloc(1, sizeof *data);
    cookie_io_functions_t functions = {.write = write_data, .close = close_data};
    FILE *stream = data ? fopencookie(data, "w", functions) : NULL;
    if (!stream)
        die("out of memory");
    data->out = out;
    return stream;
}

/* ---- the page ---- */

FILE *html_begin_page(FILE *out, const struct page_part *script) {
    write_part(out, &page_markup);
    fputs("<style>\n", out);
    write_part(out, &page_style);
    fputs("</style>\n<script>\n", out);
    write_part(out, &page_common);
    write_part(out, script);
    fputs("</script>\n<script type=\"application/json\" id=\"data\">\n", out);
    return html_open_data(out);
}

void html_end_page(FILE *out, FILE *data) {
    fclose(data); /* an error is one of the page, too */
    fputs("</script>\n</body>\n</html>\n", out);
}
