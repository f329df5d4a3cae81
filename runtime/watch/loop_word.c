/* loop_word.c: a thread's loop word, for the loop copies of its module (format/watch.h, section 2).
 *
 * The linker takes this file from the archive only if inserted code refers to the word. So other
 * modules use no thread-local storage for it. */
#include "format/watch.h"

#include <stdint.h>

extern __thread uint64_t quipu_watch_loop;
__thread uint64_t quipu_watch_loop
    __attribute__((tls_model("initial-exec"), visibility("hidden"))) = QUIPU_LOOP_UNKNOWN;

uint64_t *quipu_watch_find_loop_word(void);
uint64_t *quipu_watch_find_loop_word(void) {
    return &quipu_watch_loop;
}
