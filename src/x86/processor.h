/* processor.h: whether two machines have the same processors, as programs see them. */
#ifndef QUIPU_X86_PROCESSOR_H
#define QUIPU_X86_PROCESSOR_H

#include <stdint.h>

/* Returns a number for what cpuid and xgetbv tell of the features of this machine's processors. The
 * number of the single processor is not in it. */
uint64_t processor_identity(void);

#endif
