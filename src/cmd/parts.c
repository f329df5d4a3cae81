/* parts.c: results of parts of a trace; see parts.h. */
#include "cmd/parts.h"

#include "cmd/jobs.h"
#include "report/output.h"
#include "util/diag.h"

void check_part_options(const struct part_options *options) {
    if (options->part.count && options->merge)
        die("--part and --merge do not go together: --part makes the files that --merge adds up");
    if (options->part.count > PARTS_MOST)
        die("'--part=%u/%u': a trace is cut into at most %d parts", options->part.number,
            options->part.count, PARTS_MOST);
    if (options->jobs > 1 && (options->merge || options->part.count))
        die("--jobs is for a whole trace; leave it out with --part and --merge");
}

void write_part(const struct part_work *work, void *context, struct part_choice part,
                const char *output) {
    struct buffer contents = {0};
    FILE *out = begin_plain_output(output);
    work->make(context, part, &contents);
    write_part_file(out, work->kind, part, &contents);
    end_output(out, output);
    buffer_release(&contents);
}

/* Parts that are made by jobs. */
struct making {
    const struct part_work *work;
    void *context;
    unsigned jobs;
    struct arena *arena;
    part_files files;
};

static int make_one(void *context, size_t task, FILE *out) {
    struct making *making = context;
    struct part_choice part = {(uint32_t)task + 1, making->jobs};
    struct buffer contents = {0};
    making->work->make(making->context, part, &contents);
    write_part_file(out, making->work->kind, part, &contents);
    buffer_release(&contents);
    return 0;
}

static bool take_one(void *context, size_t task, int fd, int status) {
    struct making *making = context;
    (void)status;
    const char *name = arena_print(making->arena, "part %zu", task + 1);
    vector_push(making->arena, &making->files, read_part_file(fd, name, making->work->kind));
    return true;
}

part_files make_parts(struct arena *arena, const struct part_work *work, void *context,
                      unsigned jobs) {
    static const struct job_work job_work = {make_one, take_one};
    struct making making = {work, context, jobs, arena, {0}};
    run_jobs(jobs, jobs, &job_work, &making);
    return making.files;
}

void release_parts(part_files *files) {
    for (size_t i = 0; i < files->count; i++)
        part_file_release(&files->data[i]);
}
