// Forked children go on where their parents were, and count their own part only.
// least: 15
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static __attribute__((noinline)) int work(int n) {
    return n < 2 ? 1 : work(n - 1) + work(n - 2);
}

static __attribute__((noinline)) int spawn(int depth) {
    int before = work(depth), status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        before += work(depth + 1);
        if (depth == 1)
            _exit(before);
        int below = depth > 1 ? spawn(depth - 1) : 0;
        return below + before;
    }
    waitpid(pid, &status, 0);
    return before + WEXITSTATUS(status);
}

int main(void) {
    int total = work(4) + spawn(3);
    total += work(2);
    printf("%d\n", total);
    return total & 63;
}
