# A function that only this unit enters does not ask for the thread's cells: its callers have.  One
# that is entered by code which makes system calls by itself asks like any other.
	.file	"internal.c"
	.text
	.p2align 4
	.type	helper, @function
helper:
.LFB0:
	leal	1(%rdi), %eax
	ret
	.size	helper, .-helper
	.type	doubtful, @function
doubtful:
.LFB3:
	leal	2(%rdi), %eax
	ret
	.size	doubtful, .-doubtful
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
	call	install@PLT
	jmp	helper
	.size	begin, .-begin
	.globl	system_calls
	.type	system_calls, @function
system_calls:
.LFB4:
#APP
	syscall
#NO_APP
	call	helper_of_others@PLT
	jmp	doubtful
	.size	system_calls, .-system_calls
	.ident	"GCC: (GNU) 12"
