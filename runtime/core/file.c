/* file.c: the process's data file: finds, makes, names and locks it.
 *
 * The file is made under a temporary name, and renamed when it is complete, so readers never see an
 * incomplete one. If a name is in use, the file belongs to this process image, since another of its
 * modules has made it: then this module joins it. Or it belongs to another process that had the
 * same process number: then the next name is tried.
 *
 * The two are distinguished by a mark: a page of the process's private memory, which is never
 * unmapped. It has the start time of the file that the process has made, and the file has its
 * address. exec takes the page away, and fork clears it (MADV_WIPEONFORK), whatever code calls the
 * kernel. So the forked children of one process do not join each other's files, although they have
 * the same AT_RANDOM bytes and memory at the same addresses. The address may be that of a dead
 * process, with anything behind it in this one. So futex reads it, which may fail but not fault.
 *
 * Not perfect: kernels before 4.14 do not clear the page. Then a forked child has its parent's mark
 * until a module makes its file, and joins the file of an ancestor that had its process number if
 * no fork handler ran since then. Where the clock cannot be read, all files have one start time.
 *
 * The descriptor is closed once everything is mapped, since programs count and close descriptors.
 * To extend the file it is opened again by its path. Space is reserved before it is used. So a full
 * disk causes an error here, not a signal later. If the disk has plenty of room, large parts stay
 * holes (chunk.c). */
#include "format/data_file.h"
#include "runtime/core/state.h"
#include "runtime/core/syscall.h"
#include "runtime/core/text.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>

extern char **environ;

enum {
    NUMBER_MAX = 100000, /* files of one program with one process number */
    RENAME_WITHOUT_REPLACE = 1,
};

/* Lock: "Futexes Are Tricky" (Drepper), mutex 2: 0 free, 1 held, 2 held and waited for. */
void quipu_lock(struct quipu_file *file) {
    uint32_t value = 0;
    if (__atomic_compare_exchange_n(&file->lock, &value, 1, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED))
        return;
    while (__atomic_exchange_n(&file->lock, 2, __ATOMIC_ACQUIRE) != 0)
        SYSTEM_CALL(futex, &file->lock, FUTEX_WAIT, 2, 0, 0, 0);
}

void quipu_unlock(struct quipu_file *file) {
    if (__atomic_exchange_n(&file->lock, 0, __ATOMIC_RELEASE) == 2)
        SYSTEM_CALL(futex, &file->lock, FUTEX_WAKE, 1, 0, 0, 0);
}

/* Opens NAME, and keeps descriptors 0, 1 and 2 free: a program may have closed them. */
static long open_above_standard(int directory, const char *name, int flags, unsigned mode) {
    long fd = SYSTEM_CALL(openat, directory, name, flags | O_CLOEXEC | O_NOCTTY, mode, 0, 0);
    if (fd < 0 || fd > 2)
        return fd;
    long above = SYSTEM_CALL(fcntl, fd, F_DUPFD_CLOEXEC, 3, 0, 0, 0);
    SYSTEM_CALL(close, fd, 0, 0, 0, 0, 0);
    return above;
}

long quipu_reopen_data(void) {
    struct stat status = {0};
    long fd = open_above_standard(AT_FDCWD, quipu_state.path, O_RDWR | O_NOFOLLOW, 0);
    if (fd < 0)
        return fd;
    long error = SYSTEM_CALL(fstat, fd, &status, 0, 0, 0, 0);
    if (error == 0 && (status.st_dev != quipu_state.device || status.st_ino != quipu_state.inode))
        error = -ESTALE;
    if (error == 0)
        return fd;
    SYSTEM_CALL(close, fd, 0, 0, 0, 0, 0);
    return error;
}

long quipu_borrow_data(void) {
    return quipu_state.fd ? quipu_state.fd : quipu_reopen_data();
}

void quipu_return_data(int fd) {
    if (fd != quipu_state.fd)
        SYSTEM_CALL(close, fd, 0, 0, 0, 0, 0);
}

/* The process opens the file again when it grows. Its umask may deny even the owner that. If the
 * mode cannot be changed, that open fails, and says so. */
static void allow_owner_file(int fd) {
    struct stat status = {0};
    if (SYSTEM_CALL(fstat, fd, &status, 0, 0, 0, 0) == 0 && (status.st_mode & 0600) != 0600)
        SYSTEM_CALL(fchmod, fd, (status.st_mode & 0777) | 0600, 0, 0, 0, 0);
}

/* The same for a directory that this process has just made. */
static void allow_owner_directory(const char *path) {
    struct stat status = {0};
    if (SYSTEM_CALL(newfstatat, AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW, 0, 0) == 0 &&
        (status.st_mode & 0700) != 0700)
        SYSTEM_CALL(chmod, path, (status.st_mode & 0777) | 0700, 0, 0, 0, 0);
}

/* Opens the directory, and makes it if it does not exist. A privileged program writes only to a
 * directory that its own user alone can write. */
static long open_directory(void) {
    bool privileged = getauxval(AT_SECURE) != 0;
    int flags = O_PATH | O_DIRECTORY | (privileged ? O_NOFOLLOW : 0);
    char *slash = &quipu_state.path[quipu_state.name_start - 1];
    struct stat status = {0};
    *slash = '\0';
    const char *path = slash == quipu_state.path ? "/" : quipu_state.path;
    long fd = open_above_standard(AT_FDCWD, path, flags, 0);
    if (fd == -ENOENT) {
        fd = SYSTEM_CALL(mkdir, path, 0777, 0, 0, 0, 0);
        if (fd == 0 && !privileged)
            allow_owner_directory(path);
        if (fd == 0 || fd == -EEXIST)
            fd = open_above_standard(AT_FDCWD, path, flags, 0);
    }
    *slash = '/';
    if (fd < 0 || !privileged)
        return fd;
    long error = SYSTEM_CALL(newfstatat, fd, "", &status, AT_EMPTY_PATH, 0, 0);
    if (error == 0 &&
        (status.st_uid != (uid_t)SYSTEM_CALL(geteuid, 0, 0, 0, 0, 0, 0) || (status.st_mode & 022)))
        error = -EPERM;
    if (error == 0)
        return fd;
    SYSTEM_CALL(close, fd, 0, 0, 0, 0, 0);
    return error;
}

/* Writes the file's next name, PROGRAM.PID.quipu or PROGRAM.PID.NUMBER.quipu. */
static bool write_name(struct naming *naming) {
    struct text name = {naming->name, NAME_SIZE, 0, false};
    struct text path = {quipu_state.path, PATH_SIZE, quipu_state.name_start, false};
    text_add(&name, quipu_state.program);
    text_add(&name, ".");
    text_number(&name, quipu_state.pid);
    if (naming->number > 1) {
        text_add(&name, ".");
        text_number(&name, naming->number);
    }
    text_add(&name, ".quipu");
    text_add(&path, naming->name);
    return !path.cut;
}

static struct quipu_file *map_header(int fd) {
    return map_memory(NULL, QUIPU_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

/* Makes HEADER the process's header. It replaces the old one at the same address. */
static long set_header(struct quipu_file *header) {
    if (quipu_state.file) {
        void *moved = (void *)SYSTEM_CALL(mremap, header, QUIPU_PAGE, QUIPU_PAGE,
                                          MREMAP_MAYMOVE | MREMAP_FIXED, quipu_state.file, 0);
        if (is_error(moved)) {
            SYSTEM_CALL(munmap, header, QUIPU_PAGE, 0, 0, 0, 0);
            return (long)moved;
        }
        header = moved;
    }
    quipu_state.file = header;
    return 0;
}

void quipu_drop_data(void) {
    struct quipu_file *header =
        map_memory(NULL, QUIPU_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!is_error(header))
        header->pid = quipu_state.pid;
    if (is_error(header) || set_header(header) < 0)
        quipu_state.file = NULL; /* must not stay that of the parent */
}

bool quipu_has_data(const struct quipu_file *file) {
    return file->magic[0] != 0;
}

/* What the mark contains. It is not 0, the contents of a cleared page, even without a clock. */
static uint64_t mark_value(const struct quipu_file *file) {
    return file->start_time + 1;
}

/* Whether ADDRESS, which may be no memory, has VALUE: futex waits if it has, here for no time. */
static bool has_value(uint64_t address, uint32_t value) {
    struct timespec none = {0};
    return SYSTEM_CALL(futex, address, FUTEX_WAIT_PRIVATE, value, &none, 0, 0) == -ETIMEDOUT;
}

bool quipu_is_marked(const struct quipu_file *file) {
    uint64_t value = mark_value(file);
    if (!file->mark)
        return true; /* a module with an older runtime has made it */
    return file->mark % QUIPU_PAGE == 0 && has_value(file->mark, (uint32_t)value) &&
           has_value(file->mark + sizeof(uint32_t), (uint32_t)(value >> 32));
}

/* Marks this process as the maker of FILE. OLD is the header of the process that has forked, or
 * NULL. That one's page is at the same address in the child, and is used again. */
static long set_mark(struct quipu_file *file, const struct quipu_file *old) {
    uint64_t *mark = old ? (void *)old->mark : NULL;
    if (!mark) {
        mark = map_memory(NULL, QUIPU_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                          0);
        if (is_error(mark))
            return (long)mark;
        SYSTEM_CALL(madvise, mark, QUIPU_PAGE, MADV_WIPEONFORK, 0, 0, 0);
    }
    *mark = mark_value(file);
    file->mark = (uint64_t)mark;
    return 0;
}

static bool is_of_this_process(const struct quipu_file *file) {
    return bytes_equal(file->magic, QUIPU_FILE_MAGIC, sizeof file->magic) &&
           file->version == QUIPU_FILE_VERSION && file->pid == quipu_state.pid &&
           bytes_equal(file->image, (const void *)getauxval(AT_RANDOM), sizeof file->image) &&
           quipu_is_marked(file);
}

/* Joins the file FD if it belongs to this process image. Returns 1, 0 if it does not, or an
 * error. */
static long join_data(int fd) {
    struct stat status = {0};
    long error = SYSTEM_CALL(fstat, fd, &status, 0, 0, 0, 0);
    if (error < 0)
        return error;
    if (!S_ISREG(status.st_mode) || status.st_size < QUIPU_PAGE)
        return 0;
    struct quipu_file *header = map_header(fd);
    if (is_error(header))
        return (long)header;
    bool ours = is_of_this_process(header);
    if (ours && !(quipu_state.file && quipu_state.file->pid == quipu_state.pid)) {
        error = set_header(header);
        return error < 0 ? error : 1;
    }
    SYSTEM_CALL(munmap, header, QUIPU_PAGE, 0, 0, 0, 0);
    return ours;
}

/* Reads the program's arguments into COMMAND, which is zero. */
static void read_command(char *command, size_t size) {
    long fd = open_above_standard(AT_FDCWD, "/proc/self/cmdline", O_RDONLY, 0);
    if (fd < 0)
        return;
    /* Two NULs stay at the end. If the file cannot be read, the command stays empty. */
    SYSTEM_CALL(read, fd, command, size - 2, 0, 0, 0);
    SYSTEM_CALL(close, fd, 0, 0, 0, 0, 0);
}

/* Returns the number that starts process of MPI give them in the environment, plus 1, or 0. */
static uint32_t read_rank(void) {
    static const char *const prefixes[] = {
        "OMPI_COMM_WORLD_RANK=", "PMIX_RANK=", "PMI_RANK=", "MV2_COMM_WORLD_RANK="};
    const char *digits = NULL;
    uint64_t rank = 0;
    for (size_t i = 0; !digits && i < sizeof prefixes / sizeof *prefixes; i++)
        digits = text_variable(environ, prefixes[i]);
    if (!digits || !*digits)
        return 0;
    for (; *digits >= '0' && *digits <= '9' && rank < INT32_MAX; digits++)
        rank = 10 * rank + (uint64_t)(*digits - '0');
    return *digits || rank > INT32_MAX ? 0 : (uint32_t)rank + 1;
}

/* Fills in a header that is zero. OLD is the header of the process that has forked, or NULL. */
static void fill_header(struct quipu_file *file, const struct quipu_file *old) {
    struct timespec now = {0};
    const uint8_t *image = (const void *)getauxval(AT_RANDOM);
    SYSTEM_CALL(clock_gettime, CLOCK_REALTIME, &now, 0, 0, 0, 0);
    for (size_t i = 0; i < sizeof file->magic; i++)
        file->magic[i] = (uint8_t)QUIPU_FILE_MAGIC[i];
    for (size_t i = 0; i < sizeof file->image; i++)
        file->image[i] = image[i];
    file->version = QUIPU_FILE_VERSION;
    file->header_size = file->size = QUIPU_PAGE;
    file->pid = quipu_state.pid;
    file->parent_pid = old ? old->pid : (uint32_t)SYSTEM_CALL(getppid, 0, 0, 0, 0, 0, 0);
    file->start_time = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    if (!old) {
        quipu_program_path(file->program, sizeof file->program);
        read_command(file->command, sizeof file->command);
        file->rank = read_rank();
        return;
    }
    file->rank = old->rank;
    for (size_t i = 0; i < sizeof file->program; i++)
        file->program[i] = old->program[i];
    for (size_t i = 0; i < sizeof file->command; i++)
        file->command[i] = old->command[i];
}

/* Makes a file with a header. Returns its descriptor, or an error. */
static long make_data(struct naming *naming) {
    struct text temporary = {naming->temporary, NAME_SIZE, 0, false};
    unsigned mode = getauxval(AT_SECURE) ? 0600 : 0666;
    text_add(&temporary, "."); /* readers ignore such a name */
    text_add(&temporary, naming->name);
    long fd = open_above_standard(naming->directory, naming->temporary,
                                  O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    if (fd < 0)
        return fd;
    naming->fresh = true;
    quipu_state.fd = (int)fd;
    allow_owner_file((int)fd);
    long error = quipu_reserve((int)fd, 0, QUIPU_PAGE);
    if (error < 0)
        return error;
    struct quipu_file *header = map_header((int)fd);
    if (is_error(header))
        return (long)header;
    fill_header(header, quipu_state.file);
    error = set_mark(header, quipu_state.file);
    if (error < 0) {
        SYSTEM_CALL(munmap, header, QUIPU_PAGE, 0, 0, 0, 0);
        return error;
    }
    error = set_header(header);
    return error < 0 ? error : fd;
}

/* Opens or makes the file with the current name. Returns its descriptor, -EEXIST if another process
 * uses the name, or another error. */
static long try_name(struct naming *naming) {
    struct stat status = {0};
    long fd = open_above_standard(naming->directory, naming->name, O_RDWR | O_NOFOLLOW, 0);
    if (fd == -ENOENT)
        return make_data(naming);
    if (fd < 0) /* a foreign file, a directory, ... or this process may open none */
        return SYSTEM_CALL(newfstatat, naming->directory, naming->name, &status,
                           AT_SYMLINK_NOFOLLOW, 0, 0) == 0
                   ? -EEXIST
                   : fd;
    long joined = join_data((int)fd);
    if (joined > 0)
        return fd;
    SYSTEM_CALL(close, fd, 0, 0, 0, 0, 0);
    return joined < 0 ? joined : -EEXIST;
}

long quipu_open_data(struct naming *naming) {
    struct stat status = {0};
    long fd = open_directory();
    if (fd < 0)
        return fd;
    naming->directory = (int)fd;
    naming->number = 0;
    do {
        naming->number++;
        if (!write_name(naming))
            return -ENAMETOOLONG;
        fd = try_name(naming);
    } while (fd == -EEXIST && naming->number < NUMBER_MAX);
    if (fd < 0)
        return fd;
    quipu_state.fd = (int)fd;
    long error = SYSTEM_CALL(fstat, fd, &status, 0, 0, 0, 0);
    quipu_state.device = status.st_dev;
    quipu_state.inode = status.st_ino;
    return error;
}

/* Moves the file from its temporary name to naming->name. Returns -EEXIST if that is in use. */
static long rename_data(const struct naming *naming) {
    int directory = naming->directory;
    const char *name = naming->name, *temporary = naming->temporary;
    long error =
        SYSTEM_CALL(renameat2, directory, temporary, directory, name, RENAME_WITHOUT_REPLACE, 0);
    if (error == 0 || error == -EEXIST)
        return error;
    /* Not every file system supports that. Then makes a link or, if there are no links, just
     * renames. */
    error = SYSTEM_CALL(linkat, directory, temporary, directory, name, 0, 0);
    if (error == 0)
        return SYSTEM_CALL(unlinkat, directory, temporary, 0, 0, 0, 0);
    if (error == -EEXIST)
        return error;
    return SYSTEM_CALL(renameat, directory, temporary, directory, name, 0, 0);
}

long quipu_publish_data(struct naming *naming) {
    if (!naming->fresh)
        return 0;
    long error = rename_data(naming);
    while (error == -EEXIST && naming->number < NUMBER_MAX) {
        naming->number++;
        if (!write_name(naming))
            return -ENAMETOOLONG;
        error = rename_data(naming);
    }
    if (error == 0)
        naming->fresh = false;
    return error;
}

void quipu_close_data(struct naming *naming) {
    if (naming->fresh)
        SYSTEM_CALL(unlinkat, naming->directory, naming->temporary, 0, 0, 0, 0);
    if (quipu_state.fd > 0)
        SYSTEM_CALL(close, quipu_state.fd, 0, 0, 0, 0, 0);
    quipu_state.fd = 0;
    if (naming->directory >= 0)
        SYSTEM_CALL(close, naming->directory, 0, 0, 0, 0, 0);
}
