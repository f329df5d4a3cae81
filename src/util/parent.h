/* parent.h: a child that does not outlive its parent. */
#ifndef QUIPU_UTIL_PARENT_H
#define QUIPU_UTIL_PARENT_H

#include <sys/types.h>

/* For a child that PARENT has just made: it gets SIGNAL when that ends, or ends if it has ended. */
void end_with_parent(pid_t parent, int signal);

#endif
