/* terminal.c: an interactive program under a pseudo terminal: an editor of one line that redraws it
 * at each key, and a user who types. Prints a checksum of what the user saw. */
#include "../kernels/kernel.h"

#include <pty.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum {
    KEYS = 12000,
    WIDTH = 64
};

/* Redraws the line at each key, until it gets the end of transmission. */
static void edit(void) {
    char line[WIDTH], key;
    size_t length = 0;
    memset(line, ' ', sizeof line);
    while (read(STDIN_FILENO, &key, 1) == 1 && key != 4) {
        if (length == sizeof line) {
            memset(line, ' ', sizeof line);
            length = 0;
        }
        line[length++] = key;
        if (write(STDOUT_FILENO, line, sizeof line) != sizeof line)
            break;
    }
}

/* Reads a line that was drawn. Returns 0 at the end. */
static int look(int terminal, char *line) {
    size_t seen = 0;
    while (seen < WIDTH) {
        ssize_t size = read(terminal, line + seen, WIDTH - seen);
        if (size <= 0)
            return 0;
        seen += (size_t)size;
    }
    return 1;
}

int main(int argc, char **argv) {
    struct termios raw = {0}; /* nothing is echoed or changed */
    int terminal;
    uint64_t state = 1, sum = 0;
    raw.c_cflag = CS8 | CREAD;
    raw.c_cc[VMIN] = 1;
    pid_t editor = forkpty(&terminal, NULL, &raw, NULL);
    if (editor == 0) {
        edit();
        return 0;
    }
    for (unsigned i = kernel_rounds(argc, argv, KEYS); i > 0; i--) {
        char line[WIDTH], key = (char)('a' + next_random(&state) % 26);
        if (write(terminal, &key, 1) != 1 || !look(terminal, line))
            return 1;
        for (int n = 0; n < WIDTH; n++)
            sum = sum * 31 + (unsigned char)line[n];
    }
    if (write(terminal, "\4", 1) != 1)
        return 1;
    waitpid(editor, NULL, 0);
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
