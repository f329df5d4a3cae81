#!/bin/bash
# What cannot be recorded yet ends the recording with one sentence that names it; the program goes on and
# ends as it does without quipu; the replay plays up to there.  What the kernel may lack fails so.
# timeout: 300
. "$(dirname "$0")/lib.bash"

# stops TEXT STATUS COMMAND...: the recording ends for the reason TEXT.
stops() {
    local reason=$1
    shift
    records "$@"
    [[ $(grep -c . recorded.err) -eq 1 && $(<recorded.err) == *"$reason"* ]] ||
        fail "'$2': it is not told why the recording ends: $(head -3 recorded.err)"
    replays 1
    [[ $(grep -c . replayed.err) -eq 1 && $(<replayed.err) == *"$reason"* ]] ||
        fail "'$2': the replay does not tell why it ends: $(head -3 replayed.err)"
    grep -q '^before' replayed.out || fail "'$2': the replay has not played what was recorded"
    grep -q '^after' recorded.out || fail "'$2': the program has not gone on"
    ! grep -q '^after' replayed.out || fail "'$2': the replay has more than the recording"
}

# build NAME BODY: a program that says 'before', does BODY, says 'after' and ends with status 9.
build() {
    cat >"$1.c" <<END
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mqueue.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile int flag;
static void set_flag(int number) { flag = number; }
static void *run(void *argument) { return argument; }
int main(void) {
    puts("before");
    fflush(stdout);
    $2
    puts("after");
    return 9;
}
END
    gcc -w -O1 -pthread -o "$1" "$1.c" || fail "cannot build '$1'"
}

# untraced: a child that no one may trace; the kernel would not tell of it.
untraced='unsigned long long make[8] = {CLONE_UNTRACED, 0, 0, 0, SIGCHLD};
    if (syscall(SYS_clone3, make, sizeof make) == 0) _exit(0); wait(NULL);'
build forks "$untraced"
stops "no one may trace" 9 ./forks
cp "$(command -v sh)" changes && chmod u+s changes
build executes 'execl("changes", "sh", "-c", "echo after; exit 3", NULL);'
stops "'changes' changes its user" 3 ./executes
build threads "pthread_t thread; pthread_create(&thread, NULL, run, NULL); $untraced; pthread_join(thread, NULL);
    pthread_create(&thread, NULL, run, NULL); pthread_join(thread, NULL);"
stops "no one may trace" 9 ./threads
head -c 4096 /dev/zero >shared
build shares 'int file = open("shared", O_RDWR);
    *(char *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) = 1;'
stops "shared' is shared with others" 9 ./shares
# A loop that counts its passes, and in which a jump has no room.
build waits 'signal(SIGALRM, set_flag); alarm(1);
    __asm__ volatile("1: inc %%rcx; jmp 2f; 2: mov (%0), %%eax; jmp 3f; 3: test %%eax, %%eax; jz 1b"
        : : "r"(&flag) : "rax", "rcx", "memory");'
stops 'signal 14 came' 9 ./waits

build old 'int number = 20; __asm__ volatile("int $0x80" : "+a"(number)); if (number != getpid()) return 1;'
status=0
./old >output 2>/dev/null || status=$?
if [[ $status -eq 9 ]]; then
    stops "a 32-bit system call" 9 ./old
else
    echo "skipped: this machine has no 32-bit system calls"
fi

# The program has noticed nothing of that: its signals, time stamp counter and processors are its own.
build later "$untraced"' unsigned long set[16]; signal(SIGALRM, set_flag); alarm(1);
    while (!flag) continue; __builtin_ia32_rdtsc();
    return syscall(SYS_sched_getaffinity, 0, sizeof set, set) > 0 && __builtin_popcountl(*set) == atoi(getenv("N"))
        && puts("after") > 0 ? 9 : 1;'
N=$(nproc) stops "no one may trace" 9 ./later

# A process that is recorded no further is let go alone; all others are recorded to their ends.
build alone 'setvbuf(stdout, NULL, _IONBF, 0); if (fork() == 0) { '"$untraced"' _exit(4); } int status; wait(&status);
    printf("%d\n", WEXITSTATUS(status));'
records 9 ./alone
[[ $(grep -c . recorded.err) -eq 1 && $(<recorded.err) == *"ends for process "*"may trace; it goes on" ]] ||
    fail "it is not told of the process that is let go: $(head -3 recorded.err)"
replays 9
cmp recorded.out replayed.out || fail "the replay of a run of which a process was let go differs"
[[ $(<replayed.err) == *"a process was recorded no further"* ]] ||
    fail "the replay does not tell of the process that was let go: $(head -3 replayed.err)"

# So is one that is about to change its user, while its parent waits for it with the same memory.
records 6 dash -c './changes -c "echo inside"; echo "behind $?"; exit 6'
[[ $(<recorded.out) == $'inside\nbehind 0' ]] || fail "what changes its user has not gone on: $(<recorded.out)"
replays 6
[[ $(<replayed.out) == 'behind 0' && $(<replayed.err) == *"recorded no further"* ]] ||
    fail "the replay of a run with a program that changes its user: $(<replayed.out)"

build lacks 'char page[4096]; errno = 0; syscall(SYS_io_uring_setup, 1, page); printf("%d\n", errno);
    syscall(SYS_userfaultfd, 0); printf("%d\n", errno); prctl(59, 1, 0, 0, page); printf("%d\n", errno);'
repeats 9 ./lacks
[[ $(<recorded.out) == $'before\n38\n38\n22\nafter' ]] || fail "the kernel does not lack what cannot be recorded"

# A program that makes a call that the table does not have: what it writes is found all the same.
build unknown 'unsigned long mask[64] = {0}; int node; char name[17]; void *at;
    unsigned long *fresh = mmap(NULL, 1 << 24, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) + (1 << 20);
    unsigned long *shared = mmap(NULL, 1 << 24, 3, MAP_SHARED | MAP_ANONYMOUS, -1, 0) + (1 << 20);
    syscall(SYS_get_mempolicy, 0, fresh, 4096, fresh, 4); syscall(SYS_get_mempolicy, 0, shared, 4096, fresh, 4);
    printf("%lx %lx\n", *fresh, *shared);
    syscall(SYS_get_mempolicy, &node, mask, 4096, NULL, 0); syscall(SYS_prctl, 16, name);
    syscall(SYS_get_robust_list, 0, &at, mask + 9); printf("%lx %d %s %p\n", *mask, node, name, at);
    int pair[2]; pipe(pair); write(pair[1], "xyz", 3); int left = 0; syscall(SYS_ioctl, *pair, 0x541b, &left);
    printf("%d\n", left);'
repeats 9 ./unknown
grep -q '^3$' replayed.out && grep -q '^[1-9a-f][0-9a-f]* [1-9a-f][0-9a-f]*$' replayed.out || fail "what an unknown call wrote is not in the replay"

# What cannot be recorded at all is refused before it runs.
ends 127 quipu record -o run.rec -- ./missing
ends 1 quipu record -o missing/run.rec -- ./lacks
[[ ! -s output && $(<messages) == *"missing/run.rec"* ]] || fail "a recording that cannot be made: $(<messages)"
cp lacks setuid && chmod u+s setuid
ends 1 quipu record -o run.rec -- ./setuid
[[ ! -s output && $(<messages) == *"(setuid)"* ]] || fail "a program that changes its user: $(<messages)"

# What the recorder has changed in the process is not told; a child that asks not to be traced is recorded.
build asks 'int value = 7, child;
    syscall(SYS_seccomp, 1, 0, NULL); /* adds none */
    prctl(PR_SET_DUMPABLE, 0);
    printf("%d %d", prctl(PR_GET_DUMPABLE), prctl(PR_GET_SECCOMP));
    prctl(PR_SET_DUMPABLE, 1);
    printf(" %d %d", prctl(PR_GET_DUMPABLE), prctl(PR_GET_TSC, &value));
    printf(" %d\n", value);
    fflush(stdout);
    if (syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, 0, 0, 0, 0) == 0) { puts("child"); fflush(stdout); _exit(4); }
    child = wait(&value) > 0;
    printf("%d %x\n", child, value);'
repeats 9 ./asks
./asks >plain.out
cmp plain.out recorded.out || fail "'asks': the program is told something else when it is recorded"
build counts 'printf("%d\n", prctl(PR_SET_TSC, PR_TSC_SIGSEGV));'
repeats 9 ./counts
grep -qx -- -1 recorded.out || fail "PR_SET_TSC does not fail"

# With more memory than can be compared: what these calls write is known.
build large 'static struct mq_attr attributes = {0, 4, 64};
    char text[64] = "", *memory = mmap(NULL, 3ul << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int fd = open("made", O_RDWR | O_CREAT, 0600), set = semget(IPC_PRIVATE, 1, 0600), queue;
    unsigned priority = 7;
    struct timespec interval = {3, 3};
    struct sembuf post = {0, 1, 0};
    timer_t timer;
    unsigned attribute[14] = {0};
    printf("%d ", memory != MAP_FAILED);
    printf("%d %d ", (int)syscall(SYS_sync_file_range, fd, 0l, 0l, 2), (int)syscall(SYS_readahead, fd, 0l, 4096l));
    printf("%d %d ", utimes("made", NULL), timer_create(CLOCK_MONOTONIC, NULL, &timer));
    printf("%d ", timer_getoverrun(timer));
    printf("%d %d ", sched_rr_get_interval(0, &interval), (int)interval.tv_sec);
    printf("%d %u ", (int)syscall(SYS_sched_getattr, 0, attribute, 48, 0), attribute[0]);
    semop(set, &post, 1);
    semctl(set, 0, IPC_RMID);
    sprintf(text, "/quipu-%d", (int)getpid());
    queue = mq_open(text, O_RDWR | O_CREAT, 0600, &attributes);
    mq_unlink(text);
    mq_send(queue, "message", 8, 5);
    printf("%d ", (int)mq_receive(queue, text, 64, &priority));
    printf("%s %u\n", text, priority);'
repeats 9 ./large
grep -q 'message 5$' recorded.out || fail "'large' says something else: $(<recorded.out)"
