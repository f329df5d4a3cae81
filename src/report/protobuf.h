/* protobuf.h: messages in the wire format of protocol buffers, as far as export_pprof.c needs it.
 *
 * Source: "Protocol Buffers: Encoding".  A message is a sequence of fields, each led by its number
 * and wire type: 0, a varint (buffer_uleb128 writes the same), or 2, bytes led by their length
 * (text, message, packed numbers). */
#ifndef QUIPU_REPORT_PROTOBUF_H
#define QUIPU_REPORT_PROTOBUF_H

#include "util/buffer.h"

#include <stdint.h>

/* Field NUMBER; a value of 0 is the default and is left out. */
void protobuf_number(struct buffer *message, uint32_t number, uint64_t value);

/* Field NUMBER with the bytes of TEXT, or of PART, which is emptied. */
void protobuf_text(struct buffer *message, uint32_t number, const char *text);
void protobuf_part(struct buffer *message, uint32_t number, struct buffer *part);

#endif
