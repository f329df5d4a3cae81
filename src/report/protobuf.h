/* protobuf.h: writes messages in the wire format of protocol buffers, as far as export_pprof.c
 * needs it.
 *
 * Source: "Protocol Buffers: Encoding". A message is a sequence of fields. Each begins with its
 * number and wire type: 0 is a varint (buffer_uleb128 writes the same), and 2 is bytes behind their
 * length (text, message, packed numbers). */
#ifndef QUIPU_REPORT_PROTOBUF_H
#define QUIPU_REPORT_PROTOBUF_H

#include "util/buffer.h"

#include <stdint.h>

/* Appends field NUMBER. A VALUE of 0 is the default, and is left out. */
void protobuf_number(struct buffer *message, uint32_t number, uint64_t value);

/* Append field NUMBER with the bytes of TEXT, or of PART, which is then emptied. */
void protobuf_text(struct buffer *message, uint32_t number, const char *text);
void protobuf_part(struct buffer *message, uint32_t number, struct buffer *part);

#endif
