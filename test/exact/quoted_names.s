# Names in quotes, as gcc 16 writes them all in Intel syntax: of callees, of tail calls, in tables and
# in operands.  From C, at -O1 -foptimize-sibling-calls -masm=intel.
# flags: -pthread
# variants: -O0
	.file	"quoted.c"
	.intel_syntax noprefix
	.text
	.type	"twice", @function
"twice":
.LFB23:
	.cfi_startproc
	lea	eax, [rdi+rdi]
	ret
	.cfi_endproc
.LFE23:
	.size	"twice", .-"twice"
	.type	"thrice", @function
"thrice":
.LFB24:
	.cfi_startproc
	lea	eax, [rdi+rdi*2]
	ret
	.cfi_endproc
.LFE24:
	.size	"thrice", .-"thrice"
	.section	.rodata.str1.1,"aMS",@progbits,1
.LC0:
	.string	"two"
	.text
	.type	"choose", @function
"choose":
.LFB25:
	.cfi_startproc
	cmp	edi, 5
	ja	.L12
	mov	edi, edi
	lea	rdx, .L6[rip]
	movsxd	rax, DWORD PTR [rdx+rdi*4]
	add	rax, rdx
	jmp	rax
	.section	.rodata
	.align 4
	.align 4
.L6:
	.long	.L11-.L6
	.long	.L10-.L6
	.long	.L9-.L6
	.long	.L8-.L6
	.long	.L7-.L6
	.long	.L5-.L6
	.text
.L7:
	mov	eax, 11
	ret
.L11:
	mov	eax, DWORD PTR "shared"[rip]
	add	eax, 1
	ret
.L10:
	mov	eax, DWORD PTR fs:"own"@tpoff
	add	eax, eax
	ret
.L9:
	sub	rsp, 8
	.cfi_def_cfa_offset 16
	lea	rdi, .LC0[rip]
	call	"puts"@PLT
	mov	eax, 7
	add	rsp, 8
	.cfi_def_cfa_offset 8
	ret
.L8:
	mov	eax, DWORD PTR "shared"[rip]
	imul	eax, DWORD PTR fs:"own"@tpoff
	ret
.L5:
	mov	edi, 5
	jmp	"thrice"
.L12:
	mov	eax, 0
	ret
	.cfi_endproc
.LFE25:
	.size	"choose", .-"choose"
	.type	"tail", @function
"tail":
.LFB26:
	.cfi_startproc
	cmp	edi, 2
	jg	.L18
	mov	eax, edi
	neg	eax
	cmovs	eax, edi
	ret
.L18:
	sub	edi, 1
	jmp	"choose"
	.cfi_endproc
.LFE26:
	.size	"tail", .-"tail"
	.type	"run", @function
"run":
.LFB27:
	.cfi_startproc
	push	r14
	.cfi_def_cfa_offset 16
	.cfi_offset 14, -16
	push	r13
	.cfi_def_cfa_offset 24
	.cfi_offset 13, -24
	push	r12
	.cfi_def_cfa_offset 32
	.cfi_offset 12, -32
	push	rbp
	.cfi_def_cfa_offset 40
	.cfi_offset 6, -40
	push	rbx
	.cfi_def_cfa_offset 48
	.cfi_offset 3, -48
	mov	r14, rdi
	mov	ebp, 0
	mov	r12d, 0
	lea	r13, "table"[rip]
.L20:
	mov	edx, ebp
	shr	edx, 31
	lea	eax, 0[rbp+rdx]
	and	eax, 1
	sub	eax, edx
	cdqe
	mov	edi, ebp
	call	[QWORD PTR 0[r13+rax*8]]
	mov	ebx, eax
	mov	edi, ebp
	call	"tail"
	add	ebx, eax
	movsxd	rbx, ebx
	add	r12, rbx
	add	ebp, 1
	cmp	ebp, 9
	jne	.L20
	mov	eax, r12d
	add	eax, DWORD PTR fs:"own"@tpoff
	mov	DWORD PTR fs:"own"@tpoff, eax
	cdqe
	add	rax, r12
	test	r14, r14
	mov	edx, 0
	cmove	rax, rdx
	pop	rbx
	.cfi_def_cfa_offset 40
	pop	rbp
	.cfi_def_cfa_offset 32
	pop	r12
	.cfi_def_cfa_offset 24
	pop	r13
	.cfi_def_cfa_offset 16
	pop	r14
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
.LFE27:
	.size	"run", .-"run"
	.section	.rodata.str1.1
.LC1:
	.string	"none"
.LC2:
	.string	"%ld %s %d\n"
	.text
	.globl	"main"
	.type	"main", @function
"main":
.LFB28:
	.cfi_startproc
	push	r15
	.cfi_def_cfa_offset 16
	.cfi_offset 15, -16
	push	r14
	.cfi_def_cfa_offset 24
	.cfi_offset 14, -24
	push	rbx
	.cfi_def_cfa_offset 32
	.cfi_offset 3, -32
	sub	rsp, 48
	.cfi_def_cfa_offset 80
	mov	r14d, edi
	mov	r15, rsi
	mov	QWORD PTR [rsp], 0
	mov	QWORD PTR 8[rsp], 0
	mov	QWORD PTR 16[rsp], 0
	mov	QWORD PTR 24[rsp], 0
	lea	rdi, 40[rsp]
	mov	rcx, rsi
	lea	rdx, "run"[rip]
	mov	esi, 0
	call	"pthread_create"@PLT
	mov	ebx, 1
	test	eax, eax
	je	.L31
.L25:
	mov	eax, ebx
	add	rsp, 48
	.cfi_remember_state
	.cfi_def_cfa_offset 32
	pop	rbx
	.cfi_def_cfa_offset 24
	pop	r14
	.cfi_def_cfa_offset 16
	pop	r15
	.cfi_def_cfa_offset 8
	ret
.L31:
	.cfi_restore_state
	mov	ebx, eax
	lea	rsi, 32[rsp]
	mov	rdi, QWORD PTR 40[rsp]
	call	"pthread_join"@PLT
	cmp	r14d, 1
	jle	.L29
	mov	rsi, QWORD PTR 8[r15]
.L27:
	mov	rdi, rsp
	call	"strcpy"@PLT
	mov	edi, r14d
	call	"tail"
	mov	ecx, eax
	mov	rdx, rsp
	mov	rsi, QWORD PTR 32[rsp]
	lea	rdi, .LC2[rip]
	mov	eax, 0
	call	"printf"@PLT
	jmp	.L25
.L29:
	lea	rsi, .LC1[rip]
	jmp	.L27
	.cfi_endproc
.LFE28:
	.size	"main", .-"main"
	.globl	"shared"
	.data
	.align 4
	.type	"shared", @object
	.size	"shared", 4
"shared":
	.long	4
	.section	.tdata,"awT",@progbits
	.align 4
	.type	"own", @object
	.size	"own", 4
"own":
	.long	3
	.section	.data.rel.ro.local,"aw"
	.align 16
	.type	"table", @object
	.size	"table", 16
"table":
	.quad	"twice"
	.quad	"thrice"
	.ident	"GCC: (Debian 16.2.0-4) 16.2.0"
	.section	.note.GNU-stack,"",@progbits
