/* request.c: the watch file, and the regions that 'quipu watch' requests in it.
 *
 * The first module maps the file. Each module that starts looks for requests that concern it. The
 * regions of a request belong to this process; the state of a request is stored in the file, for
 * all processes (format/watch.h, section 3).
 *
 * A running process may get another file (visit.c). Threads may be writing a hit to the old one, so
 * its address range must stay mapped. Private memory with the same header replaces it atomically.
 * This costs one page, and the addresses are never reused. */
#include "format/data_file.h"
#include "runtime/core/note.h"
#include "runtime/core/syscall.h"
#include "runtime/watch/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>

extern char **environ;

/* In place of an id, for requests that make many regions. */
#define BLOCKS INT64_MAX
#define LOCAL  (INT64_MAX - 1)
/* The module is loaded, but has not started. */
#define LATER (INT64_MAX - 2)

/* Returns the end of the requests. */
static uint64_t requests_end(const struct quipu_watch_file *file) {
    return file->range_offset ? file->range_offset : file->ring_offset;
}

/* Whether the table of allowed writers, if there is one, is valid and before the requests. */
static bool has_allowed_writers(const struct quipu_watch_file *file) {
    uint64_t count = file->allowed_count, offset = file->allowed_offset;
    return count == 0 ||
           (!(count & (count - 1)) && offset >= sizeof *file && offset % sizeof(uint64_t) == 0 &&
            offset <= file->request_offset &&
            count <= (file->request_offset - offset) / sizeof(struct quipu_allowed_writer));
}

static bool is_sound(const struct quipu_watch_file *file, uint64_t size) {
    return size >= sizeof *file &&
           bytes_equal(file->magic, QUIPU_WATCH_MAGIC, sizeof file->magic) &&
           file->version == QUIPU_WATCH_VERSION && file->request_offset >= sizeof *file &&
           has_allowed_writers(file) && file->request_offset <= requests_end(file) &&
           requests_end(file) <= file->ring_offset && file->ring_offset <= size &&
           file->ring_size <= size - file->ring_offset && file->ring_size >= 65536 &&
           !(file->ring_size & (file->ring_size - 1));
}

/* Maps the whole file at PATH. Returns 0 or the negative error number. */
static long map_file(const char *path) {
    struct watch *watch = WATCH;
    struct stat status = {0};
    long fd = SYSTEM_CALL(openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NOCTTY, 0, 0, 0);
    if (fd < 0)
        return fd;
    uint64_t size = SYSTEM_CALL(fstat, fd, &status, 0, 0, 0, 0) == 0 ? (uint64_t)status.st_size : 0;
    struct quipu_watch_file *file =
        map_memory(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
    SYSTEM_CALL(close, fd, 0, 0, 0, 0, 0);
    if (is_error(file))
        return (long)file;
    uint64_t room = 0;
    int64_t *ids = NULL;
    if (is_sound(file, size)) {
        room = (requests_end(file) - file->request_offset) / sizeof(struct quipu_watch_request);
        ids = room <= watch->request_room ? watch->request_regions
                                          : quipu_watch_map((room + 1) * sizeof *ids);
    }
    if (!ids) {
        SYSTEM_CALL(munmap, file, size, 0, 0, 0, 0);
        return room ? -ENOMEM : -EINVAL;
    }
    watch->request_regions = ids;
    watch->request_room = (uint32_t)greater(room, watch->request_room);
    watch->file_size = size;
    watch->file_number++;
    watch->consumer_gone = 0;
    __atomic_store_n(&watch->file, file, __ATOMIC_RELEASE);
    return 0;
}

/* Replaces the file by private memory, for threads that are still writing to it. */
static long retire_file(struct quipu_watch_file *file, uint64_t size) {
    struct quipu_watch_file *memory = map_memory(
        NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (is_error(memory))
        return (long)memory;
    copy_bytes(memory, file, sizeof *file);
    memory->consumer = 0;
    long moved = SYSTEM_CALL(mremap, memory, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, file, 0);
    if (moved < 0 && moved > -QUIPU_PAGE)
        SYSTEM_CALL(munmap, memory, size, 0, 0, 0, 0);
    return moved < 0 && moved > -QUIPU_PAGE ? moved : 0;
}

/* ---- Requests ---- */

struct wanted {
    const struct quipu_watch_request *request;
    uint64_t bias;
    bool found;
};

static int is_module(struct dl_phdr_info *info, size_t size, void *data) {
    struct wanted *wanted = data;
    uint8_t id[QUIPU_BUILD_ID_MAX];
    const struct quipu_watch_request *request = wanted->request;
    (void)size;
    if (module_build_id(info, id) != request->build_id_size ||
        !bytes_equal(id, request->build_id, request->build_id_size))
        return 0;
    wanted->bias = info->dlpi_addr;
    wanted->found = true;
    return 1;
}

/* Whether the ranges of a request for blocks are inside the file. */
static bool has_ranges(const struct quipu_watch_request *request) {
    const struct quipu_watch_file *file = WATCH->file;
    uint64_t room = file->range_offset ? (file->ring_offset - file->range_offset) /
                                             sizeof(struct quipu_watch_range)
                                       : 0;
    return request->first_range <= room && request->range_count <= room - request->first_range;
}

static int64_t add_blocks(uint32_t number, const struct quipu_watch_request *request,
                          uint64_t bias) {
    int error = has_ranges(request) ? quipu_watch_ask_for_blocks(number, bias) : -EINVAL;
    return error ? error : BLOCKS;
}

static int64_t add_local(uint32_t number, const struct quipu_watch_request *request,
                         uint64_t bias) {
    struct watch_local local = {request->address + bias, request->offset, request->size,
                                request->flags};
    long error = quipu_watch_add_local(number, &local);
    return error == -EAGAIN ? LATER : error < 0 ? error : LOCAL;
}

/* If only some threads cannot be watched, reports that in the request's `error`. */
static int64_t add_thread_local(uint32_t number, struct quipu_watch_request *request) {
    struct watch_local local = {WATCH_OF_THREADS, request->offset, request->size, request->flags};
    long error = quipu_watch_add_thread_local(number, &local);
    if (error == -EOPNOTSUPP) {
        request->error = EOPNOTSUPP;
        error = 0;
    }
    return error < 0 ? error : LOCAL;
}

/* Returns an id, BLOCKS, LOCAL, LATER, or the negative error number. */
static int64_t arm(uint32_t number, struct quipu_watch_request *request, uint64_t bias) {
    WATCH->guards |= (request->flags & QUIPU_REQUEST_GUARDED) != 0;
    WATCH->waits |= (request->flags & QUIPU_REQUEST_WAITS) != 0;
    if (request->flags & QUIPU_REQUEST_BLOCKS)
        return add_blocks(number, request, bias);
    if (request->flags & QUIPU_REQUEST_LOCAL)
        return add_local(number, request, bias);
    if (request->flags & QUIPU_REQUEST_THREADS)
        return add_thread_local(number, request);
    return quipu_watch_add(request->address + bias, request->size, 0, number, request->flags);
}

static void disarm(uint32_t number, int64_t id) {
    if (id == BLOCKS)
        quipu_watch_let_blocks_go(number);
    else if (id == LOCAL)
        quipu_watch_remove_local(number);
    else if (id > 0)
        quipu_watch_remove(id);
}

/* Makes the region of a request, if its module is loaded. */
static void make_region(uint32_t number, struct quipu_watch_request *request) {
    struct wanted wanted = {request, 0, request->build_id_size == 0};
    int64_t *own = &WATCH->request_regions[number];
    if (request->build_id_size > QUIPU_BUILD_ID_MAX)
        return;
    if (!wanted.found)
        dl_iterate_phdr(is_module, &wanted);
    if (!wanted.found)
        return;
    int64_t id = arm(number, request, wanted.bias);
    if (id == LATER)
        return;
    int64_t none = 0;
    uint32_t state = QUIPU_REQUEST_WANTED;
    if (id < 0)
        request->error = (uint32_t)-id;
    else if (!__atomic_compare_exchange_n(own, &none, id, false, __ATOMIC_ACQ_REL,
                                          __ATOMIC_RELAXED)) {
        if (id != BLOCKS && id != LOCAL)
            quipu_watch_remove(id); /* another thread was faster */
        return;
    }
    __atomic_compare_exchange_n(&request->state, &state,
                                id < 0 ? QUIPU_REQUEST_FAILED : QUIPU_REQUEST_MADE, false,
                                __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void remove_region(uint32_t number) {
    disarm(number, __atomic_exchange_n(&WATCH->request_regions[number], 0, __ATOMIC_ACQ_REL));
}

/* Returns the address of what the request has made, or 0. */
static uint64_t address_made(uint32_t number) {
    int64_t id = WATCH->request_regions[number];
    struct watch_range range;
    if (id == LOCAL)
        return quipu_watch_local_function(number);
    return quipu_watch_range_of(id, &range) ? range.address : 0;
}

static bool is_loaded(uint64_t address) {
    uint64_t mask = quipu_watch_lock();
    bool loaded = quipu_watch_has_module(address);
    quipu_watch_unlock(mask);
    return loaded;
}

/* Whether the request's region is no longer where its variable is: another module, this one, was
 * loaded there; or its own module was closed and is loaded again elsewhere. If that is loaded twice
 * at the same time, by dlmopen, the first copy stays the one. */
static bool has_moved(uint32_t number, const struct quipu_watch_request *request) {
    struct wanted wanted = {request, 0, false};
    if (!request->build_id_size || request->build_id_size > QUIPU_BUILD_ID_MAX ||
        request->flags & (QUIPU_REQUEST_BLOCKS | QUIPU_REQUEST_THREADS))
        return false;
    dl_iterate_phdr(is_module, &wanted);
    uint64_t made = address_made(number);
    if (wanted.found && made == request->address + wanted.bias)
        return false;
    return quipu_watch_is_own(made) || (wanted.found && !is_loaded(made));
}

static void handle_request(uint32_t number, struct quipu_watch_request *request, bool begins) {
    uint32_t state = __atomic_load_n(&request->state, __ATOMIC_ACQUIRE);
    switch (state) {
    case QUIPU_REQUEST_WANTED: /* removes the region of an earlier request with this number */
        remove_region(number);
        make_region(number, request);
        break;
    case QUIPU_REQUEST_MADE:
        if (begins && WATCH->request_regions[number] && has_moved(number, request))
            remove_region(number);
        if (!WATCH->request_regions[number])
            make_region(number, request);
        break;
    case QUIPU_REQUEST_UNWANTED:
    case QUIPU_REQUEST_GONE:
        remove_region(number);
        __atomic_compare_exchange_n(&request->state, &state, QUIPU_REQUEST_GONE, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
        break;
    }
}

/* BEGINS: a module is starting. */
static void look_at_all(bool begins) {
    struct quipu_watch_file *file = WATCH->file;
    if (!file)
        return;
    struct quipu_watch_request *requests =
        (struct quipu_watch_request *)((uint8_t *)file + file->request_offset);
    uint32_t count = __atomic_load_n(&file->request_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count && i < WATCH->request_room && WATCH->file == file; i++)
        handle_request(i, &requests[i], begins);
}

void quipu_watch_look_at_requests(void) {
    look_at_all(false);
}

void quipu_watch_drop_requests(void) {
    struct quipu_watch_file *file = WATCH->file;
    for (uint32_t i = 0; i < WATCH->request_room; i++)
        remove_region(i);
    if (file)
        quipu_watch_look_at_requests();
}

long quipu_watch_change_log(const char *path) {
    struct watch *watch = WATCH;
    struct quipu_watch_file *old = watch->file;
    if (old && quipu_watch_is_read(old))
        return -EBUSY;
    for (uint32_t i = 0; i < watch->request_room; i++)
        remove_region(i);
    long error = old ? retire_file(old, watch->file_size) : 0;
    if (error == 0)
        error = map_file(path);
    if (error == 0)
        quipu_watch_look_at_requests();
    return error;
}

bool quipu_watch_open_log(char **environment) {
    /* In .preinit_array the C library has not set its variable yet, but passes the environment. */
    char **known = environ ? environ : environment;
    const char *path = known ? text_variable(known, "QUIPU_WATCH=") : NULL;
    if (!WATCH->file && path && *path && !getauxval(AT_SECURE))
        map_file(path);
    if (WATCH->file) {
        quipu_watch_announce();
        look_at_all(true);
    }
    return known != NULL;
}
