/* progress.h: shows the progress of reading on standard error. */
#ifndef QUIPU_REPORT_PROGRESS_H
#define QUIPU_REPORT_PROGRESS_H

/* From now on, shows the progress of reading data. If standard error is a terminal, a bar is shown
 * after one second. Otherwise a line is printed from time to time, after three seconds. */
void show_progress(void);

#endif
