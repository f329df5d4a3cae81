/* process_number.c: reads process numbers of the user; see process_number.h. */
#include "cmd/process_number.h"

#include "util/diag.h"
#include "util/refusal.h"

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

/* Ends the program with an error if PID is not a process, or is only a thread of one. */
static void check_process(pid_t pid) {
    long leader = read_status(pid, "Tgid:", 10);
    if (leader < 0 && !has_proc())
        die("process %d: %s", (int)pid, no_proc);
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
