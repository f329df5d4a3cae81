/* export_json.h: declarations that the parts of the JSON export share. */
#ifndef QUIPU_REPORT_EXPORT_JSON_H
#define QUIPU_REPORT_EXPORT_JSON_H

#include "data/calls.h"
#include "data/profile.h"
#include "report/json_writer.h"

/* Writes the member "file": source file number FILE, or null if it is 0. */
void export_json_file(struct json_writer *json, const struct profile *profile, uint32_t file);

/* Writes the member "calls". CONTEXTS is NULL if there are none. */
void export_json_calls(struct json_writer *json, const struct profile *profile,
                       const struct contexts *contexts);

#endif
