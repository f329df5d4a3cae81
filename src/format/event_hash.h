/* event_hash.h: the hashes in events of a recording (format/recording.h), for recorder, player, and
 * the code inside of the program (format/inside.h). */
#ifndef QUIPU_FORMAT_EVENT_HASH_H
#define QUIPU_FORMAT_EVENT_HASH_H

#include <stddef.h>
#include <stdint.h>

enum {
    QUIPU_HASHED_REGISTERS = 20,
    /* Carry, zero, sign, direction, overflow; not parity and adjust, which tell of the low bits of
     * a cell of ticks. */
    QUIPU_HASHED_FLAGS = 0xcc1
};

/* FNV-1a, by words. */
static inline uint32_t quipu_hash_registers(const uint64_t words[QUIPU_HASHED_REGISTERS]) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < QUIPU_HASHED_REGISTERS; i++) {
        hash = (hash ^ words[i]) * 0x100000001b3u;
        hash ^= hash >> 32;
    }
    return (uint32_t)hash;
}

/* FNV-1a, of the bytes that a call has written to a descriptor. */
static inline uint32_t quipu_hash_bytes(const uint8_t *bytes, size_t size) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 16777619u;
    return hash;
}

#endif
