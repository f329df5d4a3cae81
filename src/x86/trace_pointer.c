/* trace_pointer.c: decodes quipu_trace_own; see trace_pointer.h.
 *
 * It begins with movq quipu_trace@gottpoff(%rip), %rax, which the linker makes movq $NUMBER, %rax
 * where the distance is known (the x86-64 ABI, relaxation of initial exec to local exec). */
#include "x86/trace_pointer.h"

#include <string.h>

bool find_trace_pointer(const uint8_t *code, size_t size, int64_t *value, bool *is_slot) {
    static const uint8_t branch_target[] = {0xf3, 0x0f, 0x1e, 0xfa}; /* endbr64 */
    static const uint8_t load[] = {0x48, 0x8b, 0x05}, constant[] = {0x48, 0xc7, 0xc0};
    enum {
        OPCODE = sizeof load,
        MOVE = OPCODE + 4
    };
    size_t at =
        size >= sizeof branch_target && memcmp(code, branch_target, sizeof branch_target) == 0
            ? sizeof branch_target
            : 0;
    int32_t number;
    if (size < at + MOVE)
        return false;
    *is_slot = memcmp(code + at, load, OPCODE) == 0;
    memcpy(&number, code + at + OPCODE, sizeof number);
    *value = *is_slot ? (int64_t)at + MOVE + number : number;
    return *is_slot || memcmp(code + at, constant, OPCODE) == 0;
}
