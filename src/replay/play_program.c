/* play_program.c: the file of a program that is played, which may be in the recording; see play.h.
 *
 * A file of the recording is executed from memory. The kernel maps its loader, too, and finds that
 * by a path in the program. If the loader is in the recording, the copy in memory has another path
 * there, that of the loader's copy. In the process it is then the old one again. */
#include "replay/play.h"

#include "replay/packed_files.h"
#include "replay/start.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    HEADERS_MAX = 128, /* of a program's file that are looked at */
    NAME_SIZE_MAX = 4096
};

/* The path of a loader in a program's file. */
struct loader_name {
    uint64_t offset, size;        /* 0: there is none */
    uint64_t distance;            /* in memory, from the program headers */
    char recorded[NAME_SIZE_MAX]; /* the path, and what is behind it */
};

/* ---- files of the recording ---- */

/* Returns the descriptor of a file in memory with the contents that FILE has, or -1. */
static int extract_pieces(struct player *player, const struct program_file *file) {
    int fd = memfd_create("program", MFD_CLOEXEC);
    bool good = fd >= 0 && ftruncate(fd, (off_t)file->size) == 0;
    for (size_t i = 0; i < file->pieces.count && good; i++) {
        struct memory_event piece = {.contents = file->pieces.data[i], .size = SIZE_MAX};
        if (!piece.contents)
            continue;
        off_t place = (off_t)(i * QUIPU_RECORDING_MEMORY_MAX);
        good = !recording_contents(&player->recording, &piece) &&
               pwrite(fd, piece.bytes, piece.size, place) == (ssize_t)piece.size;
    }
    if (good)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Returns the descriptor of a file in memory with the bytes of that at PATH, if the recording of
 * PROGRAM has it; otherwise -1 with ENOENT as errno. */
static int extract_file(struct player *player, const struct program_file *program,
                        const char *path) {
    const struct recording *recording = &player->recording;
    if (program->size && strcmp(program->path, path) == 0)
        return extract_pieces(player, program);
    const struct packed_file *packed = find_packed_file(recording, path);
    if (packed)
        return extract_packed_file(recording, packed);
    errno = ENOENT;
    return -1;
}

struct program_file *file_of_program(struct arena *arena, const struct start *start) {
    struct program_file *file = ARENA_NEW(arena, struct program_file);
    file->path = arena_copy(arena, start->path, strlen(start->path));
    file->size = start->file_size;
    for (size_t i = 0; i < start->pieces.count; i++)
        vector_push(arena, &file->pieces, start->pieces.data[i]);
    return file;
}

/* ---- the loader ---- */

/* Returns the path of the program's loader, as it was mapped, or NULL. */
static const char *loader_path(const struct start *start) {
    for (size_t i = 0; i < start->mappings.count; i++) {
        const char *path = start->mappings.data[i].path;
        if (*path == '/' && strcmp(path, start->path) != 0)
            return path;
    }
    return NULL;
}

/* Finds the name of the loader in the program FILE. */
static void find_loader_name(int file, struct loader_name *name) {
    Elf64_Ehdr header;
    uint64_t headers = 0, place = 0;
    *name = (struct loader_name){0};
    if (pread(file, &header, sizeof header, 0) != sizeof header)
        return;
    for (unsigned i = 0; i < header.e_phnum && i < HEADERS_MAX; i++) {
        Elf64_Phdr segment;
        off_t at = (off_t)(header.e_phoff + i * sizeof segment);
        if (pread(file, &segment, sizeof segment, at) != sizeof segment)
            return;
        if (segment.p_type == PT_LOAD && header.e_phoff - segment.p_offset < segment.p_filesz)
            headers = segment.p_vaddr + (header.e_phoff - segment.p_offset);
        if (segment.p_type != PT_INTERP || segment.p_filesz > sizeof name->recorded)
            continue;
        place = segment.p_vaddr;
        name->offset = segment.p_offset;
        name->size = segment.p_filesz;
    }
    if (pread(file, name->recorded, name->size, (off_t)name->offset) != (ssize_t)name->size)
        name->size = 0;
    name->distance = place - headers;
}

/* The program FILE will be mapped with the loader that is open as LOADER. */
static bool rename_loader(int file, const struct loader_name *name, int loader) {
    char path[NAME_SIZE_MAX] = "";
    int length = snprintf(path, sizeof path, "/proc/self/fd/%d", loader);
    errno = ENAMETOOLONG;
    return (uint64_t)length < name->size &&
           pwrite(file, path, name->size, (off_t)name->offset) == (ssize_t)name->size;
}

/* In PROCESS it has the recorded name. */
static bool restore_loader_name(pid_t process, const struct loader_name *name) {
    uint64_t headers = auxiliary_value(process, AT_PHDR);
    return write_memory(process, headers + name->distance, name->recorded, name->size);
}

/* ---- executing ---- */

/* The limit of the stack decides about addresses. */
const char *execute_under_control(struct player *player, const struct start *start,
                                  const char *path, char **argv, char **environment,
                                  pid_t *process) {
    struct tracee tracee;
    struct rlimit old, limit;
    getrlimit(RLIMIT_STACK, &old);
    limit = (struct rlimit){start->stack_limit, old.rlim_max};
    if (setrlimit(RLIMIT_STACK, &limit) != 0)
        return arena_print(player->arena, "the limit of its stack, %llu bytes, cannot be set: %s",
                           (unsigned long long)start->stack_limit, strerror(errno));
    const char *wrong = start_tracee_as(&tracee, path, argv, environment);
    setrlimit(RLIMIT_STACK, &old);
    if (wrong && *wrong)
        wrong =
            arena_print(player->arena, "'%s' cannot be run under control: %s", start->path, wrong);
    *process = wrong ? 0 : tracee.process;
    arena_release(&tracee.arena);
    return wrong;
}

static const char *refuse_extracted(struct player *player, const char *path) {
    return arena_print(player->arena, "'%s' cannot be taken out of the recording: %s", path,
                       strerror(errno));
}

/* Executes FILE, which is in memory, with the recording's loader. */
static const char *execute_with_loader(struct player *player, const struct start *start, int file,
                                       char **argv, char **environment, pid_t *process) {
    static struct loader_name name;
    const char *path = loader_path(start);
    const struct packed_file *packed = path ? find_packed_file(&player->recording, path) : NULL;
    int loader = packed ? extract_packed_file(&player->recording, packed) : -1;
    if (packed && loader < 0)
        return refuse_extracted(player, path);
    find_loader_name(file, &name);
    bool renamed = loader >= 0 && name.size;
    const char *wrong = NULL;
    if (renamed && !rename_loader(file, &name, loader))
        wrong = refuse_extracted(player, path);
    if (!wrong)
        wrong = execute_under_control(player, start,
                                      arena_print(&player->start_arena, "/proc/self/fd/%d", file),
                                      argv, environment, process);
    if (!wrong && renamed && !restore_loader_name(*process, &name))
        wrong = arena_print(player->arena, "the memory of '%s' cannot be written", start->path);
    if (loader >= 0)
        close(loader);
    return wrong;
}

const char *execute_file(struct player *player, const struct start *start, char **argv,
                         char **environment, pid_t *process) {
    const struct program_file *program = file_of_program(&player->start_arena, start);
    int file = extract_file(player, program, start->path);
    if (file >= 0) {
        const char *wrong = execute_with_loader(player, start, file, argv, environment, process);
        close(file);
        return wrong;
    }
    if (errno != ENOENT)
        return refuse_extracted(player, start->path);
    if (access(start->path, X_OK) != 0)
        return arena_print(player->arena,
                           "'%s': %s; a recording that is not packed can only be played beside the "
                           "program that was recorded; 'quipu pack' packs it",
                           start->path, strerror(errno));
    return execute_under_control(player, start, start->path, argv, environment, process);
}

const char *player_program(const struct player *player) {
    return own_process(player)->program->path;
}

uint64_t player_program_begin(const struct player *player) {
    return own_process(player)->program->begin;
}

int player_file(struct player *player, const char *path) {
    return extract_file(player, own_process(player)->program, path);
}

bool player_is_packed(const struct player *player) {
    return player->recording.files.count > 0;
}
