/* watch_summary.h: the table of the writers of watched objects, and how often they wrote. */
#ifndef QUIPU_CMD_WATCH_SUMMARY_H
#define QUIPU_CMD_WATCH_SUMMARY_H

#include "report/table.h"
#include "watch/session.h"

/* Writes the table to OUT. */
void print_summary(const struct session *session, const struct table_format *format, FILE *out);

#endif
