# Calls that are known to come back, by the names that the C library has of them from 2.38 on: one cell
# counts what is in front of them and behind.
# options: count
	.file	"returning.c"
	.text
	.globl	number
	.type	number, @function
number:
.LFB0:
	.cfi_startproc
	subq	$8, %rsp
	.cfi_def_cfa_offset 16
	movl	$10, %edx
	xorl	%esi, %esi
	call	__isoc23_strtol@PLT
	addq	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
.LFE0:
	.size	number, .-number
	.ident	"GCC: (Debian 14.2.0-19) 14.2.0"
	.section	.note.GNU-stack,"",@progbits
