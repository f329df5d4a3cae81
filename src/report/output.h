/* output.h: opens and closes the output of reports. */
#ifndef QUIPU_REPORT_OUTPUT_H
#define QUIPU_REPORT_OUTPUT_H

#include <stdio.h>

/* Opens PATH for writing. "-" is standard output. If the name ends in ".gz", the output is
 * compressed as by gzip. Ends the program with an error if it cannot be written. */
FILE *begin_output(const char *path);

/* The same for text that may contain any byte. A terminal does not get bytes that act on it. */
FILE *begin_raw_output(const char *path);

/* The same for output that is compressed already, whatever PATH ends in. A terminal does not get
 * it: this is an error. */
FILE *begin_plain_output(const char *path);

/* Closes OUT, or flushes it if it is standard output. If anything was lost, ends the program with
 * an error that names PATH. */
void end_output(FILE *out, const char *path);

#endif
