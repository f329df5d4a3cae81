#!/bin/bash
# distcc in front of quipu cc has a server's quipu-cc instrument: the same object.  Behind it there is
# nothing to spread, as a server's assembler is not ours: all is compiled here, with no word said.
. "$(dirname "$0")/../needs.sh.inc"
needs distcc distccd
. "$(dirname "$0")/../bad/lib.bash"
# The server may be another user.
export DISTCC_DIR=$PWD/state DISTCC_FALLBACK=0
unset DISTCC_HOSTS
mkdir -p state behind
ln -s "$(type -P distcc)" behind/gcc
cat >program.c <<'EOT'
int turn(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i * n;
    return sum;
}
EOT
[[ $(id -u) -ne 0 ]] || setpriv --reuid=distccd --regid=nogroup --clear-groups test -x "$quipu" || {
    echo "skipped: a server may not read '$quipu'"
    exit 77
}
for ((port = 20000 + $$ % 20000; ; port++)); do
    TMPDIR=/tmp distccd --no-detach --daemon --allow 127.0.0.1 --listen 127.0.0.1 --port $port --enable-tcp-insecure \
        --log-stderr --log-level info --jobs 1 2>log &
    server=$!
    for ((i = 0; i < 500; i++)); do
        ! grep -q 'daemon started' log || break 2
        kill -0 $server 2>/dev/null || break
        sleep 0.01
    done
    ((port < 20000 + $$ % 20000 + 5)) || fail "no server: $(cat log)"
done
trap 'kill $server' EXIT
# jobs COUNT: the server has had so many, all good.
jobs() {
    for ((i = 0; i < 200; i++)); do
        [[ $(grep -c COMPILE_OK log) -lt $1 ]] || break
        sleep 0.01
    done
    [[ $(grep -c COMPILE_OK log) -eq $1 && $(grep -c COMPILE_ERROR log) -eq 0 ]] || fail "not $1 jobs: $(cat log)"
}
n=0
for options in "-O2" "--quipu=moment -O1 -g" "--quipu=event --quipu-event=m=mul*|imul* -O1"; do
    read -ra words <<<"$options"
    ends 0 quipu-cc "${words[@]}" -c program.c -o plain.o
    DISTCC_HOSTS=127.0.0.1:$port PATH=$PWD/behind:$PATH ends 0 quipu-cc "${words[@]}" -c program.c -o behind.o
    [[ ! -s messages ]] || fail "behind, $options: $(cat messages)"
    cmp plain.o behind.o || fail "behind, $options: another object"
    jobs $n
    DISTCC_HOSTS=127.0.0.1:$port ends 0 distcc quipu-cc "${words[@]}" -c program.c -o front.o
    [[ ! -s messages ]] || fail "in front, $options: $(cat messages)"
    cmp plain.o front.o || fail "in front, $options: another object"
    jobs $((++n))
done
