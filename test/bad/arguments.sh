#!/bin/bash
# A program's arguments may hold anything: a script of many lines, sequences that act on a terminal.
# What tells of the run keeps to its lines, and shows the rest as '?'.
. "$(dirname "$0")/lib.bash"
make_program odd <<'C'
int main(int count, char **arguments) {
    return count == 2 && arguments[1] ? 0 : 1;
}
C
ends 0 ./odd $'BEGIN {\n\tprint "\e]0;title\a"\n}'
shown='./odd BEGIN {??print "?]0;title?"?}'

# tells LINE COMMAND...: its output has the line, and nothing in it acts on a terminal.
tells() {
    local line=$1
    shift
    ends 0 "$@"
    grep -qxF -- "$line" output || fail "'$*' has no '$line': $(cat -A output)"
    LC_ALL=C grep -q '[[:cntrl:]]' output && fail "'$*' writes control characters: $(cat -A output)"
}
instructions=$(quipu report --by=module --format=csv | tail -n 1 | cut -d, -f5)
for view in function process thread module; do
    tells "$shown: 1 process, 1 thread, $instructions instructions executed" quipu report --by=$view
done
tells "  command       $shown" quipu info
make_program counts --quipu=event <<'C'
int main(int count, char **arguments) {
    return count == 2 && arguments[1] ? 0 : 1;
}
C
rm -rf quipu.data
ends 0 ./counts $'\e[2J'
tells "./counts ?[2J: 1 process, 1 thread" quipu stat --data -o -
exit 0
