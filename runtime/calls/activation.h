/* activation.h: definitions shared by activation.S and activation_segment.S. */
#ifndef QUIPU_RUNTIME_CALLS_ACTIVATION_H
#define QUIPU_RUNTIME_CALLS_ACTIVATION_H

#include "runtime/calls/calls.h"

/* These routines are not reached by indirect branches; the object must still be marked for them. */
#ifdef __CET__
#include <cet.h>
#endif

/* clang-format off */
.macro  begin name
        .text
        .balign 64
        .globl  \name
        .hidden \name
        .type   \name, @function
\name:
        .cfi_startproc
.endm

.macro  end name
        .cfi_endproc
        .size   \name, . - \name
.endm

.macro  save register, depth
        pushq   %\register
        .cfi_def_cfa_offset \depth
        .cfi_offset \register, -\depth
.endm

.macro  restore register, depth
        popq    %\register
        .cfi_def_cfa_offset \depth
        .cfi_restore \register
.endm

/* Continues in the C function FUNCTION, with all registers unchanged. */
.macro  go_slowly function
        pushq   \function@GOTPCREL(%rip)
        .cfi_def_cfa_offset 16
        jmp     quipu_calls_slowly
        .cfi_def_cfa_offset 8
.endm

        .hidden quipu_calls_slowly
        .hidden quipu_calls_return_slowly
        .hidden quipu_calls_entered
        .hidden quipu_calls_left
        .hidden quipu_calls_arrived
/* clang-format on */

#endif
