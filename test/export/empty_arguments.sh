#!/bin/bash
# A program's command line is told whole where some of its arguments are empty.
. "$(dirname "$0")/../bad/lib.bash"
make_program program -O1 <<'EOF'
int main(int argc, char **argv) { return argc > 6 || !argv; }
EOF
# tells COMMAND ARGUMENT...: the program with these arguments is told so.
tells() {
    local wanted=$1
    shift
    rm -rf quipu.data
    ends 0 ./program "$@"
    ends 0 quipu export --to=json quipu.data
    python3 -c 'import json, sys
sys.exit(json.load(open("output"))["processes"][0]["command"] != sys.argv[1])' "$wanted" ||
        fail "no '$wanted': $(grep command output)"
}
tells './program'
tells './program one  two' one '' two
tells './program   one' '' '' one
tells './program one' one ''
