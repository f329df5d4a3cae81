#!/bin/bash
# A replay that differs from its recording ends with status 1, and says where: the program gets random numbers
# from the processor in code without call frame information, where they are not recorded, and writes them, or decides by them.
# timeout: 100
. "$(dirname "$0")/lib.bash"
if ! grep -qw rdrand /proc/cpuinfo; then
    echo "skipped: this processor has no rdrand"
    exit 77
fi
cat >differs.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <immintrin.h>
int main(int argc, char **argv) {
    unsigned long long number = 0;
    char text[32];
    puts("before");
    fflush(stdout);
    while (!_rdrand64_step(&number) || !number)
        ;
    if (argv[1][0] == 'w') /* the same registers, other bytes */
        number = write(open_file(), text, snprintf(text, sizeof text, "%016llx\n", number));
    else if (argv[1][0] == 'r')
        close((int)(number | 1 << 30));
    puts("after");
    return 0;
}
END
sed -i '/^int main/i #include <fcntl.h>\nstatic int open_file(void) { return open("written", O_WRONLY | O_CREAT, 0600); }' differs.c
gcc -O1 -mrdrnd -fno-asynchronous-unwind-tables -o differs differs.c || fail "cannot build 'differs'"

# at CALL WORD: the replay differs at this system call.
at() {
    records 0 ./differs "$2"
    replays 1
    [[ $(<replayed.out) == before && $(grep -c . replayed.err) -eq 1 ]] ||
        fail "'$2': the replay does not end where it differs: $(head -3 replayed.err)"
    [[ $(<replayed.err) == "quipu: error: the run differs from the recording behind "*"'$1' with other"* ]] ||
        fail "'$2': it is not told where the replay differs: $(<replayed.err)"
}
at write writes
at close registers
repeats 0 ./differs nothing
