#!/bin/bash
# Code of shared objects keeps the address of the thread's cells in a register. An increment of ticks
# or events alone takes another register, so behind it the first one still has the program's value.
# timeout: 60
. "$(dirname "$0")/lib.bash"
cat >walk.s <<'EOT'
	.file	"base.c"
	.text
	.globl	walk
	.type	walk, @function
walk:
	.cfi_startproc
	testq	%rdi, %rdi
	je	.Lno_table
	movq	%rdx, %r11
	testq	%rdx, %rdx
	je	.Lno_key
	movq	%rsi, %r8
	movq	(%rdi), %rax
	cmpq	$77, %rax
	jne	.Lother
	cmpq	%r11, 8(%rdi)
	jne	.Lother
	cmpq	%r8, 16(%rdi)
	je	.Lequal
.Lother:
	movzbl	%al, %edx
	testl	%edx, %edx
	je	.Lnot_found
	leaq	24(%rdi), %r10
	movq	%r10, %rsi
	leaq	8(%r10), %r9
	movq	%rdx, %rcx
	xorl	%edx, %edx
	jmp	.Lsearch
	.p2align	4, 0x90
.Lnext:
	addq	$1, %rdx
	addq	$8, %rsi
	cmpq	%rdx, %rcx
	je	.Lnot_found
.Lsearch:
	cmpq	%r11, (%rsi)
	jne	.Lnext
	cmpq	%r8, (%rsi)
	je	.Lnext
	jmp	.Lagain
	.p2align	4, 0x90
.Lfailed:
	movq	(%rdi), %rax
.Lagain:
	leaq	-1(%rax), %rcx
	lock cmpxchgq	%rcx, (%rdi)
	jne	.Lfailed
	cmpq	$5, %rdx
	jg	.Lend
	movq	(%r9), %rcx
	movq	%rcx, (%rsi)
	leaq	(%rdx,%rcx), %rax
	ret
.Lnot_found:
	movl	$4, %edi
	jmp	report@PLT
.Lequal:
	movq	$0, 8(%rdi)
.Lend:
	movl	$1, %eax
	ret
.Lno_table:
	movl	$2, %edi
	jmp	report@PLT
.Lno_key:
	movl	$3, %edi
	jmp	report@PLT
	.cfi_endproc
	.size	walk, .-walk
	.ident	"GCC: (GNU) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
EOT
cat >main.c <<'EOT'
#include <stdio.h>
long walk(long *table, long other, long key);
__attribute__((noipa)) long report(int what) { return 10 * what; }
int main(void) {
    for (long key = 0; key < 12; key++) {
        long table[] = {8, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8};
        long result = walk(table, 100, key);
        printf("%ld: %ld %ld %ld %ld\n", key, result, table[0], table[3], table[8]);
    }
    printf("%ld\n", walk(0, 1, 2));
    return 0;
}
EOT
"$quipu" cc --quipu=none -O1 -fPIC -shared walk.s -o libwalk.so && gcc -O1 -rdynamic main.c ./libwalk.so -o main ||
    fail "cannot build"
./main >plain || fail "the plain program failed"
for modes in count,moment count,event count,moment,watch count,event,watch count,event,calls,moment,watch; do
    "$quipu" cc --quipu=$modes -O1 -fPIC -shared walk.s -o libwalk.so || fail "$modes: cannot build"
    "$quipu" cc --quipu=$modes -O1 -rdynamic main.c ./libwalk.so -o main || fail "$modes: cannot build"
    ./main >output || fail "$modes: exit status $?"
    cmp -s output plain || fail "$modes: other output: $(diff plain output)"
done
