#!/bin/bash
# The assembler numbers the lines of text without .loc by itself.  Code out of line has the line of the
# instructions that it copies there, too, and what stands behind it its own line again: in hits and backtraces,
# in the debug information, and in reports.
#
# Each '@' of the text is 500000 and the line, plus 10000 in a file of another name: an instruction tells its own
# place.
# timeout: 300
. "$(dirname "$0")/lib.bash"

cat >main.c <<'EOT'
#include <string.h>
int x[4];
char text[16];
void first(int *), second(int *, int), third(int *), fourth(int *), marked(int *);
void called(void);
void called(void) { x[2]++; }
int main(void)
{
    first(x);
    second(x, 5);
    third(x);
    fourth(x);
    marked(x);
    return 0;
}
EOT

# The body, after which a file may have more.
cat >body <<'EOT'
        .section .note.GNU-stack, "", @progbits
        .text
        .globl first, second, third, fourth, marked
        .type first, @function
first:
        movl    $@, x(%rip)
        movl    $@, %eax; movl  $@, 4(%rdi); movl $-@, (%rdi) # several statements
        .cfi_startproc
        movl    $@, x(%rip)                     # 3 "comment.c"
        ret # 4 "comment.c"
        .cfi_endproc
        .size first, . - first

        .type second, @function
second: pushq   %rbx
        movl    %esi, %ebx
        cmpl    $@, %esi
        jg      3f
1:      movl    $@, x(%rip)
        movl    $0, x(%rip)                     # not told
        testl   $@, %ebx
        jz      2f
        cmpl    $@, %ebx
2:      lock
        addl    $@, (%rdi)
        subl    $@, %eax; movl $-@, 4+x(%rip)
        decl    %ebx
        jnz     1b
        cmpl    $@, %esi
        popq    %rbx
        ret# 4 "comment.c"
3:      movl    $@, x(%rip); popq %rbx; ret; .size second, . - second; .type third, @function; third: movl $@, x(%rip)
        .intel_syntax noprefix
        mov     dword ptr x[rip+4], @
        mov     eax, @
        mov     ecx, 2
        cmp     ecx, @
        rep stosd # two elements
        test    eax, @
        ret
        .att_syntax prefix
        .size third, . - third
        .type fourth, @function
fourth:
        pushq   %rdi
        call    called@PLT                      # calls
        cmpl    $@, %eax
        popq    %rdi
        movl    $@, x(%rip)
        movl    $39, %eax
        syscall                                 # getpid
        movl    $@, 4+x(%rip)
        ret
        .size fourth, . - fourth
EOT
cat >comments <<'EOT'
        .type marked, @function
marked: cmpl    $@, %eax /* a comment of
        two lines */; movl $@, x(%rip) /* one of
        three
        lines */
        movl    $@, 4+x(%rip)
        ret /* another
        */
        .size marked, . - marked
EOT
# How this assembler numbers a statement behind the end of a comment of several lines: by its own line, or, as
# in binutils 2.44 and 2.47, by the comment's first. Text without changes has that line; copies have their own.
printf '/* a\n b */; nop\n' >behind.s
as -g behind.s -o behind.o && behind=$(objdump -d -l behind.o | sed -n 's/.*behind\.s:\([12]\)$/\1/p')
[[ -n $behind ]] || fail "the assembler numbers nothing"
cat >markers <<'EOT'
        .type marked, @function
marked: cmpl    $@, %eax
# 70 "other file.c"
        movl    $@, x(%rip); movl $@, 4+x(%rip)
        jmp     1f
#80 "other file.c" 1 3
1:      movl    $@, x(%rip)
        ret
        .size marked, . - marked
last:   movl    $@, x(%rip)
        ret
EOT

cat >included.h.in <<'EOT'
        .type marked, @function
#define STORE(one, two) movl $(one), 4+x(%rip); movl $(two), x(%rip)
marked: STORE(-@, @)
        ret
        .size marked, . - marked
EOT

# number [OFFSET]: replaces each '@'.
number() {
    python3 -c '
import re, sys
line, other = 0, int(sys.argv[1])
for text in sys.stdin:
    found = re.match(r"# *(\d+) \"(.*)\"", text)
    line += 1
    if found:
        line, other = int(found[1]) - 1, 10000
    print(re.sub(r"@(?![a-zA-Z])", str(500000 + line + other), text), end="")' "${1:-0}"
}

# tool.py KIND OWN OTHER BUILD COMMENT <INPUT: compares each place that is told in a listing or in hits. The
# assembler may give the statement behind a comment, which is on line COMMENT, the line before: in a build
# without quipu it does.
cat >tool.py <<'EOT'
import json, re, sys
kind, own, other, build, comment = sys.argv[1:]
told, wrong = 0, []

def place_of(number):
    number -= 500000
    return (other if number > 10000 else own, number % 10000)

def compare(number, place, what):
    global told
    told += 1
    expected = [place_of(number)]
    if expected[0] == (own, int(comment)):
        before = own, int(comment) - 1
        expected = [before] if build == 'plain' else [before, expected[0]]
    if place not in expected:
        wrong.append(f'{what}: {place}, not {expected}')

if kind == 'listing':
    place = None
    for line in sys.stdin:
        found = re.match(r'(?:.*/)?([^/]*):(\d+)(?: \(discriminator \d+\))?$', line)
        if found:
            place = found[1], int(found[2])
        for text in re.findall(r'[ ,]\$(0x[0-9a-f]+),', line):
            number = int(text, 16)
            number = min(number, (1 << 32) - number)
            if 500000 <= number < 520000 and 'lock' not in line: # that of the prefix
                compare(number, place, line.strip())
else:
    for hit in map(json.loads, sys.stdin):
        old, new = (int(re.search(r'-?\d+', hit[key])[0]) for key in ('old', 'new'))
        instruction = hit['instruction']
        number = new - old if 'add' in instruction else abs(new)
        if instruction.startswith('rep stos'): # three lines behind the value's
            number += 3
        if 500000 <= number < 520000:
            compare(number, (hit['file'], hit['line']), instruction)
if told < (18 if kind == 'listing' else 15):
    wrong.append(f'only {told} places told')
print('\n'.join(wrong))
sys.exit(bool(wrong))
EOT

# compares KIND INPUT [BUILD]: what is told there is true.
compares() {
    local comment=0
    [[ $behind == 2 || $own == *.S ]] || comment=$(sed -n '/^ *two lines .*movl/=' own.s)
    python3 tool.py "$1" "$own" "$other" "${3:-quipu}" "${comment:-0}" <"$2" >wrong || fail "$what: $1: $(cat wrong)"
}

# tries SOURCE FLAGS...: in all builds.
tries() {
    local source=$1 build
    shift
    gcc "$@" main.c "$source" -o plain && objdump -d -l --no-show-raw-insn plain >listing ||
        fail "$what: cannot build it without quipu"
    compares listing listing plain
    for build in "${builds[@]}"; do
        # shellcheck disable=SC2086
        quipu cc --quipu=$build "$@" main.c "$source" -o program 2>messages || fail "$what, $build: $(cat messages)"
        [[ ! -s messages ]] || fail "$what, $build: $(cat messages)"
        objdump -d -l --no-show-raw-insn program >listing
        what="$what, $build" compares listing listing
        [[ $build == watch* ]] || continue
        watches 0 --format=json -e x -- ./program
        what="$what, $build" compares hits hits
    done
}

builds=(watch 'watch --quipu-watch=all' 'watch,moment' count calls)
for version in 5 4; do
    own=own.s other='other file.c'
    for more in comments markers; do
        what="$more, DWARF $version"
        { cat body "$more"; } | number >own.s
        tries own.s -O1 -g "-gdwarf-$version"
    done
    what=".file, DWARF $version"
    { echo '        .file "named.c" # a name of the source'; cat body comments; } | number >own.s
    tries own.s -O1 -g "-gdwarf-$version"

    own=own.S other=more.h
    mkdir -p parts
    number 10000 <included.h.in >parts/more.h
    what="preprocessed, DWARF $version"
    { cat body; echo '#include "more.h"'; } | number >own.S
    tries own.S -Iparts -O1 -g "-gdwarf-$version"
    builds=(watch count)
done

# Input from a pipe has no name but the assembler's.
own='{standard input}' other='other file.c'
what='a pipe'
for more in comments markers; do
    { cat body "$more"; } | number >own.s
    as -g - -o plain.o <own.s
    "$QUIPU_BUILD/libexec/quipu/as" --quipu=watch -g - -o own.o <own.s || fail "$what: cannot assemble"
    for object in plain.o own.o; do
        objdump -d -l --no-show-raw-insn "$object" >listing
        what="$what, $object" compares listing listing "${object%.o}"
    done
done

# What a compiler has written without -g.
what='compiled without -g'
cat >code.c <<'EOT'
extern int x[4];
void code(int *p, int n);
void code(int *p, int n)
{
    for (int i = 0; i < n; i++) {
        p[0] = 500001;
        if (p[1] == 500002)
            p[2] = 500003;
        __asm__ volatile("movl $500004, %0; movl $500005, %1" : "=m"(x[0]), "=m"(x[1]));
        x[3] = 500006;
    }
    p[1] = 500007;
}
EOT
gcc -O1 -S code.c && gcc -g -c code.s -o plain.o || fail "$what: cannot build it without quipu"
for build in watch 'watch --quipu-watch=all' count; do
    # shellcheck disable=SC2086
    quipu cc --quipu=$build -g -c code.s -o own.o || fail "$what: cannot build"
    for object in plain own; do
        objdump -d -l --no-show-raw-insn "$object.o" | python3 -c '
import re, sys
place = None
for line in sys.stdin:
    found = re.match(r"(?:.*/)?([^/]*:\d+)(?: \(discriminator \d+\))?$", line)
    place = found[1] if found else place
    for number in re.findall(r"\$(0x7a12\w),", line):
        print(number, place)' | LC_ALL=C sort -u >"places.$object"
    done
    [[ $(wc -l <places.plain) -eq 7 ]] || fail "$what: $(cat places.plain)"
    diff places.plain places.own >difference || fail "$what, $build: lines differ: $(cat difference)"
done

# Other ways of telling lines.
what='other ways'
own=own.S other=more.h
quipu cc --quipu=watch -Iparts -g -O1 main.c own.S -o program || fail "$what: cannot build"
watches 1 --format=json --guard=x -- ./program
compares hits hits
python3 - "$(sed -n '/# calls/=' own.S)" >wrong <<'EOT' || fail "$what: backtraces: $(cat wrong)"
import json, sys
callers = set()
for hit in map(json.loads, open('hits')):
    frames = [frame.split() for frame in hit['backtrace']]
    place = f"{hit['file']}:{hit['line']}"
    if frames[0][3] != place:
        raise SystemExit(f'{frames[0]}, not {place}')
    if hit['function'] == 'called':
        callers.add(frames[1][3])
if callers != {f'own.S:{sys.argv[1]}'}:
    raise SystemExit(f'called at {callers}, not {sys.argv[1]}')
EOT
watches 0 --summary --format=json -e x -- ./program
python3 - >wrong <<'EOT' || fail "$what: summary: $(cat wrong)"
import json, re
told = 0
for writer in json.load(open('hits'))['writers']:
    found = re.search(r'\$-?(0x7a[0-9a-f]+),', writer['instruction'])
    if found and writer['file'] == 'own.S':
        told += 1
        if int(found[1], 16) != 500000 + writer['line']:
            raise SystemExit(writer)
if told < 10:
    raise SystemExit(f'only {told} writers')
EOT

# The report's instructions are those of each line in a build without quipu.
what='report'
gcc -Iparts -g -O1 main.c own.S -o plain && quipu cc --quipu=count -Iparts -g -O1 main.c own.S -o program &&
    QUIPU_DATA=counts ./program && quipu report --by=line --format=json counts >lines || fail "$what: cannot build"
objdump -d -l --no-show-raw-insn plain >listing
python3 - >wrong <<'EOT' || fail "$what: lines differ: $(cat wrong)"
import collections, json, re
plain, place = collections.Counter(), ''
for line in open('listing'):
    found = re.match(r'(?:.*/)?([^/]*:\d+)(?: \(discriminator \d+\))?$', line)
    place = found[1] if found else '' if re.match(r'[0-9a-f]+ <', line) else place
    plain[place] += bool(re.match(r' +[0-9a-f]+:\t', line))
told = {f"{line['file'].split('/')[-1]}:{line['line']}": line['static_instructions']
        for line in json.load(open('lines'))['lines']}
wrong = {place: (count, plain[place]) for place, count in told.items()
         if place.startswith(('own.S', 'more.h')) and count != plain[place]}
if wrong or len(told) < 30:
    raise SystemExit(f'{len(told)}: {wrong}')
EOT
