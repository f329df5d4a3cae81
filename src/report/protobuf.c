/* protobuf.c: writes messages in the wire format of protocol buffers; see protobuf.h. */
#include "report/protobuf.h"

#include <string.h>

enum wire_type {
    WIRE_VARINT = 0,
    WIRE_BYTES = 2
};

static void add_key(struct buffer *message, uint32_t number, enum wire_type type) {
    buffer_uleb128(message, number << 3 | type);
}

void protobuf_number(struct buffer *message, uint32_t number, uint64_t value) {
    if (!value)
        return;
    add_key(message, number, WIRE_VARINT);
    buffer_uleb128(message, value);
}

static void add_bytes(struct buffer *message, uint32_t number, const char *bytes, size_t count) {
    add_key(message, number, WIRE_BYTES);
    buffer_uleb128(message, count);
    buffer_add(message, bytes, count);
}

void protobuf_text(struct buffer *message, uint32_t number, const char *text) {
    add_bytes(message, number, text, strlen(text));
}

void protobuf_part(struct buffer *message, uint32_t number, struct buffer *part) {
    add_bytes(message, number, part->data ? part->data : "", part->count);
    part->count = 0;
}
