/* recorded_data.c: the data files of a recorded run; see recorded_data.h.
 *
 * A program that counts has its cells in a file that it has made and maps. What a recorded run has
 * in such files the player keeps when the processes have ended. So the run is played, and the files
 * are taken from there, whatever has become of those that the recorded run itself has left. */
#include "cmd/recorded_data.h"

#include "cmd/temporary_data.h"
#include "format/data_file.h"
#include "format/recording.h"
#include "replay/player.h"
#include "replay/recording.h"
#include "util/buffer.h"
#include "util/diag.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the program says was said when it was recorded. */
static void ignore_output(void *context, int stream, const void *bytes, size_t size) {
    (void)context;
    (void)stream;
    (void)bytes;
    (void)size;
}

/* Copies SIZE bytes from PLACE on of MEMORY to the file at PATH, which is made. */
static bool copy_part(int memory, off_t place, uint64_t size, const char *path) {
    static uint8_t bytes[1 << 16];
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    while (file >= 0 && size) {
        size_t wanted = size < sizeof bytes ? size : sizeof bytes;
        ssize_t part = pread(memory, bytes, wanted, place);
        if (part <= 0 || write(file, bytes, (size_t)part) != part)
            break;
        place += part;
        size -= (uint64_t)part;
    }
    if (file >= 0)
        close(file);
    return file >= 0 && !size;
}

/* Copies the data files of the run into DIRECTORY. Returns how many. */
static unsigned copy_files(struct arena *arena, const struct player *player,
                           const char *directory) {
    int memory = player_shared(player);
    unsigned count = 0, files = player_data_files(player);
    for (unsigned number = 1; number <= files; number++) {
        struct quipu_file header;
        off_t place = (off_t)player_data_place(number);
        if (pread(memory, &header, sizeof header, place) != (ssize_t)sizeof header ||
            memcmp(header.magic, QUIPU_FILE_MAGIC, sizeof header.magic) != 0 ||
            header.size > QUIPU_SHARED_ROOM)
            continue;
        const char *path = arena_print(arena, "%s/%u.quipu", directory, ++count);
        if (!copy_part(memory, place, header.size, path))
            die("cannot write '%s': %s", path, strerror(errno));
    }
    return count;
}

static void play_to_end(struct player *player, const char *path) {
    while (player_go(player, false) != PAUSE_ENDED)
        ;
    const struct playing *playing = player_playing(player);
    if (playing->end == PLAYED_CUT)
        warn("'%s' was cut; the counts are those up to there", path);
    else if (playing->end != PLAYED_END && playing->end != PLAYED_STOPPED)
        die("'%s': %s", path, playing->message);
    else if (playing->message || playing->left)
        warn("'%s': a process was recorded no further: %s", path,
             playing->message ? playing->message : playing->left);
}

static void take_data(const char *path, const char *directory) {
    static const struct play_hooks hooks = {.write_output = ignore_output, .keeps_data = true};
    struct arena arena = {0};
    struct player *player;
    const char *wrong = player_begin(&arena, path, &hooks, &player);
    if (wrong && *wrong)
        die("%s", wrong);
    if (wrong)
        _exit(1);
    play_to_end(player, path);
    if (!copy_files(&arena, player, directory))
        die("'%s': the recorded run has made no data file; build its program with 'quipu cc'",
            path);
    player_end(player);
    arena_release(&arena);
}

void take_recorded_data(char **paths, size_t count) {
    static struct arena arena; /* of the new paths */
    const char *directory = NULL;
    for (size_t i = 0; i < count; i++) {
        if (access(paths[i], R_OK) != 0 || !recording_is(paths[i]))
            continue;
        if (!directory)
            directory = use_temporary_data("quipu-recorded");
        char *own = arena_print(&arena, "%s/%zu", directory, i);
        if (mkdir(own, 0700) != 0)
            die("cannot make '%s': %s", own, strerror(errno));
        take_data(paths[i], own);
        paths[i] = own;
    }
}
