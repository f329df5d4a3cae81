/* event_hash.h: the hashes in events of a recording (format/recording.h), for recorder, player, and
 * the code inside of the program (format/inside.h). Both are FNV-1a, by words of 64 bits, with the
 * upper half mixed in. */
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

#define QUIPU_EVENT_HASH_BEGIN ((uint64_t)0xcbf29ce484222325u)

static inline uint64_t quipu_hash_word(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x100000001b3u;
    return hash ^ hash >> 32;
}

/* Four hashes at once, of each fourth word, since a processor multiplies several at a time. */
static inline uint32_t quipu_hash_registers(const uint64_t words[QUIPU_HASHED_REGISTERS]) {
    uint64_t hashes[4] = {QUIPU_EVENT_HASH_BEGIN, QUIPU_EVENT_HASH_BEGIN, QUIPU_EVENT_HASH_BEGIN,
                          QUIPU_EVENT_HASH_BEGIN};
    for (size_t i = 0; i < QUIPU_HASHED_REGISTERS; i += 4)
        for (size_t k = 0; k < 4; k++)
            hashes[k] = quipu_hash_word(hashes[k], words[i + k]);
    for (size_t k = 1; k < 4; k++)
        hashes[0] = quipu_hash_word(hashes[0], hashes[k]);
    return (uint32_t)hashes[0];
}

/* Adds SIZE bytes, a part of what a call has written to a descriptor, to HASH. The last word is
 * filled up with zeros. */
static inline uint64_t quipu_hash_part(uint64_t hash, const uint8_t *bytes, size_t size) {
    typedef uint64_t word __attribute__((aligned(1), may_alias));
    uint64_t last = 0;
    size_t at = 0;
    for (; size - at >= sizeof last; at += sizeof last)
        hash = quipu_hash_word(hash, *(const word *)(bytes + at));
    for (unsigned i = 0; at + i < size; i++)
        last |= (uint64_t)bytes[at + i] << 8 * i;
    return at < size ? quipu_hash_word(hash, last) : hash;
}

#endif
