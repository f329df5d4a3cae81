/* visit.c: starts to watch a process that already runs (format/watch.h, section 3).
 *
 * A debugger makes one of the threads run this code, at any moment when the lock is free. All other
 * threads may be stopped anywhere. So this code takes no lock but the runtime's own, and does not
 * call the C library. It needs nothing from the thread, which may lack the C library's own data. */
#include "runtime/watch/watch.h"

void quipu_watch_visited(const char *path) {
    struct watch *watch = WATCH;
    long answer = 0;
    if (*path)
        answer = quipu_watch_change_log(path);
    else
        quipu_watch_drop_requests();
    watch->answer = answer;
    __atomic_store_n(&watch->visited, 1, __ATOMIC_RELEASE);
    for (;;)
        __builtin_ia32_pause();
}
