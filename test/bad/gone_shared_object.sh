#!/bin/bash
# A shared object that was removed behind the run takes only its own counts with it: those of the
# program and of other shared objects are used, with one warning. Data of a program that is gone, or
# of a shared object that was built anew, is old as a whole.
. "$(dirname "$0")/lib.bash"
make_program program -O1 -g --quipu=count,calls,event -ldl <<'EOT'
#include <dlfcn.h>
static int call(const char *path) {
    void *handle = dlopen(path, RTLD_NOW);
    int (*work)(void) = (int (*)(void))dlsym(handle, "work");
    return work();
}
int main(void) { return call("./gone.so") + call("./kept.so") - 3; }
EOT
for name in gone:1 kept:2; do
    quipu cc -O1 -shared -fPIC --quipu=count,calls,event -o "${name%:*}.so" -x c - <<<"int work(void) { return ${name#*:}; }" ||
        fail "cannot build"
done
./program || fail "the program failed"
quipu report --format=csv --by=function quipu.data >whole || fail "no report"
quipu report --by=callsite --format=csv quipu.data >whole_calls || fail "no calls"
[[ $(grep -c '^work,' whole) -eq 2 ]] || fail "$(cat whole)"
mv gone.so elsewhere.so

# The rest counts as before, in every reader, and the warning comes once.
ends 0 quipu report --format=csv --by=function quipu.data
said "'quipu.data': in 1 of 1 data files, the counts of shared objects are left out, as their files are gone; the first: \
'$(echo quipu.data/*.quipu)': its binary '$PWD/gone.so' cannot be read: No such file or directory"
[[ $(grep -c '^work,' output) -eq 1 ]] || fail "report: $(cat output)"
[[ $(grep '^main,\|^call,' output | cut -d, -f1-3) == $(grep '^main,\|^call,' whole | cut -d, -f1-3) ]] ||
    fail "report: $(cat whole output)"
for command in "report --by=process" "report --by=thread" "annotate --data=quipu.data" "stat --data" "export --to=json" "export --to=callgrind" "report --by=callsite" info; do
    # shellcheck disable=SC2086
    ends 0 quipu $command
    [[ ! -s messages ]] || fail "'$command' says it again: $(cat messages)"
done
grep -q "gone.so: the file is gone; its counts are left out$" output || fail "info: $(cat output)"
ends 0 quipu info --format=json
[[ $(grep -o '"gone": [a-z]*' output | sort | uniq -c | tr -s ' \n' ' ') == ' 2 "gone": false 1 "gone": true ' ]] || fail "info: $(cat output)"
ends 0 quipu report --by=callsite --format=csv quipu.data
[[ $(grep -c 'kept.so' output) -eq $(grep -c 'kept.so' whole_calls) ]] || fail "calls: $(cat output)"

# Named itself, the file is used, and the warning comes each time.
for _ in 1 2; do
    ends 0 quipu report quipu.data/*.quipu
    said "the counts of a shared object are left out: its binary '$PWD/gone.so'"
done
ends 0 quipu merge -o sum.quipu quipu.data
ends 0 quipu report --by=callsite --format=csv quipu.data
cut -d, -f1-5,8- output | sort >directory_calls
ends 0 quipu report --by=callsite --format=csv sum.quipu
cut -d, -f1-5,8- output | sort >merged_calls
cmp -s directory_calls merged_calls ||
    fail "merge lost calls: $(diff directory_calls merged_calls)"
mv elsewhere.so gone.so
ends 0 quipu report --format=csv --by=function sum.quipu
cmp -s output whole || fail "merge lost the counts of gone.so: $(diff whole output)"

# Built anew, or the program gone: the data is old.
quipu cc -O1 -shared -fPIC --quipu=count -o gone.so -x c - <<<"int work(void) { return 1 + (work != 0); }" || fail "cannot build"
refuses "another build of '$PWD/gone.so'" -- quipu report quipu.data
rm gone.so
mv program elsewhere
refuses "its binary '$PWD/program' cannot be read" -- quipu report quipu.data
