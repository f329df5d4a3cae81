#!/bin/bash
# Whoever mistypes a name is told what it could have been: commands, options, their words, columns,
# functions, files, modules, kinds of events.  A pattern that matches nothing is an error wherever
# one is taken, also beside others that match.
. "$(dirname "$0")/lib.bash"
mkdir source
cat >source/tables.c <<'C'
int seen;
int table_find(int a) { return a + 1 + (seen = a) * 0; }
C
cat >main.c <<'C'
int table_find(int a);
int main(int count, char **arguments) { return table_find(count) + !arguments != 2; }
C
ends 0 quipu cc --quipu=count,event -g -O1 main.c source/tables.c -o program
QUIPU_DATA=quipu.data ends 0 ./program

# meant NAME COMMAND...: refused, and NAME is offered.
meant() {
    refuses "; did you mean '$1'?" -- "${@:2}"
}
meant report quipu reprot
meant report quipu help reprot
meant --function quipu report --funtion=main
meant --output quipu run --outptu here ./program
meant --limit quipu watch --limt=3 ./program
meant --quipu-event quipu cc --quipu-evnt=loads -c main.c
meant event quipu cc --quipu=count,evnet -c main.c
meant loads quipu cc --quipu-event=laods -c main.c
meant block quipu cc --quipu-placement=blok -c main.c
meant all quipu cc --quipu-watch=al -c main.c
meant callsite quipu report --by=calsite
meant json quipu report --format=jsn
meant instructions quipu report --sort=instuctions
meant always quipu report --color=allways
meant table_find quipu report --function=tabel_find
meant tables.c quipu report --file=table.c
meant source/tables.c quipu report --by=line --file=sorce/tables.c
meant program quipu report --module=progam
meant table_find quipu annotate --function=tabel_find
meant table_find quipu annotate --asm --function=tabel_find
meant tables.c quipu annotate table.c
meant tables.c quipu annotate main.c table.c
meant tables.c quipu annotate --asm main.c table.c
meant program quipu annotate --module=progam
meant always quipu annotate --color=allways
meant function quipu diff --by=functoin quipu.data quipu.data
meant csv quipu diff --format=cvs quipu.data quipu.data
meant thread quipu stat --by=treads --data
meant event quipu stat --sort=evnt --data
meant lcov quipu export --to=lcv
meant json quipu info --format=jsno

# alone and together
refuses "'--module=none'" "--by=module" -- quipu report --module=none --function=main
refuses "'--function=none'" -- quipu report --module=program --function=none
refuses "together" -- quipu report --file=main.c --function=table_find
refuses "together" -- quipu annotate --function=table_find main.c
refuses "'none.c'" -- quipu annotate main.c none.c
refuses "'none.c'" -- quipu annotate --asm main.c none.c
refuses "'--module=none'" -- quipu annotate --module=none
refuses "'--module=none'" -- quipu annotate --asm --module=none
refuses "'--function=none'" -- quipu annotate --function=none main.c
ends 0 quipu annotate --function='table_*' --module=program 'tab*.c'

refuses "'--source=none'" "No such file" -- quipu annotate --source=none

# moments
ends 0 quipu cc --quipu=moment,watch -g -O1 main.c source/tables.c -o moments
meant table_find quipu goto --print table_fnid@1 -- ./moments
meant tables.c quipu goto --print table.c:2@1 -- ./moments
meant table_find quipu when --from=table_fnid 'seen > 7' -- ./moments
meant json quipu when --format=jsn 1 -- ./moments
meant json quipu watch --format=jsn -e 0x1000:8 -- ./moments
ends 1 quipu watch --heap=table.c:2 -- ./moments
grep -q "; did you mean 'tables.c'?" messages || fail "--heap: $(cat messages)"

cat >templates.cc <<'C'
namespace store { template <class T> struct pool { __attribute__((noinline)) T take(T a) { return a + 1; } }; }
int main() { store::pool<int> all; return all.take(1) != 2; }
C
ends 0 quipu-c++ -g templates.cc -o templates
QUIPU_DATA=cxx.data ends 0 ./templates
meant 'store::pool<int>::take(int)' quipu report --function='store::pool<int>::tak' cxx.data
meant 'store::pool<int>::take(int)' quipu report --function=take cxx.data
ends 0 quipu report --function='store::pool<int>::take(int)' cxx.data

# what is allowed, where it matters
ends 1 quipu watch --guard seen --allow=tabel.c -- ./moments
grep -q "'tabel.c' is allowed, .*; did you mean 'tables.c'?" messages || fail "--allow: $(cat messages)"
