/* hash.c: a hash table of words with chains: counts, looks up, removes. */
#include "kernel.h"

#include <stdio.h>
#include <string.h>

enum {
    BUCKETS = 4096,
    ENTRIES = 8192,
    LENGTH = 12
};

struct entry {
    struct entry *next;
    uint32_t hash, count;
    char word[LENGTH];
};

static struct entry entries[ENTRIES], *buckets[BUCKETS], *unused;

/* Fowler, Noll, Vo: FNV-1a. */
static uint32_t hash_word(const char *word) {
    uint32_t hash = 2166136261u;
    for (; *word; word++)
        hash = (hash ^ (unsigned char)*word) * 16777619u;
    return hash;
}

/* The place that points at the entry, or at the end of its chain. */
static struct entry **find(const char *word, uint32_t hash) {
    struct entry **place = &buckets[hash % BUCKETS];
    while (*place && ((*place)->hash != hash || strcmp((*place)->word, word) != 0))
        place = &(*place)->next;
    return place;
}

static void count_word(const char *word) {
    uint32_t hash = hash_word(word);
    struct entry **place = find(word, hash), *entry = *place;
    if (!entry) {
        entry = unused;
        if (!entry)
            return;
        unused = entry->next;
        *entry = (struct entry){.hash = hash};
        memcpy(entry->word, word, LENGTH);
        *place = entry;
    }
    entry->count++;
}

static uint32_t remove_word(const char *word) {
    struct entry **place = find(word, hash_word(word)), *entry = *place;
    if (!entry)
        return 0;
    *place = entry->next;
    entry->next = unused;
    unused = entry;
    return entry->count;
}

static void make_word(char *word, uint32_t number) {
    size_t length = 0;
    do {
        word[length++] = (char)('a' + number % 26);
        number /= 26;
    } while (number);
    memset(word + length, 0, LENGTH - length);
}

int main(int argc, char **argv) {
    uint64_t state = 7;
    uint32_t checksum = 0;
    char word[LENGTH];
    for (size_t i = 0; i < ENTRIES; i++) {
        entries[i].next = unused;
        unused = &entries[i];
    }
    for (unsigned round = kernel_rounds(argc, argv, 25000); round; round--) {
        for (int i = 0; i < 900; i++) {
            make_word(word, 1000 + (next_random(&state) & next_random(&state)) % 12000);
            count_word(word);
        }
        for (int i = 0; i < 100; i++) {
            make_word(word, 1000 + next_random(&state) % 12000);
            checksum = checksum * 31 + remove_word(word);
        }
    }
    printf("%u\n", checksum);
    return 0;
}
