# A loop that stores is unrolled: six turns, of which every third one counts.
	.file	"unrolled.c"
	.text
	.globl	clear
	.type	clear, @function
clear:
.LFB0:
	testq	%rsi, %rsi
	je	.L1
	addq	%rdi, %rsi
	.p2align 4,,10
	.p2align 3
.L3:
	movb	$0, (%rdi)
	addq	$1, %rdi
	cmpq	%rsi, %rdi
	jne	.L3
.L1:
	ret
	.size	clear, .-clear
	.ident	"GCC: (GNU) 12"
