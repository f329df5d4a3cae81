#!/bin/bash
# Moments of a recorded run: those that the program has named itself are gone to, in all threads, and have
# the value that it had there; 'monitor when' names them; threads have names that do not depend on races; a
# thread that waits in a system call has a moment.
# timeout: 200
. "$(dirname "$0")/lib.bash"
needs gdb
make_program moments --quipu=moment -O1 -g -pthread <"$here/parts/moments.c"
printf '#!/bin/bash\nexec gdb -nx -batch "$@" -iex "set pagination off" -x commands\n' >gdb-batch
chmod +x gdb-batch

# debugs OPTIONS...: gdb executes the lines of standard input; what it writes is in the file output.
debugs() {
    cat >commands
    timeout 100 quipu replay --gdb=./gdb-batch "$@" run.rec </dev/null >output 2>&1 ||
        fail "gdb has ended with $?: $(tail -5 output)"
}

# says TEXT...: the output has each of them, in this order.
says() {
    local wanted rest
    rest=$(<output)
    for wanted; do
        [[ $rest == *"$wanted"* ]] || fail "no '$wanted' behind the one before in: $(cat output)"
        rest=${rest#*"$wanted"}
    done
}

records 0 ./moments
[[ $(grep -c @ recorded.out) -eq 12 ]] || fail "the program has not said its moments"

# The program's own names have the number that quipu_now gives to the thread. The others are those of
# 'quipu info'.
grep @ recorded.out | sort -k3,3n -k2,2n | sed -n '1p;3p;5p;8p;10p;12p' >chosen
while read -r moment number _; do
    printf 'echo at %s\\n\n' "$moment"
    printf 'monitor goto %s\nmaintenance flush register-cache\nmonitor when\nprint own[%s]\n' "$moment" "$number"
done <chosen >script
debugs <script
cp output all
while read -r moment number value; do
    sed -n "\,^at $moment,,/=/p" all >output
    says "${moment%%/*}/1:$number~" "= $value"
done <chosen

# Where a session begins. What is not there, or is no moment, changes nothing.
read -r moment number value < <(tail -1 chosen)
debugs "--at=$moment" <<END
monitor when
print own[$number]
monitor goto say+1@7
monitor goto nothing@7
monitor goto work@999999999/1:1
monitor goto work@7/1:9
monitor goto work@7x
monitor when
monitor goto main@1
monitor when
END
says "${moment%%/*}/1:$number~" "quipu.h:" "= $value" "no instruction of 'say' begins there" "no function 'nothing'" \
    "thread 1:1 was not there at tick 999999999" "has no thread 1:9" "something follows its end" \
    "${moment%%/*}/1:$number~" "main+0x0@1/1~"
ends 1 quipu replay --at=nothing@7 run.rec
said "no function 'nothing'"

# A thread that waits: its moment leads to where it begins to wait, and has the same name there.
debugs "--at=$moment" <<'END'
thread 1
monitor when
END
waits=$(grep -o 'main+[^ ]*@[0-9]*#[0-9]*/1~[^ ]*' output | tail -1)
[[ -n $waits ]] || fail "the first thread does not wait: $(cat output)"
debugs "--at=$waits" <<'END'
monitor when
backtrace
END
says "$waits  moments.c:42" "in main ()"

# The last writes before a moment; going back from there, where many loops are behind it.
if has_debug_registers; then # else each instruction is stepped, which takes minutes here
    ends 0 quipu when 'own[2] == 15000' run.rec
    writes=$(grep -o 'change[^ ]*' output)
    debugs "--at=$writes" <<'END'
monitor history own[2] 3
monitor when
reverse-stepi
monitor history (own[2] == 14998) 2
monitor history own
monitor history onw[2]
watch own[2]
reverse-continue
monitor when
monitor goto begin
monitor history own[2]
END
    says "/1:2~" "moments.c:" "14996 -> 14997" "14997 -> 14998" "14998 -> 14999" "$writes  moments.c" "1 -> 0" \
        "never changes" "did you mean 'own'" "Old value = 14999" "change+" "/1:2~" "nothing has written it before"
fi

# quipu goto takes the recording for a program.
ends 0 quipu goto "$waits" run.rec </dev/null
says "$waits  moments.c:42" "rip" "main  moments.c:42"
ends 0 quipu goto --print "$moment" run.rec
says "${moment%%/*}/1:$number~" "work  moments.c:"
ends 1 quipu goto work@7/1:9 run.rec
said "has no thread 1:9"
ends 1 quipu goto --exec=true "$moment" run.rec
said "not for recordings"

# That is no moment of a run that is not recorded.
ends 1 quipu goto "$waits" -- ./moments
said "moment of a recording"
