/* process_number.h: processes that a user names by their numbers. */
#ifndef QUIPU_CMD_PROCESS_NUMBER_H
#define QUIPU_CMD_PROCESS_NUMBER_H

#include <sys/types.h>

/* The process TEXT.  Ends the program, with an error, where there is none, or it is only a thread
 * of one. */
pid_t read_process_number(const char *text);

#endif
