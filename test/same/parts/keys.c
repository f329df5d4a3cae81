// Static keys: branches that cost nothing until the program writes a jump over a no-operation,
// which is where a table says; and traps that a table describes, behind which a handler goes on.
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define NO_OPERATION ".byte 0x0f, 0x1f, 0x44, 0, 0"

struct key {
    int32_t code, target;
};
extern const struct key __start_keys[], __stop_keys[], __start_jumps[], __stop_jumps[];
extern const int32_t __start_traps[], __stop_traps[];

static unsigned char *place(const int32_t *offset) {
    return (unsigned char *)((uintptr_t)offset + (uintptr_t)(intptr_t)*offset);
}

/* A branch that costs nothing until it is turned on: the no-operation becomes a jump. */
#define IS_ON()                                                                                    \
    ({                                                                                             \
        __label__ on, behind;                                                                      \
        int found = 0;                                                                             \
        __asm__ goto("1: " NO_OPERATION "\n\t"                                                     \
                     ".pushsection keys, \"aw\"\n\t"                                               \
                     ".balign 4\n\t"                                                               \
                     ".long 1b - ., %l[on] - .\n\t"                                                \
                     ".popsection"                                                                 \
                     :                                                                             \
                     :                                                                             \
                     :                                                                             \
                     : on);                                                                        \
        goto behind;                                                                               \
    on:                                                                                            \
        found = 1;                                                                                 \
    behind:                                                                                        \
        found;                                                                                     \
    })

/* ... which is a jump until it is turned off. */
#define IS_OFF()                                                                                   \
    ({                                                                                             \
        __label__ off, behind;                                                                     \
        int found = 0;                                                                             \
        __asm__ goto("1: jmp %l[off]\n\t"                                                          \
                     ".pushsection jumps, \"aw\"\n\t"                                              \
                     ".balign 4\n\t"                                                               \
                     ".long 1b - .\n\t"                                                            \
                     ".long %l[off] - .\n\t"                                                       \
                     ".popsection"                                                                 \
                     :                                                                             \
                     :                                                                             \
                     :                                                                             \
                     : off);                                                                       \
        found = 10000;                                                                             \
        goto behind;                                                                               \
    off:                                                                                           \
        found = 1;                                                                                 \
    behind:                                                                                        \
        found;                                                                                     \
    })

__attribute__((noipa, noinline)) static int uses_jumps(int n) {
    int sum = IS_OFF();
    for (int i = 0; i < n; i++)
        sum += IS_OFF() + (i % 3 == 1 ? n : 0);
    return sum;
}

__attribute__((noinline)) static int uses_keys(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (IS_ON())
            sum += 100;
        sum++;
    }
    if (IS_ON())
        sum += 1000;
    return sum;
}

static void write_code(unsigned char *at, const unsigned char *bytes, size_t count) {
    unsigned char *page = (unsigned char *)((uintptr_t)at & ~4095ul);
    mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
    memcpy(at, bytes, count);
    mprotect(page, 8192, PROT_READ | PROT_EXEC);
}

static void turn_jumps(void) {
    for (const struct key *key = __start_jumps; key < __stop_jumps; key++) {
        unsigned char *code = place(&key->code);
        if (*code == 0xe9)
            write_code(code, (const unsigned char *)"\x0f\x1f\x44\0", 5);
        else if (*code == 0xeb)
            write_code(code, (const unsigned char *)"\x66\x90", 2);
        else
            printf("no jump\n");
    }
}

static void turn(int on) {
    static const unsigned char nop[5] = {0x0f, 0x1f, 0x44, 0, 0};
    for (const struct key *key = __start_keys; key < __stop_keys; key++) {
        unsigned char jump[5] = {0xe9}, *code = place(&key->code);
        int32_t distance = (int32_t)(place(&key->target) - (code + 5));
        memcpy(jump + 1, &distance, 4);
        if (memcmp(code, on ? nop : jump, 5) != 0)
            printf("no key's code\n");
        write_code(code, on ? jump : nop, 5);
    }
}

/* A trap that a table describes: the program goes on behind it. */
__attribute__((noinline)) static int warns(int n) {
    if (n > 2)
        __asm__ volatile("1: ud2\n"
                         ".pushsection traps, \"aw\"\n"
                         "2:\t.long 1b - .\n\t"
                         ".long 7\n\t"
                         ".org 2b + 8\n\t"
                         ".popsection");
    return n + 1;
}

static void handler(int signal, siginfo_t *info, void *context) {
    ucontext_t *at = context;
    greg_t *pc = &at->uc_mcontext.gregs[REG_RIP];
    (void)info;
    for (const int32_t *trap = __start_traps; trap < __stop_traps; trap += 2)
        if (*pc == (greg_t)(uintptr_t)place(trap)) {
            *pc += 2;
            return;
        }
    _exit(signal);
}

int main(int argc, char **argv) {
    (void)argv;
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    sigaction(SIGILL, &action, NULL);
    printf("%d %d\n", warns(1), argc == 1 ? warns(3) : 4);
    for (int i = 0; i < 3; i++) {
        printf("%d\n", uses_keys(4 + i));
        turn(1);
        printf("%d\n", uses_keys(4 + i));
        turn(0);
    }
    printf("%d %d\n", uses_jumps(1), uses_jumps(7));
    turn_jumps();
    printf("%d %d\n", uses_jumps(1), uses_jumps(8));
    return 0;
}
