#!/bin/bash
# gdb calls a function in another thread than the one that has stopped, with and without the lock of
# its scheduler; then the run goes on as it was.
# timeout: 60
. "$(dirname "$0")/lib.bash"
needs gdb
make_plain called called.c -O0 -g -pthread
printf '#!/bin/bash\nexec gdb -nx -batch "$@" -iex "set pagination off" -x commands\n' >gdb-batch
chmod +x gdb-batch
records 0 ./called
cat >commands <<'END'
break stop if own == 300
continue
set $stopped = $_thread
print tell_own(1)
thread 1
print tell_own(2)
print tell_own(3)
frame function main
set scheduler-locking on
print tell_own(4)
set scheduler-locking off
info threads
thread $stopped
print tell_own(5)
frame
print total
print total = 7
thread 1
print tell_own(6)
delete
break printf
continue
up
print total
END
timeout 50 quipu replay --gdb=./gdb-batch run.rec </dev/null >output 2>&1 || fail "gdb has ended with $?: $(tail -5 output)"
rest=$(<output)
for wanted in ' = 301' ' = 3' ' = 4' 'in main ()' ' = 5' ' stop () at' ' = 305' 'stop () at' ' = 1' ' = 7' ' = 7' \
    'printf' ' = 2'; do
    [[ $rest == *"$wanted"* ]] || fail "no '$wanted' behind the one before in: $(cat output)"
    rest=${rest#*"$wanted"}
done
