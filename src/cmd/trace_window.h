/* trace_window.h: the moments between which quipu trace keeps what a program does. */
#ifndef QUIPU_CMD_TRACE_WINDOW_H
#define QUIPU_CMD_TRACE_WINDOW_H

#include "trace/window.h"

/* Ends quipu with an error if PROGRAM has not the moments of the window. */
void need_window_moments(const char *program, const struct trace_window *window);

/* Whether the trace at PATH has the moments of its WINDOW. Prints an error if not. */
bool came_to_moments(const char *path, const struct trace_window *window);

#endif
