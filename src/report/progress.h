/* progress.h: how far reading is, told on standard error. */
#ifndef QUIPU_REPORT_PROGRESS_H
#define QUIPU_REPORT_PROGRESS_H

/* From now on reading data that takes longer is told of: by a bar after a second where standard
 * error is a terminal, elsewhere by a line now and then after three. */
void show_progress(void);

#endif
