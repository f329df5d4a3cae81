#!/bin/bash
# One build is one, by whatever paths processes ran it: its counts are added up, and it is read once.
# It is enough that the binary is still at one of them.
. "$(dirname "$0")/lib.bash"
mkdir -p library a/b c
cat >library/twice.c <<'EOT2'
int twice(int number) { return 2 * number; }
EOT2
cat >program.c <<'EOT2'
int twice(int);
int main(int count, char **words) { (void)words; return twice(count) == 0; }
EOT2
quipu cc -O1 -g -shared -fPIC library/twice.c -o library/libtwice.so || fail "cannot build"
quipu cc -O1 -g program.c library/libtwice.so -o program || fail "cannot build"
cp program c/copy
for way in library a/../library a/b/../../library c/../library; do
    LD_LIBRARY_PATH=$PWD/$way ./program || fail "it failed"
done
LD_LIBRARY_PATH=$PWD/library c/copy || fail "it failed"

# modules COUNT PROCESSES: so many modules, and each function once, called by each process.
modules() {
    quipu report --by=module --format=json >modules.json 2>messages || fail "$(cat messages)"
    quipu report --format=json >functions.json || fail "no report"
    quipu info --format=json >info.json || fail "no info"
    python3 - "$@" <<'EOT2' || fail "$(cat modules.json functions.json)"
import json, sys
modules = json.load(open('modules.json'))['modules']
functions = json.load(open('functions.json'))['functions']
processes = json.load(open('info.json'))['processes']
assert len(modules) == int(sys.argv[1]), modules
assert sorted(f['name'] for f in functions) == ['main', 'twice'], functions
assert all(f['calls'] == int(sys.argv[2]) for f in functions), functions
assert len(processes) == int(sys.argv[2]), processes
assert sum(p['instructions'] for p in processes) == sum(m['instructions'] for m in modules)
EOT2
}
modules 2 5
rm program
modules 2 5
cp /bin/true program
modules 2 5
rm c/copy
quipu report >output 2>messages && fail "a binary is gone, and yet: $(cat output)"
grep -q "'$PWD/c/copy' cannot be read: No such file" messages || fail "$(cat messages)"

# Two libraries that are one build, in one process, have cells of their own.
cp library/libtwice.so library/libsame.so
cat >both.c <<'EOT2'
#include <dlfcn.h>
int main(void) {
    int (*one)(int) = (int (*)(int))dlsym(dlopen("library/libtwice.so", RTLD_NOW), "twice");
    int (*other)(int) = (int (*)(int))dlsym(dlopen("library/libsame.so", RTLD_NOW), "twice");
    return one == other || one(1) + other(1) + other(2) != 8;
}
EOT2
rm -r quipu.data
quipu cc -O1 both.c -o both && ./both || fail "it failed"
quipu info --format=json | python3 -c "
import json, sys
modules = json.load(sys.stdin)['processes'][0]['modules']
counts = [m['instructions'] for m in modules[1:]]
assert len(counts) == 2 and 2 * counts[0] == counts[1] > 0, modules" || fail "$(quipu info)"
quipu report --format=json | python3 -c "
import json, sys
twice = [f for f in json.load(sys.stdin)['functions'] if f['name'] == 'twice']
assert len(twice) == 1 and twice[0]['calls'] == 3, twice" || fail "$(quipu report)"
