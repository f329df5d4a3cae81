# Ticks of a loop that is unrolled: four turns have one addition, inside of the loop and not on the
# branch back.  In the other function the begin and the branch back share one, behind which the cell
# is exact where the call is.
# options: moment
	.file	"ticks.c"
	.text
	.p2align 4
	.globl	find
	.type	find, @function
find:
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
	.p2align 4
	.globl	count
	.type	count, @function
count:
	xorl	%eax, %eax
.L12:
	cmpl	$0, (%rdi)
	je	.L11
	incl	%eax
	call	work@PLT
.L11:
	addq	$4, %rdi
	cmpq	%rsi, %rdi
	jne	.L12
	ret
	.size	count, .-count
	.ident	"GCC: (GNU) 12"
