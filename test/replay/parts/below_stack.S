/* Writes what is below its stack pointer at its first instruction, of which it has set nothing. */
	.globl	_start
_start:
	mov	$1, %eax
	mov	$1, %edi
	lea	-512(%rsp), %rsi
	mov	$512, %edx
	syscall
	mov	$60, %eax
	xor	%edi, %edi
	syscall
	.section .note.GNU-stack, "", @progbits
