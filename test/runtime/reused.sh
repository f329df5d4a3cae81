#!/bin/sh
# reused.sh: a process that gets the number of a dead relative, whose AT_RANDOM bytes are the same,
# takes the next name, and joins no file but its own.
# timeout: 120
. "$(dirname "$0")/common.sh.inc"

# cells MODULE: those of the module in each file, in order.
cells() {
    ./show quipu.data/*.quipu >shown || fail "$(tail -n1 shown)"
    sed -n "s/^module $1 .* cells //p" shown | sort -n | tr '\n' ' '
}

# left NAMES: the files of number 500.
left() {
    names=$(cd quipu.data && echo reused.500.*)
    test "$names" = "$1" || fail "$2: expected $1 but found $names"
}

same() {
    test "$1" = "$2" || fail "$3: expected '$1' but found '$2': $(cat shown)"
}

link shared liblibrary.so "$here/library.c"
link exe reused -I"$root/src" -DCOUNTED "$here/reused.c"

# By files as a killed relative leaves them, with the lock held.
timeout 60 ./reused prepared >met 2>errors || fail "prepared: status $?: $(cat met errors)"
new=$(ls quipu.data | grep -c '\.2\.quipu$')
same "$(cat met)" "$new" "files beside those prepared"
if test "$new" -gt 0; then
    for file in quipu.data/*.2.quipu; do
        ./show "$file" >shown || fail "$(cat shown)"
        same 1 "$(grep -c '^module reused .* cells 10$' shown)" "'$file'"
    done
fi

# By a namespace's first process, which may choose the next number.
map=
test "$(id -u)" = 0 || map=-r
alone() {
    rm -rf quipu.data
    silent timeout 60 unshare $map -p -f --mount-proc "$@"
}
unshare $map -p -f --mount-proc sh -c 'echo 499 >/proc/sys/kernel/ns_last_pid' 2>errors || {
    echo "skipped in part: no namespace whose numbers can be chosen: $(cat errors)"
    exit 0
}
three="reused.500.2.quipu reused.500.3.quipu reused.500.quipu"
alone ./reused fork 3
left "$three" "siblings"
same "0 10 100 1000 " "$(cells reused)" "siblings"

# An object that the child opens twice has slots in the child's file each time.
for kind in fork clone; do
    alone ./reused $kind 3 ./liblibrary.so
    left "$three" "siblings, $kind, object"
    same "2 20 2 200 2 2000 " "$(cells liblibrary.so)" "siblings, $kind, object"
done

# An object that alone is instrumented, opened in the child and before.
cp reused counted
plain reused -D_GNU_SOURCE "$here/reused.c"
for kind in fork clone; do
    alone ./reused $kind 3 ./liblibrary.so
    left "$three" "host, $kind"
    same "2 20 2 200 2 2000 " "$(cells liblibrary.so)" "host, $kind"
    alone ./reused ancestor $kind ./liblibrary.so
    left "reused.500.2.quipu reused.500.quipu" "ancestor, $kind"
    same "1 100 2 20 " "$(cells liblibrary.so)" "ancestor, $kind"
done
cp counted reused

# Two modules that fork together: they see each other's note, or meet by the file's name.
for note in kept removed; do
    test $note = kept || objcopy --remove-section .note.quipu liblibrary.so
    link exe reused -I"$root/src" -DCOUNTED "$here/reused.c" -Wl,--no-as-needed -L. -llibrary \
        -Wl,-rpath,"$work"
    alone ./reused fork 3
    left "$three" "two modules, note $note"
    same "0 10 100 1000 " "$(cells reused)" "two modules, note $note"
    same "0 0 0 0 0 0 1 0 " "$(cells liblibrary.so)" "two modules, note $note"
    same 4 "$(grep -c ^file shown)" "two modules, note $note"
done
exit 0
