/* csv_writer.c: writes a field of comma-separated values; see csv_writer.h. */
#include "report/csv_writer.h"

#include "util/terminal.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* Whether OUT is a terminal. Keeps the answer for the next fields of OUT. */
static bool is_terminal(FILE *out) {
    static FILE *asked;
    static bool answer;
    if (out != asked)
        answer = isatty(fileno(out));
    asked = out;
    return answer;
}

void csv_field(FILE *out, const char *text) {
    bool quoted = strpbrk(text, ",\"\r\n");
    if (quoted)
        fputc('"', out);
    for (size_t length; *text; text += length) {
        length = strcspn(text, "\"");
        if (is_terminal(out))
            write_text_safely(out, text, length, "");
        else
            fwrite(text, 1, length, out);
        if (text[length] == '"') {
            fputs("\"\"", out);
            length++;
        }
    }
    if (quoted)
        fputc('"', out);
}
