# A switch: the jump table's targets stand behind a hub, so the dispatch needs no counter.
	.file	"switch.c"
	.text
	.p2align 4
	.globl	f
	.type	f, @function
f:
.LFB0:
	.cfi_startproc
	cmpl	$2, %edi
	ja	.L2
	movl	%edi, %edi
	leaq	.L4(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	addq	%rdx, %rax
	jmp	*%rax
	.section	.rodata
	.align 4
.L4:
	.long	.L6-.L4
	.long	.L5-.L4
	.long	.L3-.L4
	.text
.L6:
	movl	$10, %eax
	ret
.L5:
	movl	$20, %eax
	ret
.L3:
	movl	$30, %eax
	ret
.L2:
	xorl	%eax, %eax
	ret
	.cfi_endproc
.LFE0:
	.size	f, .-f
	.ident	"GCC: (GNU) 12"
