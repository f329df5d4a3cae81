# Begins and ends of functions.  The runtime is jumped to for a return; it is called in front of a
# return that takes more from the stack, and of a jump to another function, taken or not, also through
# %r11.  A begin keeps %rax where that counts registers or is handed on.  Behind setjmp activations may
# have ended.
# options: calls
	.file	"calls.c"
	.text
	.globl	choose
	.type	choose, @function
choose:
	.cfi_startproc
	testl	%edi, %edi
	je	other
	cmpl	$7, %edi
	jne	.L2
	leal	1(%rsi), %eax
	ret
.L2:
	movq	%rsi, %r11
	jmp	*%r11
	.cfi_endproc
	.size	choose, .-choose
	.globl	sum
	.type	sum, @function
sum:
	.cfi_startproc
	subq	$72, %rsp
	.cfi_def_cfa_offset 80
	testb	%al, %al
	je	.L4
	movaps	%xmm0, 16(%rsp)
.L4:
	movq	8(%rsp), %rax
	addq	$72, %rsp
	.cfi_def_cfa_offset 8
	rep ret
	.cfi_endproc
	.size	sum, .-sum
	.globl	guarded
	.type	guarded, @function
guarded:
	.cfi_startproc
	subq	$8, %rsp
	.cfi_def_cfa_offset 16
	leaq	buffer(%rip), %rdi
	call	_setjmp@PLT
	testl	%eax, %eax
	jne	.L6
	call	choose@PLT
.L6:
	addq	$8, %rsp
	.cfi_def_cfa_offset 8
	ret	$8
	.cfi_endproc
	.size	guarded, .-guarded
	.type	forward, @function
forward:
	.cfi_startproc
	xorl	%edi, %edi
	jmp	choose
	.cfi_endproc
	.size	forward, .-forward
	.comm	buffer,200,32
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
