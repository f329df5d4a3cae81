#!/bin/bash
# Names of files and symbols, arguments and lines of source may hold anything.  Nothing that acts on
# a terminal reaches it, in tables, annotated source, assembly or messages; UTF-8 stays readable.
. "$(dirname "$0")/lib.bash"
odd=$'d\e[31mx\x9b1m\xc2\x9b7m \xc3\xa9'
shown='d?[31mx?1m??7m é'
mkdir "$odd"
cat >"$odd/h.c" <<C
/* é */ static const char *text = "$odd"; /* $odd */
__attribute__((noinline)) int oddQQQQQname(int a) { return a + (text != 0); } /* $odd */
int main(int count, char **arguments) { return oddQQQQQname(count) + !arguments == 7; }
C
ends 0 quipu cc -g "$odd/h.c" -o program
sed -i 's/oddQQQQQname/odd\x1b[31mname/g' program # the assembler takes no such name
ends 0 ./program "$odd"

# safe STATUS COMMAND...: the command ends so, and no byte that it writes acts on a terminal.
safe() {
    ends "$@"
    cat output messages >all
    iconv -f utf-8 -t utf-8 all >/dev/null || fail "'$*' writes what is no UTF-8: $(cat -A all)"
    ! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' all ||
        fail "'$*' writes control characters: $(cat -A all)"
}
# tells TEXT: the last command said it.
tells() {
    grep -qF -- "$1" all || fail "no '$1': $(cat -A all)"
}
for view in function file line module process thread; do
    safe 0 quipu report --by=$view
done
safe 0 quipu report
tells "odd?[31mname ($shown/h.c:2)"
safe 0 quipu annotate
tells "$shown/h.c: "
tells "/* $shown */"
safe 0 quipu annotate --asm
tells "($shown/h.c:2)"
safe 0 quipu info
safe 0 quipu info program
safe 1 quipu stat ./program "$odd"
safe 1 quipu report "$odd/none"
tells "'$shown/none'"
safe 1 quipu annotate --function="$odd"
safe 1 quipu "$odd"
tells "'$shown': no such command"
safe 1 quipu cc --quipu="$odd" -c "$odd/h.c"
mv "$odd/h.c" "$odd/moved.c"
safe 1 quipu annotate
cp -r quipu.data other
safe 0 quipu diff quipu.data other
ends 0 quipu cc --quipu=event "$odd/moved.c" -o "$odd/events"
safe 0 quipu stat "$odd/events" "$odd"
