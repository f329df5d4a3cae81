/* html_page.h: the frame of the HTML pages: markup, style and scripts around the data.
 *
 * A page is one file that needs no network. The data is the last element, so a page whose end was
 * not written, because the program that writes it was killed, shows what it has. */
#ifndef QUIPU_REPORT_HTML_PAGE_H
#define QUIPU_REPORT_HTML_PAGE_H

#include <stdio.h>

/* A file of page/, in the program. */
struct page_part {
    const char *begin, *end;
};

/* The scripts of the pages. */
extern const struct page_part page_profile, page_comparison, page_hits;

/* Returns a stream to OUT for data, which is JSON or lines of it, as util/page_text.h describes.
 * Errors stay in OUT. The caller closes the stream. */
FILE *html_open_data(FILE *out);

/* Writes to OUT what stands in front of the data, which SCRIPT shows. Returns a stream for the
 * data, as html_open_data does. */
FILE *html_begin_page(FILE *out, const struct page_part *script);

/* Closes DATA, and writes what stands behind the data. */
void html_end_page(FILE *out, FILE *data);

#endif
