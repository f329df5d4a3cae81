/* calls.c KIND N: makes N short system calls of one kind, and ends with 0 if all had the result
 * that they should. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int main(int count, char **arguments) {
    const char *kind = count > 1 ? arguments[1] : "";
    long calls = count > 2 ? atol(arguments[2]) : 1000000, wrong = 0;
    struct timespec now;
    char byte;
    int file = open("/dev/zero", O_RDONLY);
    for (long i = 0; i < calls; i++) {
        if (strcmp(kind, "getppid") == 0)
            wrong += getppid() < 0;
        else if (strcmp(kind, "read") == 0)
            wrong += read(file, &byte, 1) != 1;
        else if (strcmp(kind, "clock") == 0)
            wrong += clock_gettime(CLOCK_REALTIME, &now) != 0;
        else if (strcmp(kind, "clock-call") == 0)
            wrong += syscall(SYS_clock_gettime, CLOCK_REALTIME, &now) != 0;
        else
            return 2;
    }
    return wrong != 0;
}
