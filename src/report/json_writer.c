/* json_writer.c: writes JSON piece by piece; see json_writer.h. */
#include "report/json_writer.h"

#include "util/diag.h"
#include "util/utf8.h"

#include <inttypes.h>
#include <math.h>

void json_write_string(FILE *out, const char *text) {
    fputc('"', out);
    while (*text) {
        unsigned char c = (unsigned char)*text;
        size_t length = utf8_length(text);
        if (length == 0) {
            fputs("\\ufffd", out);
            length = 1;
        } else if (c == '"' || c == '\\') {
            fprintf(out, "\\%c", c);
        } else if (acts_on_terminal(utf8_character(text, length))) {
            fprintf(out, "\\u%04x", utf8_character(text, length));
        } else {
            fwrite(text, 1, length, out);
        }
        text += length;
    }
    fputc('"', out);
}

static void indent(struct json_writer *json) {
    if (json->depth > json->line_depth)
        return;
    fprintf(json->out, "\n%*s", (int)(2 * json->depth), "");
}

/* Writes everything in front of a value: comma, new line, key. */
static void begin_value(struct json_writer *json, const char *key) {
    bool in_object = json->depth && json->closing[json->depth] == '}';
    CHECK(in_object == (key != NULL));
    if (json->used[json->depth]) {
        CHECK(json->depth > 0); /* there is only one outermost value */
        fputs(json->depth > json->line_depth ? ", " : ",", json->out);
    }
    json->used[json->depth] = true;
    if (json->depth)
        indent(json);
    if (key) {
        json_write_string(json->out, key);
        fputs(": ", json->out);
    }
}

static void open_container(struct json_writer *json, const char *key, char opening, char closing) {
    begin_value(json, key);
    CHECK(json->depth < JSON_DEPTH_MAX);
    json->depth++;
    json->used[json->depth] = false;
    json->closing[json->depth] = closing;
    fputc(opening, json->out);
}

struct json_writer json_start(FILE *out, unsigned line_depth) {
    return (struct json_writer){.out = out, .line_depth = line_depth};
}

void json_end(struct json_writer *json) {
    CHECK(json->depth == 0);
    fputc('\n', json->out);
}

void json_open_object(struct json_writer *json, const char *key) {
    open_container(json, key, '{', '}');
}

void json_open_array(struct json_writer *json, const char *key) {
    open_container(json, key, '[', ']');
}

void json_close(struct json_writer *json) {
    CHECK(json->depth > 0);
    bool used = json->used[json->depth];
    bool lines = json->depth <= json->line_depth;
    char closing = json->closing[json->depth];
    json->depth--;
    if (used && lines)
        fprintf(json->out, "\n%*s", (int)(2 * json->depth), "");
    fputc(closing, json->out);
}

void json_string(struct json_writer *json, const char *key, const char *value) {
    begin_value(json, key);
    json_write_string(json->out, value);
}

void json_unsigned(struct json_writer *json, const char *key, uint64_t value) {
    begin_value(json, key);
    fprintf(json->out, "%" PRIu64, value);
}

void json_signed(struct json_writer *json, const char *key, int64_t value) {
    begin_value(json, key);
    fprintf(json->out, "%" PRId64, value);
}

void json_bool(struct json_writer *json, const char *key, bool value) {
    begin_value(json, key);
    fputs(value ? "true" : "false", json->out);
}

void json_null(struct json_writer *json, const char *key) {
    begin_value(json, key);
    fputs("null", json->out);
}

void json_real(struct json_writer *json, const char *key, double value, int digits) {
    begin_value(json, key);
    if (isfinite(value))
        fprintf(json->out, "%.*f", digits, value);
    else
        fputs("null", json->out);
}
