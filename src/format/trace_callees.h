/* trace_callees.h: functions of the C library, and what they read in the program's memory, for
 * traces. What they write is in format/watch_callees.h, in the same words.
 *
 * CHANGED: the function may read less. */
#ifndef QUIPU_FORMAT_TRACE_CALLEES_H
#define QUIPU_FORMAT_TRACE_CALLEES_H

#include "format/watch_callees.h"

/* As many bytes as the result tells, and one more: a string with its NUL. */
#define QE_RESULT_STRING(p) QUIPU_EXTENT(p, RESULT, 1, 0, 1)

/* ROW(name, range, range) */
/* clang-format off */
#define QUIPU_CALLEE_READS(ROW) \
    ROW(memcpy, QE_BYTES(1, 2), 0) \
    ROW(memmove, QE_BYTES(1, 2), 0) \
    ROW(mempcpy, QE_BYTES(1, 2), 0) \
    ROW(__memcpy_chk, QE_BYTES(1, 2), 0) \
    ROW(__memmove_chk, QE_BYTES(1, 2), 0) \
    ROW(__mempcpy_chk, QE_BYTES(1, 2), 0) \
    ROW(bcopy, QE_BYTES(0, 2), 0) \
    ROW(memccpy, QE_BYTES(1, 3) | QE_CHANGED, 0) \
    ROW(memcmp, QE_BYTES(0, 2) | QE_CHANGED, QE_BYTES(1, 2) | QE_CHANGED) \
    ROW(bcmp, QE_BYTES(0, 2) | QE_CHANGED, QE_BYTES(1, 2) | QE_CHANGED) \
    ROW(memchr, QE_BYTES(0, 2) | QE_CHANGED, 0) \
    ROW(memrchr, QE_BYTES(0, 2) | QE_CHANGED, 0) \
    ROW(memmem, QE_BYTES(0, 1) | QE_CHANGED, QE_BYTES(2, 3) | QE_CHANGED) \
    ROW(strlen, QE_RESULT_STRING(0), 0) \
    ROW(strnlen, QE_RESULT(0, 1), 0) \
    ROW(wmemcpy, QE_TIMES(1, 2, 4), 0) \
    ROW(wmemmove, QE_TIMES(1, 2, 4), 0) \
    ROW(qsort, QE_PRODUCT(0, 1, 2), 0) \
    ROW(write, QE_RESULT(1, 1), 0) \
    ROW(pwrite, QE_RESULT(1, 1), 0) \
    ROW(pwrite64, QE_RESULT(1, 1), 0) \
    ROW(send, QE_RESULT(1, 1), 0) \
    ROW(sendto, QE_RESULT(1, 1), 0) \
    ROW(poll, QE_TIMES(0, 1, 8), 0) \
    ROW(fwrite, QE_PRODUCT(0, 1, 2) | QE_CHANGED, 0) \
    ROW(fwrite_unlocked, QE_PRODUCT(0, 1, 2) | QE_CHANGED, 0)
/* clang-format on */

#endif
