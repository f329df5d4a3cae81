/* progress.h: a bar on standard error while a profile is read. */
#ifndef QUIPU_REPORT_PROGRESS_H
#define QUIPU_REPORT_PROGRESS_H

/* From now on profile_open draws a bar, if standard error is a terminal and it takes more than half
 * a second. */
void show_progress(void);

#endif
