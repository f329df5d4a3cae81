/* csv_writer.h: writes a field of comma-separated values (RFC 4180). */
#ifndef QUIPU_REPORT_CSV_WRITER_H
#define QUIPU_REPORT_CSV_WRITER_H

#include <stdio.h>

/* Writes TEXT, in quotes if it contains a comma, a quote or a line break. If OUT is a terminal,
 * bytes that act on it are replaced. Otherwise all bytes are written unchanged. */
void csv_field(FILE *out, const char *text);

#endif
