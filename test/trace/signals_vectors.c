// Signals arrive while vectors are stored into a record, and handlers fill the buffer.
// flags: -pthread -mavx2
// requires: avx2
// variants: -O2; clang -O2
// counts
#include <immintrin.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum {
    SIGNALS = 10,
    ROUNDS = 1500, /* of a handler: a third of a buffer */
    MAIN_ROUNDS = 20000
};

static int table[64], answers[2];
static volatile long sum;

__attribute__((noinline)) static int gather(int i) {
    __m256i places = _mm256_setr_epi32(i, i + 1, i + 5, i + 9, i + 12, i + 13, i + 20, i + 30);
    __m256i mask = _mm256_setr_epi32(-1, i - 3, -1, -1, i, -1, 0, -1);
    __m256i got = _mm256_mask_i32gather_epi32(_mm256_setzero_si256(), table, places, mask, 4);
    return _mm256_extract_epi32(got, 0) + _mm256_extract_epi32(got, 7);
}

static void handle(int number) {
    for (int i = 0; i < ROUNDS; i++)
        sum += gather(i & 31) + number;
    if (write(answers[1], "", 1) != 1)
        _exit(2);
}

static void *send(void *to) {
    char answer;
    for (int sent = 0; sent < SIGNALS; sent++) {
        pthread_kill(*(pthread_t *)to, SIGUSR1);
        if (read(answers[0], &answer, 1) != 1)
            _exit(3);
        usleep(20);
    }
    return NULL;
}

int main(void) {
    pthread_t self = pthread_self(), sender;
    long wrong = 0;
    for (int i = 0; i < 64; i++)
        table[i] = i * 5 + 1;
    signal(SIGUSR1, handle);
    if (pipe(answers) != 0)
        return 1;
    pthread_create(&sender, NULL, send, &self);
    for (int i = 0; i < MAIN_ROUNDS; i++)
        wrong += gather(i & 31) != table[i & 31] + table[(i & 31) + 30];
    pthread_join(sender, NULL);
    printf("%ld\n", wrong);
    return 0;
}
