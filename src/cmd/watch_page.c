/* watch_page.c: the hits of 'quipu watch --to=html' as a page for a browser; see watch_page.h.
 *
 * The data of the page is a line with
 *
 *     "version", "command", "expressions": [text]
 *
 * and then the hits as with --format=json, in the order of their numbers. page/hits.js shows it.
 * Each hit is written when it happens. So if quipu is killed, the page shows all hits until then.
 */
#include "cmd/watch_page.h"

#include "cmd/cmd.h"

#include "report/html_page.h"
#include "report/json_writer.h"
#include "report/output.h"
#include "util/arena.h"
#include "util/diag.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static const char *join_command(struct arena *arena, char *const *command, const char *pid) {
    if (!*command)
        return arena_print(arena, "process %s", pid);
    const char *text = *command;
    while (*++command)
        text = arena_print(arena, "%s %s", text, *command);
    return text;
}

struct watch_page begin_watch_page(int fd, char *const *command, const char *pid,
                                   const char *const *expressions, size_t count) {
    struct arena arena = {0};
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    struct watch_page page = {.out = copy >= 0 ? fdopen(copy, "w") : NULL};
    if (!page.out)
        die("cannot write the page: %s", strerror(errno));
    page.data = html_begin_page(page.out, &page_hits);
    struct json_writer json = json_start(page.data, 0);
    json_open_object(&json, NULL);
    json_string(&json, "version", QUIPU_VERSION);
    json_string(&json, "command", join_command(&arena, command, pid));
    json_open_array(&json, "expressions");
    for (size_t i = 0; i < count; i++)
        json_string(&json, NULL, expressions[i]);
    json_close(&json);
    json_close(&json);
    json_end(&json);
    fflush(page.data);
    fflush(page.out);
    arena_release(&arena);
    return page;
}

void end_watch_page(struct watch_page *page, const char *path) {
    html_end_page(page->out, page->data);
    end_output(page->out, path);
}
