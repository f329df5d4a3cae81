/* streams.c: standard output and standard error; see streams.h. */
#include "replay/streams.h"

#include "format/event_hash.h"
#include "tracee/tracee.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    PARTS_MAX = 1024 /* IOV_MAX */
};

struct streams streams_begin(void) {
    return (struct streams){.leads_to = {[STDOUT_FILENO] = 1, [STDERR_FILENO] = 2}};
}

static uint8_t stream_of(const struct streams *streams, uint64_t descriptor) {
    uint32_t number = (uint32_t)descriptor; /* the kernel takes an int */
    if (number < STREAM_DESCRIPTORS)
        return streams->leads_to[number];
    for (int i = 0; i < STREAM_DESCRIPTORS_HIGH; i++)
        if (streams->high[i].leads_to && streams->high[i].descriptor == number)
            return streams->high[i].leads_to;
    return 0;
}

static void set_stream(struct streams *streams, uint64_t descriptor, uint8_t stream) {
    uint32_t number = (uint32_t)descriptor;
    struct high_stream *place = NULL;
    if (number < STREAM_DESCRIPTORS) {
        streams->leads_to[number] = stream;
        return;
    }
    for (int i = 0; i < STREAM_DESCRIPTORS_HIGH; i++) {
        struct high_stream *high = &streams->high[i];
        if (high->leads_to && high->descriptor == number)
            high->leads_to = 0;
        if (!high->leads_to && !place)
            place = high;
    }
    if (place && stream)
        *place = (struct high_stream){number, stream};
}

static void close_streams(struct streams *streams, uint32_t first, uint32_t last) {
    for (uint64_t i = first; i < STREAM_DESCRIPTORS && i <= last; i++)
        streams->leads_to[i] = 0;
    for (int i = 0; i < STREAM_DESCRIPTORS_HIGH; i++)
        if (first <= streams->high[i].descriptor && streams->high[i].descriptor <= last)
            streams->high[i].leads_to = 0;
}

static bool copies_descriptor(const struct system_call *call) {
    uint64_t command = call->arguments[1];
    return call->number == SYS_dup || call->number == SYS_dup2 || call->number == SYS_dup3 ||
           (call->number == SYS_fcntl && (command == F_DUPFD || command == F_DUPFD_CLOEXEC));
}

int opened_path(const struct system_call *call) {
    switch (call->number) {
    case SYS_open:
    case SYS_creat:
        return 0;
    case SYS_openat:
    case SYS_openat2:
        return 1;
    default:
        return -1;
    }
}

static uint8_t stream_named(const struct streams *streams, const char *path) {
    static const struct {
        const char *path;
        uint8_t descriptor;
    } named[] = {
        {"/dev/stdout", 1}, {"/dev/fd/1", 1}, {"/proc/self/fd/1", 1},
        {"/dev/stderr", 2}, {"/dev/fd/2", 2}, {"/proc/self/fd/2", 2},
    };
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (strcmp(path, named[i].path) == 0)
            return streams->leads_to[named[i].descriptor];
    return 0;
}

void streams_follow(struct streams *streams, const struct system_call *call, const char *opened) {
    const uint64_t *arguments = call->arguments;
    if (call->result < 0)
        return;
    if (call->number == SYS_close) {
        set_stream(streams, arguments[0], 0);
    } else if (call->number == SYS_close_range && !arguments[2]) {
        close_streams(streams, (uint32_t)arguments[0], (uint32_t)arguments[1]);
    } else if (copies_descriptor(call)) {
        set_stream(streams, (uint64_t)call->result, stream_of(streams, arguments[0]));
    } else if (opened_path(call) >= 0) {
        set_stream(streams, (uint64_t)call->result, stream_named(streams, opened));
    }
}

/* Whether the call writes bytes of the process's memory. */
static bool writes_memory(const struct system_call *call) {
    switch (call->number) {
    case SYS_write:
    case SYS_writev:
    case SYS_pwrite64:
    case SYS_pwritev:
    case SYS_pwritev2:
    case SYS_sendto:
    case SYS_sendmsg:
        return true;
    default:
        return false;
    }
}

static bool has_written(const struct system_call *call) {
    return writes_memory(call) && call->result > 0;
}

int stream_of_call(const struct streams *streams, const struct system_call *call) {
    return writes_memory(call) ? stream_of(streams, call->arguments[0]) : 0;
}

static bool is_open(pid_t process, uint32_t descriptor) {
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d/fd/%u", (int)process, descriptor);
    return lstat(path, &status) == 0;
}

void streams_execute(struct streams *streams, pid_t process) {
    for (uint32_t i = 0; i < STREAM_DESCRIPTORS; i++)
        if (streams->leads_to[i] && !is_open(process, i))
            streams->leads_to[i] = 0;
    for (int i = 0; i < STREAM_DESCRIPTORS_HIGH; i++)
        if (streams->high[i].leads_to && !is_open(process, streams->high[i].descriptor))
            streams->high[i].leads_to = 0;
}

bool writes_unseen(const struct streams *streams, const struct system_call *call) {
    static const struct {
        uint16_t number;
        uint8_t argument; /* the descriptor that is written to */
    } calls[] = {
        {SYS_sendfile, 0}, {SYS_splice, 2},   {SYS_tee, 1},
        {SYS_vmsplice, 0}, {SYS_sendmmsg, 0}, {SYS_copy_file_range, 2},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].number == call->number)
            return stream_of(streams, call->arguments[calls[i].argument]);
    return false;
}

/* The bytes of a call, and a hash of them. */
struct written {
    struct buffer *bytes;
    uint64_t hash;
};

/* Appends SIZE bytes at ADDRESS. */
static bool read_part(pid_t process, uint64_t address, size_t size, struct written *written) {
    char *part = calloc(1, size + 1);
    bool good = part && (size == 0 || read_memory(process, address, part, size));
    if (good) {
        buffer_add(written->bytes, part, size);
        written->hash = quipu_hash_part(written->hash, (const uint8_t *)part, size);
    }
    free(part);
    return good;
}

/* Appends the first LEFT bytes of COUNT parts at ADDRESS. */
static bool read_parts(pid_t process, uint64_t address, uint64_t count, uint64_t left,
                       struct written *written) {
    struct iovec parts[PARTS_MAX];
    if (count > PARTS_MAX || !read_memory(process, address, parts, count * sizeof *parts))
        return false;
    for (uint64_t i = 0; i < count && left; i++) {
        size_t size = parts[i].iov_len < left ? parts[i].iov_len : left;
        if (!read_part(process, (uint64_t)parts[i].iov_base, size, written))
            return false;
        left -= size;
    }
    return left == 0;
}

static bool read_all(pid_t process, const struct system_call *call, struct written *written) {
    uint64_t count = (uint64_t)call->result, address = call->arguments[1];
    struct msghdr message;
    switch (call->number) {
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2:
        return read_parts(process, address, call->arguments[2], count, written);
    case SYS_sendmsg:
        return read_memory(process, address, &message, sizeof message) &&
               read_parts(process, (uint64_t)message.msg_iov, message.msg_iovlen, count, written);
    default:
        return count <= call->arguments[2] && read_part(process, address, count, written);
    }
}

bool read_written(pid_t process, const struct system_call *call, struct buffer *bytes) {
    struct written written = {bytes, QUIPU_EVENT_HASH_BEGIN};
    return read_all(process, call, &written);
}

uint32_t hash_written(pid_t process, const struct system_call *call) {
    struct buffer bytes = {0};
    struct written written = {&bytes, QUIPU_EVENT_HASH_BEGIN};
    bool good = has_written(call) && read_all(process, call, &written);
    buffer_release(&bytes);
    return good ? (uint32_t)written.hash : 0;
}
