#!/bin/bash
# Threads run in a replay in the order of the recording, also where a race decides: parts/threads.c, and
# programs that nobody here wrote.
# timeout: 300
. "$(dirname "$0")/lib.bash"
make_plain threads threads.c -O2 -pthread
number=0
for _ in 1 2 3; do
    repeats 6 ./threads
    cp recorded.out "$((++number)).out"
done
cmp -s 1.out 2.out && cmp -s 2.out 3.out && fail "three runs are the same, so this test says nothing"
for mode in count moment; do
    make_program "by-$mode" --quipu=$mode -O1 -pthread <"$here/parts/threads.c"
    repeats 6 "./by-$mode"
done
seq 1 60000 >numbers
command -v xz >/dev/null && repeats 0 xz -T2 -0 --block-size=100000 -c numbers
command -v python3.11 >/dev/null && repeats 0 python3.11 -c 'import random, threading
said = []
def say(number):
    for _ in range(100): said.append((number, random.random()))
threads = [threading.Thread(target=say, args=(i,)) for i in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(hash(str(said)))'
exit 0
