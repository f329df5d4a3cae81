/* checked_state.c: the state that the code of state_check.c compares; see state_check.h. */
#include "x86/decode.h"
#include "x86/state_check.h"

#include <string.h>

bool set_quick_value(struct state_check_data *data, const struct quick_value *quick) {
    uint64_t place = quick->place;
    data->quick[1] = place;
    switch (quick->kind) {
    case QUICK_REGISTER:
        data->quick[0] = place < GENERAL_REGISTERS ? -data->general[place] : 0;
        return place < GENERAL_REGISTERS;
    case QUICK_STACK:
        data->quick[0] = place < data->stack_count ? -data->stack[place] : 0;
        return place < data->stack_count;
    default:
        for (uint64_t i = 0; i < data->word_count; i++)
            if (data->words[i].address == place) {
                data->quick[0] = -data->words[i].value;
                return true;
            }
        return false;
    }
}

void set_checked_registers(struct state_check_data *data, const struct registers *registers) {
    memset(data, 0, sizeof *data);
    for (unsigned i = 0; i < GENERAL_REGISTERS; i++)
        data->general[i] = general_register(&registers->general, i);
    for (unsigned i = 0; i < CHECK_VECTORS; i++) {
        uint8_t vector[VECTOR_BYTES];
        vector_register(registers, i, vector);
        memcpy(data->vectors[i], vector, CHECK_VECTOR_BYTES);
    }
    data->float_count = 2 * (uint64_t)stack_registers(registers, data->floats);
}

uint64_t checked_stack(const struct user_regs_struct *registers) {
    return registers->rsp - RED_ZONE;
}
