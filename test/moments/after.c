// quipu_after: the handler is called at the first test behind its tick, with a moment that 'quipu
// goto' finds; set again in the handler; several at a time; in threads; what the interrupted code
// has in registers is kept.
// flags: -pthread
// libraries: -lm
// watch: counter
// visits: 6
// fires: 15
// handlers
// no-twin
// variants: -O2 -fno-pie -no-pie
#include <math.h>
#include <pthread.h>
#include <quipu.h>
#include <stdio.h>

enum { FIRES = 200 };

volatile unsigned long counter;
static struct {
    struct quipu_moment moment;
    uint64_t target;
} fires[FIRES];
static int fired;
static volatile float spoiled[16];

static void note(const struct quipu_moment *moment, uint64_t target) {
    fires[fired].moment = *moment;
    fires[fired++].target = target;
    counter++;
    for (int i = 0; i < 16; i++) /* vector registers and flags change */
        spoiled[i] = spoiled[i] * 1.5f + (float)(moment->ticks % 7);
}

struct task {
    int count;
    uint64_t target;
};

static void set(uint64_t ticks, void (*handler)(const struct quipu_moment *, void *),
                struct task *task) {
    struct quipu_moment now = quipu_now();
    task->target = now.ticks + ticks;
    if (quipu_after(ticks, handler, task) != 0)
        printf("not set\n");
}

static void once(const struct quipu_moment *moment, void *argument) {
    const struct task *task = argument;
    note(moment, task->target);
}

static void again(const struct quipu_moment *moment, void *argument) {
    struct task *task = argument;
    note(moment, task->target);
    if (--task->count > 0)
        set(13, again, task);
}

__attribute__((noinline)) static double sum_of(int n) {
    double a = 0.5, b = 0.25, product = 1;
    for (int i = 1; i < n; i++) {
        a = a * 0.75 + 1.0 / i;
        b += a * b > 3 ? -b / 2 : a / 8;
        product *= 1 + b / (i * i);
    }
    counter++;
    return a + b + product;
}

__attribute__((noinline)) static unsigned flags_of(unsigned n) {
    unsigned long low = ~0ul, high = 0;
    for (unsigned i = 0; i < n; i++) { /* add and adc in one turn */
        unsigned __int128 wide = ((unsigned __int128)high << 64 | low) + (i * 0x9e3779b97f4a7c15ul);
        low = (unsigned long)wide;
        high = (unsigned long)(wide >> 64) + (low > high);
    }
    counter++;
    return (unsigned)(low ^ high);
}

static void *run(void *argument) {
    struct task task = {6, 0};
    double plain = sum_of(60);
    unsigned plain_flags = flags_of(60);
    set(7, again, &task);
    double with = sum_of(60);
    unsigned with_flags = flags_of(60);
    printf("%s %s %d\n", plain == with ? "same" : "differs",
           plain_flags == with_flags ? "same" : "differs", task.count);
    return argument;
}

int main(void) {
    pthread_t thread;
    struct task tasks[3] = {{0, 0}, {0, 0}, {0, 0}};
    run(NULL);
    for (int i = 0; i < 3; i++)
        set(40 - 10 * (uint64_t)i, once, &tasks[i]);
    counter += flags_of(80);
    if (pthread_create(&thread, NULL, run, NULL) || pthread_join(thread, NULL))
        return 1;
    for (int i = 0; i < fired; i++) {
        char text[QUIPU_MOMENT_SIZE + 40];
        struct quipu_moment parsed = {0, 0, 0, 0};
        quipu_print_moment(&fires[i].moment, text, sizeof text);
        if (quipu_parse_moment(text, &parsed) || parsed.address != fires[i].moment.address ||
            parsed.ticks != fires[i].moment.ticks || parsed.thread != fires[i].moment.thread)
            printf("'%s' was not read\n", text);
        printf("fired %llu %s\n", (unsigned long long)fires[i].target, text);
    }
    return 0;
}
