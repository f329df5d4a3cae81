/* builds.h: the binaries of a run, each build read once. */
#ifndef QUIPU_DATA_BUILDS_H
#define QUIPU_DATA_BUILDS_H

#include "data/datafile.h"
#include "data/profile.h"

/* A path at which some process had the build. */
struct build_path {
    const char *path;
    const char
        *wrong; /* why the binary there is not that build; NULL: it is, or was not looked at */
};

/* A build of a program or shared object. */
struct build {
    const struct data_module *wanted; /* what tells it */
    VECTOR(struct build_path) paths;
    struct module *module; /* NULL: it is at none of these paths */
    struct profile own;    /* what the module lies in */
};

/* All zero is empty. */
struct builds {
    struct arena arena;
    struct map numbers; /* index of each in list */
    VECTOR(struct build) list;
};

/* The number of the build that WANTED tells, made where it is new; WANTED must live as long. */
uint32_t find_build(struct builds *builds, const struct data_module *wanted);

/* Returns the build's path PATH, or NULL if it has none. */
struct build_path *find_build_path(const struct build *build, const char *path);

/* Reads the binaries of all builds that are there, and adds their modules to PROFILE. */
void read_builds(struct builds *builds, struct profile *profile);

/* Releases all but the handles of binaries. */
void release_builds(struct builds *builds);

/* Reads all that the binary tells of MODULE, whose handle is open.  Returns NULL, or what is wrong
 * with it. */
const char *read_binary(struct profile *profile, struct module *module);

#endif
