# A function that is entered by code which makes system calls by itself asks like any other.
	.file	"internal_untrusted.c"
	.text
	.p2align 4
	.type	helper, @function
helper:
.LFB0:
	leal	1(%rdi), %eax
	ret
	.size	helper, .-helper
	.type	handler, @function
handler:
.LFB1:
	call	helper
	ret
	.size	handler, .-handler
	.globl	begin
	.type	begin, @function
begin:
.LFB2:
	leaq	handler(%rip), %rdi
#APP
	syscall
#NO_APP
	call	install@PLT
	jmp	helper
	.size	begin, .-begin
	.ident	"GCC: (GNU) 12"
