/* program.h: the program that a replayed process executes, and the moments of its threads.
 *
 * A moment is the thread, its ticks and an instruction of the program (symbols/moment_name.h).
 * Where the thread is in code that does not tick, such as a library's, it is the call of that code,
 * with the number of system calls since. */
#ifndef QUIPU_DEBUG_PROGRAM_H
#define QUIPU_DEBUG_PROGRAM_H

#include "debug/timeline.h"
#include "symbols/variables.h"

struct played_program {
    struct played_program *next;
    struct arena arena;
    struct binary *binary; /* NULL: it cannot be read */
    uint64_t bias;         /* its load address minus that of `binary` */
    uint64_t cells;      /* address of its cells of events as linked, with the bias; 0: no ticks */
    uint64_t most_above; /* the greatest potential of ticks */
    /* Of a shared object: where the loader puts the place of the thread's word (format/cells.h),
     * relative to the base of %fs. 0: it is the executable. */
    uint64_t word_slot;
    struct played_program *objects; /* shared objects that it has had loaded, by any name */
    const char *path;               /* of a shared object */
    bool is_forked;                 /* the process has it from its maker */
    bool has_makers;                /* it has begun with the maker's cells: */
    uint64_t makers_block, makers_base;
    uint64_t begin;  /* player_program_begin */
    uint64_t serial; /* another one for each program that was read */
    struct variables variables;
    bool has_variables; /* they were read */
};

/* Returns the program of the present process; if that is gone, the one before. It is valid up to
 * forget_programs. Its binary is NULL if it cannot be read. */
struct played_program *program_of(struct timeline *timeline);

/* Returns the shared object with ticks that has ADDRESS in the process of the thread NUMBER, or the
 * program. Valid as above. */
struct played_program *module_at(struct timeline *timeline, pid_t number, uint64_t address);

/* Returns the shared object that the process of the thread NUMBER has loaded, and WANTED returns
 * true for; or NULL. */
struct played_program *find_loaded_object(struct timeline *timeline, pid_t number,
                                          bool (*wanted)(void *context,
                                                         const struct played_program *object),
                                          void *context);

/* Sets VARIABLES to those of the present process's program. Returns NULL, or a message. */
const char *program_variables(struct timeline *timeline, const struct variables **variables);

/* Is called in front of timeline_end. */
void forget_programs(struct timeline *timeline);

/* The ticks of a thread in a module. */
struct thread_ticks {
    const struct played_program *module;
    uint64_t number;   /* of the thread, as quipu_now numbers them */
    uint64_t ticks;    /* according to its cells */
    uint64_t raw;      /* the sum of its cells and their base */
    uint64_t exact;    /* with what its instruction has above its cells */
    uint64_t place;    /* its instruction, as linked, if that ticks; otherwise 0 */
    uint64_t position; /* address of that instruction in the process */
};

/* Reads the ticks of the thread that had the number RECORDED, in front of the instruction at
 * ADDRESS of the process, which it has just executed; 0: in front of its next one. They are those
 * of the module that has the instruction. Returns false if it has none: the module has none, or the
 * thread has not come to its code yet. */
bool read_thread_ticks(struct timeline *timeline, pid_t recorded, uint64_t address,
                       struct thread_ticks *ticks);

/* The same in MODULE. */
bool read_module_ticks(struct timeline *timeline, const struct played_program *module,
                       pid_t recorded, uint64_t address, struct thread_ticks *ticks);

/* The same in the program, for a thread by its own NUMBER, in any copy of the process; where it has
 * no cells yet, those are read that it has from its maker. */
bool read_ticks_of(struct timeline *timeline, pid_t number, uint64_t address,
                   struct thread_ticks *ticks);

/* Returns the thread's own number, or 0 if there is none that had the number RECORDED. */
pid_t own_number(const struct timeline *timeline, pid_t recorded);

/* ---- moments.c ---- */

struct moment {
    const char *text; /* its name; "": it has none */
    const char *line; /* "table.c:88", or "" */
};

/* Returns the name of the moment of the thread RECORDED that has TICKS, in ARENA. RETURNS: where
 * the call of code that does not tick returns to, as linked; 0: in none. */
const char *moment_name(struct timeline *timeline, struct arena *arena, pid_t recorded,
                        const struct thread_ticks *ticks, uint64_t returns);

/* Returns the moment of the thread RECORDED, in ARENA; ADDRESS as above. COUNTS: with the number of
 * system calls, where it takes one. That is found by going a part of the way again. */
struct moment thread_moment(struct timeline *timeline, struct arena *arena, pid_t recorded,
                            uint64_t address, bool counts);

/* Returns what is told of that moment: its name, or if it has none, the number of events. */
struct moment describe_moment(struct timeline *timeline, struct arena *arena, pid_t recorded,
                              uint64_t address);

/* ---- go_to_moment.c ---- */

/* Goes to the moment TEXT, or stays. Returns NULL; or a message in ARENA; or "" if the user has
 * stopped it. */
const char *go_to_moment(struct timeline *timeline, struct arena *arena, const char *text);

/* Goes on to the end of the present place's events, and returns how many system calls the thread
 * RECORDED has begun since its ticks are TICKS; 0: none. The timeline returns to where it was. */
uint64_t count_calls(struct timeline *timeline, pid_t recorded, uint64_t ticks);

#endif
