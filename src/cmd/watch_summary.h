/* watch_summary.h: who wrote what was watched, how often. */
#ifndef QUIPU_CMD_WATCH_SUMMARY_H
#define QUIPU_CMD_WATCH_SUMMARY_H

#include "report/table.h"
#include "watch/session.h"

/* Writes the table to OUT. */
void print_summary(const struct session *session, const struct table_format *format, FILE *out);

#endif
