/* packet.h: the packets of gdb's remote protocol, over a connection.
 *
 * A packet is $TEXT#HH, HH the sum of its bytes. Within TEXT '}' stands in front of a byte that is
 * changed by 0x20. A client may send anything: a packet that is none is left out. */
#ifndef QUIPU_DEBUG_PACKET_H
#define QUIPU_DEBUG_PACKET_H

#include "util/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PACKET_MAX = 1 << 17, /* bytes of a packet that is read, and of one that is written */
    PACKET_ROOM = 1 << 12
};

struct connection {
    int in, out;
    bool is_quiet; /* packets are not acknowledged */
    bool ended;
    bool interrupted; /* the client has asked for a stop */
    size_t next, count;
    uint8_t bytes[PACKET_ROOM]; /* that were read, and not used yet */
};

/* Waits for the next packet. Its text becomes PACKET's. Returns false if the connection has ended.
 */
bool packet_read(struct connection *connection, struct buffer *packet);

/* Sends SIZE bytes of TEXT as a packet. */
void packet_write(struct connection *connection, const void *text, size_t size);

/* Whether the client asks for a stop, or is gone. Does not wait. */
bool packet_interrupts(struct connection *connection);

/* ---- digits ---- */

/* Appends SIZE bytes as hexadecimal digits. */
void add_digits(struct buffer *text, const void *bytes, size_t size);

/* Takes a hexadecimal number from *TEXT, which is moved behind it. Returns false if there is none.
 */
bool take_number(const char **text, uint64_t *number);

/* Takes the character WANTED. */
bool take_character(const char **text, char wanted);

/* Appends the bytes of the digits at TEXT, up to the first that is none. */
void take_bytes(const char **text, struct buffer *bytes);

#endif
