// vfork, then exec of another instrumented program; and one exec that fails in the child.
// variants: -O0; -O2; clang -O2
// program: parts/execee.c
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static int spawn(const char *path, const char *argument) {
    int status = 0;
    pid_t child = vfork();
    if (child == 0) {
        execl(path, path, argument, (char *)NULL);
        _exit(77);
    }
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

int main(void) {
    int total = spawn("./execee", "5");
    total += spawn("./not_there", "5");
    total += spawn("./execee", "9");
    printf("%d\n", total);
    return 0;
}
