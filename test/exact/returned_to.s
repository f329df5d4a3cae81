# What calls return to is told, as compilers with a collector of garbage do it: 'collect' looks for
# its return address in a table, and finds what it adds.  Names of where code begins and ends name
# no functions.
# with: parts/returned_main.c
# variants: -O2; clang -O2; -O2 -fPIC; -O2 -fno-pie -no-pie
# left-alone: gone_to named back_to_named
	.text
	.globl code_begin
code_begin:
	.section .text.nothing, "ax", @progbits
	.globl nothing
nothing:
	.text
	.p2align 4
	.globl turns
	.type turns, @function
turns:
	push %rbx
	push %rbp
	push $0
	mov %rdi, %rbx
	xor %ebp, %ebp
.Lhead:
	mov %rbx, %rdi
	call collect
.Lturn:
.Lagain:
	add %rax, %rbp
	sub $3, %rbx
	js 1f
	test $1, %bl
	jz .Lagain
	jmp .Lhead
1:	mov %rbp, %rax
	pop %rcx
	pop %rbp
	pop %rbx
	ret
	.size turns, . - turns

	.globl loads
	.type loads, @function
loads:
	push %rbx
	mov %rsi, %rbx
	call collect
.Lloads:
	mov (%rbx), %rdi
	test $1, %al
	jz 1f
	call collect
.Lodd:	1: add (%rbx), %rax
	pop %rbx
	ret
	.size loads, . - loads

	.globl chosen
	.type chosen, @function
chosen:
	push %rbx
	lea .Ltable(%rip), %rbx
	movslq (%rbx,%rdi,4), %rax
	add %rbx, %rax
	notrack jmp *%rax
.Lzero:
	call collect
.Lback:
	inc %rax
	jmp .Lout
.Lone:
	lea 5(%rdi), %rax
.Lout:	pop %rbx
	ret
	.size chosen, . - chosen

# Left alone: it is jumped to what a call returns to.
	.globl gone_to
	.type gone_to, @function
gone_to:
	push %rbx
	mov %rdi, %rbx
	xor %eax, %eax
	test $1, %dil
	jnz .Lgone
	call collect
.Lgone:
	lea (%rax,%rbx), %rax
	pop %rbx
	ret
	.size gone_to, . - gone_to

# And here another file may.
	.globl named
named:
	sub $8, %rsp
	call collect
	.globl back_to_named
back_to_named:
	add $8, %rsp
	ret
	.globl code_end
code_end:

	.section .rodata
	.p2align 2
.Ltable:
	.long .Lzero - .Ltable, .Lone - .Ltable

	.data
	.globl frames
	.p2align 3
frames:
	.quad .Lturn
	.short 3, 0
	.long 1
	.quad .Lloads
	.short 4, 0
	.long 2
	.quad .Lodd
	.short 5, 0
	.long 3
	.quad .Lback
	.short 6, 0
	.long 4
	.quad .Lgone
	.short 7, 0
	.long 5
	.quad back_to_named
	.short 8, 0
	.long 6
	.quad 0
	.section .note.GNU-stack, "", @progbits
