#!/bin/bash
# Reports, exports and merged data that are ended by a signal or an error leave nothing half written:
# the file is what it was before, or complete, and there is no other one. Special files are written
# themselves.
# timeout: 200
. "$(dirname "$0")/lib.bash"
cat >program.c <<'EOT'
#define F(n) int f##n(int a) { return a > n ? a * 3 : n; }
#define TEN(n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7) F(n##8) F(n##9)
#define HUNDRED(n) TEN(n##0) TEN(n##1) TEN(n##2) TEN(n##3) TEN(n##4) TEN(n##5) TEN(n##6) TEN(n##7) TEN(n##8) TEN(n##9)
#define THOUSAND(n) HUNDRED(n##0) HUNDRED(n##1) HUNDRED(n##2) HUNDRED(n##3) HUNDRED(n##4) HUNDRED(n##5) HUNDRED(n##6) HUNDRED(n##7)
THOUSAND(1) THOUSAND(2) THOUSAND(3) THOUSAND(4)
int main(void) { return f1000(2000) != 6000; }
EOT
quipu cc --quipu=count -O1 -g program.c -o program && ./program || fail "cannot build"
mkdir out
for words in "export --to=json" "export --to=html" "report --by=instruction --format=json" "annotate --asm"; do
    # shellcheck disable=SC2086
    quipu $words -o whole || fail "$words"
    for delay in 0.02 0.05 0.1 0.15 0.2 0.3 0.4 0.6; do
        for signal in INT TERM; do
            echo before >out/file
            # shellcheck disable=SC2086
            setsid env --default-signal=INT quipu $words -o out/file 2>messages &
            sleep $delay
            kill -$signal $! 2>/dev/null
            wait $!
            [[ $(ls out) == file ]] || fail "$words, SIG$signal after $delay s: $(ls out)"
            [[ $(head -c 7 out/file) == before ]] || cmp -s whole out/file ||
                fail "$words, SIG$signal after $delay s: half a file"
        done
    done
    echo before >out/file
    # shellcheck disable=SC2086
    (ulimit -f 64 && trap '' XFSZ && quipu $words -o out/file) 2>messages && fail "$words: a full disk is no error"
    sed -i '/^quipu: reading /d' messages # a slow machine shows progress
    said "cannot write 'out/file'"
    [[ $(ls out) == file && $(cat out/file) == before ]] || fail "$words, full disk: $(ls out)"
done
# A signal that comes when the file has just been made.
cat >interrupt.c <<'EOT'
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
int fchmod(int file, mode_t mode) {
    raise(SIGINT);
    return syscall(SYS_fchmod, file, mode);
}
EOT
gcc -shared -fPIC interrupt.c -o interrupt.so || fail "cannot build the library"
for words in "report -o out/file" "merge -o out/file quipu.data"; do
    # shellcheck disable=SC2086
    env --default-signal=INT LD_PRELOAD="$PWD/interrupt.so" \
        ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0" quipu $words 2>messages
    [[ $? == 130 && $(ls out) == file ]] || fail "$words: SIGINT behind mkstemp: $(ls out)"
done
# Rights and links stay, and what is no regular file is written itself.
quipu report -o whole
chmod 640 out/file
ln -s file out/link
quipu report -o out/file && quipu report -o out/link || fail "no report"
[[ $(stat -c %a out/file) == 640 && -L out/link ]] || fail "$(ls -l out)"
cmp -s whole out/file || fail "another report"
quipu report -o /dev/null && quipu report -o /dev/stdout >copy || fail "special files"
cmp -s whole copy || fail "another report by /dev/stdout"
mkfifo pipe
cat pipe >copy &
quipu report -o pipe || fail "pipe"
wait
[[ -p pipe ]] && cmp -s whole copy || fail "another report by a pipe"
