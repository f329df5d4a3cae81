/* Says what mappings of files have: those with zeros between their data, longer than the file, from
 * places in the middle, and in several processes, which write to their own. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    PIECE = 256 * 1024
};

static char *map(const char *path, size_t size, long place) {
    int fd = open(path, O_RDONLY);
    char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, place);
    if (bytes == MAP_FAILED)
        abort();
    close(fd);
    return bytes;
}

static void say(const char *what, const char *bytes, size_t size) {
    uint64_t sum = 0;
    for (size_t i = 0; i < size; i++)
        sum = sum * 31 + (uint8_t)bytes[i];
    printf("%s: %016llx\n", what, (unsigned long long)sum);
    fflush(stdout);
}

static void look(void) {
    const size_t whole = 2 * PIECE + PAGE; /* the file ends in its last page */
    char *longer = map("full", whole + (1 << 20), 0);
    char *zeros = map("zeros", 3 * PIECE, 0), *next = map("next", PAGE, 0);
    say("longer than the file", longer, whole);
    say("with zeros", zeros, 3 * PIECE);
    say("the next one", next, PAGE);
    say("from the middle", map("full", 260000, PIECE - PAGE), 260000);
    say("from zeros", map("zeros", PIECE, PIECE + 7 * PAGE), PIECE);
    memset(longer, 1, PIECE + PAGE);
    memset(zeros + PIECE, 2, PAGE);
    say("written", longer, whole);
    say("mapped again", map("full", whole, 0), whole);
    say("zeros again", map("zeros", 3 * PIECE, 0), 3 * PIECE);
}

int main(int count, char **arguments) {
    int status;
    look();
    if (fork() == 0) {
        look();
        _exit(0);
    }
    wait(&status);
    if (count == 1)
        execl("/proc/self/exe", arguments[0], "again", (char *)NULL);
    return status;
}
