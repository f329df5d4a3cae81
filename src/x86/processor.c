/* processor.c: the identity of the processors; see processor.h.
 *
 * The Intel manual, volume 2, CPUID; the AMD64 manual, volume 3, appendix E. */
#include "x86/processor.h"

#include <cpuid.h>
#include <stddef.h>

enum {
    EBX = 1 << 1, /* registers that tell features; the others tell of the single processor */
    ALL = 15,
    XSAVE_ENABLED = 1 << 27 /* leaf 1, ecx: xgetbv may be used */
};

static const struct {
    uint32_t leaf, subleaf, registers;
} leaves[] = {
    {0, 0, ALL},   {1, 0, ALL & ~EBX},   {7, 0, ALL},          {7, 1, ALL},
    {0xd, 1, ALL}, {0x80000001, 0, ALL}, {0x80000008, 0, EBX},
};

/* FNV-1a, by words. */
static uint64_t add_word(uint64_t hash, uint32_t word) {
    return (hash ^ word) * 0x100000001b3u;
}

static uint32_t enabled_state(void) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static uint64_t hash_leaves(void) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) {
        uint32_t values[4] = {0};
        __get_cpuid_count(leaves[i].leaf, leaves[i].subleaf, &values[0], &values[1], &values[2],
                          &values[3]);
        for (int j = 0; j < 4; j++)
            if (leaves[i].registers >> j & 1)
                hash = add_word(hash, values[j]);
        if (leaves[i].leaf == 1 && values[2] & XSAVE_ENABLED)
            hash = add_word(hash, enabled_state());
    }
    return hash;
}

/* In a virtual machine each cpuid takes some 20 us. */
uint64_t processor_identity(void) {
    static uint64_t identity;
    if (!identity)
        identity = hash_leaves();
    return identity;
}
