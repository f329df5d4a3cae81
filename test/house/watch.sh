#!/bin/bash
# The tests on watched memory fail where 'quipu watch' tells a write too few, too many, or another.
. "$(dirname "$0")/../bad/lib.bash"
harness=$(cd "$(dirname "$0")/.." && pwd)/harness/watch
cat >small.c <<'END_OF_SOURCE'
// watch: cells = cells:16
// variants: -O1
int cells[4];
int main(void) {
    for (volatile int i = 0; i < 4; i++)
        cells[i] = i + 5;
    return 0;
}
END_OF_SOURCE
# A build directory whose 'quipu watch' has its hits edited by the script in ./edit.
mkdir -p false/bin
ln -s "$QUIPU_BUILD/test" false/
ln -s "$QUIPU_BUILD"/bin/* false/bin/
rm false/bin/quipu
cat >false/bin/quipu <<END_OF_SCRIPT
#!/bin/bash
"$QUIPU_BUILD/bin/quipu" "\$@"
status=\$?
[[ \$1 != watch ]] || sed -i -f "$PWD/edit" hits.json
exit \$status
END_OF_SCRIPT
chmod +x false/bin/quipu
number=0
look() {
    number=$((number + 1))
    mkdir look$number
    (cd look$number && QUIPU_BUILD=$PWD/../false "$harness" "$OLDPWD/small.c" >../said 2>&1)
}
: >edit
look || fail "the test fails with nothing edited: $(cat said)"
for edit in '2d' '3p' 's/"new_bytes":"0[05]/"new_bytes":"07/' 's/"function":"main"/"function":"other"/' \
    '1{h;d};2G'; do
    printf '%s\n' "$edit" >edit
    look && fail "not noticed: $edit"
    grep -qE 'missing|invented' said || fail "another failure: $(cat said)"
done
exit 0
