#!/bin/bash
# Where the system refuses ptrace, what needs it says so, and what helps; nothing hangs, and what does
# not need it goes on.  A seccomp filter stands for all that may refuse.
. "$(dirname "$0")/lib.bash"
cat >deny.c <<'EOT'
/* deny ptrace|memory|personality|kill COMMAND...: runs it with that refused, or its user killed. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv) {
    unsigned kill = strcmp(argv[1], "kill") == 0;
    unsigned call = strcmp(argv[1], "memory") == 0        ? SYS_process_vm_readv
                    : strcmp(argv[1], "personality") == 0 ? SYS_personality
                                                          : SYS_ptrace;
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, kill ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    if (argc < 3 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        return 77;
    execvp(argv[2], argv + 2);
    return 76;
}
EOT
gcc deny.c -o deny || fail "cannot build 'deny'"
./deny ptrace true
[[ $? -ne 77 ]] || { echo 'skipped: no seccomp here'; exit 77; }
cat >program.c <<'EOT'
#include <unistd.h>
int counter, *pointer = &counter;
__attribute__((noipa)) static void count(int by) {
    counter += by;
}
int main(int argc, char **argv) {
    (void)argv;
    for (int i = 0; i < 10; i++)
        count(i);
    *pointer = 7;
    if (argc > 1)
        sleep(60);
    return 0;
}
EOT
quipu cc --quipu=moment -O1 -g program.c -o moment || fail "cannot build 'moment'"
quipu cc --quipu=watch -O1 -g program.c -o watch || fail "cannot build 'watch'"
for cure in --cap-add=SYS_PTRACE seccomp; do
    refuses "ptrace is refused" "Operation not permitted" $cure -- \
        ./deny ptrace quipu goto --print count@9 -- ./moment
    refuses "ptrace is refused" $cure -- ./deny ptrace quipu when 'counter > 5' -- ./moment
    refuses "ptrace is refused" $cure -- ./deny ptrace quipu watch -e '*pointer' -- ./watch
    refuses "process_vm_readv is refused" $cure -- ./deny memory quipu goto --print count@9 -- ./moment
    refuses "process_vm_readv is refused" $cure -- ./deny memory quipu when 'counter > 5' -- ./moment
    refuses "ends who calls ptrace" $cure -- ./deny kill quipu goto --print count@9 -- ./moment
    refuses "ends who calls ptrace" $cure -- ./deny kill quipu when 'counter > 5' -- ./moment
done
# as in Docker: addresses are random then, which matters to few programs
refuses "its addresses are random here" -- ./deny personality quipu goto --print count@9 -- ./moment
ends 0 ./deny personality quipu goto --print count@8 -- ./moment
# what needs no ptrace
ends 0 ./deny ptrace quipu watch -e counter -- ./watch
[[ $(grep -c ' counter ' messages) -eq 11 ]] || fail "not eleven hits: $(cat messages)"
ends 0 ./deny ptrace quipu watch --backtrace -e counter -- ./watch
[[ $(grep -c ' counter ' messages) -eq 11 ]] || fail "not eleven hits: $(cat messages)"
[[ $(grep -c 'there are no backtraces: ptrace is refused' messages) -eq 1 ]] || fail "$(cat messages)"
ends 133 ./deny ptrace quipu watch --stop --exec=true -e counter -- ./watch
grep -q 'is not held there: ptrace is refused' messages || fail "$(cat messages)"
# a program that runs already
QUIPU_DATA=data ./moment wait &
for ((i = 0; i < 500; i++)); do [[ ! -e data/moment.$!.quipu ]] || break; sleep 0.01; done
refuses "cannot be stopped for a moment" "ptrace is refused" --cap-add=SYS_PTRACE -- ./deny ptrace quipu moment $!
refuses "cannot be stopped for a moment" "ptrace is refused" -- ./deny ptrace quipu stat --pid=$!
# one that is traced, and one of another user
python3 - $! <<'EOT' || fail "cannot trace"
import ctypes, os, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
SEIZE = 0x4206
if libc.ptrace(SEIZE, int(sys.argv[1]), 0, 0) != 0:
    sys.exit(ctypes.get_errno())
run = subprocess.run(['quipu', 'moment', sys.argv[1]], stderr=subprocess.PIPE, text=True)
wanted = f'process {os.getpid()} traces it; end that first'
sys.exit(0 if run.returncode == 1 and wanted in run.stderr else run.stderr)
EOT
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
if [[ $(id -u) -eq 0 ]] && "${nobody[@]}" test -x "$quipu" 2>/dev/null; then
    refuses "it is of user 0; be that user, or root" -- "${nobody[@]}" "$quipu" moment $!
fi
kill $!
