/* library.h: what test/calls/shared.c calls. */
int library_sum(int n);
int library_apply(int (*function)(int), int n);
int library_jump(int n);
