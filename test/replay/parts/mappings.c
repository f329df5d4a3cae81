/* Says what memory has behind calls that give it other contents than the program has written: those
 * of its file again, zeros, or a protection that is changed in part. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PAGE = 4096
};

static void say(const char *what, const char *bytes) {
    printf("%s: %.4s\n", what, *bytes ? bytes : "none");
    fflush(stdout);
}

static char *map(int pages, int flags, int fd) {
    char *bytes = mmap(NULL, (size_t)pages * PAGE, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (bytes == MAP_FAILED)
        abort();
    return bytes;
}

static void of_file(const char *path) {
    int fd = open(path, O_RDWR);
    char *bytes = map(2, MAP_PRIVATE, fd);
    strcpy(bytes + PAGE, "new");
    madvise(bytes, 2 * PAGE, MADV_DONTNEED);
    say("dropped", bytes + PAGE);
    bytes = mremap(bytes, 2 * PAGE, 4 * PAGE, MREMAP_MAYMOVE);
    say("grown", bytes + 3 * PAGE);
    strcpy(bytes + PAGE, "old");
    char *moved = mremap(bytes, 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP);
    if (moved != MAP_FAILED) { /* Linux 5.13 */
        say("moved", moved + PAGE);
        say("left", bytes + PAGE);
    }
    bytes = mmap(NULL, 2, PROT_READ, MAP_SHARED, open(path, O_RDONLY), 0);
    say("behind two bytes", bytes + 3);
    bytes = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, open(path, O_RDONLY), 0);
    bytes = mremap(bytes, PAGE, 3 * PAGE, MREMAP_MAYMOVE);
    say("grown, shared", bytes + 2 * PAGE);
}

/* Of 64 GB only what the file has is read. */
static void of_sparse_file(void) {
    int fd = open("sparse", O_RDWR | O_CREAT | O_TRUNC, 0600);
    const size_t size = (size_t)64 << 30, middle = size / 2;
    if (ftruncate(fd, (off_t)size) != 0)
        abort();
    char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    char *again = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    strcpy(bytes + middle, "one");
    strcpy(bytes + middle + PAGE, "two");
    munmap(again, size);
    again = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    say("sparse", again + middle);
    munmap(bytes, size);
    fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)middle, PAGE);
    bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    say("punched", bytes + middle);
    say("beside", bytes + middle + PAGE);
    unlink("sparse");
}

static void of_zeros(void) {
    int fd = open("/dev/zero", O_RDWR), status;
    char *own = map(1, MAP_PRIVATE, fd), *shared = map(1, MAP_SHARED, fd);
    char *other = map(1, MAP_SHARED, fd);
    strcpy(own, "own");
    if (fork() == 0) {
        strcpy(shared, "child");
        strcpy(own, "child");
        _exit(0);
    }
    wait(&status);
    say("shared zeros", shared);
    say("other zeros", other);
    say("private zeros", own);
}

/* Executes this program, of which there is no file then. */
static void from_memory(char **argv) {
    char bytes[PAGE];
    int fd = memfd_create("program", MFD_CLOEXEC), from = open("/proc/self/exe", O_RDONLY);
    for (ssize_t size; (size = read(from, bytes, sizeof bytes)) > 0;)
        if (write(fd, bytes, (size_t)size) != size)
            abort();
    fexecve(fd, (char *[]){argv[0], argv[1], "from memory", NULL}, (char *[]){NULL});
    abort();
}

static void of_limited_data(void) {
    struct rlimit none = {0, RLIM_INFINITY};
    void *end = sbrk(0);
    setrlimit(RLIMIT_DATA, &none);
    printf("limited: %d, %d\n", sbrk(1 << 20) == (void *)-1, sbrk(0) == end);
    fflush(stdout);
}

static void of_shared_memory(void) {
    char *bytes = map(2, MAP_SHARED | MAP_ANONYMOUS, -1);
    strcpy(bytes, "one");
    strcpy(bytes + PAGE, "two");
    madvise(bytes, PAGE, MADV_REMOVE);
    say("removed", bytes);
    say("beside", bytes + PAGE);
    mprotect(bytes + PAGE, PAGE, PROT_READ);
    madvise(bytes + PAGE, PAGE, MADV_DONTNEED);
    say("read-only", bytes + PAGE);
}

/* What no one can map is no reason to end the recording. */
static void of_no_files(void) {
    int ends[2], both[2];
    if (pipe(ends) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, both) != 0)
        abort();
    const int all[] = {ends[1],
                       both[0],
                       open("/", O_RDONLY),
                       eventfd(0, 0),
                       open("/proc/self/ns/uts", O_RDONLY),
                       mq_open("/quipu-mappings", O_RDWR | O_CREAT, 0600, NULL)};
    mq_unlink("/quipu-mappings");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int type = MAP_SHARED; type <= MAP_PRIVATE; type++)
            printf("%zu is mapped: %d\n", i,
                   mmap(NULL, PAGE, PROT_READ, type, all[i], 0) != MAP_FAILED);
}

static void in_part(void) {
    char *bytes = map(4, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    strcpy(bytes, "one");
    strcpy(bytes + PAGE, "two");
    mlock(bytes + PAGE, PAGE);
    printf("locked: %d\n", madvise(bytes, 2 * PAGE, MADV_DONTNEED));
    say("in front", bytes);
    say("locked", bytes + PAGE);
    munmap(bytes + 3 * PAGE, PAGE);
    mprotect(bytes, 3 * PAGE, PROT_READ);
    printf("with a gap: %d\n", mprotect(bytes, 4 * PAGE, PROT_READ | PROT_WRITE));
    strcpy(bytes + 2 * PAGE, "yes");
    say("written", bytes + 2 * PAGE);
}

static void in_child(void) {
    char *bytes = map(2, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    int status;
    strcpy(bytes, "one");
    madvise(bytes, PAGE, MADV_WIPEONFORK);
    madvise(bytes + PAGE, PAGE, MADV_DONTFORK);
    if (fork() == 0) {
        say("wiped", bytes);
        bytes[PAGE] = 1;
        _exit(1);
    }
    wait(&status);
    printf("the child ends by %d\n", WTERMSIG(status));
    say("kept", bytes);
}

int main(int argc, char **argv) {
    printf("%d arguments\n", argc);
    of_file(argv[1]);
    of_shared_memory();
    of_no_files();
    in_part();
    in_child();
    of_sparse_file();
    of_zeros();
    of_limited_data();
    if (argc == 2)
        from_memory(argv);
    return 6;
}
