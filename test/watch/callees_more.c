// More functions of the C library that are known by name, and those of them that write nothing.
// watch: text = text:64
// watch: number = number:8
// watch: matches = matches:32
// watch: wide = wide:4
// watch: state = state:8
// watch: semaphore = semaphore:32
// watch: lock = lock:56
// watch: condition = condition:48
// watch: spin = spin:4
// watch: address = address:16
// address: rest = rest:8
// flags: -pthread
// variants: -O2; -O0; -O2 -fno-pie -no-pie; clang -O2; -O2 -std=c2x
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <pthread.h>
#include <regex.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

char text[64];
long number;
regmatch_t matches[4];
wchar_t wide;
mbstate_t state;
sem_t semaphore;
pthread_rwlock_t lock;
pthread_cond_t condition;
pthread_spinlock_t spin;
unsigned char address[16];
char *rest;

__attribute__((noinline)) static void expressions(void) {
    regex_t expression, silent;
    if (regcomp(&expression, "a(b*)(c?)", REG_EXTENDED) || regcomp(&silent, "b", REG_NOSUB))
        exit(1);
    number = regexec(&expression, "xxabbby", 3, matches, 0);
    number = regexec(&expression, "nothing", 4, matches, 0);
    number = regexec(&expression, "ab", 0, NULL, 0);
    number = regexec(&expression, "ac", 1, matches + 2, 0);
    number = regexec(&silent, "abc", 4, matches, 0);
    regfree(&expression);
    regfree(&silent);
}

__attribute__((noinline)) static void numbers(void) {
    number = (long)strtold("12.5x", &rest);
    number = strtoimax("-17 and", &rest, 10);
    number = (long)strtoumax("0x1fg", &rest, 0);
    number = strtol("77", &rest, 8);
    number = (long)strtoull("88", NULL, 10);
}

__attribute__((noinline)) static void characters(void) {
    setlocale(LC_ALL, "C.UTF-8");
    number = (long)mbrtowc(&wide, "\xc3", 1, &state); // the first half
    number = mbsinit(&state);
    number = (long)mbrtowc(&wide, "\xa4", 1, &state);
    number = (long)mbrtowc(NULL, "x", 1, &state);
    number = (long)mbrlen("\xc3", 1, &state);
    number = (long)mbrlen("\xff", 1, &state);
    memset(&state, 0, sizeof state);
    number = mbtowc(&wide, "\xe2\x82\xac", 3);
    number = (long)wcrtomb(text + 5, 0x20ac, &state);
    number = (long)wcrtomb(text + 5, 0x7fffffff, &state);
    number = wctomb(text + 9, L'w');
}

__attribute__((noinline)) static void words(void) {
    strerror_r(EEXIST, text, sizeof text);
    strerror_r(99999, text + 30, 20);
    number = (long)strlen(strerror(ENOENT));
    asctime_r(&(struct tm){.tm_year = 123, .tm_mday = 7, .tm_mon = 4}, text + 20);
    number = inet_pton(AF_INET, "1.2.3.4", address);
    number = inet_pton(AF_INET6, "fe80::77", address);
    number = inet_pton(AF_INET, "none", address);
    inet_ntop(AF_INET6, address, text + 3, 46);
    number = inet_ntop(AF_INET, address, text, 3) == NULL;
}

__attribute__((noinline)) static void locks(void) {
    struct timespec past = {0};
    sem_init(&semaphore, 0, 1);
    sem_getvalue(&semaphore, (int *)&number);
    number = sem_trywait(&semaphore);
    number = sem_trywait(&semaphore);
    number = sem_timedwait(&semaphore, &past);
    sem_destroy(&semaphore);
    pthread_rwlock_init(&lock, NULL);
    number = pthread_rwlock_tryrdlock(&lock);
    number = pthread_rwlock_trywrlock(&lock);
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_destroy(&lock);
    pthread_spin_init(&spin, 0);
    pthread_spin_lock(&spin);
    number = pthread_spin_trylock(&spin);
    pthread_spin_unlock(&spin);
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_init(&condition, NULL);
    pthread_mutex_lock(&mutex);
    number = pthread_cond_timedwait(&condition, &mutex, &past);
    pthread_cond_destroy(&condition);
    pthread_key_t key;
    pthread_key_create(&key, NULL);
    pthread_setspecific(key, text);
    number = pthread_getspecific(key) == text;
}

__attribute__((noinline)) static void nothing(void) {
    struct iovec parts[] = {{text, 3}, {text + 20, 5}};
    int pipes[2];
    if (pipe(pipes))
        exit(2);
    number = writev(pipes[1], parts, 2);
    number = rename("/nowhere/at", "/nowhere/all") == 0;
    number = pthread_spin_trylock(&spin);
}

int main(void) {
    expressions();
    numbers();
    characters();
    words();
    locks();
    nothing();
    printf("%ld %d %d %s\n", number, matches[2].rm_so, (int)wide, text);
    return 0;
}
