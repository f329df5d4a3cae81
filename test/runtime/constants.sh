#!/bin/bash
# Hand-written code whose instructions' sizes depend on constants that are defined outside code: by each
# directive that can define one, in an assembly file and in C's asm. All five instructions of the function
# are counted, so the notes fit the code.
. "$(dirname "$0")/../bad/lib.bash"
cat >main.c <<'EOT'
int f(void);
int main(void) { return f() - 1; }
EOT
definitions=(
    'N = 5' 'N == 5' 'N=5' '.set N, 5' '.equ N, 5' '.equiv N, 5' '.eqv N, 5' $'.set N, 3\n.set N, N+2'
    $'.struct 5\nN:' $'.offset 5\nN:' $'.irp v,N\n\\v = 5\n.endr' $'.rept 1\nN = 5\n.endr'
    $'.if 1\nN = 5\n.endif' $'.macro def a,b\n\\a = \\b\n.endm\ndef N,5' $'msg: .ascii "hello"\nN = . - msg'
    $'first: .quad 1\n.zero 11\nlast:\nN = (last - first) / 4 + 1' $'.section .rodata\nN = 6 - 1'
)
code='push $N; pop %rax; add $N, %rcx; mov $1, %eax; ret'
# counted WHAT: f ran its five instructions.
counted() {
    [[ ! -s messages ]] || fail "$1: the build says: $(cat messages)"
    rm -rf quipu.data
    ends 0 ./program
    ends 0 quipu report --by=function --format=csv quipu.data
    grep -q '^f,,,1,5,5,0' output || fail "$1: $(cat output)"
}
for definition in "${definitions[@]}"; do
    printf '.data\n%s\n.text\n.globl f\n.type f, @function\nf: %s\n.size f, .-f\n%s\n' "$definition" "$code" \
        '.section .note.GNU-stack, "", @progbits' >f.s
    ends 0 quipu cc main.c f.s -o program
    counted "$definition"
    QUIPU_STRICT=1 ends 0 quipu cc --quipu=event,moment,watch,calls main.c f.s -o program
    [[ ! -s messages ]] || fail "$definition: the build says: $(cat messages)"
    ends 0 ./program
    printf '__asm__(".pushsection .data\\n%s\\n.popsection");\nint f(void) { __asm__ volatile("%s"); __builtin_unreachable(); }\n' \
        "$(sed 's/\\/\\\\/g; s/"/\\"/g' <<<"$definition" | sed ':a; N; $!ba; s/\n/\\n/g')" \
        "${code//%/%}" >f.c
    ends 0 quipu cc -O2 -fcf-protection=none main.c f.c -o program
    counted "asm of $definition"
done
