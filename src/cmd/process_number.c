/* process_number.c: processes that a user names; see process_number.h. */
#include "cmd/process_number.h"

#include "util/diag.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pid_t parse_pid(const char *text) {
    char *end;
    errno = 0;
    long pid = strtol(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || pid <= 0 || pid > INT32_MAX)
        die("'%s': give the number of a process", text);
    return (pid_t)pid;
}

/* What the process's status says of KEY; -1: nothing. */
static long read_status(pid_t pid, const char *key) {
    char path[64], line[256];
    long value = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "re");
    while (file && value < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0)
            value = strtol(line + strlen(key), NULL, 10);
    if (file)
        fclose(file);
    return value;
}

/* Ends the program where PID is no process, or only a thread of one. */
static void check_process(pid_t pid) {
    long leader = read_status(pid, "Tgid:");
    if (leader < 0)
        die("process %d: there is none", (int)pid);
    if (leader != pid)
        die("process %d: it is a thread of process %ld; name that", (int)pid, leader);
}

pid_t read_process_number(const char *text) {
    pid_t pid = parse_pid(text);
    check_process(pid);
    return pid;
}
