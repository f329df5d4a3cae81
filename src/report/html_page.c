/* html_page.c: the markup, style and script of the HTML page, from the files in page/.
 *
 * The Makefile builds this file anew when one of them changes. */
#include "report/html.h"

#define PART(name, path)                                                                           \
    __asm__(".pushsection .rodata\n"                                                               \
            "begin_of_" #name ": .incbin \"" path "\"\n"                                           \
            "end_of_" #name ": .byte 0\n"                                                          \
            ".popsection\n");                                                                      \
    extern const char begin_of_##name[], end_of_##name[];                                          \
    const struct page_part page_##name = {begin_of_##name, end_of_##name}

PART(markup, "src/report/page/page.html");
PART(style, "src/report/page/page.css");
PART(script, "src/report/page/page.js");
