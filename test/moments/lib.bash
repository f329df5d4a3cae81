# What the tests of names of moments have in common; sourced in front of them.
. "$(dirname "$0")/../bad/lib.bash"

# leads SYMBOL NAME...: each name leads where the symbol does, when that is first reached.
leads() {
    local symbol=$1 ticks=0
    shift
    until quipu goto --print "$symbol@$ticks" -- ./program >output 2>messages; do
        ((++ticks < 100)) || fail "'$symbol' was never reached: $(cat messages)"
    done
    for name; do
        for offset in '' +0 +0x0; do
            ends 0 quipu goto --print "$name$offset@$ticks/1" -- ./program
            grep -q "^$symbol+0x0@$ticks/1~" output || fail "'$name$offset': $(cat output)"
        done
    done
}
