// posix_spawn and system(): children on the parent's memory until they execute.
// variants: -O2; clang -O2
// program: parts/execee.c
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

extern char **environ;

int main(void) {
    int total = 0;
    for (int i = 0; i < 3; i++) {
        pid_t child;
        int status;
        char name[] = "./execee", number[] = "3", *arguments[] = {name, number, NULL};
        if (posix_spawn(&child, name, NULL, NULL, arguments, environ))
            return 1;
        waitpid(child, &status, 0);
        total += WEXITSTATUS(status);
    }
    total += WEXITSTATUS(system("./execee 4"));
    printf("%d\n", total);
    return 0;
}
