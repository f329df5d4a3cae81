/* trace_measures.h: functions of the C library whose accesses depend on what is in memory: strings,
 * formats, and arrays of buffers. A trace gets them from a site in front of the call
 * (format/trace.h), which looks at the memory just before the function does.
 *
 * What arguments and results tell is in format/watch_callees.h and format/trace_callees.h.
 *
 * The position of a row is its number. This file includes no other one of quipu: both the shim and
 * the runtime read it. */
#ifndef QUIPU_FORMAT_TRACE_MEASURES_H
#define QUIPU_FORMAT_TRACE_MEASURES_H

/* P, Q and N are numbers of arguments, 0 to 5; QUIPU_MEASURE_NONE: there is none. */
enum quipu_measure {
    QUIPU_MEASURE_STRING = 1,   /* the string P is read, of at most N bytes */
    QUIPU_MEASURE_COPY = 2,     /* the string Q is written to P */
    QUIPU_MEASURE_APPEND = 3,   /* at most N characters of the string Q are written behind P */
    QUIPU_MEASURE_COMPARE = 4,  /* P and Q are read up to a difference, at most N bytes */
    QUIPU_MEASURE_FIND = 5,     /* P is read up to the character Q, or its end */
    QUIPU_MEASURE_SPAN = 6,     /* P is read up to a character that is not in Q, or its end */
    QUIPU_MEASURE_BREAK = 7,    /* P is read up to a character that is in Q, or its end */
    QUIPU_MEASURE_DOUBLE = 8,   /* the string P is written to the result, at most N characters */
    QUIPU_MEASURE_FORMAT = 9,   /* strings that the format P prints; arguments begin with Q */
    QUIPU_MEASURE_LIST = 10,    /* the same, with the arguments of the va_list Q */
    QUIPU_MEASURE_VECTOR = 11,  /* N struct iovec at P, and their buffers */
    QUIPU_MEASURE_MESSAGE = 12, /* a struct msghdr at P, and its buffers */
    QUIPU_MEASURE_WORDS = 13,   /* the strings of the array P, up to NULL, and the array */
    QUIPU_MEASURE_PRINTED = 14, /* as many characters as the int result tells are written to P, and
                                 * a NUL; N bytes at most. Other tables' writes are not right. */
};

enum {
    QUIPU_MEASURE_NONE = 15,
    QUIPU_MEASURE_UNSURE = 1 << 16, /* less may be accessed */
    QUIPU_MEASURE_WRITES = 1 << 17, /* buffers are written */
    QUIPU_MEASURE_FOLDS = 1 << 18,  /* upper and lower case of ASCII is no difference */
    QUIPU_MEASURE_KERNEL = 1 << 19, /* the kernel reads it: the address may be bad */
    QUIPU_MEASURES_MOST = 3,        /* of a function */
};

#define QUIPU_MEASURE(kind, p, q, n) (QUIPU_MEASURE_##kind | (p) << 4 | (q) << 8 | (n) << 12)

#define QM_STRING(p)          QUIPU_MEASURE(STRING, p, 15, 15)
#define QM_STRING_MOST(p, n)  QUIPU_MEASURE(STRING, p, 15, n)
#define QM_PATH(p)            (QM_STRING(p) | QUIPU_MEASURE_KERNEL)
#define QM_NUMBER(p)          (QM_STRING(p) | QUIPU_MEASURE_UNSURE)
#define QM_COPY(p, q)         QUIPU_MEASURE(COPY, p, q, 15)
#define QM_APPEND(p, q, n)    QUIPU_MEASURE(APPEND, p, q, n)
#define QM_COMPARE(p, q)      QUIPU_MEASURE(COMPARE, p, q, 15)
#define QM_COMPARE_MOST(p, q) QUIPU_MEASURE(COMPARE, p, q, 2)
#define QM_FIND(p, q)         QUIPU_MEASURE(FIND, p, q, 15)
#define QM_SPAN(p, q)         QUIPU_MEASURE(SPAN, p, q, 15)
#define QM_BREAK(p, q)        QUIPU_MEASURE(BREAK, p, q, 15)
#define QM_DOUBLE(p)          QUIPU_MEASURE(DOUBLE, p, 15, 15)
#define QM_DOUBLE_MOST(p, n)  QUIPU_MEASURE(DOUBLE, p, 15, n)
#define QM_FORMAT(p)          QUIPU_MEASURE(FORMAT, p, (p) + 1, 15)
#define QM_LIST(p)            QUIPU_MEASURE(LIST, p, (p) + 1, 15)
#define QM_VECTOR(p, n)       QUIPU_MEASURE(VECTOR, p, 15, n)
#define QM_MESSAGE(p)         QUIPU_MEASURE(MESSAGE, p, 15, 15)
#define QM_WORDS(p)           QUIPU_MEASURE(WORDS, p, 15, 15)
#define QM_PRINTED(p)         QUIPU_MEASURE(PRINTED, p, 15, 15)
#define QM_PRINTED_MOST(p, n) QUIPU_MEASURE(PRINTED, p, 15, n)
#define QM_WRITES             QUIPU_MEASURE_WRITES
#define QM_FOLDS              QUIPU_MEASURE_FOLDS
#define QM_UNSURE             QUIPU_MEASURE_UNSURE

/* ROW(name, measure, measure, measure) */
/* clang-format off */
#define QUIPU_MEASURED_CALLEES(ROW) \
    ROW(strcpy, QM_STRING(1), QM_COPY(0, 1), 0) \
    ROW(stpcpy, QM_STRING(1), QM_COPY(0, 1), 0) \
    ROW(__strcpy_chk, QM_STRING(1), QM_COPY(0, 1), 0) \
    ROW(__stpcpy_chk, QM_STRING(1), QM_COPY(0, 1), 0) \
    ROW(strncpy, QM_STRING_MOST(1, 2), 0, 0) \
    ROW(stpncpy, QM_STRING_MOST(1, 2), 0, 0) \
    ROW(__strncpy_chk, QM_STRING_MOST(1, 2), 0, 0) \
    ROW(__stpncpy_chk, QM_STRING_MOST(1, 2), 0, 0) \
    ROW(strcat, QM_STRING(0), QM_STRING(1), QM_APPEND(0, 1, 15)) \
    ROW(__strcat_chk, QM_STRING(0), QM_STRING(1), QM_APPEND(0, 1, 15)) \
    ROW(strncat, QM_STRING(0), QM_STRING_MOST(1, 2), QM_APPEND(0, 1, 2)) \
    ROW(__strncat_chk, QM_STRING(0), QM_STRING_MOST(1, 2), QM_APPEND(0, 1, 2)) \
    ROW(strcmp, QM_COMPARE(0, 1), 0, 0) \
    ROW(strncmp, QM_COMPARE_MOST(0, 1), 0, 0) \
    ROW(strcasecmp, QM_COMPARE(0, 1) | QM_FOLDS, 0, 0) \
    ROW(strncasecmp, QM_COMPARE_MOST(0, 1) | QM_FOLDS, 0, 0) \
    ROW(strcoll, QM_NUMBER(0), QM_NUMBER(1), 0) \
    ROW(strchr, QM_FIND(0, 1), 0, 0) \
    ROW(index, QM_FIND(0, 1), 0, 0) \
    ROW(strchrnul, QM_FIND(0, 1), 0, 0) \
    ROW(rawmemchr, QM_FIND(0, 1) | QM_UNSURE, 0, 0) \
    ROW(strrchr, QM_STRING(0), 0, 0) \
    ROW(rindex, QM_STRING(0), 0, 0) \
    ROW(strspn, QM_SPAN(0, 1), QM_STRING(1), 0) \
    ROW(strcspn, QM_BREAK(0, 1), QM_STRING(1), 0) \
    ROW(strpbrk, QM_BREAK(0, 1), QM_STRING(1), 0) \
    ROW(strstr, QM_NUMBER(0), QM_STRING(1), 0) \
    ROW(strcasestr, QM_NUMBER(0), QM_STRING(1), 0) \
    ROW(strtok, QM_NUMBER(0), QM_STRING(1), 0) \
    ROW(strtok_r, QM_NUMBER(0), QM_STRING(1), 0) \
    ROW(strdup, QM_STRING(0), QM_DOUBLE(0), 0) \
    ROW(__strdup, QM_STRING(0), QM_DOUBLE(0), 0) \
    ROW(strndup, QM_STRING_MOST(0, 1), QM_DOUBLE_MOST(0, 1), 0) \
    ROW(__strndup, QM_STRING_MOST(0, 1), QM_DOUBLE_MOST(0, 1), 0) \
    ROW(atoi, QM_NUMBER(0), 0, 0) \
    ROW(atol, QM_NUMBER(0), 0, 0) \
    ROW(atoll, QM_NUMBER(0), 0, 0) \
    ROW(atof, QM_NUMBER(0), 0, 0) \
    ROW(strtol, QM_NUMBER(0), 0, 0) \
    ROW(strtoul, QM_NUMBER(0), 0, 0) \
    ROW(strtoll, QM_NUMBER(0), 0, 0) \
    ROW(strtoull, QM_NUMBER(0), 0, 0) \
    ROW(strtod, QM_NUMBER(0), 0, 0) \
    ROW(strtof, QM_NUMBER(0), 0, 0) \
    ROW(strtold, QM_NUMBER(0), 0, 0) \
    ROW(__isoc23_strtol, QM_NUMBER(0), 0, 0) \
    ROW(__isoc23_strtoul, QM_NUMBER(0), 0, 0) \
    ROW(__isoc23_strtoll, QM_NUMBER(0), 0, 0) \
    ROW(__isoc23_strtoull, QM_NUMBER(0), 0, 0) \
    ROW(getenv, QM_STRING(0), 0, 0) \
    ROW(secure_getenv, QM_STRING(0), 0, 0) \
    ROW(setenv, QM_STRING(0), QM_STRING(1), 0) \
    ROW(puts, QM_STRING(0), 0, 0) \
    ROW(fputs, QM_STRING(0), 0, 0) \
    ROW(fputs_unlocked, QM_STRING(0), 0, 0) \
    ROW(perror, QM_STRING(0), 0, 0) \
    ROW(printf, QM_STRING(0), QM_FORMAT(0), 0) \
    ROW(__printf_chk, QM_STRING(1), QM_FORMAT(1), 0) \
    ROW(fprintf, QM_STRING(1), QM_FORMAT(1), 0) \
    ROW(__fprintf_chk, QM_STRING(2), QM_FORMAT(2), 0) \
    ROW(dprintf, QM_STRING(1), QM_FORMAT(1), 0) \
    ROW(__dprintf_chk, QM_STRING(2), QM_FORMAT(2), 0) \
    ROW(sprintf, QM_STRING(1), QM_FORMAT(1), QM_PRINTED(0)) \
    ROW(__sprintf_chk, QM_STRING(3), QM_FORMAT(3), QM_PRINTED(0)) \
    ROW(snprintf, QM_STRING(2), QM_FORMAT(2), QM_PRINTED_MOST(0, 1)) \
    ROW(__snprintf_chk, QM_STRING(4), QM_FORMAT(4), QM_PRINTED_MOST(0, 1)) \
    ROW(vprintf, QM_STRING(0), QM_LIST(0), 0) \
    ROW(__vprintf_chk, QM_STRING(1), QM_LIST(1), 0) \
    ROW(vfprintf, QM_STRING(1), QM_LIST(1), 0) \
    ROW(__vfprintf_chk, QM_STRING(2), QM_LIST(2), 0) \
    ROW(vsprintf, QM_STRING(1), QM_LIST(1), QM_PRINTED(0)) \
    ROW(__vsprintf_chk, QM_STRING(3), QM_LIST(3), QM_PRINTED(0)) \
    ROW(vsnprintf, QM_STRING(2), QM_LIST(2), QM_PRINTED_MOST(0, 1)) \
    ROW(__vsnprintf_chk, QM_STRING(4), QM_LIST(4), QM_PRINTED_MOST(0, 1)) \
    ROW(readv, QM_VECTOR(1, 2) | QM_WRITES, 0, 0) \
    ROW(preadv, QM_VECTOR(1, 2) | QM_WRITES, 0, 0) \
    ROW(preadv64, QM_VECTOR(1, 2) | QM_WRITES, 0, 0) \
    ROW(writev, QM_VECTOR(1, 2), 0, 0) \
    ROW(pwritev, QM_VECTOR(1, 2), 0, 0) \
    ROW(pwritev64, QM_VECTOR(1, 2), 0, 0) \
    ROW(recvmsg, QM_MESSAGE(1) | QM_WRITES, 0, 0) \
    ROW(sendmsg, QM_MESSAGE(1), 0, 0) \
    ROW(open, QM_PATH(0), 0, 0) \
    ROW(open64, QM_PATH(0), 0, 0) \
    ROW(openat, QM_PATH(1), 0, 0) \
    ROW(openat64, QM_PATH(1), 0, 0) \
    ROW(creat, QM_PATH(0), 0, 0) \
    ROW(fopen, QM_PATH(0), QM_STRING(1), 0) \
    ROW(fopen64, QM_PATH(0), QM_STRING(1), 0) \
    ROW(fdopen, QM_STRING(1), 0, 0) \
    ROW(opendir, QM_PATH(0), 0, 0) \
    ROW(stat, QM_PATH(0), 0, 0) \
    ROW(stat64, QM_PATH(0), 0, 0) \
    ROW(lstat, QM_PATH(0), 0, 0) \
    ROW(lstat64, QM_PATH(0), 0, 0) \
    ROW(fstatat, QM_PATH(1), 0, 0) \
    ROW(fstatat64, QM_PATH(1), 0, 0) \
    ROW(access, QM_PATH(0), 0, 0) \
    ROW(readlink, QM_PATH(0), 0, 0) \
    ROW(unlink, QM_PATH(0), 0, 0) \
    ROW(mkdir, QM_PATH(0), 0, 0) \
    ROW(rmdir, QM_PATH(0), 0, 0) \
    ROW(chdir, QM_PATH(0), 0, 0) \
    ROW(chmod, QM_PATH(0), 0, 0) \
    ROW(rename, QM_PATH(0), QM_PATH(1), 0) \
    ROW(link, QM_PATH(0), QM_PATH(1), 0) \
    ROW(symlink, QM_PATH(0), QM_PATH(1), 0) \
    ROW(execv, QM_PATH(0), QM_WORDS(1), 0) \
    ROW(execvp, QM_PATH(0), QM_WORDS(1), 0) \
    ROW(execve, QM_PATH(0), QM_WORDS(1), QM_WORDS(2)) \
    ROW(execvpe, QM_PATH(0), QM_WORDS(1), QM_WORDS(2)) \
    ROW(getopt, QM_STRING(2), 0, 0) \
    ROW(getopt_long, QM_STRING(2), 0, 0)
/* clang-format on */

static inline unsigned quipu_measure_kind(unsigned measure) {
    return measure & 15;
}

/* Numbers of arguments. */
static inline unsigned quipu_measure_p(unsigned measure) {
    return measure >> 4 & 15;
}

static inline unsigned quipu_measure_q(unsigned measure) {
    return measure >> 8 & 15;
}

static inline unsigned quipu_measure_n(unsigned measure) {
    return measure >> 12 & 15;
}

/* Whether only the function's result tells where or how much it accesses. */
static inline int quipu_measure_needs_result(unsigned measure) {
    unsigned kind = quipu_measure_kind(measure);
    return kind == QUIPU_MEASURE_DOUBLE || kind == QUIPU_MEASURE_VECTOR ||
           kind == QUIPU_MEASURE_MESSAGE || kind == QUIPU_MEASURE_PRINTED;
}

#endif
