#!/bin/bash
# Moments of a shared object in a recording, by its own counter: it is linked, or loaded later, also by a program
# that is not instrumented.  They are gone to, forwards and backwards, and have the same names there.
# timeout: 100
. "$(dirname "$0")/lib.bash"
needs gdb
quipu cc --quipu=moment -O1 -g -fPIC -shared "$here/parts/library.c" -o library.so || fail "cannot build 'library.so'"
quipu cc --quipu=moment -O1 -g "$here/parts/linked.c" -o linked "$PWD/library.so" || fail "cannot build 'linked'"
make_plain plain linked.c -O1 -g "$PWD/library.so"
make_plain loading loading.c -O1 -g -pthread
printf '#!/bin/bash\nexec gdb -nx -batch "$@" -iex "set pagination off" -x commands\n' >gdb-batch
chmod +x gdb-batch
for program in "./linked" "./plain" "./loading ./library.so"; do
    read -ra words <<<"$program"
    records 0 "${words[@]}"
    [[ $(wc -l <recorded.out) -eq 20 ]] || fail "'$program' printed: $(cat recorded.out)"
    : >commands
    : >wanted
    for line in 20 6 1 13; do
        read -r moment visits < <(sed -n "${line}p" recorded.out)
        printf 'monitor goto %s\nmaintenance flush register-cache\nmonitor when\nprint visits\n' "$moment" >>commands
        printf '%s %s\n' "${moment%%/*}" "$visits" >>wanted
    done
    read -r moment _ < <(sed -n 20p recorded.out)
    timeout 60 quipu replay --gdb=./gdb-batch --at="$moment" run.rec </dev/null >output 2>&1 || fail "gdb: $(tail -5 output)"
    sed -n 's,^\(visit+[^/ ]*\)/[^ ]*~.*quipu\.h:.*,\1,p; s,^\$[0-9]* = ,,p' output | paste -d ' ' - - >found
    cmp wanted found || fail "'$program': $(cat output)"
done
exit 0
