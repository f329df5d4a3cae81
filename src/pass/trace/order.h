/* order.h: where a function takes tickets for the order of threads; private to this folder.
 * format/trace.h says what a ticket is. */
#ifndef QUIPU_PASS_TRACE_ORDER_H
#define QUIPU_PASS_TRACE_ORDER_H

#include "pass/pieces.h"
#include "pass/record.h"

/* What the order of threads needs at calls of a function. */
struct synchronization {
    unsigned sides; /* enum ticket_sides (x86/trace_order.h); 0: none */
    bool always;    /* it may order processes, too: by way of the kernel */
};

/* synchronizing.c: returns what calls of the function with that NAME, of LENGTH bytes, need. */
struct synchronization find_synchronization(const char *name, size_t length);

/* A place where a ticket is taken, or accesses are recorded, in front of an instruction and behind
 * its record. */
struct order_site {
    uint32_t block;
    uint32_t at; /* index of the instruction in the block */
    bool always; /* also if the thread shares memory with nobody */
    uint32_t label;
    uint32_t measures; /* NO_MEASURES: it takes a ticket. Otherwise it records what the call that
                        * follows accesses; the number of its function. */
};

struct order_sites {
    VECTOR(struct order_site) list; /* by block and position */
    uint32_t *of_block;             /* by block: 1 + its first one, or 0 */
};

/* order.c: chooses the sites of a function. LIBRARY: the C library has records, too, so only what
 * the kernel accesses is recorded.
 * requires: build_graph, labels   makes: list, of_block */
void choose_order_sites(struct planner *p, struct order_sites *sites, bool library);

/* order.c: inserts the code of the sites in block INDEX, behind that of its records. */
void insert_order_sites(struct planner *p, const struct order_sites *sites, uint32_t index);

/* order.c: adds the sites to the function's note (format/trace.h). */
void add_order_sites(struct record *note, const struct planner *p, const struct order_sites *sites,
                     const struct pieces *pieces, uint32_t function);

#endif
