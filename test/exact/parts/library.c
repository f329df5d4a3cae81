// The shared object of shared.c.
int library_sum(int n, int (*weight)(int));
int library_started(void);

static int started;
static __thread int own;

__attribute__((constructor)) static void begins(void) {
    for (int i = 0; i < 4; i++)
        started += i;
}

__attribute__((visibility("hidden"), noinline)) int hidden(int n);
int hidden(int n) {
    return n > 5 ? n - 1 : n;
}

int library_started(void) {
    return started + own;
}

int library_sum(int n, int (*weight)(int)) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += weight(hidden(i));
    own = sum;
    return sum;
}
