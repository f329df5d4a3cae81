// dlopen and dlclose, again and again, of an instrumented shared object; its destructor runs too.
// shared: parts/plugin.c
// libraries: -ldl
// variants: -O0; -O2; clang -O2
#include <dlfcn.h>
#include <stdio.h>

__attribute__((noinline)) static int use(int n) {
    void *object = dlopen("./plugin.so", RTLD_NOW);
    if (!object) {
        puts(dlerror());
        return -1;
    }
    int (*work)(int) = (int (*)(int))dlsym(object, "plugin_work");
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += work(i);
    dlclose(object);
    return sum;
}

int main(void) {
    int sum = 0;
    for (int i = 1; i < 5; i++)
        sum += use(i);
    printf("%d\n", sum);
    return 0;
}
