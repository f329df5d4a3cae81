// Functions that are not instrumented, and the kernel: what they write is the call's that made them
// write.
// watch: buffer = buffer:128
// watch: buffer[30..39] = buffer+30:10
// watch: number = number:8
// watch: sorted = sorted:24
// watch: name = name:32
// address: pipes = pipes:8
// variants: -O2; -O0; -O2 -fno-pie -no-pie; clang -O2; -O2 -static; -O2 -D_FORTIFY_SOURCE=2; -O2 -masm=intel
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

char buffer[128], name[32];
long number;
int pipes[2], sorted[6];
static size_t length = 7;

static int compare(const void *left, const void *right) {
    return *(const int *)left - *(const int *)right;
}

// So that the compiler leaves the calls as they are.
#define CALL(function) (*(__typeof__(&(function)) volatile *)&(__typeof__(&(function))){function})

__attribute__((noipa)) static void by_pointer(void *(*copy)(void *, const void *, size_t)) {
    copy(buffer + 40, "by pointer", length);
    buffer[41] = 'p';
}

__attribute__((noinline)) static void strings(void) {
    by_pointer(memcpy);
    memcpy(buffer, "memcpy copies this", length);
    memset(buffer + 28, 'm', length);
    memmove(buffer + 1, buffer, length * 5);
    strcpy(buffer + 32, "strcpy");
    strncpy(buffer + 60, "strncpy fills", length + 20);
    strcat(buffer + 32, " and strcat");
    strncat(buffer + 32, "strncat", 3);
    stpcpy(buffer + 90, "stpcpy");
    mempcpy(buffer + 29, "mempcpy", length);
    CALL(bzero)(buffer + 5, length);
    CALL(bcopy)("bcopy", buffer + 33, 5);
    CALL(memcpy)(buffer + 100, "pointer", 7);
    swab("abcdef", buffer + 110, 6);
    wmemset((wchar_t *)buffer + 3, 77, 2);
    strtok(strcpy(buffer + 64, "one,two"), ",");
}

__attribute__((noinline)) static void formats(void) {
    sprintf(buffer, "%d %s", 12345, "sprintf");
    snprintf(buffer + 25, length, "snprintf cut off");
    sscanf("4711 word", "%ld %9s", &number, name);
    number = strtol("99rest", NULL, 10);
    strftime(name, sizeof name, "%Y", &(struct tm){.tm_year = 100, .tm_mday = 1});
    char *end;
    number += (long)strtod("2.5x", &end);
    FILE *file = fmemopen((void *)"first line\nsecond", 17, "r");
    if (fgets(name, sizeof name, file) && fread(buffer + 30, 1, 6, file) == 6)
        number = ftell(file);
    fclose(file);
}

__attribute__((noinline)) static void kernel(void) {
    if (pipe(pipes) || write(pipes[1], "through the pipe", 16) != 16)
        exit(1);
    if (ioctl(pipes[0], FIONREAD, &number) || read(pipes[0], buffer + 35, 6) != 6)
        exit(2);
    struct iovec parts[] = {{buffer + 3, 4}, {buffer + 38, 10}};
    if (readv(pipes[0], parts, 2) != 10)
        exit(3);
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || send(pair[0], "by socket", 9, 0) != 9 ||
        recv(pair[1], name, sizeof name, 0) != 9)
        exit(4);
    struct stat status;
    if (fstat(pipes[0], &status))
        exit(5);
    int ended = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(9);
    waitpid(child, &ended, 0);
    number = ended;
    long told;
    __asm__ volatile("syscall"
                     : "=a"(told)
                     : "a"(0), "D"(pipes[0]), "S"(buffer + 70), "d"(0)
                     : "rcx", "r11", "memory");
    if (write(pipes[1], "directly", 8) != 8)
        exit(6);
    __asm__ volatile("syscall"
                     : "=a"(told)
                     : "a"(0), "D"(pipes[0]), "S"(buffer + 70), "d"(8)
                     : "rcx", "r11", "memory");
}

int main(void) {
    strings();
    formats();
    kernel();
    for (int i = 0; i < 6; i++)
        sorted[i] = i * 5 % 6;
    qsort(sorted, 6, sizeof *sorted, compare);
    printf("%.30s %ld %d %s\n", buffer + 30, number, sorted[3], name);
    return 0;
}
