// A loop that never ends, and calls nothing.
#include <stdint.h>

volatile uint64_t cells[16], lonely;

__attribute__((noipa)) static void run(volatile uint64_t *to, volatile uint64_t *once) {
    for (uint64_t i = 1;; i++) {
        to[i % 16] = i;
        if (i % 4096 == 0)
            *once = i;
    }
}

int main(void) {
    run(cells, &lonely);
    return 0;
}
