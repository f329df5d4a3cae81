/* csv_writer.h: a field of comma-separated values, as RFC 4180 has it. */
#ifndef QUIPU_REPORT_CSV_WRITER_H
#define QUIPU_REPORT_CSV_WRITER_H

#include <stdio.h>

/* Writes TEXT, in quotes where it has a comma, a quote or a line break.  All bytes are written as
 * they are, but to a terminal those that act on it. */
void csv_field(FILE *out, const char *text);

#endif
