/* watch_callees.h: functions of the C library, and what they write in the program's memory.
 *
 * The position of a row is its number in calls of quipu_watch_call_begin (format/watch.h, section
 * 2). Row 0 is for unknown functions. A row has up to three ranges. Each begins at the address in
 * an argument.
 *
 * For a function without a row, all regions are compared at its return. So a row is useful for
 * functions that are called often. It may only state what is true on each path through the
 * function, in each C library.
 *
 * Functions that also write the library's own memory (stdio's buffers, the heap) say so, because a
 * later comparison may find these writes. After them, all regions are compared if any region may be
 * in such memory. Variables of an instrumented module are not, unless a stream got one as its
 * buffer.
 *
 * A row with a FORMAT is right only if the format has no %n. Either the shim has seen that
 * (src/pass/watch/formats.c), or the call tests it. Otherwise the callee counts as unknown.
 *
 * A function that may return twice needs a row, since all regions are compared behind an unknown
 * callee: after a longjmp, frames that were left would still be watched there.
 *
 * Functions that allocate and free say so. After them, the blocks that were requested by allocating
 * lines are not compared: in the heap these functions write only free memory.
 *
 * This file includes no other one of quipu: both the shim and the runtime read it. */
#ifndef QUIPU_FORMAT_WATCH_CALLEES_H
#define QUIPU_FORMAT_WATCH_CALLEES_H

#include <stdint.h>

/* The length of a range. A and B are numbers of arguments, 0 to 5. */
enum quipu_extent {
    QUIPU_EXTENT_NONE = 0,
    QUIPU_EXTENT_CONSTANT = 1, /* C bytes; A is 15 for a function that may return twice */
    QUIPU_EXTENT_BYTES = 2,    /* argument A */
    QUIPU_EXTENT_PRODUCT = 3,  /* A times B */
    QUIPU_EXTENT_RESULT = 4,   /* C times the result, if that is positive, plus A bytes, if it is
                                * not negative; B: the result is an int */
    QUIPU_EXTENT_STRING = 5,   /* up to its NUL after the call; A: its source, or 0: it is shorter
                                * than a page */
    QUIPU_EXTENT_APPEND = 6,   /* from its NUL before the call to its NUL after it; A: its source */
    QUIPU_EXTENT_POINTED = 7,  /* the 4 bytes to which argument A points, before the call */
    QUIPU_EXTENT_VECTOR = 8,   /* the parts of A struct iovec at the pointer */
    QUIPU_EXTENT_TIMES = 9,    /* argument A times C */
    QUIPU_EXTENT_ANY = 14, /* anything: all regions are compared; but no argument is on the stack,
                            * so a jump to it can become a call */
    /* The next kinds do not describe writes, but blocks of the heap. */
    QUIPU_EXTENT_BLOCK = 10,        /* a block of argument A bytes, times B if that is not 15, is
                                     * allocated. With C = 0 the result is its address; with C = 1,
                                     * if the result is 0, the pointer's target is. */
    QUIPU_EXTENT_BLOCK_STRING = 11, /* a block is allocated, as long as the string in it */
    QUIPU_EXTENT_FREED = 12,        /* the block at the pointer is freed */
    QUIPU_EXTENT_MOVED = 13, /* the block at the pointer moves to the allocated one, or stays */
    QUIPU_EXTENT_MORE = 15,  /* other effects: C is an enum quipu_callee_more */
};

enum quipu_callee_more {
    QUIPU_MORE_LIBRARY = 0, /* writes only the library's own memory */
    QUIPU_MORE_STREAM = 1,  /* if the pointer is not NULL, a stream may write to argument A bytes
                             * there from now on; if A is 15, to BUFSIZ bytes */
    QUIPU_MORE_PAGES = 2,   /* argument A bytes may be unreadable from now on; if B is not 0, also
                             * argument A + 1 bytes at argument B. If the row has blocks, they are
                             * mappings, and may overlap only a part of earlier ones. */
    QUIPU_MORE_STACK = 3,   /* argument A bytes are a stack from now on; if A is 15, those that a
                             * stack_t at the pointer describes */
    QUIPU_MORE_FORMAT = 4,  /* the row is right only if the pointer leads to a format without %n; A:
                             * its arguments are in a va_list; last entry of the row */
    QUIPU_MORE_END = 5,     /* the program ends */
};

/* Added to a row's number: the call must test whether the row is right. */
#define QUIPU_CALLEE_LOOKS 0x8000u

/* Parts of a printf conversion: characters between '%' and the last one, other than sizes; sizes;
 * last characters of conversions that do not write. All others count as writing. */
#define QUIPU_CONVERSION_FLAGS "0123456789 #+-'I.*$"
#define QUIPU_CONVERSION_SIZES "hlLqjztZ"
#define QUIPU_CONVERSION_ENDS  "diouxXbBeEfFgGaAcCsSpm"

enum {
    QUIPU_EXTENT_CHANGED = 1 << 30, /* report only changes: less may be written */
    QUIPU_EXTENT_ZERO = 1 << 29,    /* written only if the result, an int, is 0 */
    QUIPU_EXTENT_TRUE = 1 << 28,    /* written only if the result, a pointer, is not NULL */
    QUIPU_EXTENT_WITHIN = 1 << 3,   /* writes somewhere in the range, and in the library's own
                                     * memory. All regions are compared if any is in such memory.
                                     * With CHANGED, the range is also reported by itself, since not
                                     * each comparison is made. */
};

/* A range at the address in argument POINTER. */
#define QUIPU_EXTENT(pointer, kind, a, b, c)                                                       \
    ((pointer) | QUIPU_EXTENT_##kind << 4 | (a) << 8 | (b) << 12 | (c) << 16)

#define QE_CONSTANT(p, c)    QUIPU_EXTENT(p, CONSTANT, 0, 0, c)
#define QE_BYTES(p, a)       QUIPU_EXTENT(p, BYTES, a, 0, 0)
#define QE_PRODUCT(p, a, b)  QUIPU_EXTENT(p, PRODUCT, a, b, 0)
#define QE_RESULT(p, c)      QUIPU_EXTENT(p, RESULT, 0, 0, c)
#define QE_FORMATTED(p)      QUIPU_EXTENT(p, RESULT, 1, 1, 1)
#define QE_INT(p, c)         QUIPU_EXTENT(p, RESULT, 0, 1, c)
#define QE_STRING(p, a)      QUIPU_EXTENT(p, STRING, a, 0, 0)
#define QE_APPEND(p, a)      QUIPU_EXTENT(p, APPEND, a, 0, 0)
#define QE_POINTED(p, a)     QUIPU_EXTENT(p, POINTED, a, 0, 0)
#define QE_VECTOR(p, a)      QUIPU_EXTENT(p, VECTOR, a, 0, 0)
#define QE_TIMES(p, a, c)    QUIPU_EXTENT(p, TIMES, a, 0, c)
#define QE_BLOCK(a)          QUIPU_EXTENT(0, BLOCK, a, 15, 0)
#define QE_BLOCKS(a, b)      QUIPU_EXTENT(0, BLOCK, a, b, 0)
#define QE_BLOCK_AT(p, a)    QUIPU_EXTENT(p, BLOCK, a, 15, 1)
#define QE_BLOCK_STRING      QUIPU_EXTENT(0, BLOCK_STRING, 0, 0, 0)
#define QE_FREED(p)          QUIPU_EXTENT(p, FREED, 0, 0, 0)
#define QE_MOVED(p)          QUIPU_EXTENT(p, MOVED, 0, 0, 0)
#define QE_STAT(p)           (QE_CONSTANT(p, 144) | QUIPU_EXTENT_ZERO)
#define QE_TIME(p)           (QE_CONSTANT(p, 16) | QUIPU_EXTENT_ZERO)
#define QE_JUMP              (QUIPU_EXTENT(0, CONSTANT, 15, 0, 200) | QE_WITHIN)
#define QE_CONTEXT           (QUIPU_EXTENT(0, CONSTANT, 15, 0, 968) | QE_WITHIN)
#define QE_ANY               QUIPU_EXTENT(0, ANY, 0, 0, 0)
#define QE_LIBRARY           QUIPU_EXTENT(0, MORE, 0, 0, QUIPU_MORE_LIBRARY)
#define QE_STREAM(p, a)      QUIPU_EXTENT(p, MORE, a, 0, QUIPU_MORE_STREAM)
#define QE_PAGES(p, a)       QUIPU_EXTENT(p, MORE, a, 0, QUIPU_MORE_PAGES)
#define QE_PAGES_TO(p, a, b) QUIPU_EXTENT(p, MORE, a, b, QUIPU_MORE_PAGES)
#define QE_STACK(p, a)       QUIPU_EXTENT(p, MORE, a, 0, QUIPU_MORE_STACK)
#define QE_FORMAT(p)         QUIPU_EXTENT(p, MORE, 0, 0, QUIPU_MORE_FORMAT)
#define QE_FORMAT_LIST(p)    QUIPU_EXTENT(p, MORE, 1, 0, QUIPU_MORE_FORMAT)
#define QE_END               QUIPU_EXTENT(0, MORE, 0, 0, QUIPU_MORE_END)
#define QE_WITHIN            QUIPU_EXTENT_WITHIN
#define QE_CHANGED           QUIPU_EXTENT_CHANGED
#define QE_ZERO              QUIPU_EXTENT_ZERO
#define QE_TRUE              QUIPU_EXTENT_TRUE

/* ROW(name, range, range, range). There is no range at a NULL pointer. */
/* clang-format off */
#define QUIPU_CALLEES(ROW) \
    ROW(, 0, 0, 0) \
    ROW(memcpy, QE_BYTES(0, 2), 0, 0) \
    ROW(memmove, QE_BYTES(0, 2), 0, 0) \
    ROW(mempcpy, QE_BYTES(0, 2), 0, 0) \
    ROW(memset, QE_BYTES(0, 2), 0, 0) \
    ROW(bzero, QE_BYTES(0, 1), 0, 0) \
    ROW(explicit_bzero, QE_BYTES(0, 1), 0, 0) \
    ROW(bcopy, QE_BYTES(1, 2), 0, 0) \
    ROW(memccpy, QE_BYTES(0, 3) | QE_CHANGED, 0, 0) \
    ROW(__memcpy_chk, QE_BYTES(0, 2), 0, 0) \
    ROW(__memmove_chk, QE_BYTES(0, 2), 0, 0) \
    ROW(__mempcpy_chk, QE_BYTES(0, 2), 0, 0) \
    ROW(__memset_chk, QE_BYTES(0, 2), 0, 0) \
    ROW(strcpy, QE_STRING(0, 1), 0, 0) \
    ROW(stpcpy, QE_STRING(0, 1), 0, 0) \
    ROW(__strcpy_chk, QE_STRING(0, 1), 0, 0) \
    ROW(__stpcpy_chk, QE_STRING(0, 1), 0, 0) \
    ROW(strncpy, QE_BYTES(0, 2), 0, 0) \
    ROW(stpncpy, QE_BYTES(0, 2), 0, 0) \
    ROW(__strncpy_chk, QE_BYTES(0, 2), 0, 0) \
    ROW(strcat, QE_APPEND(0, 1), 0, 0) \
    ROW(strncat, QE_APPEND(0, 1), 0, 0) \
    ROW(__strcat_chk, QE_APPEND(0, 1), 0, 0) \
    ROW(__strncat_chk, QE_APPEND(0, 1), 0, 0) \
    ROW(wmemcpy, QE_TIMES(0, 2, 4), 0, 0) \
    ROW(wmemmove, QE_TIMES(0, 2, 4), 0, 0) \
    ROW(wmemset, QE_TIMES(0, 2, 4), 0, 0) \
    ROW(qsort, QE_PRODUCT(0, 1, 2) | QE_CHANGED, 0, 0) \
    ROW(read, QE_RESULT(1, 1), 0, 0) \
    ROW(pread, QE_RESULT(1, 1), 0, 0) \
    ROW(pread64, QE_RESULT(1, 1), 0, 0) \
    ROW(__read_chk, QE_RESULT(1, 1), 0, 0) \
    ROW(readlink, QE_RESULT(1, 1), 0, 0) \
    ROW(readlinkat, QE_RESULT(2, 1), 0, 0) \
    ROW(getrandom, QE_RESULT(0, 1), 0, 0) \
    ROW(recv, QE_BYTES(1, 2) | QE_CHANGED, 0, 0) \
    ROW(recvfrom, QE_BYTES(1, 2) | QE_CHANGED, QE_POINTED(4, 5) | QE_CHANGED, \
        QE_CONSTANT(5, 4) | QE_CHANGED) \
    ROW(readv, QE_VECTOR(1, 2) | QE_CHANGED, 0, 0) \
    ROW(preadv, QE_VECTOR(1, 2) | QE_CHANGED, 0, 0) \
    ROW(accept, QE_POINTED(1, 2) | QE_CHANGED, QE_CONSTANT(2, 4) | QE_CHANGED, 0) \
    ROW(getsockname, QE_POINTED(1, 2) | QE_CHANGED, QE_CONSTANT(2, 4) | QE_CHANGED, 0) \
    ROW(getpeername, QE_POINTED(1, 2) | QE_CHANGED, QE_CONSTANT(2, 4) | QE_CHANGED, 0) \
    ROW(getsockopt, QE_POINTED(3, 4) | QE_CHANGED, QE_CONSTANT(4, 4) | QE_ZERO, 0) \
    ROW(poll, QE_TIMES(0, 1, 8) | QE_CHANGED, 0, 0) \
    ROW(epoll_wait, QE_INT(1, 12), 0, 0) \
    ROW(select, QE_ANY, 0, 0) \
    ROW(stat, QE_STAT(1), 0, 0) \
    ROW(stat64, QE_STAT(1), 0, 0) \
    ROW(lstat, QE_STAT(1), 0, 0) \
    ROW(lstat64, QE_STAT(1), 0, 0) \
    ROW(fstat, QE_STAT(1), 0, 0) \
    ROW(fstat64, QE_STAT(1), 0, 0) \
    ROW(fstatat, QE_STAT(2), 0, 0) \
    ROW(fstatat64, QE_STAT(2), 0, 0) \
    ROW(pipe, QE_CONSTANT(0, 8) | QE_ZERO, 0, 0) \
    ROW(pipe2, QE_CONSTANT(0, 8) | QE_ZERO, 0, 0) \
    ROW(socketpair, QE_CONSTANT(3, 8) | QE_ZERO, 0, 0) \
    ROW(getcwd, QE_STRING(0, 0) | QE_TRUE, 0, 0) \
    ROW(gettimeofday, QE_TIME(0), QE_CONSTANT(1, 8) | QE_CHANGED, 0) \
    ROW(clock_gettime, QE_TIME(1), 0, 0) \
    ROW(clock_getres, QE_TIME(1), 0, 0) \
    ROW(nanosleep, QE_CONSTANT(1, 16) | QE_CHANGED, 0, 0) \
    ROW(time, QE_CONSTANT(0, 8), 0, 0) \
    ROW(frexp, QE_CONSTANT(0, 4), 0, 0) \
    ROW(modf, QE_CONSTANT(0, 8), 0, 0) \
    ROW(sincos, QE_CONSTANT(0, 8), QE_CONSTANT(1, 8), 0) \
    ROW(sigemptyset, QE_CONSTANT(0, 128) | QE_CHANGED, 0, 0) \
    ROW(sigfillset, QE_CONSTANT(0, 128) | QE_CHANGED, 0, 0) \
    ROW(sigaddset, QE_CONSTANT(0, 128) | QE_CHANGED, 0, 0) \
    ROW(sigprocmask, QE_CONSTANT(2, 128) | QE_CHANGED, 0, 0) \
    ROW(pthread_sigmask, QE_CONSTANT(2, 128) | QE_CHANGED, 0, 0) \
    ROW(uname, QE_CONSTANT(0, 390) | QE_ZERO, 0, 0) \
    ROW(getrusage, QE_CONSTANT(1, 144) | QE_ZERO, 0, 0) \
    ROW(pthread_mutex_lock, QE_CONSTANT(0, 40) | QE_CHANGED, 0, 0) \
    ROW(pthread_mutex_trylock, QE_CONSTANT(0, 40) | QE_CHANGED, 0, 0) \
    ROW(pthread_mutex_unlock, QE_CONSTANT(0, 40) | QE_CHANGED, 0, 0) \
    ROW(pthread_mutex_init, QE_CONSTANT(0, 40) | QE_CHANGED, 0, 0) \
    ROW(pthread_mutex_destroy, QE_CONSTANT(0, 40) | QE_CHANGED, 0, 0) \
    ROW(pthread_rwlock_rdlock, QE_CONSTANT(0, 56) | QE_CHANGED, 0, 0) \
    ROW(pthread_rwlock_wrlock, QE_CONSTANT(0, 56) | QE_CHANGED, 0, 0) \
    ROW(pthread_rwlock_unlock, QE_CONSTANT(0, 56) | QE_CHANGED, 0, 0) \
    ROW(pthread_cond_signal, QE_CONSTANT(0, 48) | QE_CHANGED, 0, 0) \
    ROW(pthread_cond_broadcast, QE_CONSTANT(0, 48) | QE_CHANGED, 0, 0) \
    ROW(pthread_cond_wait, QE_CONSTANT(0, 48) | QE_CHANGED, QE_CONSTANT(1, 40) | QE_CHANGED, 0) \
    ROW(sem_wait, QE_CONSTANT(0, 32) | QE_CHANGED, 0, 0) \
    ROW(sem_post, QE_CONSTANT(0, 32) | QE_CHANGED, 0, 0) \
    ROW(strtol, QE_CONSTANT(1, 8) | QE_CHANGED, 0, 0) \
    ROW(strtoul, QE_CONSTANT(1, 8) | QE_CHANGED, 0, 0) \
    ROW(strtoll, QE_CONSTANT(1, 8) | QE_CHANGED, 0, 0) \
    ROW(strtoull, QE_CONSTANT(1, 8) | QE_CHANGED, 0, 0) \
    ROW(strtod, QE_CONSTANT(1, 8) | QE_CHANGED, 0, 0) \
    ROW(strtof, QE_CONSTANT(1, 8) | QE_CHANGED, 0, 0) \
    ROW(strsep, QE_ANY, 0, 0) \
    ROW(__cxa_guard_acquire, QE_CONSTANT(0, 8) | QE_CHANGED, 0, 0) \
    ROW(__cxa_guard_release, QE_CONSTANT(0, 8) | QE_CHANGED, 0, 0) \
    ROW(__cxa_atexit, QE_LIBRARY, 0, 0) \
    ROW(__cxa_allocate_exception, QE_LIBRARY, 0, 0) \
    ROW(__cxa_free_exception, QE_LIBRARY, 0, 0) \
    ROW(__cxa_begin_catch, QE_LIBRARY, 0, 0) \
    ROW(setjmp, QE_JUMP, 0, 0) \
    ROW(_setjmp, QE_JUMP, 0, 0) \
    ROW(__setjmp, QE_JUMP, 0, 0) \
    ROW(sigsetjmp, QE_JUMP, 0, 0) \
    ROW(__sigsetjmp, QE_JUMP, 0, 0) \
    ROW(getcontext, QE_CONTEXT, 0, 0) \
    ROW(swapcontext, QE_ANY, 0, 0) \
    ROW(strtok, QE_ANY, 0, 0) \
    ROW(strtok_r, QE_ANY, 0, 0) \
    ROW(fread, QE_PRODUCT(0, 1, 2) | QE_WITHIN, 0, 0) \
    ROW(fread_unlocked, QE_PRODUCT(0, 1, 2) | QE_WITHIN, 0, 0) \
    ROW(__fread_chk, QE_PRODUCT(0, 2, 3) | QE_WITHIN, 0, 0) \
    ROW(__fread_unlocked_chk, QE_PRODUCT(0, 2, 3) | QE_WITHIN, 0, 0) \
    ROW(fgets, QE_TIMES(0, 1, 1) | QE_WITHIN, 0, 0) \
    ROW(fgets_unlocked, QE_TIMES(0, 1, 1) | QE_WITHIN, 0, 0) \
    ROW(__fgets_chk, QE_TIMES(0, 2, 1) | QE_WITHIN, 0, 0) \
    ROW(__fgets_unlocked_chk, QE_TIMES(0, 2, 1) | QE_WITHIN, 0, 0) \
    ROW(fgetc, QE_LIBRARY, 0, 0) \
    ROW(fgetc_unlocked, QE_LIBRARY, 0, 0) \
    ROW(getchar, QE_LIBRARY, 0, 0) \
    ROW(getchar_unlocked, QE_LIBRARY, 0, 0) \
    ROW(_IO_getc, QE_LIBRARY, 0, 0) \
    ROW(__uflow, QE_LIBRARY, 0, 0) \
    ROW(__underflow, QE_LIBRARY, 0, 0) \
    ROW(getc, QE_LIBRARY, 0, 0) \
    ROW(getc_unlocked, QE_LIBRARY, 0, 0) \
    ROW(ungetc, QE_LIBRARY, 0, 0) \
    ROW(getline, QE_ANY, 0, 0) \
    ROW(getdelim, QE_ANY, 0, 0) \
    ROW(fwrite, QE_LIBRARY, 0, 0) \
    ROW(fwrite_unlocked, QE_LIBRARY, 0, 0) \
    ROW(fputs, QE_LIBRARY, 0, 0) \
    ROW(fputs_unlocked, QE_LIBRARY, 0, 0) \
    ROW(fputc, QE_LIBRARY, 0, 0) \
    ROW(fputc_unlocked, QE_LIBRARY, 0, 0) \
    ROW(putc, QE_LIBRARY, 0, 0) \
    ROW(putc_unlocked, QE_LIBRARY, 0, 0) \
    ROW(_IO_putc, QE_LIBRARY, 0, 0) \
    ROW(__overflow, QE_LIBRARY, 0, 0) \
    ROW(puts, QE_LIBRARY, 0, 0) \
    ROW(putchar, QE_LIBRARY, 0, 0) \
    ROW(putchar_unlocked, QE_LIBRARY, 0, 0) \
    ROW(fflush, QE_LIBRARY, 0, 0) \
    ROW(fflush_unlocked, QE_LIBRARY, 0, 0) \
    ROW(fopen, QE_LIBRARY, 0, 0) \
    ROW(fopen64, QE_LIBRARY, 0, 0) \
    ROW(fdopen, QE_LIBRARY, 0, 0) \
    ROW(tmpfile, QE_LIBRARY, 0, 0) \
    ROW(fseek, QE_LIBRARY, 0, 0) \
    ROW(fseeko, QE_LIBRARY, 0, 0) \
    ROW(fseeko64, QE_LIBRARY, 0, 0) \
    ROW(ftell, QE_LIBRARY, 0, 0) \
    ROW(ftello, QE_LIBRARY, 0, 0) \
    ROW(ftello64, QE_LIBRARY, 0, 0) \
    ROW(rewind, QE_LIBRARY, 0, 0) \
    ROW(opendir, QE_LIBRARY, 0, 0) \
    ROW(readdir, QE_LIBRARY, 0, 0) \
    ROW(readdir64, QE_LIBRARY, 0, 0) \
    ROW(closedir, QE_LIBRARY, 0, 0) \
    ROW(fclose, QE_LIBRARY, 0, 0) \
    ROW(vprintf, QE_ANY, 0, 0) \
    ROW(vfprintf, QE_ANY, 0, 0) \
    ROW(vsprintf, QE_FORMATTED(0) | QE_CHANGED | QE_WITHIN, QE_FORMAT_LIST(1), 0) \
    ROW(__vsprintf_chk, QE_FORMATTED(0) | QE_CHANGED | QE_WITHIN, QE_FORMAT_LIST(3), 0) \
    ROW(vsnprintf, QE_BYTES(0, 1) | QE_CHANGED | QE_WITHIN, QE_FORMAT_LIST(2), 0) \
    ROW(__vsnprintf_chk, QE_BYTES(0, 1) | QE_CHANGED | QE_WITHIN, QE_FORMAT_LIST(4), 0) \
    ROW(localtime_r, QE_ANY, 0, 0) \
    ROW(gmtime_r, QE_ANY, 0, 0) \
    ROW(strftime, QE_ANY, 0, 0) \
    ROW(setvbuf, QE_ANY, QE_STREAM(1, 3), 0) \
    ROW(setbuf, QE_ANY, QE_STREAM(1, 15), 0) \
    ROW(setbuffer, QE_ANY, QE_STREAM(1, 2), 0) \
    ROW(fmemopen, QE_ANY, QE_STREAM(0, 1), 0) \
    ROW(open_memstream, QE_ANY, QE_STREAM(0, 15), QE_STREAM(1, 15)) \
    ROW(open_wmemstream, QE_ANY, QE_STREAM(0, 15), QE_STREAM(1, 15)) \
    ROW(ioctl, QE_ANY, 0, 0) \
    ROW(sigaltstack, QE_CONSTANT(1, 24) | QE_ZERO, QE_STACK(0, 15), 0) \
    ROW(pthread_attr_setstack, QE_CONSTANT(0, 56) | QE_CHANGED, QE_STACK(1, 2), 0) \
    ROW(malloc, QE_BLOCK(0), 0, 0) \
    ROW(calloc, QE_BLOCKS(0, 1), 0, 0) \
    ROW(realloc, QE_MOVED(0), QE_BLOCK(1), 0) \
    ROW(reallocarray, QE_MOVED(0), QE_BLOCKS(1, 2), 0) \
    ROW(aligned_alloc, QE_BLOCK(1), 0, 0) \
    ROW(memalign, QE_BLOCK(1), 0, 0) \
    ROW(posix_memalign, QE_CONSTANT(0, 8) | QE_ZERO, QE_BLOCK_AT(0, 2), 0) \
    ROW(valloc, QE_BLOCK(0), 0, 0) \
    ROW(pvalloc, QE_BLOCK(0), 0, 0) \
    ROW(strdup, QE_BLOCK_STRING, 0, 0) \
    ROW(__strdup, QE_BLOCK_STRING, 0, 0) \
    ROW(strndup, QE_BLOCK_STRING, 0, 0) \
    ROW(__strndup, QE_BLOCK_STRING, 0, 0) \
    ROW(mmap, QE_BLOCK(1), QE_PAGES(0, 1), 0) \
    ROW(mmap64, QE_BLOCK(1), QE_PAGES(0, 1), 0) \
    ROW(mremap, QE_MOVED(0), QE_BLOCK(2), QE_PAGES_TO(0, 1, 4)) \
    ROW(mprotect, QE_ANY, QE_PAGES(0, 1), 0) \
    ROW(pkey_mprotect, QE_ANY, QE_PAGES(0, 1), 0) \
    ROW(_Znwm, QE_BLOCK(0), 0, 0) \
    ROW(_Znam, QE_BLOCK(0), 0, 0) \
    ROW(_ZnwmRKSt9nothrow_t, QE_BLOCK(0), 0, 0) \
    ROW(_ZnamRKSt9nothrow_t, QE_BLOCK(0), 0, 0) \
    ROW(_ZnwmSt11align_val_t, QE_BLOCK(0), 0, 0) \
    ROW(_ZnamSt11align_val_t, QE_BLOCK(0), 0, 0) \
    ROW(_ZnwmSt11align_val_tRKSt9nothrow_t, QE_BLOCK(0), 0, 0) \
    ROW(_ZnamSt11align_val_tRKSt9nothrow_t, QE_BLOCK(0), 0, 0) \
    ROW(free, QE_FREED(0), 0, 0) \
    ROW(free_sized, QE_FREED(0), 0, 0) \
    ROW(free_aligned_sized, QE_FREED(0), 0, 0) \
    ROW(munmap, QE_FREED(0), QE_PAGES(0, 1), 0) \
    ROW(_ZdlPv, QE_FREED(0), 0, 0) \
    ROW(_ZdaPv, QE_FREED(0), 0, 0) \
    ROW(_ZdlPvm, QE_FREED(0), 0, 0) \
    ROW(_ZdaPvm, QE_FREED(0), 0, 0) \
    ROW(_ZdlPvSt11align_val_t, QE_FREED(0), 0, 0) \
    ROW(_ZdaPvSt11align_val_t, QE_FREED(0), 0, 0) \
    ROW(_ZdlPvmSt11align_val_t, QE_FREED(0), 0, 0) \
    ROW(_ZdaPvmSt11align_val_t, QE_FREED(0), 0, 0) \
    ROW(_ZdlPvRKSt9nothrow_t, QE_FREED(0), 0, 0) \
    ROW(_ZdaPvRKSt9nothrow_t, QE_FREED(0), 0, 0) \
    ROW(_ZdlPvSt11align_val_tRKSt9nothrow_t, QE_FREED(0), 0, 0) \
    ROW(_ZdaPvSt11align_val_tRKSt9nothrow_t, QE_FREED(0), 0, 0) \
    ROW(perror, QE_LIBRARY, 0, 0) \
    ROW(strerror, QE_LIBRARY, 0, 0) \
    ROW(strerror_r, QE_BYTES(1, 2) | QE_CHANGED | QE_WITHIN, 0, 0) \
    ROW(__xpg_strerror_r, QE_BYTES(1, 2) | QE_CHANGED | QE_WITHIN, 0, 0) \
    ROW(regexec, QE_TIMES(3, 2, 8) | QE_CHANGED | QE_WITHIN, 0, 0) \
    ROW(strtold, QE_CONSTANT(1, 8) | QE_CHANGED, 0, 0) \
    ROW(strtoimax, QE_CONSTANT(1, 8) | QE_CHANGED, 0, 0) \
    ROW(strtoumax, QE_CONSTANT(1, 8) | QE_CHANGED, 0, 0) \
    ROW(__isoc23_strtol, QE_CONSTANT(1, 8) | QE_CHANGED, 0, 0) \
    ROW(__isoc23_strtoul, QE_CONSTANT(1, 8) | QE_CHANGED, 0, 0) \
    ROW(__isoc23_strtoll, QE_CONSTANT(1, 8) | QE_CHANGED, 0, 0) \
    ROW(__isoc23_strtoull, QE_CONSTANT(1, 8) | QE_CHANGED, 0, 0) \
    ROW(__isoc23_strtoimax, QE_CONSTANT(1, 8) | QE_CHANGED, 0, 0) \
    ROW(__isoc23_strtoumax, QE_CONSTANT(1, 8) | QE_CHANGED, 0, 0) \
    ROW(mbrtowc, QE_CONSTANT(0, 4) | QE_CHANGED | QE_WITHIN, QE_CONSTANT(3, 8) | QE_CHANGED, 0) \
    ROW(mbrlen, QE_CONSTANT(2, 8) | QE_CHANGED | QE_WITHIN, 0, 0) \
    ROW(mbtowc, QE_CONSTANT(0, 4) | QE_CHANGED | QE_WITHIN, 0, 0) \
    ROW(wcrtomb, QE_CONSTANT(0, 16) | QE_CHANGED | QE_WITHIN, QE_CONSTANT(2, 8) | QE_CHANGED, 0) \
    ROW(wctomb, QE_CONSTANT(0, 16) | QE_CHANGED | QE_WITHIN, 0, 0) \
    ROW(asctime_r, QE_CONSTANT(1, 26) | QE_CHANGED | QE_WITHIN, 0, 0) \
    ROW(inet_ntop, QE_TIMES(2, 3, 1) | QE_CHANGED, 0, 0) \
    ROW(inet_pton, QE_CONSTANT(2, 16) | QE_CHANGED, 0, 0) \
    ROW(sem_init, QE_CONSTANT(0, 32) | QE_CHANGED, 0, 0) \
    ROW(sem_destroy, QE_CONSTANT(0, 32) | QE_CHANGED, 0, 0) \
    ROW(sem_trywait, QE_CONSTANT(0, 32) | QE_CHANGED, 0, 0) \
    ROW(sem_timedwait, QE_CONSTANT(0, 32) | QE_CHANGED, 0, 0) \
    ROW(sem_getvalue, QE_CONSTANT(1, 4) | QE_CHANGED, 0, 0) \
    ROW(pthread_spin_lock, QE_CONSTANT(0, 4) | QE_CHANGED, 0, 0) \
    ROW(pthread_spin_trylock, QE_CONSTANT(0, 4) | QE_CHANGED, 0, 0) \
    ROW(pthread_spin_unlock, QE_CONSTANT(0, 4) | QE_CHANGED, 0, 0) \
    ROW(pthread_rwlock_init, QE_CONSTANT(0, 56) | QE_CHANGED, 0, 0) \
    ROW(pthread_rwlock_destroy, QE_CONSTANT(0, 56) | QE_CHANGED, 0, 0) \
    ROW(pthread_rwlock_tryrdlock, QE_CONSTANT(0, 56) | QE_CHANGED, 0, 0) \
    ROW(pthread_rwlock_trywrlock, QE_CONSTANT(0, 56) | QE_CHANGED, 0, 0) \
    ROW(pthread_cond_init, QE_CONSTANT(0, 48) | QE_CHANGED, 0, 0) \
    ROW(pthread_cond_destroy, QE_CONSTANT(0, 48) | QE_CHANGED, 0, 0) \
    ROW(pthread_cond_timedwait, QE_CONSTANT(0, 48) | QE_CHANGED, QE_CONSTANT(1, 40) | QE_CHANGED, 0) \
    ROW(pthread_setspecific, QE_LIBRARY, 0, 0) \
    ROW(pthread_join, QE_CONSTANT(1, 8) | QE_CHANGED | QE_WITHIN, 0, 0) \
    ROW(pthread_barrier_init, QE_CONSTANT(0, 32) | QE_CHANGED, 0, 0) \
    ROW(pthread_barrier_wait, QE_CONSTANT(0, 32) | QE_CHANGED, 0, 0) \
    ROW(pthread_barrier_destroy, QE_CONSTANT(0, 32) | QE_CHANGED, 0, 0) \
    ROW(clock_nanosleep, QE_CONSTANT(3, 16) | QE_CHANGED, 0, 0) \
    ROW(_ZNSt6thread4joinEv, QE_CONSTANT(0, 8) | QE_CHANGED | QE_WITHIN, 0, 0) \
    ROW(GOMP_parallel, QE_LIBRARY, 0, 0) \
    ROW(GOMP_barrier, QE_LIBRARY, 0, 0) \
    ROW(GOMP_critical_start, QE_LIBRARY, 0, 0) \
    ROW(GOMP_critical_end, QE_LIBRARY, 0, 0) \
    ROW(printf, QE_LIBRARY, QE_FORMAT(0), 0) \
    ROW(__printf_chk, QE_LIBRARY, QE_FORMAT(1), 0) \
    ROW(fprintf, QE_LIBRARY, QE_FORMAT(1), 0) \
    ROW(__fprintf_chk, QE_LIBRARY, QE_FORMAT(2), 0) \
    ROW(dprintf, QE_LIBRARY, QE_FORMAT(1), 0) \
    ROW(__dprintf_chk, QE_LIBRARY, QE_FORMAT(2), 0) \
    ROW(sprintf, QE_FORMATTED(0) | QE_CHANGED | QE_WITHIN, QE_FORMAT(1), 0) \
    ROW(__sprintf_chk, QE_FORMATTED(0) | QE_CHANGED | QE_WITHIN, QE_FORMAT(3), 0) \
    ROW(snprintf, QE_BYTES(0, 1) | QE_CHANGED | QE_WITHIN, QE_FORMAT(2), 0) \
    ROW(__snprintf_chk, QE_BYTES(0, 1) | QE_CHANGED | QE_WITHIN, QE_FORMAT(4), 0) \
    /* The program ends, or executes another one. */ \
    ROW(exit, QE_END, 0, 0) \
    ROW(_exit, QE_END, 0, 0) \
    ROW(_Exit, QE_END, 0, 0) \
    ROW(quick_exit, QE_END, 0, 0) \
    ROW(abort, QE_END, 0, 0) \
    ROW(__assert_fail, QE_END, 0, 0) \
    ROW(execl, QE_END, 0, 0) \
    ROW(execlp, QE_END, 0, 0) \
    ROW(execle, QE_END, 0, 0) \
    ROW(execv, QE_END, 0, 0) \
    ROW(execvp, QE_END, 0, 0) \
    ROW(execvpe, QE_END, 0, 0) \
    ROW(execve, QE_END, 0, 0) \
    ROW(execveat, QE_END, 0, 0) \
    ROW(fexecve, QE_END, 0, 0)

/* The first test before a call; see format/watch.h. */
enum quipu_callee_question {
    QUIPU_ASK_ARMED = 0,   /* is anything watched? */
    QUIPU_ASK_BEGINS = 1,  /* unknown: must its begin be reported? */
    QUIPU_ASK_LIBRARY = 2, /* may any region be in the library's memory? */
    QUIPU_ASK_ALWAYS = 3,  /* the call is always reported */
};

enum {
    QUIPU_STRING_SHORT = 1 << 20,     /* most strings are shorter */
    QUIPU_REACH_OF_STRING = 64 << 20, /* most bytes that a string or an appended part may reach */
    QUIPU_RESULT_MOST_BITS = 31,            /* of a result that is a number of bytes */
};

static inline enum quipu_extent quipu_extent_kind(uint32_t extent) {
    return (enum quipu_extent)(extent >> 4 & 15);
}

/* Numbers of arguments. */
static inline uint32_t quipu_extent_a(uint32_t extent) {
    return (extent >> 8 & 15) % 6;
}

static inline uint32_t quipu_extent_b(uint32_t extent) {
    return (extent >> 12 & 15) % 6;
}

static inline uint32_t quipu_extent_constant(uint32_t extent) {
    return extent >> 16 & 0xfff;
}

/* For QUIPU_EXTENT_RESULT. */
static inline uint32_t quipu_extent_added(uint32_t extent) {
    return extent >> 8 & 15;
}

static inline int quipu_extent_is_int(uint32_t extent) {
    return extent >> 12 & 1;
}

static inline int quipu_is_condition(uint32_t extent) {
    return quipu_extent_kind(extent) == QUIPU_EXTENT_MORE &&
           quipu_extent_constant(extent) == QUIPU_MORE_FORMAT;
}

/* Whether it describes a range that is written. */
static inline int quipu_is_range(uint32_t extent) {
    return quipu_extent_kind(extent) && quipu_extent_kind(extent) < QUIPU_EXTENT_BLOCK;
}

/* Whether all regions may be compared at the return of a call that also reports ranges. */
static inline int quipu_is_within(uint32_t extent) {
    int twice = quipu_extent_kind(extent) == QUIPU_EXTENT_CONSTANT && (extent >> 8 & 15) == 15;
    return extent & QUIPU_EXTENT_WITHIN && !twice;
}

/* The largest reach of a range whose length is unknown at the begin. 0: the length is known, or
 * unlimited. */
static inline uint64_t quipu_reach(uint32_t extent) {
    switch (quipu_extent_kind(extent)) {
    case QUIPU_EXTENT_RESULT:
        return ((uint64_t)quipu_extent_constant(extent) << QUIPU_RESULT_MOST_BITS) +
               quipu_extent_added(extent);
    case QUIPU_EXTENT_STRING:
    case QUIPU_EXTENT_APPEND:
        return QUIPU_REACH_OF_STRING;
    default:
        return 0;
    }
}

static inline enum quipu_callee_question quipu_question(const uint32_t extents[3]) {
    enum quipu_callee_question question = extents[0] ? QUIPU_ASK_LIBRARY : QUIPU_ASK_BEGINS;
    for (int i = 0; i < 3; i++) {
        enum quipu_extent kind = quipu_extent_kind(extents[i]);
        if (quipu_is_condition(extents[i]))
            continue;
        if (kind == QUIPU_EXTENT_MORE && quipu_extent_constant(extents[i]) != QUIPU_MORE_LIBRARY)
            return QUIPU_ASK_ALWAYS;
        if (kind == QUIPU_EXTENT_ANY)
            question = QUIPU_ASK_BEGINS;
        else if (quipu_is_range(extents[i]))
            question = QUIPU_ASK_ARMED;
    }
    return question;
}

/* Whether the ranges contain all that is written (except for the library's own memory if a range is
 * WITHIN), and have a limit before the call. Returns the number of ranges, or 0. */
static inline int quipu_is_bounded(const uint32_t extents[3]) {
    int count = 0;
    for (int i = 0; i < 3; i++) {
        enum quipu_extent kind = quipu_extent_kind(extents[i]);
        int known = kind == QUIPU_EXTENT_CONSTANT || kind == QUIPU_EXTENT_BYTES ||
                    kind == QUIPU_EXTENT_PRODUCT || kind == QUIPU_EXTENT_TIMES ||
                    quipu_reach(extents[i]) != 0;
        if (!extents[i] || quipu_is_condition(extents[i]))
            continue;
        if (!known || count != i)
            return 0;
        count++;
    }
    return count;
}

/* Functions that write no memory of the program except errno. The shim inserts nothing for them. */
#define QUIPU_CALLEES_OF_NOTHING(ROW) \
    ROW(strlen) ROW(strnlen) ROW(strcmp) ROW(strncmp) ROW(strcasecmp) ROW(strncasecmp) \
    ROW(strcoll) ROW(memcmp) ROW(bcmp) ROW(memchr) ROW(memrchr) ROW(rawmemchr) ROW(memmem) \
    ROW(strchr) ROW(strrchr) ROW(strchrnul) ROW(strstr) ROW(strcasestr) ROW(strspn) \
    ROW(strcspn) ROW(strpbrk) ROW(wcslen) ROW(wcscmp) ROW(wmemcmp) ROW(wmemchr) \
    ROW(abs) ROW(labs) ROW(llabs) ROW(div) ROW(ldiv) ROW(atoi) ROW(atol) ROW(atoll) ROW(atof) \
    ROW(isalpha) ROW(isdigit) ROW(isalnum) ROW(isspace) ROW(isupper) ROW(islower) ROW(ispunct) \
    ROW(isprint) ROW(isxdigit) ROW(iscntrl) ROW(isgraph) ROW(toupper) ROW(tolower) \
    ROW(iswalpha) ROW(iswdigit) ROW(iswalnum) ROW(iswspace) ROW(iswupper) ROW(iswlower) \
    ROW(iswpunct) ROW(iswprint) ROW(iswcntrl) ROW(towupper) ROW(towlower) ROW(wctype) \
    ROW(iswctype) ROW(mbsinit) ROW(btowc) ROW(wctob) ROW(wcwidth) ROW(__ctype_get_mb_cur_max) \
    ROW(__ctype_b_loc) ROW(__ctype_tolower_loc) ROW(__ctype_toupper_loc) ROW(__errno_location) \
    ROW(getpid) ROW(getppid) ROW(gettid) ROW(getuid) ROW(geteuid) ROW(getgid) ROW(getegid) \
    ROW(getpagesize) ROW(sysconf) ROW(vfork) ROW(sched_yield) ROW(pthread_self) ROW(pthread_equal) \
    ROW(pthread_getspecific) \
    ROW(quipu_runtime_watch) ROW(quipu_runtime_unwatch) \
    ROW(getenv) ROW(secure_getenv) ROW(clock) ROW(difftime) ROW(isatty) \
    ROW(sin) ROW(cos) ROW(tan) ROW(asin) ROW(acos) ROW(atan) ROW(atan2) ROW(sinh) ROW(cosh) \
    ROW(tanh) ROW(exp) ROW(exp2) ROW(expm1) ROW(log) ROW(log2) ROW(log10) ROW(log1p) ROW(pow) \
    ROW(sqrt) ROW(cbrt) ROW(hypot) ROW(fabs) ROW(floor) ROW(ceil) ROW(round) ROW(trunc) ROW(rint) \
    ROW(nearbyint) ROW(lround) ROW(llround) ROW(lrint) ROW(fmod) ROW(remainder) ROW(ldexp) \
    ROW(scalbn) ROW(copysign) ROW(fmin) ROW(fmax) ROW(fma) ROW(erf) ROW(erfc) ROW(tgamma) \
    ROW(sinf) ROW(cosf) ROW(tanf) ROW(atanf) ROW(atan2f) ROW(expf) ROW(exp2f) ROW(logf) \
    ROW(log2f) ROW(log10f) ROW(powf) ROW(sqrtf) ROW(cbrtf) ROW(hypotf) ROW(fabsf) ROW(floorf) \
    ROW(ceilf) ROW(roundf) ROW(truncf) ROW(fmodf) ROW(ldexpf) ROW(fminf) ROW(fmaxf) ROW(fmaf) \
    ROW(write) ROW(pwrite) ROW(send) ROW(sendto) ROW(lseek) ROW(lseek64) ROW(fsync) ROW(access) \
    ROW(unlink) ROW(mkdir) ROW(rmdir) ROW(chdir) ROW(kill) ROW(usleep) ROW(sleep) ROW(dup) \
    ROW(dup2) ROW(open) ROW(open64) ROW(openat) ROW(openat64) ROW(creat) ROW(close) \
    ROW(feof) ROW(ferror) ROW(feof_unlocked) ROW(ferror_unlocked) ROW(fileno) \
    ROW(fileno_unlocked) ROW(__dynamic_cast) ROW(socket) ROW(bind) ROW(listen) ROW(connect) ROW(shutdown) \
    ROW(setsockopt) ROW(writev) ROW(pwrite64) ROW(sendmsg) ROW(epoll_ctl) ROW(fdatasync) \
    ROW(rename) ROW(link) ROW(symlink) ROW(chmod) ROW(fchmod) ROW(ftruncate) ROW(ftruncate64) ROW(umask) \
    /* they do not return */ \
    ROW(longjmp) ROW(_longjmp) ROW(siglongjmp) ROW(__longjmp_chk) \
    ROW(pthread_exit) ROW(_Unwind_Resume) ROW(__cxa_throw) ROW(__cxa_rethrow) \
    ROW(__stack_chk_fail)
/* clang-format on */

#endif
