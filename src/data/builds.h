/* builds.h: the binaries of a run, each build read once. */
#ifndef QUIPU_DATA_BUILDS_H
#define QUIPU_DATA_BUILDS_H

#include "data/datafile.h"
#include "data/profile.h"

/* A path at which a process had the build. */
struct build_path {
    const char *path;
    /* Why this path gave no module: it cannot be read, is of another build, or its notes are bad.
     * NULL: it gave one, or was not needed. */
    const char *wrong;
    bool gone; /* there is no file at the path */
};

/* A build of a program or shared object. */
struct build {
    const struct data_module *wanted; /* identifies it */
    VECTOR(struct build_path) paths;
    struct module *module; /* NULL: none of these paths has it */
    struct profile own;    /* contains the module */
};

/* All zero is empty. */
struct builds {
    struct arena arena;
    struct map numbers; /* index in `list`, by key */
    VECTOR(struct build) list;
};

/* Returns the number of the build that WANTED identifies, and adds it if it is new. WANTED must
 * live as long as BUILDS. */
uint32_t find_build(struct builds *builds, const struct data_module *wanted);

/* Returns the build's path PATH, or NULL if it has none. */
struct build_path *find_build_path(const struct build *build, const char *path);

/* Returns a module of the build that WANTED identifies, at PATH, without cells or binary. */
struct module *make_module(struct arena *arena, const struct data_module *wanted, const char *path);

/* Reads the binaries of all builds that exist, and adds their modules to PROFILE. */
void read_builds(struct builds *builds, struct profile *profile);

/* Releases everything except the handles of binaries. */
void release_builds(struct builds *builds);

/* Reads MODULE's notes, lines and names from its binary, which is open. Returns NULL, or an error
 * message. */
const char *read_binary(struct profile *profile, struct module *module);

#endif
