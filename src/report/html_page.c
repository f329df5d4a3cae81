/* html_page.c: the frame of the HTML pages, from the files in page/; see html_page.h.
 *
 * The Makefile builds this file anew when one of them changes. */
#include "report/html_page.h"

#include "util/diag.h"

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

/* Writes SIZE bytes of the data. COOKIE is the page. */
static ssize_t write_escaped(void *cookie, const char *text, size_t size) {
    FILE *out = cookie;
    for (const char *end = text + size; text < end;) {
        const char *next = memchr(text, '<', (size_t)(end - text));
        const char *until = next ? next : end;
        fwrite(text, 1, (size_t)(until - text), out);
        if (next)
            fputs("\\u003c", out);
        text = next ? next + 1 : end;
    }
    return ferror(out) ? 0 : (ssize_t)size; /* 0 is an error for the stream */
}

FILE *html_begin_page(FILE *out, const struct page_part *script) {
    write_part(out, &page_markup);
    fputs("<style>\n", out);
    write_part(out, &page_style);
    fputs("</style>\n<script>\n", out);
    write_part(out, &page_common);
    write_part(out, script);
    fputs("</script>\n<script type=\"application/json\" id=\"data\">\n", out);
    FILE *data = fopencookie(out, "w", (cookie_io_functions_t){.write = write_escaped});
    if (!data)
        die("out of memory");
    return data;
}

void html_end_page(FILE *out, FILE *data) {
    fclose(data); /* an error is one of the page, too */
    fputs("</script>\n</body>\n</html>\n", out);
}
