#!/bin/bash
# 'quipu watch --pid' finds a shared object of the process by its path, by a symbolic link to it, by its
# name and by the name that programs are linked with.
. "$(dirname "$0")/lib.bash"
mkdir real links
printf 'int counted;\nvoid count(void) { counted++; }\n' >library.c
cat >main.c <<'EOT'
#include <stdio.h>
#include <unistd.h>
void count(void);
int main(void) {
    char c;
    puts("ready");
    fflush(stdout);
    while (read(0, &c, 1) == 1)
        count();
    return 0;
}
EOT
quipu cc --quipu=watch -g -shared -fPIC -Wl,-soname,libcount.so.1 library.c -o real/libcount.so.1.2.3 &&
    ln -s ../real/libcount.so.1.2.3 links/libcount.so.1 &&
    quipu cc --quipu=watch -g main.c links/libcount.so.1 -o program || fail "cannot build"
mkfifo input
for name in libcount.so libcount.so.1 libcount.so.1.2.3 real/libcount.so.1.2.3 links/libcount.so.1 \
    "$PWD/links/libcount.so.1"; do
    LD_LIBRARY_PATH=links ./program <input >said &
    program=$!
    exec 7>input
    until grep -q ready said 2>/dev/null; do sleep 0.01; done
    quipu watch --log=hits --pid=$program -e "$name:counted" 2>messages 7>&- &
    watcher=$!
    await_watcher $watcher $program "$name"
    printf abc >&7
    exec 7>&-
    wait $watcher || fail "$name: $(cat messages)"
    wait $program
    [[ $(grep -c "counted  [0-2] -> [1-3]" hits) == 3 ]] || fail "$name: $(cat hits messages)"
done
