/* client_server.c: a server that answers a client's questions through pipes: each question is a
 * word, the answer how often it came. Both are processes. Prints a checksum of the answers. */
#include "../kernels/kernel.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    QUESTIONS = 60000,
    WORDS = 4096
};

static void serve(int from, int to) {
    static uint32_t counts[WORDS];
    uint32_t word;
    while (read(from, &word, sizeof word) == sizeof word) {
        uint32_t place = word * 2654435761u >> 20; /* as many bits as WORDS has */
        counts[place]++;
        if (write(to, &counts[place], sizeof *counts) != sizeof *counts)
            break;
    }
}

int main(int argc, char **argv) {
    int questions[2], answers[2];
    uint64_t state = 1, sum = 0;
    if (pipe(questions) != 0 || pipe(answers) != 0)
        return 1;
    pid_t server = fork();
    if (server == 0) {
        close(questions[1]);
        serve(questions[0], answers[1]);
        return 0;
    }
    for (unsigned i = kernel_rounds(argc, argv, QUESTIONS); i > 0; i--) {
        uint32_t word = next_random(&state) % 1000, answer = 0;
        if (write(questions[1], &word, sizeof word) != sizeof word ||
            read(answers[0], &answer, sizeof answer) != sizeof answer)
            return 1;
        sum = sum * 31 + answer;
    }
    close(questions[1]);
    waitpid(server, NULL, 0);
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
