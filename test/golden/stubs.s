# What stands out of line: for the loops' branches behind the nearest block that does not go on, below
# (the second loop) or above (the first, which is far from the next one), so that jumps are short;
# for the function's begin, which is in no loop, behind all.
	.file	"stubs.c"
	.text
	.globl	stubs
	.type	stubs, @function
stubs:
	xorl	%edx, %edx
	jmp	.L2
	.p2align 4,,10
	.p2align 3
.L1:
	addq	$1, %rdx
	cmpl	%edx, %esi
	jl	.L6
.L2:
	cmpl	%edi, (%rcx,%rdx,4)
	je	.L6
	call	one
	testl	%eax, %eax
	je	.L1
	movabsq	$0x1122334455667788, %rax
	movabsq	$0x1122334455667788, %rax
	movabsq	$0x1122334455667788, %rax
	movabsq	$0x1122334455667788, %rax
	movabsq	$0x1122334455667788, %rax
	movabsq	$0x1122334455667788, %rax
	movabsq	$0x1122334455667788, %rax
	movabsq	$0x1122334455667788, %rax
	movabsq	$0x1122334455667788, %rax
	movabsq	$0x1122334455667788, %rax
	movabsq	$0x1122334455667788, %rax
	movabsq	$0x1122334455667788, %rax
	movabsq	$0x1122334455667788, %rax
	movabsq	$0x1122334455667788, %rax
.L3:
	call	two
	testl	%eax, %eax
	je	.L6
	call	three
	testl	%eax, %eax
	jne	.L3
	ret
	movabsq	$0x1122334455667788, %rax
	movabsq	$0x1122334455667788, %rax
	movabsq	$0x1122334455667788, %rax
	movabsq	$0x1122334455667788, %rax
	movabsq	$0x1122334455667788, %rax
	movabsq	$0x1122334455667788, %rax
	movabsq	$0x1122334455667788, %rax
	movabsq	$0x1122334455667788, %rax
	movabsq	$0x1122334455667788, %rax
	movabsq	$0x1122334455667788, %rax
	movabsq	$0x1122334455667788, %rax
	movabsq	$0x1122334455667788, %rax
	movabsq	$0x1122334455667788, %rax
	movabsq	$0x1122334455667788, %rax
.L6:
	movl	%edx, %eax
	ret
	.size	stubs, .-stubs
	.ident	"GCC: (GNU) 12"
