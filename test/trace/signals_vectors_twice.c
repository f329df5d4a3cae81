// Two signals are pending where vectors are stored into a record: behind the first handler the
// second one comes in at the same instruction, and that record is not the last one any more.
// flags: -pthread -mavx2
// requires: avx2
// variants: -O2
// counts
#include <immintrin.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum {
    SIGNALS = 150, /* of each kind */
    ROUNDS = 20,   /* of a handler */
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
    if (number == SIGUSR2 && write(answers[1], "", 1) != 1)
        _exit(2);
}

static void *send(void *to) {
    char answer;
    for (int sent = 0; sent < SIGNALS; sent++) {
        pthread_kill(*(pthread_t *)to, SIGUSR1);
        pthread_kill(*(pthread_t *)to, SIGUSR2);
        if (read(answers[0], &answer, 1) != 1)
            _exit(3);
    }
    return NULL;
}

int main(void) {
    pthread_t self = pthread_self(), sender;
    struct sigaction action = {.sa_handler = handle};
    long wrong = 0;
    for (int i = 0; i < 64; i++)
        table[i] = i * 5 + 1;
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    if (pipe(answers) != 0)
        return 1;
    pthread_create(&sender, NULL, send, &self);
    for (int i = 0; i < MAIN_ROUNDS; i++)
        wrong += gather(i & 31) != table[i & 31] + table[(i & 31) + 30];
    pthread_join(sender, NULL);
    printf("%ld\n", wrong);
    return 0;
}
