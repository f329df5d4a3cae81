#!/bin/bash
# Trees of processes: parts/processes.c, shells with pipelines, make and a compiler.
# timeout: 300
. "$(dirname "$0")/lib.bash"
ulimit -c 0
make_plain processes processes.c -O2 -pthread
repeats 8 ./processes 2>/dev/null
[[ $(grep -c 'orphan' replayed.out) -eq 2 ]] || fail "what outlives its parent is not in the replay"

repeats 5 bash -c 'for i in 1 2 3; do echo "$i $RANDOM" | sed "s/1/one/" | cat; done
echo "$(date +%N; ls /proc/self)" >&2; sleep 0.05 & wait $!; (echo sub; exit 3) || exit 5'
repeats 143 bash -c 'trap "echo got it; trap - TERM; kill \$\$" TERM; kill $$; sleep 5' 2>/dev/null
repeats 0 dash -c 'exec dash -c "echo \$\$; exec dash -c \"echo again \$\$\""'

# Output of many processes comes in the order in which it was written.
repeats 0 bash -c 'for i in {1..20}; do (echo "$i"; echo "$i" >&2; printf "%s\n" "$i") & done 2>&1; wait'

# A program that is made, executed and deleted.
echo 'int main(void) { return 3; }' >made.c
repeats 7 bash -c 'gcc -o made made.c && { ./made; echo $?; rm made; ./made 2>/dev/null || exit 7; }'

cat >makefile <<'END'
all: 1.o 2.o 3.o 4.o
	@echo all are made
%.o: %.c
	@gcc -pipe -O1 -c $< -o $@ && echo $@
END
for i in 1 2 3 4; do echo "int f$i(int x) { return x * $i; }" >"$i.c"; done
if command -v make >/dev/null; then
    records 0 make -j4
    rm ./*.o
    replays 0
    cmp recorded.out replayed.out || fail "'make': the replay differs"
    [[ ! -e 1.o ]] || fail "the replay has made a file"
fi
quipu info run.rec >text || fail "cannot tell of it"
grep -q '^    1/' text || fail "no processes in: $(<text)"
