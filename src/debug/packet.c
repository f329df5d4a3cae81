/* packet.c: gdb's remote protocol, as bytes; see packet.h. gdb's manual, "Overview" of "Remote
 * Serial Protocol". */
#include "debug/packet.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum {
    INTERRUPT = 3,
    ESCAPE_BIT = 0x20,
    BAD_SUM = -2,
    END = -1
};

static int digit(int character) {
    if (character >= '0' && character <= '9')
        return character - '0';
    if (character >= 'a' && character <= 'f')
        return character - 'a' + 10;
    if (character >= 'A' && character <= 'F')
        return character - 'A' + 10;
    return -1;
}

/* ---- bytes ---- */

static bool fill(struct connection *connection) {
    ssize_t count;
    do
        count = read(connection->in, connection->bytes, sizeof connection->bytes);
    while (count < 0 && errno == EINTR);
    connection->next = 0;
    connection->count = count > 0 ? (size_t)count : 0;
    connection->ended |= count <= 0;
    return count > 0;
}

/* Returns the next byte, or END. */
static int next_byte(struct connection *connection) {
    if (connection->ended || (connection->next == connection->count && !fill(connection)))
        return END;
    return connection->bytes[connection->next++];
}

static void send_bytes(struct connection *connection, const void *bytes, size_t size) {
    if (!connection->ended && !write_whole(connection->out, bytes, size))
        connection->ended = true;
}

bool packet_interrupts(struct connection *connection) {
    struct pollfd ready = {.fd = connection->in, .events = POLLIN};
    if (connection->next == connection->count && poll(&ready, 1, 0) > 0)
        fill(connection);
    while (connection->next < connection->count &&
           connection->bytes[connection->next] == INTERRUPT) {
        connection->next++;
        connection->interrupted = true;
    }
    bool interrupts = connection->interrupted || connection->ended;
    connection->interrupted = false;
    return interrupts;
}

/* ---- packets ---- */

/* Skips what is between packets. Returns false at the end. */
static bool find_packet(struct connection *connection) {
    for (;;) {
        int byte = next_byte(connection);
        if (byte == END)
            return false;
        if (byte == '$')
            return true;
        if (byte == INTERRUPT) /* the process had just stopped by itself; it will not go on */
            connection->interrupted = true;
    }
}

/* Reads the text behind '$', and its sum. Returns 0, BAD_SUM, or END. */
static int read_text(struct connection *connection, struct buffer *packet) {
    unsigned sum = 0;
    bool escaped = false;
    packet->count = 0;
    for (;;) {
        int byte = next_byte(connection);
        if (byte == END)
            return END;
        if (byte == '#')
            break;
        if (byte == '$') { /* that was none */
            packet->count = sum = 0;
            escaped = false;
            continue;
        }
        sum += (unsigned)byte;
        if (byte == '}' && !escaped) {
            escaped = true;
            continue;
        }
        char kept = (char)(escaped ? byte ^ ESCAPE_BIT : byte);
        escaped = false;
        if (packet->count < PACKET_MAX)
            buffer_add(packet, &kept, 1);
    }
    int first = next_byte(connection), second = first == END ? END : next_byte(connection);
    if (second == END)
        return END;
    bool good = digit(first) >= 0 && digit(second) >= 0 &&
                (unsigned)(digit(first) << 4 | digit(second)) == (sum & 0xff);
    return good || connection->is_quiet ? 0 : BAD_SUM;
}

bool packet_read(struct connection *connection, struct buffer *packet) {
    while (find_packet(connection)) {
        int result = read_text(connection, packet);
        if (result == END)
            return false;
        if (!connection->is_quiet)
            send_bytes(connection, result == 0 ? "+" : "-", 1);
        if (result == 0) {
            buffer_add(packet, "", 1); /* ends with NUL, also where it has none */
            packet->count--;
            return true;
        }
    }
    return false;
}

void packet_write(struct connection *connection, const void *text, size_t size) {
    struct buffer packet = {0};
    const uint8_t *bytes = text;
    unsigned sum = 0;
    buffer_add(&packet, "$", 1);
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = bytes[i];
        if (byte == '#' || byte == '$' || byte == '}' || byte == '*') {
            buffer_add(&packet, "}", 1);
            sum += '}';
            byte ^= ESCAPE_BIT;
        }
        buffer_add(&packet, &byte, 1);
        sum += byte;
    }
    buffer_print(&packet, "#%02x", sum & 0xff);
    send_bytes(connection, packet.data, packet.count);
    buffer_release(&packet);
}

/* ---- digits ---- */

void add_digits(struct buffer *text, const void *bytes, size_t size) {
    static const char digits[] = "0123456789abcdef";
    const uint8_t *next = bytes;
    for (size_t i = 0; i < size; i++) {
        const char pair[2] = {digits[next[i] >> 4], digits[next[i] & 0xf]};
        buffer_add(text, pair, sizeof pair);
    }
}

bool take_number(const char **text, uint64_t *number) {
    const char *begin = *text;
    *number = 0;
    for (; digit(**text) >= 0; ++*text)
        *number = *number << 4 | (uint64_t)digit(**text);
    return *text > begin;
}

bool take_character(const char **text, char wanted) {
    if (**text != wanted)
        return false;
    ++*text;
    return true;
}

void take_bytes(const char **text, struct buffer *bytes) {
    for (; digit((*text)[0]) >= 0 && digit((*text)[1]) >= 0; *text += 2) {
        char byte = (char)(digit((*text)[0]) << 4 | digit((*text)[1]));
        buffer_add(bytes, &byte, 1);
    }
}
