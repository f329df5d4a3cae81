#!/bin/bash
# At a terminal, no command writes a byte that acts on it, or turns text round, which is not its own:
# files, directories, functions, variables, members, constants, strings, arguments, source, assembly
# and the assembler's messages are full of them here.  UTF-8 stays readable.  Each command of quipu's
# own table is tried.
. "$(dirname "$0")/lib.bash"
evil=$'\e[35m\x9bm\xc2\x9bm\x7f\xe2\x80\xae'
place=$(LC_ALL=C && printf '%*s' ${#evil} '' | tr ' ' Q) # as many letters, which a compiler takes
odd="d$evil é"
mkdir "$odd" plain

cat >terminal.py <<'PYTHON'
"""terminal.py FILE: runs the commands of FILE at a terminal each.  FILE has of each, with a NUL behind
all: how many words it has, its exit status, what it says, the words.  Tells of those that end
otherwise, do not say that, or write what acts on a terminal, but for colours and bars of quipu's."""
import concurrent.futures
import os
import pty
import re
import subprocess
import sys

OWN = re.compile(rb'\x1b\[(0|1|2|1;31|31|33)m|\x1b\[K|[\r\n\t]')
ACTS = re.compile('[\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]')


def run(words):
    """Returns the exit status, and what the terminal gets."""
    terminal, end = pty.openpty()
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=end, stderr=end,
                               env=dict(os.environ, TERM='xterm', COLUMNS='1000'))
    os.close(end)
    data = b''
    try:
        while more := os.read(terminal, 65536):
            data += more
    except OSError:  # nobody has it any more
        pass
    os.close(terminal)
    return process.wait(), data


def look(wanted, text, words):
    """Returns what is wrong, or ''."""
    status, data = run(words)
    shown = OWN.sub(b'', data)
    if status != wanted:
        return f'exit status {status}, not {wanted}: {data}'
    try:
        found = ACTS.search(shown.decode())
        if found:
            return f'writes {shown.decode()[max(0, found.start() - 40):found.start() + 20]!r}'
    except UnicodeDecodeError as error:
        return f'writes no UTF-8: {shown[max(0, error.start - 40):error.start + 20]}'
    return '' if text in data else f'does not say {text}: {data}'


fields, commands = open(sys.argv[1], 'rb').read().split(b'\0'), []
while len(fields) > 1:
    count, status, text = int(fields[0]), int(fields[1]), fields[2]
    commands.append((status, text, fields[3:3 + count]))
    del fields[:3 + count]
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    for command, wrong in zip(commands, pool.map(lambda command: look(*command), commands)):
        if wrong:
            print(command[2], wrong)
PYTHON

declare -A tried
# at_terminal STATUS TEXT COMMAND...: at a terminal COMMAND ends so, TEXT is said, and nothing acts on
# it; looked at by look.
at_terminal() {
    printf '%s\0' $(($# - 2)) "$@" >>commands
}
# safe STATUS TEXT COMMAND ARGS...: 'quipu COMMAND' does so.
safe() {
    tried[$3]=1
    at_terminal "$1" "$2" quipu "${@:3}"
}
look() {
    local wrong
    wrong=$(python3 terminal.py commands 2>&1)
    [[ -z $wrong ]] || fail "$wrong"
    rm commands
}

cat >"$odd/main.c" <<C
#include <stdio.h>
#include <string.h>
struct named {
    int m$place;
    char text[32];
    enum { c$place = 7, other } kind;
} object;
int plain;
__attribute__((noinline)) int f$place(const char *text) { /* $evil */
    plain++;
    strcpy(object.text, text);
    object.kind = c$place;
    object.m$place++;
    return plain;
}
int main(int count, char **arguments) {
    for (int i = 0; i < 3; i++)
        f$place(arguments[1]);
    if (count > 2) {
        puts("ready");
        fflush(stdout);
        return getchar() == 0;
    }
    return 0;
}
C
# build NAME ARGS...: NAME in the odd directory, with odd names in symbols and debug information
build() {
    ends 0 quipu cc -g -O1 "${@:2}" "$odd/main.c" -o "$odd/$1"
    python3 - "$odd/$1" "$place" "$evil" <<'PYTHON'
import os, sys
name, place, evil = map(os.fsencode, sys.argv[1:])
data = open(name, 'rb').read()
assert place in data
open(name, 'wb').write(data.replace(place, evil))
PYTHON
}
build counts --quipu=count,event,calls "--quipu-event=own-class=mul*"
build moments --quipu=moment,watch
for data in one two; do
    ends 0 quipu run -o $data "$odd/counts" "$odd"
done

# reports
f='f?[35m?m??m????'
for view in function file line block instruction module process thread callsite; do
    safe 0 é report --by=$view one
    safe 0 '' report --by=$view --format=json one
    safe 0 é report --by=$view --format=csv one
done
safe 0 "$f" report one
safe 0 "f\\u001b[35m" report --format=json one
safe 1 "$f" report --function="f$evil+" one
safe 1 é report --by="$odd" one
safe 1 é report "--$odd"
safe 1 é report --sort="$odd" one
safe 1 é report "$odd"
for arguments in '' --asm --hot=2 --branches --by-count; do
    # shellcheck disable=SC2086
    safe 0 é annotate --data=one $arguments
done
safe 1 é annotate --data=one --function="$odd"
safe 1 é annotate --data=one "$odd"
for format in text json csv; do
    safe 0 35m diff --all --by=function --format=$format one two
    safe 0 35m diff --all --by=callsite --format=$format one two
    safe 0 35m stat --data --format=$format one
done
safe 1 é diff one "$odd"
safe 0 é info one "$odd/counts"
safe 0 é info --format=json one "$odd/counts"
safe 1 é info "$odd/none"
for format in callgrind lcov cobertura gcov-json json collapsed; do
    safe 0 35m export --to=$format one
done
safe 1 'standard output' export --to=pprof one
safe 1 é export --to="$odd" one
safe 1 é export --to=json -o "$odd/none/none" one
safe 1 é merge -o "$odd/none/none" one two
safe 0 '' merge -o "$odd/sum" one two
safe 0 35m stat -- "$odd/counts" "$odd"
safe 1 é stat --baseline="$odd/sum" -- "$odd/counts" "$odd"
safe 127 é run "$odd/none"
safe 1 é run -o "$odd/main.c" "$odd/counts" "$odd"

# compiling
printf '.globl "a%s"\n.type "a%s", @function\n"a%s": jmp *%%rax\n ret\n.size "a%s", .-"a%s"\n' \
    "$evil" "$evil" "$evil" "$evil" "$evil" >"$odd/left.s"
printf 'main: nonsense%s\n call "a%s" + "\n' "$evil" "$evil" >"$odd/wrong.s"
safe 0 '' cc -c "$odd/left.s" -o plain/left.o
safe 0 '' cc --quipu-dump -c "$odd/left.s" -o plain/left.o
safe 1 Error cc -c "$odd/wrong.s" -o plain/wrong.o
for option in '' -event -placement -watch -profile -none; do
    safe 1 é cc "--quipu$option=$odd" -c "$odd/left.s" -o plain/left.o
done
safe 127 é cc --quipu-compiler="$odd/none" "$odd/main.c"
safe 0 é cc --quipu-compiler=true -### "$odd/main.c" -o "$odd/none"

# runs under control
safe 0 '= 2' when 'plain >= 2' -- "$odd/moments" "$odd"
safe 0 'f\u001b' when --format=json 'plain >= 2' -- "$odd/moments" "$odd"
safe 1 é when "plain == '$odd'" -- "$odd/moments" "$odd"
safe 1 é when 'plain == 9' -- "$odd/none"
safe 1 é when --from="$odd" 'plain == 9' -- "$odd/moments" "$odd"
quipu when --format=json 'plain >= 2' -- "$odd/moments" "$odd" >found.json || fail "$(cat found.json)"
moment=$(python3 -c 'import json; print(json.load(open("found.json"))["moment"].split("@")[1])')
safe 0 "$f" goto --print "main.c:10@$moment" -- "$odd/moments" "$odd"
safe 0 "$f" goto --exec=true "main.c:10@$moment" -- "$odd/moments" "$odd"
safe 1 é goto --print "$odd@1" -- "$odd/moments" "$odd"
safe 1 é goto --print "main@1" -- "$odd/none"
safe 0 "$f" watch -e object -e plain --backtrace -- "$odd/moments" "$odd"
for format in text json csv; do
    safe 0 35m watch -e object --summary --format=$format -- "$odd/moments" "$odd"
done
safe 0 '"f\u001b' watch -e object --format=json -- "$odd/moments" "$odd"
safe 0 '"\033\302\233\342\200\256é"' watch -e object -- "$odd/moments" $'\e\xc2\x9b\xe2\x80\xaeé'
safe 1 é watch --guard plain --allow="$odd" -- "$odd/moments" "$odd"
safe 1 é watch -e "$odd" -- "$odd/moments" "$odd"
safe 1 é watch -e plain --if="$odd" -- "$odd/moments" "$odd"
safe 1 é watch -e plain --log="$odd/none/none" -- "$odd/moments" "$odd"

# recordings
safe 0 '' record -o "$odd/recording" -- "$odd/counts" "$odd"
safe 127 é record -o "$odd/recording.none" -- "$odd/none"
safe 1 é record -o "$odd/none/none" -- "$odd/counts"
look
safe 0 '' replay --check "$odd/recording"
safe 127 é replay --gdb="$odd/none" "$odd/recording"
safe 1 é replay --check "$odd/none"
safe 1 é pack "$odd/none"
safe 0 '' pack "$odd/recording"
safe 0 é pack "$odd/recording"
safe 0 é info "$odd/recording"
safe 0 35m info --format=json "$odd/recording"

# traces
build traces --quipu=trace
safe 0 '' trace -o "$odd/trace" -- "$odd/traces" "$odd"
safe 127 é trace -o "$odd/trace.none" -- "$odd/none"
safe 1 é trace -o "$odd/none/none" -- "$odd/traces"
look
safe 0 "$f" print "$odd/trace"
safe 0 "$f" print --asm "$odd/trace"
safe 0 'f\u001b' print --format=json "$odd/trace"
safe 0 35m print --format=csv "$odd/trace"
safe 1 é print "$odd/none"
safe 1 é print --format="$odd" "$odd/trace"
safe 1 é print "$odd/main.c"
safe 0 é info "$odd/trace"
for option in kind function line thread; do
    for format in text json csv; do
        safe 0 '' cache --by=$option --format=$format "$odd/trace"
    done
done
safe 0 "$f" cache --by=function "$odd/trace"
safe 1 é cache --l1d="$odd" "$odd/trace"
safe 1 é cache "$odd/none"
safe 1 é cache --from=lackey "$odd/main.c"
safe 0 '' reuse "$odd/trace"
safe 1 é reuse "$odd/none"
safe 1 é libc --build -o new --source="$odd/none"
for format in lackey din json; do
    safe 0 '' export --to=$format "$odd/trace"
done

# processes that run
running() {
    mkfifo input
    : >said
    "$odd/$1" "$odd" wait <input >said 2>&1 &
    process=$!
    exec 7>input
    until grep -q ready said || ! kill -0 $process; do sleep 0.01; done
    rm input said
}
running counts
safe 0 35m stat --pid=$process
look
exec 7>&-
wait $process
running moments
safe 0 thread moment $process
safe 0 é info --pid=$process
safe 1 é watch --pid=$process -e "$odd"
look
exec 7>&-
wait $process

# the runtime's own, and quipu itself
at_terminal 0 "d?[35m" env QUIPU_DATA="$odd/main.c/é" "$odd/counts" "$odd"
safe 1 é "$odd"
safe 1 é help "$odd"
look
quipu --help | sed -n 's/^  \([a-z]*\) .*/\1/p' >table
[[ $(wc -l <table) -ge 17 ]] || fail "no table of commands: $(cat table)"
while read -r command; do
    [[ -n ${tried[$command]-} ]] || fail "'$command' is not tried here"
done <table
