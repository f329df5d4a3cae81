# String instructions that repeat: all turns in front, those that were not made taken away behind, and
# in the tables what %rcx tells in between.
# options: event:event=loads:event=bytes-stored
	.file	"turns.c"
	.text
	.globl	copies
	.type	copies, @function
copies:
	.cfi_startproc
	movq	%rdx, %rcx
	rep movsw
	movq	%rax, %rcx
	rep; stosb
	ret
	.cfi_endproc
	.size	copies, .-copies
	.globl	finds
	.type	finds, @function
finds:
	.cfi_startproc
	movq	%rsi, %rcx
	movl	%edx, %eax
	repne scasb
	je	.L2
	movl	$-1, %eax
	ret
.L2:
	movl	%ecx, %eax
	ret
	.cfi_endproc
	.size	finds, .-finds
