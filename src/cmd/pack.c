/* pack.c: quipu pack [-o OUTPUT] RECORDING: puts programs, loaders and libraries into a recording.
 */
#include "cmd/cmd.h"
#include "cmd/command_line.h"

#include "replay/pack.h"
#include "util/diag.h"

#include <stdio.h>

struct pack_options {
    const char *output; /* NULL: the recording itself */
};

static void print_help(void) {
    fputs("usage: quipu pack [OPTIONS] RECORDING\n\n"
          "Puts the programs, loaders and libraries that a recorded run has used into the\n"
          "recording. It can then be replayed where these files do not exist, or are others, on\n"
          "a machine with the same kind of processor. The recording is replaced once the new one\n"
          "is whole.\n\n"
          "  -o, --output=FILE  write it there, and leave RECORDING as it is\n"
          "      --help         print this\n",
          stdout);
}

static const struct option_row rows[] = {
    {"output", 'o', OPTION_TEXT, offsetof(struct pack_options, output), NULL},
};

static const struct command_line command_line = {"pack", print_help, rows,
                                                 sizeof rows / sizeof *rows, false};

int cmd_pack(int argc, char **argv) {
    struct pack_options options = {0};
    struct arena arena = {0};
    struct packing packing;
    int file = take_options(&command_line, argc, argv, &options);
    if (!file)
        return 0;
    if (file == argc)
        die("no recording to pack; 'quipu pack --help' tells how");
    if (file + 1 < argc)
        die("'%s': one recording at a time", argv[file + 1]);
    const char *output = options.output ? options.output : argv[file];
    const char *wrong = pack_recording(&arena, argv[file], output, &packing);
    if (wrong)
        die("%s", wrong);
    for (size_t i = 0; i < packing.left_out.count; i++)
        warn("'%s' has changed since it was recorded, and is left out; a debugger has no symbols "
             "of it",
             packing.left_out.data[i]);
    if (packing.packed_before)
        warn("'%s' was packed before", argv[file]);
    arena_release(&arena);
    return 0;
}
