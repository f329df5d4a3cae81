# Bytes and two classes: the table of weights has a column for each kind, and calls of malloc, by a
# jump and through the table of addresses too, count where they stand.
# options: event:event=bytes-loaded:event=bytes-stored:event=products=%2Amul%2A:event=allocations=call%3Amalloc%7Ccall%3Acalloc
	.file	"classes.c"
	.text
	.globl	get
	.type	get, @function
get:
	.cfi_startproc
	testl	%edi, %edi
	je	.L2
	pushq	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
	movslq	(%rsi), %rbx
	imulq	%rdi, %rbx
	call	*malloc@GOTPCREL(%rip)
	movsd	(%rsi), %xmm0
	mulsd	8(%rsi), %xmm0
	movapd	%xmm0, (%rax)
	popq	%rbx
	.cfi_def_cfa_offset 8
	ret
.L2:
	movl	$1, %esi
	movl	$2, %edi
	jmp	calloc@PLT
	.cfi_endproc
	.size	get, .-get
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
