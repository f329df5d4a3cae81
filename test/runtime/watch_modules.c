/* watch_modules.c: an executable and a shared object, each with its own copy of the runtime, share
 * what is watched.  watch_modules.sh builds it as both. */
#include "../../include/quipu.h" /* names in src/format/ are the same: the two do not mix */

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void store8(uint64_t *at, uint64_t value) {
    __asm__ volatile("leaq -128(%%rsp), %%rsp\n\tpushq $0\n\tpushq %[at]\n\tpushq %[what]\n\t"
                     "call quipu_watch_begin_more\n\t"
                     "movq %[value], (%[at])\n\t"
                     "leaq -128(%%rsp), %%rsp\n\tcall quipu_watch_end\n\t"
                     ".hidden quipu_watch_begin\n\t.hidden quipu_watch_end\n\t"
                     :
                     : [at] "r"(at), [value] "r"(value), [what] "i"(8) /* bytes, plain */
                     : "memory");
}

#ifdef LIBRARY

void library_store(uint64_t *at, uint64_t value);
void library_store(uint64_t *at, uint64_t value) {
    store8(at, value);
}

int64_t library_watch(const void *at, void (*handler)(const struct quipu_write *, void *));
int64_t library_watch(const void *at, void (*handler)(const struct quipu_write *, void *)) {
    return quipu_watch_create(at, 8, handler, NULL);
}

/* A constructor stores before main of the program. */
static uint64_t early;
__attribute__((constructor)) static void construct(void) {
    if (*(const volatile uint8_t *)(0x70000000 + ((uint64_t)&early >> 6)))
        abort();
    store8(&early, 1);
}

#else

#define EXPECT(condition)                                                                          \
    ((condition)                                                                                   \
         ? (void)0                                                                                 \
         : (printf("%s:%d: %s\n", __FILE__, __LINE__, #condition), fflush(stdout), _exit(1)))

static volatile int hits;
static uint64_t cell, inner;
static void (*store)(uint64_t *at, uint64_t value);

static void note(const struct quipu_write *write, void *argument) {
    (void)write, (void)argument;
    hits++;
    store(&inner, 1); /* by the other copy of the runtime: inside, all the same */
}

static void check(void *library) {
    store = (void (*)(uint64_t *, uint64_t))dlsym(library, "library_store");
    int64_t (*watch)(const void *, void (*)(const struct quipu_write *, void *)) = (int64_t(*)(
        const void *, void (*)(const struct quipu_write *, void *)))dlsym(library, "library_watch");
    int64_t id = quipu_watch_create(&cell, 8, note, NULL), other = watch(&inner, note);
    EXPECT(id > 0 && other > 0);
    hits = 0;
    store(&cell, 1);
    store8(&cell, 2);
    EXPECT(hits == 2);
    store8(&inner, 2);
    store(&inner, 3);
    EXPECT(hits == 4);
    EXPECT(quipu_watch_delete(other) == 0 && quipu_watch_delete(id) == 0);
    EXPECT(quipu_watch_delete(id) == -2);
    store8(&cell, 3);
    EXPECT(hits == 4);
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    int status;
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
}

int main(void) {
    for (int i = 0; i < 20; i++) {
        void *library = dlopen("./libmodules.so", RTLD_NOW);
        EXPECT(library);
        check(library);
        dlclose(library);
    }
    return 0;
}

#endif
