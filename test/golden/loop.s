# A loop: three counters on the chords, none on the edges that follow from them.
	.file	"loop.c"
	.text
	.globl	sum
	.type	sum, @function
sum:
.LFB0:
	.cfi_startproc
	testl	%edi, %edi
	jle	.L4
	xorl	%eax, %eax
	xorl	%edx, %edx
.L3:
	addl	%edx, %eax
	addl	$1, %edx
	cmpl	%edx, %edi
	jne	.L3
	ret
.L4:
	xorl	%eax, %eax
	ret
	.cfi_endproc
.LFE0:
	.size	sum, .-sum
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
