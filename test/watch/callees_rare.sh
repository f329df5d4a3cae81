#!/bin/bash
# Functions of the C library write more than their arguments seem to say: strsep into the string, select to
# three sets, strcpy more than a million bytes, and snprintf as much as it likes if its size has wrapped.
. "$(dirname "$0")/lib.bash"

cat >program.c <<'EOT'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

char line[] = "one,two";
fd_set except;
char big[7 << 20], source[5 << 20];
struct { char text[8]; char secret[24]; } s, t;

static __attribute__((noinline)) void innocent(void) { srandom(1); }
static __attribute__((noinline)) void separate(char **at) { strsep(at, ","); }
static __attribute__((noinline)) void choose(int fd) {
    struct timeval none = {0, 0};
    select(fd + 1, NULL, NULL, &except, &none);
}
static __attribute__((noinline)) void copy(void) { strcpy(big, source); }
static __attribute__((noinline)) void append(void) { strcat(big, source); }
static __attribute__((noinline)) void describe(const char *name) {
    int used = snprintf(s.text, sizeof s.text, "name: %s", name); /* returns 12 */
    snprintf(s.text + used, sizeof s.text - used, ", %s", name);
}
static __attribute__((noinline)) void receive(int fd, size_t used) { recv(fd, t.text, sizeof t.text - used, 0); }

int main(int argc, char **argv) {
    char *at = line;
    int pair[2];
    if (pipe(pair) != 0)
        return 1;
    separate(&at);
    innocent();
    FD_SET(pair[0], &except);
    choose(pair[0]);
    innocent();
    memset(source, 'a', 3 << 20);
    copy();
    innocent();
    append();
    innocent();
    describe("abcdef");
    innocent();
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 || write(pair[0], "0123456789abcdef", 16) != 16)
        return 1;
    receive(pair[1], (size_t)argc + 11);
    innocent();
    return argv == NULL;
}
EOT
quipu cc --quipu=watch -O1 -g -fno-builtin -U_FORTIFY_SOURCE program.c -o program 2>messages || fail "cannot build: $(cat messages)"

watches 0 --format=json -e line -e except -e 'big[2500000]' -e 'big[4500000]' -e s.secret -e t.secret -- ./program
python3 -c '
import json
for hit in map(json.loads, open("hits")):
    print(hit["function"], hit["name"].split("[")[0], hit["violation"] or hit["undecided"])' >told
diff - told <<'EOT' || fail "hits: $(cat hits)"
separate line False
main except.__fds_bits False
choose except.__fds_bits False
copy big False
append big False
describe s.secret False
receive t.secret False
EOT
