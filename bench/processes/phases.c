/* phases.c: the phases of a compiler, as make runs them: each is a process of its own, which reads
 * what the one in front of it has written, and ends. Prints a checksum of what the last ones write.
 */
#include "../kernels/kernel.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    FILES = 40,
    LINES = 600
};

/* Removes comments and folds blanks. */
static void scan(FILE *in, FILE *out) {
    int c, last = ' ';
    while ((c = getc(in)) != EOF) {
        if (c == '#')
            while (c != '\n' && c != EOF)
                c = getc(in);
        if (c == EOF)
            break;
        if (c != ' ' || last != ' ')
            putc(c, out);
        last = c;
    }
}

/* Makes a line "a b +" of each line "a + b". */
static void parse(FILE *in, FILE *out) {
    unsigned left, right;
    char sign;
    while (fscanf(in, "%u %c %u", &left, &sign, &right) == 3)
        fprintf(out, "%u %u %c\n", left, right, sign);
}

/* Computes each line. */
static void emit(FILE *in, FILE *out) {
    unsigned left, right;
    char sign;
    uint64_t sum = 0;
    while (fscanf(in, "%u %u %c", &left, &right, &sign) == 3)
        sum = sum * 31 + (sign == '+' ? left + right : sign == '-' ? left - right : left * right);
    fprintf(out, "%llu\n", (unsigned long long)sum);
}

typedef void phase(FILE *in, FILE *out);

/* Runs a phase as a process, from a file to another. */
static int run(phase *work, const char *from, const char *to) {
    int status = 1;
    pid_t child = fork();
    if (child == 0) {
        FILE *in = fopen(from, "r"), *out = fopen(to, "w");
        if (!in || !out)
            _exit(1);
        work(in, out);
        _exit(fclose(out) != 0);
    }
    return waitpid(child, &status, 0) == child && status == 0;
}

static int write_source(const char *path, uint64_t *state) {
    FILE *out = fopen(path, "w");
    for (int i = 0; out && i < LINES; i++) {
        unsigned left = next_random(state) % 1000, right = next_random(state) % 1000;
        fprintf(out, "%u   %c %u # line %d\n", left, "+-*"[i % 3], right, i);
    }
    return out && fclose(out) == 0;
}

int main(int argc, char **argv) {
    static phase *const phases[] = {scan, parse, emit};
    static const char *const names[] = {"phases.source", "phases.scanned", "phases.parsed",
                                        "phases.sum"};
    uint64_t state = 1, sum = 0;
    for (unsigned i = kernel_rounds(argc, argv, FILES); i > 0; i--) {
        unsigned long long one = 0;
        if (!write_source(names[0], &state))
            return 1;
        for (int n = 0; n < 3; n++)
            if (!run(phases[n], names[n], names[n + 1]))
                return 1;
        FILE *result = fopen(names[3], "r");
        if (!result || fscanf(result, "%llu", &one) != 1)
            return 1;
        fclose(result);
        sum = sum * 31 + one;
    }
    for (int n = 0; n < 4; n++)
        unlink(names[n]);
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
