/* watch_bitmap.c: where the shadow's address space is refused.
 *
 * quipu_watch_use_bitmap is the hook: inserted code has to come to the runtime at each store then,
 * which finds regions without the shadow. */
#include "watch.h"

void quipu_watch_use_bitmap(void) {
}
