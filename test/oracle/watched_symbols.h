/* watched_symbols.h: the symbols of the program that watched.c steps. */
#ifndef WATCHED_SYMBOLS_H
#define WATCHED_SYMBOLS_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct function {
    uint64_t start, end; /* as linked */
    const char *name;
};

extern struct function *functions; /* by address, none over another */
extern size_t function_count;
extern uint64_t bias; /* where the program runs, less where it was linked */

/* Both end the oracle with status 125 where something fails. */
_Noreturn void fail(const char *format, ...);
void *allocate(size_t size);

void open_program(const char *path);

/* Finds the functions that a line of LISTED names; NULL: all. */
void find_functions(const char *listed);

/* Sets `bias`, once the program has been started. */
void find_bias(pid_t pid);

/* The address of the first instruction, as linked. */
uint64_t program_entry(void);

/* The function that the address of the process lies in; NULL: none. */
const struct function *function_at(uint64_t pc);

/* Of the first LENGTH characters of NAME, where a '*' at the end stands for anything. */
const Elf64_Sym *find_symbol(const char *name, size_t length);

/* What lies between thread-local variables, as linked, and those of the first thread. */
uint64_t thread_bias(pid_t tid);

#endif
