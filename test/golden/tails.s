# Code on a taken edge that leads to a short block which ends the way is followed by a copy of that
# block, in place of a jump; the copy has the unwinder's rules and its line.  It stands behind the
# function; for a branch that is expected to be taken, in place.
	.file	"tails.c"
	.text
	.file 1 "tails.c"
	.globl	search
	.type	search, @function
search:
	.cfi_startproc
	.loc 1 2 50
	pushq	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
	subq	$16, %rsp
	.cfi_def_cfa_offset 32
	movl	%edi, %ebx
	.loc 1 3 17 is_stmt 0
	call	look
	.loc 1 4 8 is_stmt 1
	testl	%eax, %eax
	js	.L1
	movslq	%eax, %rdx
	cmpl	%ebx, (%rsi,%rdx,4)
	je	.L6
	call	look
	testl	%eax, %eax
	je	.L6
	.loc 1 12 11
	movl	$-1, %eax
.L1:
	addq	$16, %rsp
	.cfi_remember_state
	.cfi_def_cfa_offset 16
	.loc 1 15 1 is_stmt 0
	popq	%rbx
	.cfi_def_cfa_offset 8
	ret
.L6:
	.cfi_restore_state
	.loc 1 7 15 is_stmt 1
	addl	$1, %eax
	jmp	.L1
	.cfi_endproc
	.size	search, .-search
	.globl	skip
	.type	skip, @function
skip:
	.cfi_startproc
.L10:
	movq	(%rdi), %rdi
	call	look
	testl	%eax, %eax
	jne	.L12
	call	look
	cmpl	$1, %eax
	jne	.L12
	.loc 1 20 3
	ret
.L12:
	.loc 1 21 3 view .LVU9
	addq	$8, %rdi
	jmp	.L10
	.cfi_endproc
	.size	skip, .-skip
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
