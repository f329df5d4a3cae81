/* recorded_data.h: the data files of a recorded run, where a command takes data files. */
#ifndef QUIPU_CMD_RECORDED_DATA_H
#define QUIPU_CMD_RECORDED_DATA_H

#include <stddef.h>

/* Replaces each of the COUNT paths that is a recording by that of a directory with the data files
 * which its run has written. They are removed when quipu ends. If there are none, or the recording
 * cannot be played, that is an error that ends quipu. May be called only once. */
void take_recorded_data(char **paths, size_t count);

#endif
