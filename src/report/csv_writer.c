/* csv_writer.c: a field of comma-separated values; see csv_writer.h. */
#include "report/csv_writer.h"

#include <string.h>

void csv_field(FILE *out, const char *text) {
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}
