/* call_site.c: the code that is inserted around calls (src/x86/call_check.h), and the addresses
 * that are found from it. */
#include "runtime/watch/watch.h"

#include "format/watch_callees.h"

enum {
    SITE_SIZE = 5,  /* of the no-operation behind the call, which is now a jump */
    CMP_SIZE = 8,   /* or cmpl $0, CALLING ... */
    JNE_SIZE = 6,   /* ... and its jne */
    CALL_SIZE = 5,  /* of quipu_watch_call_end */
    LEAVE_SIZE = 6, /* of leaq 8(%rsp), %rsp; ret behind the call out of line, if a jump ended the
                     * function */
    PREFIXES_MOST = 4,
};

/* In front of a jump that ends a function, --quipu=calls has a call of the runtime. */
static const uint8_t *behind_leaving(const uint8_t *jump) {
    return *jump == CALL_NEAR ? jump + CALL_SIZE : jump;
}

uint64_t quipu_watch_behind_jump(const uint8_t *jump) {
    unsigned prefixes = 0;
    jump = behind_leaving(jump);
    while (prefixes < PREFIXES_MOST && *jump != JMP_SHORT && *jump != JMP_NEAR && *jump != JMP_SLOT)
        prefixes++, jump++;
    return (uint64_t)jump + (*jump == JMP_SHORT ? 2 : *jump == JMP_SLOT ? 6 : 5);
}

uint64_t quipu_watch_place_of_return(uint64_t stub) {
    const uint8_t *jump = (const uint8_t *)stub;
    if (!is_jump(jump))
        return quipu_watch_behind_jump(target_of_jump(jump + LEAVE_SIZE));
    const uint8_t *back = target_of_jump(jump);
    bool asks = back + distance_at(back - 4) == jump - CALL_SIZE;
    return (uint64_t)back - (asks ? JNE_SIZE + CMP_SIZE : SITE_SIZE);
}

uint64_t quipu_watch_place_of_call(uint64_t stub, uint32_t descriptor) {
    const uint8_t *jump = (const uint8_t *)stub + LEAQ_SIZE;
    if (!is_jump(jump))
        return stub;
    const uint8_t *place = target_of_jump(jump);
    if (descriptor & QUIPU_CALL_LEAVES)
        place = behind_leaving(place);
    bool is_near = descriptor & QUIPU_CALL_LEAVES && *place == JMP_NEAR; /* linkers lengthen it to
                                                                          * this form */
    return is_near ? quipu_watch_behind_jump(place) : (uint64_t)place + QUIPU_CALL_SIZE(descriptor);
}
