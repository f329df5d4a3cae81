# lib.bash: what the tests of this folder share.
. "$(dirname "${BASH_SOURCE[0]}")/../bad/lib.bash"
export TMPDIR=$PWD/temporary # where nobody else's are
mkdir -p "$TMPDIR"
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# make_standin: builds 'program', which tells of its writes itself.
make_standin() {
    gcc -Wall -Wextra -O1 -g -pthread -I"$top/src" "$top/test/watch/parts/program.c" -o program ||
        fail "cannot build 'program'"
}

# watches STATUS ARGS...: 'quipu watch' ends so; hits go to the file hits.
watches() {
    local status=$1
    shift
    rm -f hits
    ends "$status" quipu watch --log=hits "$@"
}

# tells TEXT...: hits are those lines, blanks aside, with what stands behind the type and
# backtraces left out.
tells() {
    printf '%s' "${@/%/$'\n'}" >expected
    sed -E '/^ +#[0-9]/d; s/^ *[0-9]+:  //; s/  +\(.*//; s/  +/ /g' hits >told
    diff expected told >difference || fail "hits differ: $(cat difference)"
}

# leaves_nothing: neither files nor processes are left.
leaves_nothing() {
    local left
    left=$(find "$TMPDIR" -name 'quipu-watch-*')
    [[ -z $left ]] || fail "left behind: $left"
}

# is_ready PID: the program, which is built for watching, has come to its start.
is_ready() {
    quipu info --pid "$1" >/dev/null 2>&1
}

# is_watched PID WATCHER: that watcher is told of the writes of the program.
is_watched() {
    grep -q "process $2 is told" < <(quipu info --pid "$1")
}

# await_watcher WATCHER RUNNING WHAT: the watcher, whose messages are in a file, watches what runs.
await_watcher() {
    until is_watched "$2" "$1"; do
        kill -0 "$1" || fail "'$3': the watcher has ended: $(cat messages)"
        sleep 0.01
    done
}
