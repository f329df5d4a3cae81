/* trace_pointer.h: where the runtime of traces keeps the address of a thread's data. */
#ifndef QUIPU_X86_TRACE_POINTER_H
#define QUIPU_X86_TRACE_POINTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CODE, of SIZE bytes, is that of quipu_trace_own (runtime/trace/full.S). Sets VALUE to the
 * distance of quipu_trace from the base of %fs; or, if IS_SLOT, to the distance from the begin of
 * the code to the word that has it. Returns false if the code is another. */
bool find_trace_pointer(const uint8_t *code, size_t size, int64_t *value, bool *is_slot);

#endif
