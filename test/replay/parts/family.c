/* family.c: makes children, by fork and by vfork, and executes itself again with ARGUMENTS. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int value;

#ifdef OTHER
void other(int by) {
    value += by;
}

int main(void) {
    other(1);
    other(2);
    printf("other %d\n", value);
    return value;
}
#else
void change(int by) {
    value += by;
    printf("%d\n", value);
    fflush(stdout);
}

static void be_child(void) {
    change(5);
    if (fork() == 0) {
        change(1000);
        _exit(4);
    }
    wait(NULL);
    execl("./other", "other", (char *)NULL);
}

int main(void) {
    change(10);
    if (fork() == 0)
        be_child();
    wait(NULL);
    change(20);
    system("echo shell");
    change(30);
    execl("./other", "other", (char *)NULL);
    return 1;
}
#endif
