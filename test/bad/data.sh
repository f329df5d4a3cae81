#!/bin/bash
# Data and binaries that are truncated, foreign, gone or of another build: one error that names the
# file and the cause, exit status 1.
. "$(dirname "$0")/lib.bash"
source='#include <stdio.h>
int main(void) { for (int i = 0; i < EXTRA; i++) puts("x"); return 0; }'
make_program program -O2 -g -DEXTRA=3 <<<"$source"
./program >output || fail "the program failed"
data=$(echo quipu.data/*.quipu)
[[ -f $data ]] || fail "no data file"
readers=("report" "annotate" "info" "export --to=callgrind -o out" "merge -o merged.quipu")

# all_refuse TEXT FILE: every command that reads data refuses FILE.
all_refuse() {
    for reader in "${readers[@]}"; do
        # shellcheck disable=SC2086
        refuses "$1" "$2" -- quipu $reader "$2"
    done
    refuses "$1" "$2" -- quipu diff "$2" "$data"
    refuses "$1" "$2" -- quipu diff "$data" "$2"
}

readers[1]="annotate --data=missing.quipu"
for reader in report info "export --to=json" "merge -o merged.quipu"; do
    # shellcheck disable=SC2086
    refuses "missing.quipu" "o such file or directory" -- quipu $reader missing.quipu
done
unset 'readers[1]'

: >empty.quipu
all_refuse "" empty.quipu
head -c 100 "$data" >cut.quipu
all_refuse "" cut.quipu
head -c 5000 "$data" >half.quipu
all_refuse "" half.quipu
echo "just text" >text.quipu
all_refuse "" text.quipu
cp program foreign.quipu
ends 1 quipu report foreign.quipu
cp "$data" version.quipu
printf '\377' | dd of=version.quipu bs=1 seek=8 conv=notrunc status=none
all_refuse "version" version.quipu

# More files than the kernel maps for a process.  What checks addresses needs maps of its own.
most=$(cat /proc/sys/vm/max_map_count)
if [[ $most -le 70000 && ! -v ASAN_OPTIONS ]]; then
    cp "$data" one.quipu
    mapfile -t many < <(yes one.quipu | head -n "$most")
    quipu report "${many[@]}" >output 2>messages || fail "many files: $(head -c 300 messages)"
    quipu merge -o many.quipu "${many[@]}" 2>messages || fail "many files: $(head -c 300 messages)"
    ends 0 quipu report many.quipu
fi

# Nobody will write to the pipe.
mkfifo pipe.quipu
readers=("report" "annotate --data=pipe.quipu" "info" "export --to=json" "merge -o merged.quipu")
for reader in "${readers[@]}"; do
    # shellcheck disable=SC2086
    refuses "pipe.quipu" "no regular file" -- timeout 20 quipu $reader pipe.quipu
done
refuses "pipe.quipu" "no regular file" -- timeout 20 quipu diff pipe.quipu "$data"

mkdir none
refuses "none" -- quipu report none
refuses "nowhere" -- quipu report nowhere

cp program program.old
quipu cc -O2 -g -DEXTRA=4 program.c -o program || fail "cannot build again"
for reader in report "export --to=json"; do
    # shellcheck disable=SC2086
    refuses "program" "build" -- quipu $reader "$data"
done
cp /bin/true program
refuses "program" -- quipu report "$data"
gcc -O2 program.c -DEXTRA=3 -o program
refuses "program" -- quipu report "$data"
head -c 3000 program.old >program
refuses "program" -- quipu report "$data"
rm program
refuses "program" "o such file or directory" -- quipu report "$data"
cp program.old program
ends 0 quipu report "$data"
strip program
ends 0 quipu report "$data"
ends 0 quipu info /bin/true
grep -q "instrumented  nothing" output || fail "info of a plain binary: $(cat output messages)"
