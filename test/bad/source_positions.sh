#!/bin/bash
# A warning about a function names the user's source, not the compiler's temporary file: with the
# line where debug information has it.  What the user keeps (-save-temps, a .s) is named itself.
. "$(dirname "$0")/lib.bash"
mkdir sources
cat >sources/alone.c <<'END'
int none(void) {
    return 1;
}

int alone(int x) {
    int r;
    __asm__ volatile("call 1f\n1: pop %q0" : "=r"(r));
    return r + x;
}
END
reason="'alone': a call is made for its return address; function left as it is"

# warns PREFIX COMPILER ARGUMENTS...: the only message.
warns() {
    local prefix=$1
    shift
    "$@" --quipu=count -o alone.o >said 2>&1 || fail "$*: $(cat said)"
    sed -i 's,^alone.c: ,sources/&,' said # without -g, gcc does not name the directory
    # In the line table of a newer clang, a function begins with the line of its first statement.
    [[ $1 != quipu-clang ]] || sed -i 's,^sources/alone.c:7:,sources/alone.c:5:,' said
    [[ $(cat said) == "$prefix: warning: quipu: $reason" ]] || fail "$*: $(cat said)"
}

compilers=("quipu cc")
command -v clang >/dev/null && compilers+=("quipu-clang")
for compiler in "${compilers[@]}"; do
    # shellcheck disable=SC2086
    {
        warns sources/alone.c $compiler -O2 -c sources/alone.c
        warns sources/alone.c:5 $compiler -O2 -g -c sources/alone.c
        mkdir -p own
        TMPDIR=$PWD/own warns sources/alone.c:5 $compiler -O2 -g -c sources/alone.c
        $compiler --quipu=none -g -O2 -S sources/alone.c -o alone.s
        warns "alone.s:$(grep -n '^alone:' alone.s | cut -d: -f1)" $compiler -c alone.s
    }
done
warns sources/alone.c:5 quipu cc -O2 -pipe -g -c sources/alone.c
warns sources/alone.c quipu cc -O2 -pipe -c sources/alone.c
