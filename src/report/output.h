/* output.h: the end of writing a report. */
#ifndef QUIPU_REPORT_OUTPUT_H
#define QUIPU_REPORT_OUTPUT_H

#include <stdio.h>

/* Opens PATH as open_output does (report/export.h).  Ends the program with an error where it cannot
 * be written. */
FILE *begin_output(const char *path);

/* The same for text that may hold any byte as it is: a terminal gets it without those that act on
 * it. */
FILE *begin_raw_output(const char *path);

/* The same for what is compressed already, whatever PATH ends in.  A terminal does not get it: that
 * is an error. */
FILE *begin_plain_output(const char *path);

/* Closes OUT, or flushes it where it is standard output.  Ends the program with an error that names
 * it where anything written to it was lost. */
void end_output(FILE *out, const char *path);

#endif
