# The copy of a short end stands above the line of a file that has no name yet there: compilers name
# it right in front of its first line.  The function begins with the name then, once.
	.file	"tails.c"
	.text
	.file 1 "tails.c"
	.globl	skip
	.type	skip, @function
skip:
	.cfi_startproc
.L10:
	.loc 1 3 5
	movq	(%rdi), %rdi
	call	look
	testl	%eax, %eax
	jne	.L12
	call	look
	cmpl	$1, %eax
	jne	.L12
	.file 3 "ends.h"
	.loc 3 20 3
	ret
.L12:
	.file 2 "steps.h"
	.loc 2 21 3
	addq	$8, %rdi
	jmp	.L10
	.cfi_endproc
	.size	skip, .-skip
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
