# A loop of two blocks that stores nothing: one turn in two counts, and where the loop is left.
	.file	"unrolled_blocks.c"
	.text
	.p2align 4
	.globl	find
	.type	find, @function
find:
.LFB0:
	testl	%esi, %esi
	jle	.L5
	movslq	%esi, %rsi
	xorl	%eax, %eax
	jmp	.L4
	.p2align 4,,10
	.p2align 3
.L8:
	addq	$1, %rax
	cmpq	%rsi, %rax
	je	.L5
.L4:
	cmpl	%edx, (%rdi,%rax,4)
	jne	.L8
	ret
	.p2align 4,,10
	.p2align 3
.L5:
	movl	$-1, %eax
	ret
	.size	find, .-find
	.ident	"GCC: (GNU) 12"
