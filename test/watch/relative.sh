#!/bin/bash
# Shared objects that are loaded by a relative path: their names are known, and so is what writes there,
# wherever the watcher is and the program goes.
. "$(dirname "$0")/lib.bash"
ours=("$quipu" cc --quipu=watch -g -O1)
build() { "$@" || fail "cannot build: $*"; }
mkdir plugins
echo 'int many[4]; int boost(void) { return ++many[1]; }' >library.c
echo 'int late; void begin(void) { late = 5; }' >plugin.c
cat >program.c <<'EOT2'
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
extern int boost(void);
int main(int argc, char **argv) {
    boost();
    if (argc > 1) {
        void *plugin = chdir(argv[1]) == 0 ? dlopen("./plugin.so", RTLD_NOW) : NULL;
        void (*begin)(void) = plugin ? (void (*)(void))dlsym(plugin, "begin") : NULL;
        if (!begin)
            return 1;
        begin();
    }
    puts("ready");
    fflush(stdout);
    while (getchar() != EOF)
        boost();
    return 7;
}
EOT2
build "${ours[@]}" -shared -fPIC library.c -o libmany.so
build "${ours[@]}" -shared -fPIC plugin.c -o plugins/plugin.so
build "${ours[@]}" program.c ./libmany.so -o by_path
build "${ours[@]}" program.c -L. -lmany -Wl,-rpath,. -o by_rpath
for program in by_path by_rpath; do
    for name in many libmany.so:many; do
        watches 7 -e "$name" -- ./$program </dev/null
        grep -qE "^ +1:  $name\[1\]  0 -> 1  \(int\)  boost  library\.c:1  " hits || fail "$program, $name: $(cat hits)"
    done
done
# it has gone elsewhere since
watches 7 -e plugins/plugin.so:late -- ./by_path plugins <<<x
grep -qE "late  0 -> 5  \(int\)  begin  plugin\.c:1  " hits || fail "behind chdir: $(cat hits)"
watches 1 --guard many --allow libmany.so --guard plugins/plugin.so:late -- ./by_rpath plugins </dev/null
[[ $(grep -c VIOLATION hits) -eq 1 ]] && grep -q 'late .*VIOLATION' hits || fail "--allow: $(cat hits messages)"

# it runs already, and we are elsewhere
for program in by_path by_rpath; do
    coproc "./$program"
    running=$COPROC_PID
    read -r <&"${COPROC[0]}"
    (cd / && exec quipu watch --log="$OLDPWD/hits" --limit=1 --pid "$running" -e many) 2>messages &
    watcher=$!
    await_watcher $watcher "$running" "$program"
    printf x >&"${COPROC[1]}"
    wait $watcher || fail "'$program' runs: $(cat messages)"
    grep -qE '^ +1:  many\[1\]  1 -> 2  \(int\)  boost  library\.c:1  ' hits || fail "'$program' runs: $(cat hits)"
    eval "exec ${COPROC[1]}>&-"
    wait "$running"
done

# One that ends while it is looked at has ended, and is not of another build.
cat >short.c <<'EOT2'
#include <unistd.h>
extern int boost(void);
int main(void) { boost(); usleep(8000); return 0; }
EOT2
build "${ours[@]}" short.c ./libmany.so -o short
for _ in {1..30}; do
    ./short &
    running=$!
    until quipu watch --pid $running --limit 1 -e many 2>messages || ! grep -q 'it does not tell' messages; do :; done
    wait $running
    grep -qE ': (it has ended|there is none|none of its code)|many\[1\]' messages || [[ ! -s messages ]] || fail "$(cat messages)"
done
leaves_nothing
