/* process_number.h: reads process numbers of the user. */
#ifndef QUIPU_CMD_PROCESS_NUMBER_H
#define QUIPU_CMD_PROCESS_NUMBER_H

#include <sys/types.h>

/* Returns the process with the number in TEXT. Ends the program with an error if there is none, or
 * if it is only a thread of one. */
pid_t read_process_number(const char *text);

#endif
