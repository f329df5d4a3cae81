/* jobs.c: stops and continues a child with threads, and sees whether it is told of that, and
 * whether the child stands meanwhile.  Ends with status 4. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int to_parent[2];

static void *tell(void *argument) {
    for (;;) {
        if (write(to_parent[1], argument, 1) != 1)
            return NULL;
        usleep(2000);
    }
}

static void note_continue(int number) {
    (void)number;
    (void)!write(to_parent[1], "c", 1);
}

static void work(void) {
    pthread_t threads[2];
    signal(SIGCONT, note_continue);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, tell, "ab" + i);
    tell("m");
}

/* Reads what the child tells within some milliseconds.  Returns how much that is; CONTINUES counts
 * the c. */
static int hear(int milliseconds, int *continues) {
    struct pollfd heard = {.fd = to_parent[0], .events = POLLIN};
    char byte;
    int count = 0;
    while (count < 50 && poll(&heard, 1, milliseconds) > 0 && read(to_parent[0], &byte, 1) == 1) {
        count++;
        *continues += byte == 'c';
    }
    return count;
}

static void change(pid_t child, int signal, int options) {
    int status = 0;
    kill(child, signal);
    if (waitpid(child, &status, options) != child)
        printf("signal %d: nothing is told\n", signal);
    else if (WIFSTOPPED(status))
        printf("signal %d: stopped by %d\n", signal, WSTOPSIG(status));
    else
        printf("signal %d: %s\n", signal, WIFCONTINUED(status) ? "continued" : "ended");
    fflush(stdout);
}

int main(void) {
    static const int stops[] = {SIGSTOP, SIGTSTP, SIGSTOP};
    int continues = 0;
    if (pipe(to_parent) != 0)
        return 1;
    pid_t child = fork();
    if (!child) {
        setpgid(0, 0);
        close(to_parent[0]);
        work();
        return 1;
    }
    close(to_parent[1]);
    for (int i = 0; i < 3; i++) {
        printf("%s\n", hear(1000, &continues) == 50 ? "it runs" : "it does not run");
        change(child, stops[i], WUNTRACED);
        while (hear(20, &continues) == 50) /* what it has told before */
            ;
        printf("%s\n", hear(50, &continues) ? "it runs" : "it stands");
        change(child, SIGCONT, WCONTINUED);
        for (int tries = 0; continues <= i && tries < 1000; tries++)
            hear(100, &continues);
    }
    printf("%s\n", hear(1000, &continues) == 50 ? "it runs" : "it does not run");
    change(child, SIGSTOP, WUNTRACED);
    change(child, SIGKILL, 0);
    while (hear(20, &continues) > 0)
        ;
    printf("%d handlers\n", continues);
    return 4;
}
