/* replay_session.c: connects a debugger with a replay; see replay_session.h.
 *
 * gdb is connected by a socket in a directory of its own, which only this user can reach. A port is
 * of this machine alone, but of all its users. */
#include "cmd/replay_session.h"

#include "cmd/recorded_process.h"
#include "debug/program.h"
#include "debug/server.h"
#include "util/diag.h"
#include "util/process.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    STATUS_NOT_STARTED = 127,
    SIGNALLED = 128,
    PORT_MAX = 65535
};

/* ---- where it begins ---- */

static const struct {
    const char *name;
    enum session_begin begin;
} begins[] = {
    {"begin", SESSION_BEGIN},
    {"end", SESSION_END},
    {"program", SESSION_PROGRAM},
    {"signal", SESSION_SIGNAL},
};

static struct session_place read_begin(const char *text) {
    struct session_place place = {.begin = SESSION_BEGIN, .moment = text};
    char *end;
    if (!text)
        return place;
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strcmp(begins[i].name, text) == 0) {
            place.begin = begins[i].begin;
            return place;
        }
    place.begin = strchr(text, '@') ? SESSION_MOMENT : SESSION_EVENTS;
    errno = 0;
    place.events = strtoull(text, &end, 10);
    if (place.begin == SESSION_EVENTS && (!isdigit((unsigned char)*text) || *end || errno))
        die("--at='%s': name 'begin', 'end', 'program', 'signal', a moment, or a number of events",
            text);
    return place;
}

/* ---- a port ---- */

static uint16_t read_port(const char *text) {
    char *end;
    errno = 0;
    unsigned long port = strtoul(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno || port > PORT_MAX)
        die("--port='%s': name a number up to %d; 0 is any that is free", text, PORT_MAX);
    return (uint16_t)port;
}

/* Waits for a client. Returns its descriptor, or -1 with errno set. */
static int await_client(uint16_t port) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    const int on = 1;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), client = -1;
    if (listener < 0)
        return -1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) == 0 &&
        listen(listener, 1) == 0 &&
        getsockname(listener, (struct sockaddr *)&address, &size) == 0) {
        fprintf(stderr, "quipu: in gdb: target extended-remote :%d\n", ntohs(address.sin_port));
        do
            client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        while (client < 0 && errno == EINTR);
    }
    int cause = errno;
    close(listener);
    if (client >= 0)
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    errno = cause;
    return client;
}

/* ---- gdb ---- */

struct own_socket {
    char *directory; /* owned */
    struct sockaddr_un address;
    int listener;
};

static bool open_socket(struct own_socket *own) {
    own->listener = -1;
    own->directory = make_temporary_directory("quipu-replay-");
    if (!own->directory)
        return false;
    own->address.sun_family = AF_UNIX;
    int length =
        snprintf(own->address.sun_path, sizeof own->address.sun_path, "%s/gdb", own->directory);
    if (length >= (int)sizeof own->address.sun_path) {
        errno = ENAMETOOLONG;
        return false;
    }
    own->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return own->listener >= 0 &&
           bind(own->listener, (struct sockaddr *)&own->address, sizeof own->address) == 0 &&
           listen(own->listener, 1) == 0;
}

static void close_socket(struct own_socket *own) {
    if (own->listener >= 0)
        close(own->listener);
    if (own->directory) {
        unlink(own->address.sun_path);
        rmdir(own->directory);
    }
    free(own->directory);
}

/* gdb reads the files of this machine, or lets those of a PACKED recording be read for it. */
static _Noreturn void become_gdb(const char *gdb, const char *path, bool packed) {
    struct arena arena = {0};
    sigset_t none;
    const char *target = arena_print(&arena, "target extended-remote %s", path);
    char *const words[] = {
        (char *)gdb, "-q",           "-iex", packed ? "set sysroot target:" : "set sysroot /",
        "-ex",       (char *)target, NULL};
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(gdb, words);
    error("cannot run '%s': %s; install gdb, or name one with --gdb", gdb, strerror(errno));
    _exit(STATUS_NOT_STARTED);
}

/* Waits for gdb to connect, as long as it runs. Returns the descriptor, or -1. */
static int await_gdb(const struct own_socket *own, pid_t child, int *status) {
    const struct timeval second = {.tv_sec = 1};
    setsockopt(own->listener, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
    for (;;) {
        int client = accept4(own->listener, NULL, NULL, SOCK_CLOEXEC);
        if (client >= 0)
            return client;
        if (errno != EINTR && errno != EAGAIN)
            return -1;
        if (waitpid(child, status, WNOHANG) == child)
            return -1;
    }
}

static int exit_status(int status) {
    return WIFEXITED(status) ? WEXITSTATUS(status) : SIGNALLED + WTERMSIG(status);
}

static int run_gdb(struct timeline *timeline, const char *gdb) {
    struct own_socket own = {0};
    int status = 0, result = 1;
    pid_t child = -1;
    if (open_socket(&own))
        child = fork();
    if (child == 0)
        become_gdb(gdb, own.address.sun_path, player_is_packed(timeline->player));
    if (child < 0) {
        error("gdb cannot be connected: %s", strerror(errno));
    } else {
        int client = await_gdb(&own, child, &status);
        if (client >= 0) {
            serve(timeline, client);
            close(client);
            while (waitpid(child, &status, 0) < 0 && errno == EINTR)
                ;
        }
        result = exit_status(status);
    }
    close_socket(&own);
    return result;
}

/* ---- the session ---- */

static int run_session(struct timeline *timeline, const struct replay_options *options) {
    if (!options->port)
        return run_gdb(timeline, options->gdb ? options->gdb : "gdb");
    int client = await_client(read_port(options->port));
    if (client < 0) {
        error("port %s: %s", options->port, strerror(errno));
        return 1;
    }
    serve(timeline, client);
    close(client);
    return 0;
}

int debug_replay(const char *path, const struct replay_options *options) {
    static struct timeline timeline;
    struct arena arena = {0};
    int status = 1;
    const struct session_place place = read_begin(options->at);
    if (options->port)
        read_port(options->port);
    signal(SIGPIPE, SIG_IGN);
    const char *process = options->process ? options->process : "1";
    if (!options->process && place.begin == SESSION_MOMENT)
        process = process_of_moment(&arena, path, place.moment);
    const char *wrong = timeline_begin(&timeline, &arena, path, process, options->memory);
    if (!wrong) {
        if (!options->port) { /* gdb takes them, and asks for a stop */
            signal(SIGINT, SIG_IGN);
            signal(SIGQUIT, SIG_IGN);
        }
        wrong = begin_session(&timeline, &place);
        if (!wrong)
            status = run_session(&timeline, options);
        forget_programs(&timeline);
        timeline_end(&timeline);
    }
    if (wrong && *wrong)
        error("%s", wrong);
    arena_release(&arena);
    return status;
}
