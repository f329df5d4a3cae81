# Checks of stores: one for stores that are near to each other, in front of the first; one above the
# comparison whose flags live over the store; with nothing free, by the stack.  Those of variables,
# of the frame, of pushes and calls are left out until they are needed.
# options: watch
	.file	"watch.c"
	.text
	.file 1 "watch.c"
	.globl	fill
	.type	fill, @function
fill:
	.cfi_startproc
	.loc 1 3 1
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	pushq	%rbx
	.cfi_def_cfa_offset 24
	.cfi_offset 3, -24
	subq	$24, %rsp
	.cfi_def_cfa_offset 48
	.loc 1 4 1
	movl	%esi, (%rdi)
	leal	1(%rsi), %eax
	movl	%eax, 4(%rdi)
	movq	$0, 40(%rdi)
	.loc 1 5 1
	movq	%rdi, 8(%rsp)
	movl	$7, variable+4(%rip)
	.loc 1 6 1
	cmpl	$3, %esi
	movb	$1, 16(%rdi,%rsi)
	jle	.L2
	.loc 1 7 1
	addl	$1, %fs:counter@tpoff
	lock xaddl	%eax, (%rdi)
	rep stosb
	btsl	%eax, (%rdi)
	vmovdqu32	%zmm0, (%rdi){%k1}
	call	other
.L2:
	addq	$24, %rsp
	.cfi_def_cfa_offset 24
	popq	%rbx
	.cfi_def_cfa_offset 16
	popq	%rbp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	fill, .-fill
	.comm	variable,8,8
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
