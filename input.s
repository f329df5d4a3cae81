# Loops that call nothing: a copy without checks out of line, chosen in front of the loop, or on the
# jump that enters it where the text falls into its head; what the first one writes is told in front
# of it, by registers that are free, and of the second by some that are kept.
# options: watch
	.file	"loops.c"
	.text
	.file 1 "loops.c"
	.globl	add
	.type	add, @function
add:
	.cfi_startproc
	.loc 1 3 1
	xorl	%eax, %eax
	.p2align 4
.L3:
	.loc 1 4 1
	movsd	(%rsi,%rax), %xmm0
	addsd	(%rdi,%rax), %xmm0
	movsd	%xmm0, (%rdi,%rax)
	movl	%ecx, 8(%rsp)
	addq	$8, %rax
	cmpq	$array+800, %rax
	jne	.L3
	.loc 1 5 1
	xorl	%eax, %eax
	xorl	%edx, %edx
	xorl	%ecx, %ecx
	ret
	.cfi_endproc
	.size	add, .-add
	.globl	find
	.type	find, @function
find:
	.cfi_startproc
	.loc 1 8 1
	subq	$24, %rsp
	.cfi_def_cfa_offset 32
	movl	$100, %edx
	jmp	.L6
.L5:
	.loc 1 9 1
	movb	$0, (%rdi)
	testl	%esi, %esi
	je	.L7
.L6:
	.loc 1 10 1
	movl	%edx, (%rdi,%rdx,4)
	subl	$1, %edx
	jne	.L5
.L7:
	.loc 1 11 1
	addq	$24, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	find, .-find
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
