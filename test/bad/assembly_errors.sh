#!/bin/bash
# Assembly with errors: the assembler's own message with the user's own line, and its exit status.
. "$(dirname "$0")/lib.bash"
cat >wrong.s <<'END'
    .globl f
    .type f, @function
f:
    mov $1, %eax
    frobnicate %eax
    add $1, %nosuch
    ret
    .size f, .-f
END
cat >wrong.c <<'END'
int f(int n) {
    __asm__("mov %0, %%eax\n\tbogus %0" : : "r"(n));
    return n;
}
END
cat >wrong.S <<'END'
#define NAME f
    .globl NAME
NAME:
    xyzzy NAME
    ret
END
has clang
for compiler in gcc $(the_one clang); do
    for file in wrong.s wrong.c wrong.S; do
        integrated=
        [[ $compiler == clang* ]] && integrated=-fno-integrated-as
        # shellcheck disable=SC2086
        COMPILER_PATH='' $compiler $integrated -c "$file" -o plain.o >plain.out 2>&1 && fail "'$file' is right"
        ends 1 quipu cc --quipu-compiler=$compiler -c "$file" -o ours.o
        sed 's|/tmp/[^:]*|TEMPORARY|g' plain.out >plain.txt
        cat output messages | sed "s|$TMPDIR/[^:]*|TEMPORARY|g; s|/tmp/[^:]*|TEMPORARY|g" >ours.txt
        sed -i "s|$TMPDIR/[^:]*|TEMPORARY|g" plain.txt
        cmp -s plain.txt ours.txt || fail "$compiler, $file:
--- $compiler
$(cat plain.txt)
--- quipu
$(cat ours.txt)"
        [[ ! -e ours.o ]] || fail "$compiler, $file: an object was left"
    done
done

# The program's own errors, of compiler and linker.
printf 'int main(void) { return nothing; }\n' >undeclared.c
ends 1 quipu cc undeclared.c -o undeclared
grep -q "undeclared.c:1:25: error: 'nothing' undeclared\|‘nothing’ undeclared" messages || fail "$(cat messages)"
printf 'int absent(void);\nint main(void) { return absent(); }\n' >unlinked.c
ends 1 quipu cc unlinked.c -o unlinked
grep -q "undefined reference to .absent" messages || fail "$(cat messages)"
ends 1 quipu cc missing.c -o missing
grep -q "missing.c: No such file or directory" messages || fail "$(cat messages)"

# What comes back elsewhere is told, once, where other files may call it.
cat >elsewhere.s <<'END'
    .globl skips, keeps
    .type skips, @function
skips:
    addq $1, (%rsp)
    ret
    .size skips, .-skips
    .type keeps, @function
keeps:
    pop %rcx
    jmp *%rcx
    .size keeps, .-keeps
    .type own, @function
own:
    addq $1, (%rsp)
    ret
    .size own, .-own
END
ends 0 quipu cc -c elsewhere.s
said "elsewhere.s:3: warning: quipu: 'skips' changes or reads the address that it returns to"

# What macros put outside of functions is told, once: nobody lists the functions that they make.  But
# not what tells the assembler something.
cat >macros.s <<'END'
    .macro public name
    .globl \name
    .type \name, @function
    .endm
    .macro function name
    public \name
\name:
    .endm
    .macro finish name
    ret
    .size \name, .-\name
    .endm
    public seen
seen:
    mov $1, %eax
    ret
    .size seen, .-seen
    function unseen
    mov $2, %eax
    finish unseen
END
head -17 macros.s >named.s
ends 0 quipu cc -c macros.s -o macros.o
said "macros.s:18: warning: quipu: 'function': a macro outside of functions; what it puts is left as it is"
[[ $(wc -l <messages) == 1 ]] || fail "$(cat messages)"
{ head -12 macros.s; tail -3 macros.s; } >alone.s
ends 0 quipu cc -c alone.s -o alone.o
said "alone.s:13: warning: quipu: 'function': a macro outside of functions; what it puts is left as it is"
ends 0 quipu cc -c named.s -o named.o
[[ ! -s messages ]] || fail "$(cat messages)"
