#!/bin/bash
# What 'quipu watch' refuses: one error each, exit status 1, the program not started, and nothing left
# behind.
. "$(dirname "$0")/lib.bash"
make_standin
gcc -O1 -pthread -I"$top/src" "$top/test/watch/parts/program.c" -o no_lines || fail "no_lines"
printf 'static int used; int main(void) { return used++; }\n' >plain.c
gcc -g plain.c -o plain || fail "plain"
printf '#!/bin/sh\n./program types\n' >script
chmod +x script

# wrong TEXT COLUMN EXPRESSION [OPTIONS]: refused with TEXT, and a mark below the column.
wrong() {
    ends 1 quipu watch "${@:4}" -e "$3" -- ./program types
    [[ ! -s output ]] || fail "'$3': started: $(cat output)"
    [[ $(wc -l <messages) -eq 3 ]] || fail "'$3': $(cat messages)"
    [[ $(sed -n 1p messages) == "quipu: error: "*"$1"* ]] || fail "'$3': not '$1': $(cat messages)"
    [[ $(sed -n 3p messages) == "$(printf '    %*s' "$2" '^')" ]] ||
        fail "'$3': not at $2: $(cat messages)"
}
wrong "did you mean 'config'" 1 'confg'
wrong "did you mean 'limits'" 8 'config.limts[3]'
wrong "its value is in a register" 1 'set_types::i'
wrong "there is no source file 'progam.c'; did you mean 'program.c'?" 1 'progam.c:counter'
wrong "named by the line that allocates them: FILE:LINE" 6 'heap:table.c'
wrong "there is no 'sizeof' in expressions" 8 'buffer[sizeof(int)]'
wrong "there is no 'sizeof' in expressions" 1 'sizeof counter'
wrong "to functions and arrays" 3 '*(int (*)(void))counter'
wrong "to functions and arrays" 4 '(*(struct point (*)[3])counter)[1]'
wrong "to functions and arrays" 3 '*(port (*)(void))counter'
wrong "functions cannot be called" 1 'set_types(3)'
wrong "is no pointer" 2 '*counter'
wrong "no place in memory" 1 'counter + 1'
wrong "no place in memory" 1 '&counter'
wrong "no place in memory" 1 'GREEN'
wrong "there are 8 elements; the last index is 7" 18 'config.limits[2..8]'
wrong "the indices are from 0 to 7" 15 'config.limits[8]'
wrong "the indices are from 0 to 4095" 8 'buffer[-1]'
wrong "the indices are from 0 to 3" 9 'grid[2][4]'
wrong "the indices are from 0 to 7" 24 '1 + (int)config.limits[9]'
wrong "less than the first" 18 'config.limits[3..2]'
wrong "must be numbers" 11 'buffer[0..index_of]'
wrong "must be the last" 1 'grid[0..1][2]'
wrong "must stand here" 11 'buffer[0..]'
wrong "']' is missing" 12 'buffer[0..1'
wrong "how many bytes" 12 '0x7fff1234:0'
wrong "how many bytes" 12 '0x7fff1234:x'
# wrong_if TEXT EXPRESSION CONDITION
wrong_if() {
    ends 1 quipu watch --if "$3" -e "$2" -- ./program types
    grep -qF -- "$1" messages || fail "'$3': not '$1': $(cat messages)"
    [[ ! -s output ]] || fail "'$3': started: $(cat output)"
}
wrong_if "did you mean 'new'" counter 'nev > 1'
wrong_if "is a structure" config 'new > 1'
wrong_if "has no member" config 'new.limts'
wrong_if "bit field" config.low 'new > 1'
wrong_if "names no variable" counter '1 > 2'

expect() {
    refuses "$1" -- quipu watch "${@:2}"
    [[ ! -s output ]] || fail "'${*:2}': started: $(cat output)"
}
expect "no such program" -e counter -- ./no_such_program
ends 1 quipu watch -e counter -- ./no_lines types
grep -q "'counter' is not known: .*build it with -g" messages || fail "no_lines: $(cat messages)"
[[ ! -s output ]] || fail "no_lines: started"
ends 0 quipu watch -e 0x10000000000:8 -- ./no_lines types
expect "--quipu=watch" -e used -- ./plain
expect "no ELF file" -e counter -- ./script
expect "nothing to watch" -- ./program types
expect "no program" -e counter
expect "nonsense" --nonsense -e counter -- ./program types
ends 1 quipu watch --heap=b.c -- ./program types
grep -q "named by the line that allocates them: FILE:LINE" messages || fail "--heap=b.c: $(cat messages)"
expect "--limit" --limit=0 -e counter -- ./program types
expect "--limit" --limit=many -e counter -- ./program types
expect "xml" --format=xml -e counter -- ./program types
expect "csv" --format=csv -e counter -- ./program types
expect "cannot write" --log=/nowhere/hits -e counter -- ./program types
expect "--guard or --never-written" --fatal -e counter -- ./program types
expect "--guard" --allow main -e counter -- ./program types
ends 0 quipu watch --help
grep -q never-written output || fail "$(cat output)"
leaves_nothing

# a type that the debug information only declares
printf 'struct s *pointer, *make(void);\nint main(void) { pointer = make(); return 0; }\n' >declared.c
printf 'struct s { int a; } made;\nstruct s *make(void) { return &made; }\n' >defined.c
quipu cc --quipu=watch -g -c declared.c && quipu cc --quipu=watch -c defined.c &&
    quipu cc --quipu=watch declared.o defined.o -o declared || fail 'cannot build declared'
ends 1 quipu watch -e 'pointer->a' ./declared
[[ $(cat messages) == *"does not define it"* ]] || fail "declared type: $(cat messages)"

# a variable that another file defines
printf 'int other;\n' >one.c
printf 'extern int other;\nint main(void) { return other; }\n' >two.c
quipu cc --quipu=watch -g one.c two.c -o elsewhere || fail 'cannot build elsewhere'
ends 1 quipu watch -e two.c:other ./elsewhere
[[ $(cat messages) == *"in 'two.c'; it is in 'one.c'"* ]] || fail "elsewhere: $(cat messages)"
