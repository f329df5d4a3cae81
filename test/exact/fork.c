// fork without exec: children and grandchildren run on in the middle of functions, each its file.
// variants: -O0; -O2; -O3; clang -O2; -O2 -static; -O2 -static-pie
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static int work(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i & 3;
    return sum;
}

__attribute__((noinline)) static int wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

__attribute__((noinline)) static int branch_out(int depth) {
    int total = work(depth * 3);
    for (int i = 0; i < depth; i++) {
        pid_t child = fork();
        if (child == 0) {
            total = branch_out(depth - 1) + work(10 + i);
            if (i == 0)
                exit(total & 63);
            _exit(total & 63);
        }
        total += wait_for(child);
    }
    return total + work(7);
}

int main(void) {
    printf("%d\n", branch_out(2));
    fflush(stdout);
    return 0;
}
