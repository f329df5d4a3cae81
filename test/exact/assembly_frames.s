# .cfi_endproc in front of the last instruction, and in the middle: what goes out of line stands
# behind it.  And a landing mark in front of a loop, which is all that runs once.
# with: parts/frames_main.c
# variants: -O2; clang -O2; -O2 -fPIC
	.text
	.globl work
	.type work,@function
work:
	.cfi_startproc
	push %rbx
	.cfi_adjust_cfa_offset 8
	push %rbp
	.cfi_adjust_cfa_offset 8
	mov %rdi, %rbx
	xor %eax, %eax
1:	add %rbx, %rax
	dec %rbx
	jnz 1b
	mov %rax, 8(%rsi)
	mov %rax, 16(%rsi)
	pop %rbp
	.cfi_adjust_cfa_offset -8
	pop %rbx
	.cfi_adjust_cfa_offset -8
	.cfi_endproc
	ret
	.size work,.-work
	.globl other
	.type other,@function
other:
	.cfi_startproc
	test %rdi, %rdi
	jz 1f
	call work
	.cfi_endproc
1:	mov %rdi, (%rsi)
	push %rbx
	test %rdi, %rdi
	jz 2f
	inc %rax
2:	call work
	pop %rbx
	ret
	.size other,.-other
	.globl marked
	.type marked,@function
marked:
	.cfi_startproc
	endbr64
1:	inc %rax
	dec %rdi
	jnz 1b
	ret
	.cfi_endproc
	.size marked,.-marked
	.section .note.GNU-stack,"",@progbits
