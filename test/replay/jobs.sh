#!/bin/bash
# Signals that stop recorded processes, and SIGCONT, do what they do without a recorder: parts/jobs.c, a shell with jobs
# at a terminal, and a recorder that is a job itself.  In a replay nothing stops.
# timeout: 200
. "$(dirname "$0")/lib.bash"
needs python3
make_plain jobs jobs.c -O1 -pthread
./jobs >plain.out
[[ $? -eq 4 && $(grep -c 'it stands' plain.out) -eq 3 && $(tail -1 plain.out) == "3 handlers" ]] ||
    fail "this machine does not stop a process: $(<plain.out)"
repeats 4 ./jobs
cmp plain.out recorded.out || fail "the recorded run has other jobs"

shell=(bash --norc --noprofile -i)
python3 "$here/parts/jobs.py" "${shell[@]}" >shown 2>&1
[[ $? -eq 3 ]] || fail "without a recorder: $(<shown)"
python3 "$here/parts/jobs.py" quipu record -o run.rec -- "${shell[@]}" >shown 2>&1
[[ $? -eq 3 ]] || fail "a recorded shell: $(<shown)"
replays 3

# The shell sees the recorder stop as the program does.
cat >job <<'END'
#!/bin/bash
exec quipu record -o run.rec -- /bin/cat "$@"
END
chmod +x job
sed 's|^say(.cat|&|; s|cat|./job|g' "$here/parts/jobs.py" >jobs.py
python3 jobs.py "${shell[@]}" >shown 2>&1
[[ $? -eq 3 ]] || fail "a recorder that is a job: $(<shown)"
