/* visit.c: a process that runs already is asked to watch (format/watch.h, section 3).
 *
 * A debugger has one of the threads come here, from anywhere but where the lock is held; all others
 * may stand, wherever they are.  So no lock but the runtime's own is taken, and the C library is
 * not called.  Nothing of the thread is needed: it may have none of the C library's own data. */
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
