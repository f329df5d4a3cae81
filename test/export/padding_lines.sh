#!/bin/bash
# Padding that is executed has the line that addr2line tells in the twin: that of the instruction
# before it, or of a location in front of it, if the assembler has written a row for that at once.
. "$(dirname "$0")/../needs.sh.inc"
. "$(dirname "$0")/lib.bash"
python3 - >padded.s <<'END'
between = {
    'above': '',
    'viewed': '.loc 1 5 1 view .L{name}V1',
    'unviewed': '.loc 1 5 1',
    'two': '.loc 1 5 1; .loc 1 6 1',
    'two_viewed': '.loc 1 5 1 view .L{name}V1; .loc 1 6 1',
    'three': '.loc 1 5 1; .loc 2 60 1; .loc 1 6 1',
    'behind': '.loc 2 50 1 view .L{name}V1',
    'twice': '.loc 1 5 1 view .L{name}V1; .p2align 3; .loc 1 6 1 view .L{name}V2',
    'twice_unviewed': '.loc 1 5 1; .p2align 3; .loc 1 6 1',
}
print('\t.file "padded.c"\n\t.text\n\t.file 1 "padded.c"\n\t.file 2 "other.h"')
for name, text in between.items():
    text = text.format(name=name).replace('; ', '\n\t')
    print(f"""\t.globl {name}
\t.type {name}, @function
\t.p2align 6
{name}:
\t.loc 1 3 1 view -0
\tsubq $8, %rsp
\t.loc 1 4 1
\tcall nothing
\t{text}
\t.p2align 5
.L{name}2:
\t.loc 2 70 1
\taddq $8, %rsp
\t.loc 1 7 1
\tret
\t.size {name}, .-{name}""")
print('\t.section .note.GNU-stack,"",@progbits')
END
{
    names=$(sed -n 's/^\t\.globl //p' padded.s)
    echo 'void nothing(void) {}'
    for name in $names; do echo "void $name(void);"; done
    echo 'int main(void) {'
    for name in $names; do echo "    $name();"; done
    echo '}'
} >main.c
"$quipu" cc --quipu=none -g -O1 padded.s main.c -o twin || fail "cannot build the twin"
for mode in count count,event; do
    "$quipu" cc --quipu=$mode -g -O1 padded.s main.c -o counted || fail "$mode: cannot build"
    rm -rf data
    QUIPU_DATA=data ./counted || fail "$mode: the program failed"
    "$quipu" report --by=instruction --format=json data >report.json
    python3 - "$mode" <<'END' || fail "$mode: lines of padding are wrong, see above"
import json, os, subprocess, sys
symbols = {}
for row in subprocess.check_output(['nm', 'twin'], text=True).splitlines():
    fields = row.split()
    if len(fields) == 3:
        symbols[fields[2]] = int(fields[0], 16)
wrong, lines = 0, set()
for row in json.load(open('report.json'))['instructions']:
    address = symbols[row['function']] + row['offset']
    told = subprocess.check_output(['addr2line', '-e', 'twin', hex(address)], text=True).split()[0]
    file, _, line = told.rpartition(':')
    got = (os.path.basename(row.get('file') or ''), str(row.get('line') or 0))
    lines.add(got)
    if got != (os.path.basename(file), line):
        print(sys.argv[1], row['function'], hex(row['offset']), 'is', got, 'and not', told)
        wrong += 1
if ('other.h', '50') not in lines or ('padded.c', '6') not in lines:
    sys.exit(f'the padding did not run: {sorted(lines)}')
sys.exit(wrong != 0)
END
done
