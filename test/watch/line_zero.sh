#!/bin/bash
# A .loc of line 0, which clang writes for code of several lines, ends no line: the assembler ignores
# it, so code out of line has the line in front of it, too.
. "$(dirname "$0")/lib.bash"
cat >work.s <<'EOT'
	.file "l.c"
	.text
	.file 1 "l.c"
	.globl work
	.type work,@function
work:
	.cfi_startproc
	.loc 1 10 1
	movl $1, (%rdi)
	.loc 1 20 1
	.loc 1 0 0 is_stmt 0
	addl $-1, (%rsi)
	jne .LA
	cmpb $0, 4(%rsi)
	jne .LA
.LA:
	movl $2, 8(%rdi)
	.loc 1 0 3
	addl $3, 12(%rdi)
	.loc 1 30 1 is_stmt 1
	movl $4, 16(%rdi)
	ret
	.cfi_endproc
	.size work, .-work
	.section .note.GNU-stack,"",@progbits
EOT
cat >main.c <<'EOT'
int a[8], b[8];
void work(int *, int *);
int main(void) {
    work(a, b);
    return 0;
}
EOT
quipu cc --quipu=watch -g main.c work.s -o program || fail 'cannot build'
watches 0 -e a -e b -- ./program
lines=$(grep -o 'l\.c:[0-9]*' hits | tr '\n' ' ')
[[ $lines == 'l.c:10 l.c:20 l.c:20 l.c:20 l.c:30 ' ]] || fail "lines: $lines"
