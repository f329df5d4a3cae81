# A stub stands elsewhere, where "1b" would be another label: the label gets a name.
	.text
	.globl	f
	.type	f, @function
f:
	movl	$0, %eax
1:	addl	$1, %eax
	cmpl	$9, %eax
	je	2f
	testl	%eax, %edi
	jne	1b
	cmpl	$5, %eax
	jb	1b
	subl	$1, %edi
	je	1b
2:	ret
	.size	f, .-f
