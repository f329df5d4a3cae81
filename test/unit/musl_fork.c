// The runtime's fork for an instrumented C library: its handlers run around the system call, those
// in front of it in the opposite order, and a table that is full refuses more.
// runtime: core/musl.o
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int quipu_musl_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
long quipu_musl_fork(void);

static char said[16];
static size_t length;

static void say(char letter) {
    said[length++] = letter;
}

static void prepare_first(void) {
    say('a');
}

static void prepare_second(void) {
    say('b');
}

static void parent_first(void) {
    say('c');
}

static void child_first(void) {
    say('d');
}

static void child_second(void) {
    say('e');
}

static int expect(const char *wanted) {
    if (strcmp(said, wanted) == 0)
        return 0;
    printf("the handlers said '%s', not '%s'\n", said, wanted);
    return 1;
}

int main(void) {
    int status = 0, faults = 0, room = 0;
    faults += quipu_musl_atfork(prepare_first, parent_first, child_first) != 0;
    faults += quipu_musl_atfork(prepare_second, NULL, child_second) != 0;
    faults += quipu_musl_atfork(NULL, NULL, NULL) != 0;
    fflush(stdout);
    long pid = quipu_musl_fork();
    if (pid == 0) {
        faults += expect("bade");
        fflush(stdout);
        _exit(faults);
    }
    faults += expect("bac");
    if (waitpid((pid_t)pid, &status, 0) != pid || status != 0) {
        printf("the child's status is %d\n", status);
        faults++;
    }
    while (room < 100 && quipu_musl_atfork(NULL, NULL, NULL) == 0)
        room++;
    if (room == 100 || quipu_musl_atfork(NULL, NULL, NULL) != ENOMEM) {
        printf("the table has no limit\n");
        faults++;
    }
    return faults != 0;
}
