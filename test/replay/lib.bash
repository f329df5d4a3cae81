# lib.bash: what the tests of this folder share.  A recorded run and its replay must write the same to
# standard output and standard error, and end with the same status.
. "$(dirname "${BASH_SOURCE[0]}")/../bad/lib.bash"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# make_plain NAME SOURCE FLAGS...: builds the program from a file of parts/, without quipu.
make_plain() {
    local name=$1 source=$2
    shift 2
    gcc -o "$name" "$here/parts/$source" "$@" || fail "cannot build '$name'"
}

# records STATUS COMMAND...: the recorded command ends so.  What it writes goes to the files recorded.out
# and recorded.err; its standard input is the file $input.
records() {
    local wanted=$1 status=0
    shift
    rm -f run.rec
    timeout 100 quipu record -o run.rec -- "$@" <"${input:-/dev/null}" >recorded.out 2>recorded.err ||
        status=$?
    [[ $status -eq $wanted ]] || fail "'$*': exit status $status, not $wanted: $(head -3 recorded.err)"
    [[ -s run.rec ]] || fail "'$*': no recording"
}

# replays STATUS: the replay ends so, and writes to replayed.out and replayed.err.
replays() {
    local status=0
    timeout 100 quipu replay --check run.rec </dev/null >replayed.out 2>replayed.err || status=$?
    [[ $status -eq $1 ]] || fail "the replay: exit status $status, not $1: $(tail -3 replayed.err)"
}

# repeats STATUS COMMAND...: the command is recorded, and its replay is the same.
repeats() {
    records "$@"
    replays "$1"
    shift
    cmp recorded.out replayed.out || fail "'$*': the replay has another standard output"
    cmp recorded.err replayed.err || fail "'$*': the replay has another standard error"
}
