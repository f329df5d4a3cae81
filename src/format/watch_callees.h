/* watch_callees.h: functions of the C library, and what of the program's memory they write.
 *
 * A row's place is its number in calls of quipu_watch_call_begin (format/watch.h, section 2);
 * row 0 is what is not known.  Up to three ranges, each of which begins where an argument points.
 *
 * What is not here is compared: all regions, at the return.  So a row is worth while for what is
 * called often, and may only say what is so on each way through the function, in each C library.
 *
 * Functions that write the library's own memory, too, which a later call may find there (stdio's
 * buffers, the heap), say so.  Behind these, all is compared where a region may lie in such memory:
 * not in variables of an instrumented module, unless a stream was given one as its buffer.
 *
 * A row with a FORMAT holds where the format has no %n: where the shim has seen that
 * (pass/watch_formats.c), or else where the call finds it so.  Else the callee is not known.
 *
 * What returns twice must be here, as all is compared behind an unknown callee: at a longjmp,
 * frames that were left are still watched there.
 *
 * Rows of what allocates and frees say so beside.  Behind these nothing is compared of the blocks
 * that are asked for by the line that allocates them: of the heap they write what is free.
 *
 * Stands alone: the shim reads it, and the runtime. */
#ifndef QUIPU_FORMAT_WATCH_CALLEES_H
#define QUIPU_FORMAT_WATCH_CALLEES_H

#include <stdint.h>

/* How long a range is.  A and B are numbers of arguments, 0 to 5. */
enum quipu_extent {
    QUIPU_EXTENT_NONE = 0,
    QUIPU_EXTENT_CONSTANT = 1, /* C bytes; A is 15: of a function that may return twice */
    QUIPU_EXTENT_BYTES = 2,    /* argument A */
    QUIPU_EXTENT_PRODUCT = 3,  /* A times B */
    QUIPU_EXTENT_RESULT = 4,   /* C times what is returned, where that is above 0, and A bytes more,
                                  if not below; B: it is an int */
    QUIPU_EXTENT_STRING = 5,   /* up to its NUL, at the return */
    QUIPU_EXTENT_APPEND = 6,   /* from its NUL, before, up to its NUL, at the return */
    QUIPU_EXTENT_POINTED = 7,  /* what 4 bytes at argument A say before */
    QUIPU_EXTENT_VECTOR = 8,   /* those of A struct iovec at the pointer */
    QUIPU_EXTENT_TIMES = 9,    /* argument A times C */
    QUIPU_EXTENT_ANY = 14, /* anything: all regions are compared; but no argument is on the stack,
                              so a jump there can be made a call */
    /* From here on it is not what is written, but what becomes of blocks of the heap. */
    QUIPU_EXTENT_BLOCK = 10,        /* of argument A bytes, times B if that is not 15, is made: what
                                       is returned points to it; C: the pointer does, at 0 */
    QUIPU_EXTENT_BLOCK_STRING = 11, /* is made, and as long as the string that is in it */
    QUIPU_EXTENT_FREED = 12,        /* that the pointer points to is freed */
    QUIPU_EXTENT_MOVED = 13,        /* likewise, but becomes the one that is made, or stays */
    QUIPU_EXTENT_MORE = 15,         /* what else is known: C is of enum quipu_callee_more */
};

enum quipu_callee_more {
    QUIPU_MORE_LIBRARY = 0, /* it writes the library's own memory, and nothing else */
    QUIPU_MORE_STREAM = 1,  /* argument A bytes, if that is not 15, else BUFSIZ, are memory that a
                               stream writes from then on, where the pointer is not NULL */
    QUIPU_MORE_PAGES = 2,   /* of argument A bytes, which may not be readable from then on */
    QUIPU_MORE_STACK = 3,   /* argument A bytes are a stack from then on; if A is 15, those that a
                                stack_t at the pointer says */
    QUIPU_MORE_FORMAT = 4,  /* the row holds only where the pointer leads to a format that has no
                               %n; A: of arguments in a va_list; last of the row */
};

/* Added to a row's number: whether it holds is to be found at the call. */
#define QUIPU_CALLEE_LOOKS 0x8000u

/* What a conversion of printf's has between '%' and the last character but sizes; sizes; and last
 * characters of those that write nothing.  What is not understood is taken to write. */
#define QUIPU_CONVERSION_FLAGS "0123456789 #+-'I.*$"
#define QUIPU_CONVERSION_SIZES "hlLqjztZ"
#define QUIPU_CONVERSION_ENDS  "diouxXbBeEfFgGaAcCsSpm"

enum {
    QUIPU_EXTENT_CHANGED = 1 << 30, /* told only where it changed: less may be written */
    QUIPU_EXTENT_ZERO = 1 << 29,    /* written only where 0, an int, is returned */
    QUIPU_EXTENT_TRUE = 1 << 28,    /* written only where a pointer that is not NULL is returned */
    QUIPU_EXTENT_WITHIN = 1 << 3,   /* somewhere in the range, and the library's own memory: all is
                                       compared, if anything is watched there; with CHANGED, the
                                       range is told besides, as not each comparison is made */
};

/* A range: argument POINTER points to it. */
#define QUIPU_EXTENT(pointer, kind, a, b, c)                                                       \
    ((pointer) | QUIPU_EXTENT_##kind << 4 | (a) << 8 | (b) << 12 | (c) << 16)

#define QE_CONSTANT(p, c)   QUIPU_EXTENT(p, CONSTANT, 0, 0, c)
#define QE_BYTES(p, a)      QUIPU_EXTENT(p, BYTES, a, 0, 0)
#define QE_PRODUCT(p, a, b) QUIPU_EXTENT(p, PRODUCT, a, b, 0)
#define QE_RESULT(p, c)     QUIPU_EXTENT(p, RESULT, 0, 0, c)
#define QE_FORMATTED(p)     QUIPU_EXTENT(p, RESULT, 1, 1, 1)
#define QE_INT(p, c)        QUIPU_EXTENT(p, RESULT, 0, 1, c)
#define QE_STRING(p)        QUIPU_EXTENT(p, STRING, 0, 0, 0)
#define QE_APPEND(p)        QUIPU_EXTENT(p, APPEND, 0, 0, 0)
#define QE_POINTED(p, a)    QUIPU_EXTENT(p, POINTED, a, 0, 0)
#define QE_VECTOR(p, a)     QUIPU_EXTENT(p, VECTOR, a, 0, 0)
#define QE_TIMES(p, a, c)   QUIPU_EXTENT(p, TIMES, a, 0, c)
#define QE_BLOCK(a)         QUIPU_EXTENT(0, BLOCK, a, 15, 0)
#define QE_BLOCKS(a, b)     QUIPU_EXTENT(0, BLOCK, a, b, 0)
#define QE_BLOCK_AT(p, a)   QUIPU_EXTENT(p, BLOCK, a, 15, 1)
#define QE_BLOCK_STRING     QUIPU_EXTENT(0, BLOCK_STRING, 0, 0, 0)
#define QE_FREED(p)         QUIPU_EXTENT(p, FREED, 0, 0, 0)
#define QE_MOVED(p)         QUIPU_EXTENT(p, MOVED, 0, 0, 0)
#define QE_STAT(p)          (QE_CONSTANT(p, 144) | QUIPU_EXTENT_ZERO)
#define QE_TIME(p)          (QE_CONSTANT(p, 16) | QUIPU_EXTENT_ZERO)
#define QE_JUMP             (QUIPU_EXTENT(0, CONSTANT, 15, 0, 200) | QE_WITHIN)
#define QE_CONTEXT          (QUIPU_EXTENT(0, CONSTANT, 15, 0, 968) | QE_WITHIN)
#define QE_ANY              QUIPU_EXTENT(0, ANY, 0, 0, 0)
#define QE_LIBRARY          QUIPU_EXTENT(0, MORE, 0, 0, QUIPU_MORE_LIBRARY)
#define QE_STREAM(p, a)     QUIPU_EXTENT(p, MORE, a, 0, QUIPU_MORE_STREAM)
#define QE_PAGES(p, a)      QUIPU_EXTENT(p, MORE, a, 0, QUIPU_MORE_PAGES)
#define QE_STACK(p, a)      QUIPU_EXTENT(p, MORE, a, 0, QUIPU_MORE_STACK)
#define QE_FORMAT(p)        QUIPU_EXTENT(p, MORE, 0, 0, QUIPU_MORE_FORMAT)
#define QE_FORMAT_LIST(p)   QUIPU_EXTENT(p, MORE, 1, 0, QUIPU_MORE_FORMAT)
#define QE_WITHIN           QUIPU_EXTENT_WITHIN
#define QE_CHANGED          QUIPU_EXTENT_CHANGED
#define QE_ZERO             QUIPU_EXTENT_ZERO
#define QE_TRUE             QUIPU_EXTENT_TRUE

/* ROW(name, range, range, range); NULL pointers are no ranges. */
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
    ROW(strcpy, QE_STRING(0), 0, 0) \
    ROW(stpcpy, QE_STRING(0), 0, 0) \
    ROW(__strcpy_chk, QE_STRING(0), 0, 0) \
    ROW(__stpcpy_chk, QE_STRING(0), 0, 0) \
    ROW(strncpy, QE_BYTES(0, 2), 0, 0) \
    ROW(stpncpy, QE_BYTES(0, 2), 0, 0) \
    ROW(__strncpy_chk, QE_BYTES(0, 2), 0, 0) \
    ROW(strcat, QE_APPEND(0), 0, 0) \
    ROW(strncat, QE_APPEND(0), 0, 0) \
    ROW(__strcat_chk, QE_APPEND(0), 0, 0) \
    ROW(__strncat_chk, QE_APPEND(0), 0, 0) \
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
    ROW(select, QE_CONSTANT(1, 128) | QE_CHANGED, QE_CONSTANT(2, 128) | QE_CHANGED, \
        QE_CONSTANT(4, 16) | QE_CHANGED) \
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
    ROW(getcwd, QE_STRING(0) | QE_TRUE, 0, 0) \
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
    ROW(strsep, QE_CONSTANT(0, 8) | QE_CHANGED, 0, 0) \
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
    ROW(mremap, QE_ANY, QE_PAGES(0, 1), QE_PAGES(4, 2)) \
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
    ROW(__snprintf_chk, QE_BYTES(0, 1) | QE_CHANGED | QE_WITHIN, QE_FORMAT(4), 0)

/* What is asked in front of a call, before anything else is done; format/watch.h. */
enum quipu_callee_question {
    QUIPU_ASK_ARMED = 0,   /* is anything watched? */
    QUIPU_ASK_BEGINS = 1,  /* not known: must the runtime know where it began? */
    QUIPU_ASK_LIBRARY = 2, /* is anything watched that may be the library's? */
    QUIPU_ASK_ALWAYS = 3,  /* the runtime is told in any case */
};

enum {
    QUIPU_STRING_MOST = 1 << 20,            /* bytes of a string that are looked at */
    QUIPU_REACH_OF_STRING = (2 << 20) + 1,  /* how far what is appended may go */
    QUIPU_RESULT_MOST_BITS = 31,            /* of what is returned as a number of bytes */
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

/* Of QUIPU_EXTENT_RESULT. */
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

/* Whether it says how far a write goes. */
static inline int quipu_is_range(uint32_t extent) {
    return quipu_extent_kind(extent) && quipu_extent_kind(extent) < QUIPU_EXTENT_BLOCK;
}

/* Whether all may be compared at the return of a call that tells of ranges, too. */
static inline int quipu_is_within(uint32_t extent) {
    int twice = quipu_extent_kind(extent) == QUIPU_EXTENT_CONSTANT && (extent >> 8 & 15) == 15;
    return extent & QUIPU_EXTENT_WITHIN && !twice;
}

/* How far the range may go at most, where that is not known at the begin.  0: it is, or it is
 * anywhere. */
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

/* Whether all that is written, but for the library's own memory where a range is WITHIN, is told by
 * ranges, and in front how far each can go. */
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

/* These write nothing that is the program's but errno: the shim inserts nothing. */
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
    ROW(rename) ROW(link) ROW(symlink) ROW(chmod) ROW(fchmod) ROW(ftruncate) ROW(ftruncate64) ROW(umask) ROW(_exit) ROW(abort) \
    /* they do not come back */ \
    ROW(longjmp) ROW(_longjmp) ROW(siglongjmp) ROW(__longjmp_chk) ROW(exit) ROW(quick_exit) \
    ROW(pthread_exit) ROW(_Unwind_Resume) ROW(__cxa_throw) ROW(__cxa_rethrow) \
    ROW(__stack_chk_fail) ROW(__assert_fail)
/* clang-format on */

#endif
