# Loops around a call of their own function have few turns: additions stand within them, in line,
# and not on the ways out, which would want detours.
# options: moment
	.file	"w.c"
	.text
	.p2align 4
	.globl	walk
	.type	walk, @function
walk:
	pushq	%r12
	pushq	%rbp
	pushq	%rbx
	testq	%rdi, %rdi
	je	.L8
	movq	%rdi, %rbp
	xorl	%r12d, %r12d
	movl	24(%rbp), %eax
	testl	%eax, %eax
	jne	.L19
.L3:
	movq	8(%rbp), %rdi
	call	walk
	movq	16(%rbp), %rbx
	addq	%rax, %r12
	cmpq	%rbp, %rbx
	jne	.L6
	jmp	.L4
	.p2align 4,,10
	.p2align 3
.L20:
	movq	%rbx, %rdi
	call	walk
	movq	(%rbx), %rbx
	addq	%rax, %r12
	cmpq	%rbp, %rbx
	je	.L4
.L6:
	testq	%rbx, %rbx
	jne	.L20
.L1:
	movq	%r12, %rax
	popq	%rbx
	popq	%rbp
	popq	%r12
	ret
	.p2align 4,,10
	.p2align 3
.L4:
	movq	0(%rbp), %rbp
	testq	%rbp, %rbp
	je	.L1
	movl	24(%rbp), %eax
	testl	%eax, %eax
	je	.L3
.L19:
	addq	$3, %r12
	popq	%rbx
	popq	%rbp
	movq	%r12, %rax
	popq	%r12
	ret
.L8:
.L2:
	xorl	%r12d, %r12d
	jmp	.L1
	.size	walk, .-walk
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
