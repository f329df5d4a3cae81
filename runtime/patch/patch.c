/* patch.c: changes this module's text while the program runs; see patch.h. */
#include "runtime/patch/patch.h"

#include "format/data_file.h"
#include "runtime/core/protection.h"
#include "runtime/core/syscall.h"

#include <linux/membarrier.h>

extern const char __ehdr_start[] __attribute__((visibility("hidden")));

enum {
    LINE = 64, /* of the cache; bytes */
    WORD = 8
};

static const uint8_t no_operation[X86_JUMP_SIZE] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

struct segments quipu_own_segments(void) {
    const Elf64_Ehdr *header = (const void *)__ehdr_start;
    struct segments own = {(const void *)(__ehdr_start + header->e_phoff), header->e_phnum, 0};
    uint64_t linked = UINT64_MAX;
    for (unsigned i = 0; i < own.count; i++) {
        uint64_t page = own.data[i].p_vaddr & -(uint64_t)QUIPU_PAGE;
        if (own.data[i].p_type == PT_LOAD && page < linked)
            linked = page;
    }
    own.bias = (uint64_t)__ehdr_start - linked;
    return own;
}

long quipu_patch_open(uint64_t begin, uint64_t end, bool open) {
    struct segments own = quipu_own_segments();
    long error = 0;
    for (unsigned i = 0; i < own.count && error == 0; i++)
        if (own.data[i].p_flags & PF_X)
            error = protect_code(&own.data[i], own.bias, begin, end + X86_JUMP_SIZE, open);
    return error;
}

void quipu_patch_site(uint64_t place, uint64_t code, bool over) {
    uint64_t word_at = place % LINE <= LINE - WORD ? place : place - place % LINE + LINE - WORD;
    union {
        uint64_t word;
        uint8_t bytes[WORD];
    } text = {.word = *(volatile uint64_t *)word_at};
    uint8_t *jump = &text.bytes[place - word_at];
    for (int i = 0; i < X86_JUMP_SIZE && !(over && jump[0] == X86_JUMP); i++)
        if (jump[i] != no_operation[i])
            return; /* it is a jump already */
    encode_jump(jump, X86_JUMP_SIZE, place, code);
    *(volatile uint64_t *)word_at = text.word;
}

void quipu_patch_instruction(uint64_t place, uint64_t size, uint64_t code) {
    encode_jump((volatile uint8_t *)place, size, place, code);
}

void quipu_patch_distance(uint64_t place, uint64_t code) {
    encode_distance((volatile uint8_t *)place, place, code);
}

void quipu_patch_synchronize(void) {
    static bool registered;
    if (!registered)
        registered = SYSTEM_CALL(membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0,
                                 0, 0, 0, 0) == 0;
    if (registered)
        SYSTEM_CALL(membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0, 0, 0, 0);
}
