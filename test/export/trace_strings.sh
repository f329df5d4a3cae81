#!/bin/bash
# trace_strings.sh: what functions of the C library accessed, where strings, formats and arrays of
# buffers in memory tell it. The program itself prints what is expected.
. "$(dirname "$0")/lib.bash"

cat >program.c <<'C'
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
static char a[5000], b[5000], many[20][8];
static void expect(const char *name, int writes, const volatile void *p, size_t size) {
    fprintf(stderr, "%s %c %lx %zu\n", name, writes ? 'W' : 'R', (unsigned long)p, size);
}
__attribute__((noinline)) static int print(char *to, size_t n, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int result = vsnprintf(to, n, format, list);
    va_end(list);
    return result;
}
__attribute__((noinline)) static char *last(const char *text) {
    return strdup(text);
}
__attribute__((noinline)) static int equal(const char *p, const char *q) {
    return strcmp(p, q);
}
int main(int argc, char **argv) {
    const char *text = argv[1], *other = argv[2]; /* "Kilobyte", "kilo" */
    long got = argc;
    char *copy;
    /* lines, not one per call: each call, then what it has accessed */
    strcpy(a, text);
    expect("strcpy", 0, text, 9), expect("strcpy", 1, a, 9);
    got += strcat(a, other) - a;
    expect("strcat", 0, a, 9), expect("strcat", 0, other, 5), expect("strcat", 1, a + 8, 5);
    got += strncat(a, "abcdef", 3) - a;
    expect("strncat", 1, a + 12, 4);
    strncpy(b, text, 4);
    expect("strncpy", 0, text, 4), expect("strncpy", 1, b, 4);
    got += strcmp(text, other) + strcmp(text, text);
    expect("strcmp", 0, text, 1), expect("strcmp", 0, other, 1);
    expect("strcmp", 0, text, 9), expect("strcmp", 0, text, 9);
    got += equal(text, a);
    expect("strcmp", 0, text, 9), expect("strcmp", 0, a, 9);
    got += strcasecmp(text, other) + strncmp(text, "Kilometer", 3);
    expect("strcasecmp", 0, text, 5), expect("strcasecmp", 0, other, 5);
    expect("strncmp", 0, text, 3);
    got += (strchr(text, 'o') != NULL) + (strchr(text, '?') != NULL) + strspn(text, "Kil");
    expect("strchr", 0, text, 4), expect("strchr", 0, text, 9), expect("strspn", 0, text, 4);
    got += strcspn(text, "ty") + atoi("12");
    expect("strcspn", 0, text, 6);
    copy = last(text);
    expect("strdup", 0, text, 9), expect("strdup", 1, copy, 9);
    char *part = strndup(text, 3);
    expect("strndup", 0, text, 3), expect("strndup", 1, part, 4);
    sprintf(b, "%d%% %s %5.2f|%.*s|%Lf", argc, text, 1.5, 2, copy, 1.0L);
    expect("sprintf", 0, text, 9), expect("sprintf", 0, copy, 2), expect("sprintf", 1, b, strlen(b) + 1);
    got += snprintf(b, 6, "%s,%d,%d,%d,%d,%s", text, 1, 2, 3, 4, other);
    expect("snprintf", 0, text, 9), expect("snprintf", 0, other, 5), expect("snprintf", 1, b, 6);
    got += print(b, 60, "%f%f%f%f%f%f%f%f%f%s%d%s%d%s", 1., 2., 3., 4., 5., 6., 7., 8., 9., text, 1, other, 2, copy);
    expect("vsnprintf", 0, text, 9), expect("vsnprintf", 0, other, 5);
    expect("vsnprintf", 0, copy, 9), expect("vsnprintf", 1, b, 60);
    struct iovec parts[20];
    for (int i = 0; i < 20; i++)
        parts[i] = (struct iovec){many[i], 8};
    int zeros = open("/dev/zero", O_RDWR), ends[2];
    got += readv(zeros, parts, 20);
    expect("readv", 0, parts, sizeof parts);
    for (int i = 0; i < 20; i++)
        expect("readv", 1, many[i], 8);
    got += socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    got += write(ends[1], text, 5);
    parts[0].iov_len = 3;
    got += recvmsg(ends[0], &message, 0);
    expect("recvmsg", 0, &message, sizeof message), expect("recvmsg", 0, parts, 32);
    expect("recvmsg", 1, many[0], 3), expect("recvmsg", 1, many[1], 2);
    got += writev(zeros, parts, 2);
    expect("writev", 0, parts, 32), expect("writev", 0, many[0], 3), expect("writev", 0, many[1], 8);
    if (open((const char *)1, O_RDONLY) >= 0 || errno != EFAULT || open(text, O_RDONLY) >= 0)
        return 1;
    expect("open", 0, text, 9);
    const struct iovec *volatile bad = (const struct iovec *)1;
    if (writev(1, bad, 2) >= 0 || errno != EFAULT)
        return 2;
    char far[3000];
    memset(far, 'x', sizeof far - 1);
    far[sizeof far - 1] = 0;
    puts(far);
    expect("puts", 0, far, sizeof far);
    return got == 0;
}
C
# ranges: those of the gaps in a trace that are sure, one a line
ranges() {
    awk '/^-- not traced/ { gap = $4; next } !/^  / { gap = "" } gap && $4 != "?" { print gap, $1, $2, $3 }' "$1"
}
for flags in -O0 -O2 '-O2 -fno-plt' '-O1 -fno-omit-frame-pointer' '-O2 -fno-pie -no-pie'; do
    # shellcheck disable=SC2086
    "$quipu" cc --quipu=trace -g -fno-builtin -U_FORTIFY_SOURCE $flags program.c -o program || fail "cannot build"
    "$quipu" trace -o t -- ./program Kilobyte kilo >out 2>expected || fail "$flags: status $?"
    "$quipu" print t >t.text || fail "$flags: cannot print"
    ranges t.text >found
    # Each expected range is there, in this order.
    awk 'NR == FNR { want[NR] = $0; count = NR; next } BEGIN { next_one = 1 } $0 == want[next_one] { next_one++ }
        END { if (next_one <= count) { print want[next_one]; exit 1 } }' expected found ||
        fail "$flags: not found"
    # And nothing else: no range of these functions but for literals.
    for name in strcpy strcmp strdup readv recvmsg writev puts; do
        grep "^$name " found | grep -v -F -x -f expected >others || true
        [[ ! -s others ]] || fail "$flags: $(head -3 others)"
    done
done
