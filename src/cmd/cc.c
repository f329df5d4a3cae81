/* cc.c: runs the user's compiler with the shim as its assembler.
 *
 *     quipu cc ARGS, quipu-cc ARGS, quipu-c++ ARGS, quipu-fortran ARGS, ...
 *
 * The compiler gets its own arguments and a few more. It finds the shim by COMPILER_PATH (and by
 * -B, for clang). In a link, parts of the runtime are the first and the last input.
 *
 * Not perfect: -fPIC and similar options decide whether an object is for a shared object. If an
 * object is compiled without them and linked into one, the link fails, as it may without quipu. */
#include "cmd/c_library.h"
#include "cmd/cmd.h"
#include "cmd/compilers.h"
#include "cmd/identity.h"
#include "cmd/options.h"
#include "cmd/root.h"

#include "symbols/layout.h"
#include "util/arena.h"
#include "util/buffer.h"
#include "util/diag.h"
#include "util/near.h"
#include "util/path.h"
#include "util/process.h"
#include "util/terminal.h"
#include "util/vector.h"

#include <errno.h>
#include <fcntl.h>
#include <libiberty/libiberty.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct argument {
    char *text;
    char *file; /* the @FILE that is passed on instead of it; NULL: none */
};

struct driver {
    struct arena arena;
    struct shim_options options;
    const char *compiler;
    const char *language; /* value of the last -x; NULL: the file's name decides */
    const char *bitcode;  /* the last -flto */
    const char *shadow;   /* -fsanitize=: the sanitizer with a shadow memory; NULL: none */
    bool clang;
    bool link;             /* the compiler will link */
    bool inputs;           /* there is an input to link, or to compile and link */
    bool bare;             /* -nostdlib: the user names start files and libraries */
    bool libc;             /* -lc is given */
    bool sources;          /* something is compiled */
    bool starts;           /* -nostartfiles: the user provides the program's first instruction */
    bool library;          /* -shared: a shared object is linked */
    bool freestanding;     /* there will be no C library */
    bool foreign;          /* not for x86-64 */
    bool show;             /* -### */
    bool gold;             /* the linker is gold */
    bool drop;             /* --gc-sections */
    bool headless;         /* -z nosectionheader */
    bool preprocess;       /* -E */
    bool version;          /* --version */
    bool verbose;          /* -v */
    const char *output;    /* -o; NULL: none */
    const char *c_library; /* --quipu-libc=: its directory; NULL: the compiler's own */
    const char *specs;     /* by which gcc uses it */
    char root[PATH_MAX];   /* the directory above bin/ */
    VECTOR(struct argument) all;
    VECTOR(char *) user; /* the user's arguments, without quipu's options */
    VECTOR(char *) argv;
};

/* Runs an archive tool of gcc's link-time optimization, if ARGV names one; otherwise returns. cmake
 * derives the names of all tools from that of the compiler, quipu-cc. If one of these is missing,
 * it does not use link-time optimization. */
static void run_archive_tool(struct arena *arena, char **argv) {
    const char *tool = compiler_for(arena, argv[0]);
    if (strncmp(tool, "gcc-ar", 6) != 0 && strncmp(tool, "gcc-ranlib", 10) != 0 &&
        strncmp(tool, "gcc-nm", 6) != 0)
        return;
    argv[0] = (char *)tool;
    execvp(tool, argv);
    error("cannot run '%s': %s", tool, strerror(errno));
    exit(127);
}

/* ---- arguments ---- */

static void take_modes(struct driver *driver, const char *names) {
    const char *wrong = set_modes(&driver->options, names);
    if (wrong)
        die("'--quipu=%s': %s", names, wrong);
}

static void take_event(struct driver *driver, const char *text) {
    const char *wrong = add_event(&driver->options, text);
    if (wrong)
        die("'--quipu-event=%s': %s", text, wrong);
}

static void take_compiler(struct driver *driver, const char *name) {
    driver->compiler = name;
}

static void take_c_library(struct driver *driver, const char *directory) {
    driver->options.libc = true;
    driver->c_library = *directory ? directory : NULL;
}

static void take_placement(struct driver *driver, const char *name) {
    driver->options.placement =
        (enum placement)choose_name("--quipu-placement", "placement", name, placement_name_at);
}

static const char *check_choice_at(size_t number) {
    static const char *const names[] = {"eliminate", "all"};
    return number < sizeof names / sizeof *names ? names[number] : NULL;
}

static void take_checks(struct driver *driver, const char *name) {
    driver->options.all_checks = choose_name("--quipu-watch", "choice", name, check_choice_at) == 1;
}

/* Stores the absolute path: the assembler may run in another directory. */
static void take_profile(struct driver *driver, const char *path) {
    char *absolute = realpath(path, NULL);
    if (!absolute)
        die("'%s': %s; --quipu-profile wants a data file or a directory of them", path,
            strerror(errno));
    if (strchr(absolute, ','))
        die("'%s': a profile's path must have no comma, which divides -Wa's arguments", absolute);
    driver->options.profile = arena_copy(&driver->arena, absolute, strlen(absolute));
    free(absolute);
}

static void take_dump(struct driver *driver, const char *names) {
    const char *wrong = set_dump(&driver->options, names);
    if (wrong)
        die("'--quipu-dump=%s': %s", names, wrong);
}

static void take_whole_dump(struct driver *driver, const char *nothing) {
    (void)nothing;
    driver->options.dump = UINT32_MAX;
}

static const struct own_option {
    const char *name;
    bool has_value;
    void (*take)(struct driver *driver, const char *value);
} own_options[] = {
    {"--quipu", true, take_modes},
    {"--quipu-event", true, take_event},
    {"--quipu-compiler", true, take_compiler},
    {"--quipu-libc", true, take_c_library},
    {"--quipu-placement", true, take_placement},
    {"--quipu-watch", true, take_checks},
    {"--quipu-profile", true, take_profile},
    {"--quipu-dump", false, take_whole_dump},
    {"--quipu-dump", true, take_dump},
};

enum {
    OWN_OPTIONS = sizeof own_options / sizeof *own_options
};

/* Handles ARGUMENT and returns true if it is an option of quipu's. An unknown option --quipu...
 * ends the program with an error. */
static bool take_own_option(struct driver *driver, const char *argument) {
    size_t length = strcspn(argument, "=");
    if (strncmp(argument, "--quipu", 7) != 0)
        return false;
    struct near_names near_names = {.wanted = arena_copy(&driver->arena, argument, length)};
    for (size_t i = 0; i < OWN_OPTIONS; i++) {
        const struct own_option *option = &own_options[i];
        if (strcmp(option->name, near_names.wanted) == 0 &&
            option->has_value == (argument[length] == '=')) {
            option->take(driver, argument + length + option->has_value);
            return true;
        }
        offer_name(&near_names, option->name);
    }
    die_near(&near_names,
             "'%s': no such option, or its value is missing; 'man quipu-cc' lists them", argument);
}

/* The environment's options precede those of the command line. */
static void read_environment(struct driver *driver) {
    const char *modes = getenv("QUIPU_MODE"), *flags = getenv("QUIPU_FLAGS");
    if (modes && *modes) {
        const char *wrong = set_modes(&driver->options, modes);
        if (wrong)
            die("QUIPU_MODE='%s': %s", modes, wrong);
    }
    char *rest = flags ? arena_copy(&driver->arena, flags, strlen(flags)) : NULL;
    for (char *flag; (flag = strsep(&rest, " \t\n"));)
        if (*flag && !take_own_option(driver, flag))
            die("QUIPU_FLAGS: '%s': only options of quipu's belong there, such as "
                "'--quipu-placement=block'",
                flag);
}

static bool is_one_of(const char *argument, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(argument, names[i]) == 0)
            return true;
    return false;
}

#define IS_ONE_OF(argument, ...)                                                                   \
    is_one_of((argument), (const char *const[]){__VA_ARGS__},                                      \
              sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* Whether the next argument is the value of ARGUMENT, an option of the compiler. */
static bool takes_value(const char *argument) {
    return IS_ONE_OF(argument, "-o", "-x", "-I", "-L", "-D", "-U", "-include", "-imacros",
                     "-isystem", "-iquote", "-idirafter", "-iprefix", "-isysroot", "-MF", "-MT",
                     "-MQ", "-Xlinker", "-Xassembler", "-Xpreprocessor", "-T", "-u", "-z", "-e",
                     "-l", "-A", "--param", "-J", "-aux-info", "-dumpbase", "-B", "-specs",
                     "-wrapper", "-target", "-Xclang", "-mllvm", "-h", "-soname", "-rpath",
                     "--sysroot", "-arch");
}

/* Whether NAME is a header. The compiler makes a .gch file of it, and links nothing. */
static bool is_header(const struct driver *driver, const char *name) {
    if (driver->language) {
        const char *kind = strrchr(driver->language, '-');
        return kind && strcmp(kind, "-header") == 0;
    }
    const char *extension = strrchr(last_part(name), '.');
    return extension &&
           IS_ONE_OF(extension, ".h", ".H", ".hh", ".hp", ".hxx", ".hpp", ".HPP", ".h++", ".tcc");
}

static void note_input(struct driver *driver, const char *name) {
    const char *extension = strrchr(last_part(name), '.');
    bool linked = !driver->language && extension &&
                  (IS_ONE_OF(extension, ".o", ".a", ".so", ".lo") || strstr(name, ".so."));
    driver->inputs |= !is_header(driver, name);
    driver->sources |= !linked;
}

/* Whether LINKER_OPTION makes the linker write a relocatable object. The runtime is added later,
 * when that object is linked. */
static bool makes_object(const char *linker_option) {
    return IS_ONE_OF(linker_option, "-r", "-i", "-Ur", "--relocatable");
}

/* WORD may be the value of -z. */
static void note_linker_word(struct driver *driver, const char *word) {
    if (strncmp(word, "-z", 2) == 0)
        word += 2;
    if (IS_ONE_OF(word, "nosectionheader", "sectionheader"))
        driver->headless = word[0] == 'n';
}

/* TEXT is a list of options, separated by commas. */
static void note_linker_options(struct driver *driver, const char *text) {
    for (const char *end; *text; text = *end ? end + 1 : end) {
        end = text + strcspn(text, ",");
        const char *option = arena_copy(&driver->arena, text, (size_t)(end - text));
        if (makes_object(option))
            driver->link = false;
        else if (strcmp(option, "--gc-sections") == 0 || strcmp(option, "--no-gc-sections") == 0)
            driver->drop = option[2] == 'g';
        else
            note_linker_word(driver, option);
    }
}

/* Notes OPTION with its VALUE. */
static void note_value(struct driver *driver, const char *option, const char *value) {
    if (strcmp(option, "-x") == 0)
        driver->language = strcmp(value, "none") == 0 ? NULL : value;
    else if (strcmp(option, "-o") == 0)
        driver->output = value;
    else if (strcmp(option, "-Xlinker") == 0)
        note_linker_options(driver, value);
    else if (strcmp(option, "-z") == 0)
        note_linker_word(driver, value);
}

/* LIST is a list of sanitizers, separated by commas. ON: they are enabled, otherwise disabled. */
static void note_sanitizers(struct driver *driver, const char *list, bool on) {
    static const char *const shadows[] = {"address", "hwaddress", "thread", "memory", "dataflow"};
    for (const char *end; *list; list = *end ? end + 1 : end) {
        end = list + strcspn(list, ",");
        const char *name = arena_copy(&driver->arena, list, (size_t)(end - list));
        if (on && is_one_of(name, shadows, sizeof shadows / sizeof *shadows))
            driver->shadow = name;
        else if (!on && driver->shadow && IS_ONE_OF(name, driver->shadow, "all"))
            driver->shadow = NULL;
    }
}

static void note_joined(struct driver *driver, const char *argument) {
    if (strncmp(argument, "-Wl,", 4) == 0)
        note_linker_options(driver, argument + 4);
    else if (strncmp(argument, "-o", 2) == 0 && argument[2])
        driver->output = argument + 2;
    else if (strncmp(argument, "-x", 2) == 0 && argument[2])
        note_value(driver, "-x", argument + 2);
    else if (strncmp(argument, "-l", 2) == 0 && argument[2])
        driver->inputs = true;
    else if (strncmp(argument, "-flto", 5) == 0)
        driver->bitcode = argument;
    else if (strncmp(argument, "-fsanitize=", 11) == 0)
        note_sanitizers(driver, argument + 11, true);
    else if (strncmp(argument, "-fno-sanitize=", 14) == 0)
        note_sanitizers(driver, argument + 14, false);
}

static void note_argument(struct driver *driver, const char *argument) {
    driver->preprocess |= strcmp(argument, "-E") == 0;
    driver->library |= strcmp(argument, "-shared") == 0;
    if (IS_ONE_OF(argument, "-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-r", "-emit-llvm",
                  "-fdump-ada-spec", "-gnatc", "-gnats"))
        driver->link = false;
    else if (IS_ONE_OF(argument, "-fPIC", "-fpic", "-shared"))
        driver->options.shared = true;
    else if (IS_ONE_OF(argument, "-fPIE", "-fpie", "-fno-pic", "-fno-PIC"))
        driver->options.shared = false;
    else if (IS_ONE_OF(argument, "-nostdlib", "-nodefaultlibs"))
        driver->bare = true;
    else if (strcmp(argument, "-nostartfiles") == 0)
        driver->starts = true;
    else if (strcmp(argument, "-lc") == 0)
        driver->libc = true;
    else if (IS_ONE_OF(argument, "-ffreestanding", "-mcmodel=kernel"))
        driver->freestanding = true;
    else if (IS_ONE_OF(argument, "-m32", "-mx32", "-m16"))
        driver->foreign = true;
    else if (strncmp(argument, "-fuse-ld=", 9) == 0)
        driver->gold = strcmp(argument + 9, "gold") == 0;
    else if (strcmp(argument, "-###") == 0)
        driver->show = true;
    else if (strcmp(argument, "--version") == 0)
        driver->version = true;
    else if (strcmp(argument, "-v") == 0)
        driver->verbose = true;
    else if (argument[0] != '-' || strcmp(argument, "-") == 0)
        note_input(driver, argument);
    else
        note_joined(driver, argument);
}

/* Whether ARGUMENT is an object of quipu's, which each link gets anyway. libtool finds such objects
 * in the commands of a C++ or Fortran link when it looks for the libraries of the language, and
 * adds them to its own links. */
static bool is_own_object(const char *argument) {
    static const char *const names[] = {"lib/quipu/begin.o", "lib/quipu/libquipu-rt.a"};
    size_t length = strlen(argument);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t tail = strlen(names[i]);
        if (length > tail && argument[length - tail - 1] == '/' &&
            strcmp(argument + length - tail, names[i]) == 0)
            return true;
    }
    return false;
}

/* Reads the arguments in FILE, an @FILE. They may be more than a command line can have. So the
 * compiler gets the @FILE itself, unless it contains an option or an object of quipu's. */
static void read_file(struct driver *driver, char *program, char *file) {
    int count = 2;
    char *both[] = {program, file, NULL}, **list = both;
    expandargv(&count, &list);
    bool ours = false;
    for (int i = 1; i < count; i++)
        ours |= strncmp(list[i], "--quipu", 7) == 0 || is_own_object(list[i]);
    for (int i = 1; i < count; i++)
        vector_push(&driver->arena, &driver->all, ((struct argument){list[i], ours ? NULL : file}));
}

static void pass_on(struct driver *driver, size_t index) {
    const struct argument *all = driver->all.data, *argument = &all[index];
    if (!argument->file)
        vector_push(&driver->arena, &driver->user, argument->text);
    else if (index == 0 || all[index - 1].file != argument->file)
        vector_push(&driver->arena, &driver->user, argument->file);
}

static void read_arguments(struct driver *driver, int argc, char **argv) {
    driver->link = true;
    for (int i = 1; i < argc; i++)
        if (argv[i][0] == '@')
            read_file(driver, argv[0], argv[i]);
        else
            vector_push(&driver->arena, &driver->all, ((struct argument){argv[i], NULL}));
    for (size_t i = 0; i < driver->all.count; i++) {
        const char *argument = driver->all.data[i].text;
        if (take_own_option(driver, argument) || is_own_object(argument))
            continue;
        pass_on(driver, i);
        note_argument(driver, argument);
        if (takes_value(argument) && i + 1 < driver->all.count) {
            pass_on(driver, ++i);
            note_value(driver, argument, driver->all.data[i].text);
        }
    }
    driver->clang = strstr(last_part(driver->compiler), "clang") != NULL;
    driver->link &= driver->inputs;
    if (driver->bare && !driver->libc && driver->sources && driver->options.modes) {
        warn(
            "'-nostdlib' without '-lc': code without a C library cannot be counted; left as it is");
        driver->options.modes = 0;
    }
    if (driver->freestanding && driver->options.modes) {
        warn("'-ffreestanding': code without a C library cannot be counted; left as it is");
        driver->options.modes = 0;
    }
    if (driver->foreign && driver->options.modes) {
        warn("'-m32': only x86-64 code is counted; left as it is");
        driver->options.modes = 0;
    }
}

/* Ends the program with an error if clang uses link-time optimization: its -flto writes bitcode,
 * and no assembler is called. */
static void refuse_bitcode(const struct driver *driver) {
    if (driver->clang && driver->options.modes && driver->bitcode)
        die("'%s': clang's link-time optimization passes no assembler; leave it out or compile "
            "with gcc",
            driver->bitcode);
}

#define SHADOW_MESSAGE                                                                             \
    "'-fsanitize=%s': its shadow memory lies where '--quipu=watch' has its own; build with one of both"

static void refuse_shadow(const struct driver *driver) {
    if (driver->shadow && driver->options.modes & MODE_WATCH)
        die(SHADOW_MESSAGE, driver->shadow);
}

static void use_c_library(struct driver *driver) {
    if (driver->c_library && driver->library)
        die("'-shared': '--quipu-libc=%s' makes static executables; leave one of both out",
            driver->c_library);
    if (driver->c_library)
        driver->specs = find_c_library_specs(&driver->arena, driver->c_library, driver->compiler,
                                             &driver->options, driver->link);
}

static void push(struct driver *driver, char *argument) {
    vector_push(&driver->arena, &driver->argv, argument);
}

static void push_path(struct driver *driver, const char *file) {
    push(driver, arena_print(&driver->arena, "%s/%s", driver->root, file));
}

/* Prevents gold from dropping functions: it would keep their notes, and report that these refer to
 * nothing. The tables of the other modes are dropped together with their functions. */
static void keep_for_gold(struct driver *driver) {
    if (!driver->gold || !driver->drop || !(driver->options.modes & MODE_COUNT))
        return;
    warn("'--gc-sections': gold cannot drop functions that are counted; all are kept; bfd, "
         "lld and mold can drop them");
    push(driver, (char *)"-Wl,--no-gc-sections");
}

/* Keeps section headers. Without them no reader finds the notes, and BFD's linker drops tables that
 * are referred to. */
static void keep_section_headers(struct driver *driver) {
    if (!driver->headless)
        return;
    warn("'-z nosectionheader': quipu finds its notes by section headers; they are kept");
    push(driver, (char *)"-Wl,-z,sectionheader");
}

static void build_arguments(struct driver *driver, const char *options) {
    bool count = driver->options.modes;
    bool link = driver->link && count && (!driver->bare || driver->libc);
    push(driver, (char *)driver->compiler);
    if (driver->clang) {
        push(driver, (char *)"--start-no-unused-arguments");
        push(driver, (char *)"-fno-integrated-as");
        if (count) {
            push(driver, arena_print(&driver->arena, "-B%s/libexec/quipu/", driver->root));
            push(driver, arena_print(&driver->arena, "-Wa,--quipu=%s", options));
        }
        push(driver, (char *)"--end-no-unused-arguments");
    } else {
        bool inserts = driver->options.modes != MODE_NULL;
        if ((driver->options.shared && inserts) ||
            driver->options.modes & (MODE_WATCH | MODE_TRACE))
            push(driver, (char *)"-ffixed-r11");
        if (driver->options.modes & MODE_CALLS)
            push(driver, (char *)"-fno-ipa-ra");
        if (count)
            push(driver, arena_print(&driver->arena, "-Wa,--quipu=%s", options));
    }
    if (driver->specs) /* which name the parts of the runtime */
        push(driver, arena_print(&driver->arena, "-specs=%s", driver->specs));
    if (link)
        push(driver, (char *)"-Wl,--build-id");
    if (link && !driver->specs)
        push_path(driver, "lib/quipu/begin.o");
    for (size_t i = 0; i < driver->user.count; i++)
        push(driver, driver->user.data[i]);
    if (link) {
        push(driver, (char *)"-x");
        push(driver, (char *)"none");
        if (driver->library && (driver->bare || driver->starts)) /* runtime/core/module_handle.c */
            push(driver, (char *)"-Wl,--undefined=__dso_handle");
        if (driver->options.modes & MODE_WATCH && !driver->library) /* runtime/watch/early.S */
            push(driver, (char *)"-Wl,--undefined=quipu_watch_early");
        if (!driver->specs)
            push_path(driver, "lib/quipu/libquipu-rt.a");
        if (driver->bare) /* the runtime needs it, so it must also be behind the runtime */
            push(driver, (char *)"-lc");
        keep_for_gold(driver);
        keep_section_headers(driver);
    }
    push(driver, NULL);
}

/* ---- running ---- */

static void set_variable(const char *name, const char *value) {
    if (setenv(name, value, 1))
        die("cannot set the environment: %s", strerror(errno));
}

/* Adds DIRECTORY, below quipu's root, to the list in environment variable NAME: as the first one if
 * IN_FRONT, otherwise as the last one. */
static void add_directory(struct driver *driver, const char *name, const char *directory,
                          bool in_front) {
    const char *old = getenv(name);
    const char *path = arena_print(&driver->arena, "%s/%s", driver->root, directory);
    if (old && *old)
        path = arena_print(&driver->arena, "%s:%s", in_front ? path : old, in_front ? old : path);
    set_variable(name, path);
}

static void set_environment(struct driver *driver, const char *options) {
    add_directory(driver, "C_INCLUDE_PATH", "include",
                  false); /* for quipu.h; all options for that cause warnings in some language */
    add_directory(driver, "CPLUS_INCLUDE_PATH", "include", false);
    if (!driver->options.modes)
        return;
    add_directory(driver, "COMPILER_PATH", "libexec/quipu", true);
    set_variable("QUIPU_OPTIONS", options);
    set_variable("DISTCC_HOSTS", "localhost/256"); /* other machines do not have the shim */
}

static void show_command(const struct driver *driver) {
    if (driver->options.modes)
        print_safely(stderr, " COMPILER_PATH=%s QUIPU_OPTIONS=%s", getenv("COMPILER_PATH"),
                     getenv("QUIPU_OPTIONS"));
    for (size_t i = 0; driver->argv.data[i]; i++)
        print_safely(stderr, " \"%s\"", driver->argv.data[i]);
    fputc('\n', stderr);
}

/* Links, and checks where the linker has put the cells and tables. If they are at wrong addresses,
 * the program would lose counts, and its threads would count in memory that is not theirs. So the
 * result is removed. Returns the exit status. */
static int link_and_check(struct driver *driver) {
    int status = run_program(driver->argv.data, NULL, 0, false);
    const char *output = driver->output ? driver->output : "a.out";
    bool watched = false;
    if (status && (driver->bare || driver->starts))
        error(
            "'%s': counted code needs the C library and its start files; name them, or compile the code "
            "with --quipu=none",
            driver->bare ? "-nostdlib" : "-nostartfiles");
    const char *wrong = status ? NULL : check_linked(&driver->arena, output, &watched);
    if (!wrong && !(watched && driver->shadow))
        return status;
    unlink(output);
    if (wrong)
        error("'%s': %s", output, wrong);
    else
        error(SHADOW_MESSAGE, driver->shadow);
    return 1;
}

/* ---- caches ---- */

/* Whether the caller wants to know the compiler's identity. It asks for the version; or it is
 * ccache, which preprocesses the source to find out whether it has compiled it before. */
static bool asks_for_identity(const struct driver *driver) {
    return driver->version || (driver->verbose && !driver->inputs) ||
           (driver->preprocess && getenv("CCACHE_DISABLE"));
}

/* Appends a line to the preprocessed source that names everything else on which the object depends.
 * For ccache, the line names a source file that does not exist. So ccache only looks at
 * preprocessed sources from then on. What it remembers of included files would not show that PATH
 * leads to another compiler. */
static bool add_line(struct driver *driver, const char *text) {
    bool named = driver->output && strcmp(driver->output, "-") != 0;
    int fd = named ? open(driver->output, O_WRONLY | O_APPEND | O_CLOEXEC) : STDOUT_FILENO;
    char *line = arena_print(&driver->arena, "# 1 \"%s\"\n", text);
    for (char *c = line + 5; c[2]; c++) /* paths may contain any character */
        if (*c == '"' || *c == '\\' || *c == '\n')
            *c = '?';
    bool good = fd >= 0 && write_whole(fd, line, strlen(line));
    return !named || fd < 0 ? good : close(fd) == 0 && good;
}

/* Runs the compiler, and writes the identity of quipu and of the compiler behind its output.
 * OPTIONS are the shim's. Returns the exit status. */
static int run_and_identify(struct driver *driver, const char *options) {
    const char *compiler = compiler_identity(&driver->arena, driver->compiler);
    int status = run_program(driver->argv.data, NULL, 0, false);
    if (status)
        return status;
    if (!driver->preprocess) {
        print_line(driver->version ? stdout : stderr, "quipu %s in front of %s",
                   own_identity(&driver->arena), compiler);
        return fflush(stdout) != 0;
    }
    if (add_line(driver, arena_print(&driver->arena, "quipu %s, %s", options, compiler)))
        return 0;
    error("cannot write the preprocessed source: %s", strerror(errno));
    return 1;
}

/* Runs the compiler of DRIVER with the shim. Returns only on failure, or if there is more to do. */
static int run_compiler(struct driver *driver, int argc, char **argv) {
    read_environment(driver);
    read_arguments(driver, argc, argv);
    refuse_bitcode(driver);
    refuse_shadow(driver);
    use_c_library(driver);
    find_root(driver->root);
    if (driver->options.profile)
        driver->options.content = content_identity(&driver->arena, driver->options.profile);
    const char *options = print_options(&driver->options, own_identity(&driver->arena));
    build_arguments(driver, options);
    set_environment(driver, options);
    if (driver->show)
        show_command(driver);
    else if (asks_for_identity(driver))
        return run_and_identify(driver, options);
    else if (driver->link && driver->options.modes)
        return link_and_check(driver);
    execvp(driver->compiler, driver->argv.data);
    error("cannot run the compiler '%s': %s", driver->compiler, strerror(errno));
    return 127;
}

static const char help[] =
    "usage: quipu cc [--quipu=MODE[,MODE]...] [--quipu-compiler=COMPILER] [--quipu-placement=tree|block]\n"
    "                ARGS\n"
    "\n"
    "Runs the compiler (gcc, or what it is called by) with ARGS and instruments what it assembles.\n"
    "The same under the names quipu-cc, quipu-c++, quipu-fortran, quipu-clang, quipu-clang++,\n"
    "quipu-ada, quipu-d; quipu-NAME and quipu-NAME-VERSION run NAME and NAME-VERSION.\n"
    "\n"
    "  --quipu=count       exact counts of every instruction (the default)\n"
    "  --quipu=event       exact counts of events at any instant; --quipu=count,event: both\n"
    "  --quipu=moment      a name for each moment of a run; 'quipu goto --help' tells more\n"
    "  --quipu=calls       instructions of every call, with what it calls, by its way from main\n"
    "  --quipu=watch       checks of stores, for 'quipu watch'\n"
    "  --quipu=trace       records of paths and addresses, for 'quipu trace'\n"
    "  --quipu=none        the same code without instrumentation\n"
    "  --quipu=null        the same code through all stages, with nothing inserted\n"
    "  --quipu-event=KIND  for --quipu=event: a kind of events (instructions), also repeatedly:\n"
    "                      instructions, blocks, branches, branches-taken, branches-not-taken,\n"
    "                      calls, returns, loads, stores, bytes-loaded, bytes-stored,\n"
    "                      floating-point, vector, atomic\n"
    "  --quipu-event=NAME=PATTERN\n"
    "                      a class of your own: 'mul*|imul*', 'call:malloc|call:calloc'\n"
    "  --quipu-watch=eliminate|all\n"
    "                      for --quipu=watch: leave checks out until they are needed (the default)\n"
    "  --quipu-compiler=C  the compiler to run\n"
    "  --quipu-libc=DIR    use the C library that 'quipu libc --build' put there, statically\n"
    "  --quipu-placement=tree|block\n"
    "                      counters on the chords of a spanning tree (the default) or in every block\n"
    "  --quipu-profile=DATA\n"
    "                      place counters by the counts of an earlier run of the same code\n"
    "  --quipu-dump=STAGE,...\n"
    "                      what these stages find out about each function, to standard error:\n"
    "                      graph, frequencies, loops, tails, liveness, tree, counters\n"
    "  -###                print the commands and run none\n";

int cmd_cc(int argc, char **argv) {
    struct driver driver = {.options = default_options()};
    run_archive_tool(&driver.arena, argv);
    driver.compiler = compiler_for(&driver.arena, argv[0]);
    if (strcmp(argv[0], "cc") == 0 && (argc < 2 || strcmp(argv[1], "--help") == 0)) {
        fputs(help, argc < 2 ? stderr : stdout);
        return argc < 2;
    }
    if (argc == 2 && strcmp(argv[1], "--help") == 0) { /* the compiler's own help follows */
        fputs(help, stdout);
        fputs("\n", stdout);
        fflush(stdout);
    }
    return run_compiler(&driver, argc, argv);
}

int cmd_compiler(int argc, char **argv) {
    struct driver driver = {.options = default_options(), .compiler = argv[0]};
    return run_compiler(&driver, argc, argv);
}
