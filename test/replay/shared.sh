#!/bin/bash
# Processes that share memory run in a replay in the order of the recording, and share it there, too:
# parts/shared.c; python's processes; a data base with a shared index of its log.
# timeout: 300
. "$(dirname "$0")/lib.bash"
make_plain shared shared.c -O2 -pthread
for kind in anonymous memfd file; do
    rm -f mapped
    records 4 ./shared $kind
    cp recorded.out first.out
    rm -f mapped
    repeats 4 ./shared $kind
    grep -q 'lock: 130$' recorded.out || fail "'$kind': no lock was left behind: $(<recorded.out)"
    cmp -s first.out recorded.out && fail "'$kind': two runs are the same, so this test says nothing"
done

# A file that is gone, and another one with the same number, and with zeros.
cat >again.c <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void) {
    for (int i = 0; i < 6; i++) {
        int file = open("made", O_RDWR | O_CREAT | O_TRUNC, 0600);
        char text[16] = "";
        if (i % 2 == 0)
            snprintf(text, sizeof text, "text %d", i);
        if (write(file, text, sizeof text) < 0)
            return 1;
        char *mapped = mmap(NULL, sizeof text, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        printf("'%s'\n", mapped);
        mapped[15] = 'x';
        close(file);
        unlink("made");
    }
    return 0;
}
END
gcc -O1 -o again again.c || fail "cannot build 'again'"
repeats 0 ./again

# A file that is mapped, and written by calls, as data bases do.
cat >writes.c <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    char text[64];
    int file = open("written", O_RDWR | O_CREAT, 0600);
    struct iovec parts[] = {{"de", 2}, {"fg", 3}};
    if (ftruncate(file, 8192) != 0)
        return 1;
    const char *mapped = mmap(NULL, 8192, PROT_READ, MAP_SHARED, file, 0);
    for (int i = 0; i < 5; i++) {
        int size = snprintf(text, sizeof text, "%d of %d", i, (int)getpid()) + 1;
        if (pwrite(file, text, (size_t)size, i * 100) != size)
            return 2;
        puts(mapped + i * 100);
    }
    if (lseek(file, 5000, SEEK_SET) < 0 || write(file, "abc", 4) != 4 || writev(file, parts, 2) != 5)
        return 3;
    printf("%s %s\n", mapped + 5000, mapped + 5004);
    if (fork() == 0)
        _exit(pwrite(file, "child", 6, 6000) != 6);
    wait(NULL);
    puts(mapped + 6000);
    if (ftruncate(file, 4096) != 0 || ftruncate(file, 8192) != 0)
        return 4;
    printf("'%s'\n", mapped + 6000);
    return 0;
}
END
gcc -O1 -o writes writes.c || fail "cannot build 'writes'"
repeats 0 ./writes
grep -q '^child$' replayed.out || fail "what a child has written is not in the replay"

command -v sqlite3 >/dev/null && repeats 0 sqlite3 data 'pragma journal_mode = wal;
create table t(a); insert into t values (random()); select a from t;'
command -v python3.11 >/dev/null && repeats 0 python3.11 -c 'import multiprocessing, os, random
def work(number, queue, value, lock):
    for _ in range(20):
        with lock: value.value = (value.value * 31 + number) % 1000003
    queue.put((number, os.getpid(), random.random()))
queue, value, lock = multiprocessing.Queue(), multiprocessing.Value("i", 1), multiprocessing.Lock()
processes = [multiprocessing.Process(target=work, args=(i, queue, value, lock)) for i in range(3)]
for process in processes: process.start()
print([queue.get() for _ in processes], value.value)
for process in processes: process.join()'

# What a process has written in front of the call by which it kills itself.
cat >dies.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    volatile int *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status;
    for (int i = 0; i < 3; i++) {
        if (fork() == 0) {
            pid_t own = getpid();
            page[i] = i + 1;
            kill(own, SIGKILL);
        }
        wait(&status);
        printf("%d %d\n", status, page[i]);
    }
    return 4;
}
END
gcc -w -O1 -o dies dies.c || fail "cannot build 'dies'"
repeats 4 ./dies

# Segments of System V shared memory, that two processes change, and that are attached twice.
cat >segments.c <<'END'
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>
static void change(volatile unsigned *cell) {
    for (int i = 0; i < 100; i++) {
        *cell = *cell * 31 + (unsigned)getpid();
        if (i % 10 == 0)
            usleep(100);
    }
}
int main(void) {
    int id = shmget(IPC_PRIVATE, 10000, IPC_CREAT | 0600);
    struct shmid_ds segment;
    volatile unsigned *cell = shmat(id, NULL, 0);
    if (fork() == 0) {
        volatile unsigned *own = shmat(id, NULL, 0);
        change(own);
        _exit(0);
    }
    change(cell);
    wait(NULL);
    const volatile unsigned *again = shmat(id, NULL, SHM_RDONLY);
    shmctl(id, IPC_STAT, &segment);
    printf("%u %u, %d attached\n", *cell, *again, (int)segment.shm_nattch);
    shmctl(id, IPC_RMID, NULL);
    shmdt((void *)cell);
    printf("%u %d\n", *again, shmdt((void *)cell));
    cell = shmat(id, NULL, 0);
    printf("%d %d\n", cell == (void *)-1, shmdt((void *)again));
    return 7;
}
END
gcc -w -O1 -o segments segments.c || fail "cannot build 'segments'"
repeats 7 ./segments
grep -q ', 2 attached' replayed.out || fail "'segments' was not recorded: $(<replayed.out)"
cp recorded.out first.out
repeats 7 ./segments
! cmp -s first.out recorded.out || fail "'segments': two runs are the same"
