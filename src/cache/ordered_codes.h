/* ordered_codes.h: what is kept of a part for several processors; private to order_part.c and
 * order_merge.c. */
#ifndef QUIPU_CACHE_ORDERED_CODES_H
#define QUIPU_CACHE_ORDERED_CODES_H

/* Each is followed by a number. */
enum ordered_code {
    ORDERED_PLAIN = 0,  /* so many instructions without references that are kept */
    ORDERED_STEP = 1,   /* an instruction with so many references, which follow */
    ORDERED_TICKET = 2, /* a ticket */
};

#endif
