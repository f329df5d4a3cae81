/* count.h: by hand, what the shim inserts, as format/cells.h has it.
 *
 *     CELLS(work, 2);                the function's two cells
 *     COUNT(work, 1);                one more in the second
 *
 * Compile with -ffixed-r11, for shared objects with -fPIC. */
#ifndef QUIPU_TEST_RUNTIME_COUNT_H
#define QUIPU_TEST_RUNTIME_COUNT_H

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)

#define CELLS(name, count)                                                                         \
    __asm__(".pushsection .quipu.cells, \"aw\", @nobits\n"                                         \
            ".balign 8\n"                                                                          \
            ".globl cells_of_" #name "_plus\n"                                                     \
            ".hidden cells_of_" #name "_plus\n"                                                    \
            "cells_of_" #name ": .zero 8 * " TEXT(count) "\n"                                      \
                                                         ".set cells_of_" #name                    \
                                                         "_plus, cells_of_" #name " + 128\n"       \
                                                         ".popsection\n")

#ifdef __PIC__
#ifndef __PIE__
#define LOAD_CELLS(name)                                                                           \
    "movq quipu_bias@gottpoff(%%rip), %%r11\n"                                                     \
    "movq %%fs:(%%r11), %%r11\n"                                                                   \
    "addq cells_of_" #name "_plus@GOTPCREL(%%rip), %%r11\n"
#endif
#endif
#ifndef LOAD_CELLS
#define LOAD_CELLS(name)                                                                           \
    "leaq cells_of_" #name "+128(%%rip), %%r11\n"                                                  \
    "addq %%fs:quipu_bias@tpoff, %%r11\n"
#endif

#define COUNT(name, cell)                                                                          \
    __asm__ volatile(LOAD_CELLS(name) "js 2f\n"                                                    \
                                      "1: incq 8*(" TEXT(cell) ")-128(%%r11)\n"                    \
                                                               ".subsection 1\n"                   \
                                                               "2: leaq -128(%%rsp), %%rsp\n"      \
                                                               "call quipu_attach\n"               \
                                                               "leaq 128(%%rsp), %%rsp\n"          \
                                                               "jmp 1b\n"                          \
                                                               ".previous\n" ::                    \
                                                                   : "cc", "memory")

#endif
