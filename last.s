# Loops that call nothing: a copy without checks out of line, chosen in front of the loop, or on the
# jump that enters it where the text falls into its head; what the first one writes is told in front
# of it, by registers that are free, and of the second by some that are kept.
# options: watch
	.file	"loops.c"
	.text
	.file 1 "loops.c"
	.globl	add
	.type	add, @function
.LQf0_0:; add:
	.cfi_startproc
	.loc 1 3 1
	.p2align 6,,4; .LQa2: {disp8} nopl 0(%rax,%rax,1); .LQq2:; xorl	%eax, %eax
	.p2align 4
.L3:
	.loc 1 4 1
	.LQlp1: cmpq $0, %fs:quipu_watch_loop@tpoff; jne .LQls1; .LQlt1: movq %rsp, %fs:quipu_watch_loop@tpoff; cmpb $0, 0x6ff00000; je .LQlu1; jmp .LQla1; .LQlc1_2:; movsd	(%rsi,%rax), %xmm0
	addsd	(%rdi,%rax), %xmm0
	leaq (%rdi,%rax), %r11; shrq $6, %r11; cmpb $0, 0x70000000(%r11); .LQp3: {disp32} jne .LQx3; movsd	%xmm0, (%rdi,%rax); .LQy3:
	.p2align 6,,4; .LQa4: {disp8} nopl 0(%rax,%rax,1); .LQq4:; movl	%ecx, 8(%rsp); .LQy4:
	addq	$8, %rax
	cmpq	$array+800, %rax
	jne	.LQlc1_2; .LQlk1_2:
	.loc 1 5 1
	xorl	%eax, %eax
	xorl	%edx, %edx
	xorl	%ecx, %ecx
	.p2align 6,,4; .LQa7: {disp8} nopl 0(%rax,%rax,1); .LQq7:; ret; .LQz2: .cfi_remember_state; .cfi_def_cfa %rsp, 8; pushq $.LQzb2-.LQf0_0; .cfi_adjust_cfa_offset 8; call quipu_watch_function_begin; .LQzb2: leaq 8(%rsp), %rsp; .cfi_adjust_cfa_offset -8; jmp .LQq2; .LQx3: .loc 1 4 1 is_stmt 1; leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; pushq %rax; .cfi_adjust_cfa_offset 8; leaq (%rdi,%rax), %rax; xchgq %rax, (%rsp); pushq $0x5300008; .cfi_adjust_cfa_offset 8; call quipu_watch_begin; .cfi_adjust_cfa_offset -144; movsd	%xmm0, (%rdi,%rax); leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; call quipu_watch_end; .cfi_adjust_cfa_offset -128; jmp .LQy3; .LQz4: leaq 8(%rsp), %r11; shrq $6, %r11; cmpb $0, 0x70000000(%r11); .LQp4: {disp32} jne .LQx4; jmp .LQq4; .LQx4: .loc 1 4 1 is_stmt 1; leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; pushq %rax; .cfi_adjust_cfa_offset 8; leaq 136+8(%rsp), %rax; xchgq %rax, (%rsp); pushq $0x4200004; .cfi_adjust_cfa_offset 8; call quipu_watch_begin; .cfi_adjust_cfa_offset -144; movl	%ecx, 8(%rsp); leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; call quipu_watch_end; .cfi_adjust_cfa_offset -128; jmp .LQy4; .LQla1: leaq 0(%rdi,%rax,1), %r11; subq 0x6ff06010, %r11; addq 0x6ff06018, %r11; jc .LQlh1; leaq 8(%rsp), %r11; subq 0x6ff06010, %r11; addq 0x6ff06018, %r11; jc .LQlh1; jmp .LQlu1; .LQlh1: cmpl $0, 0x6ff00018; jne .LQlv1; movq $array+800, %rdx; subq %rax, %rdx; testl $7, %edx; jne .LQlg1; leaq -1(%rdx), %r11; cmpq $0x40000000, %r11; jae .LQlg1; leaq 16(%rdx), %rdx; cmpq $960, %rdx; ja .LQlg1; leaq (%rdi,%rax), %r11; shlq $17, %r11; shrq $23, %r11; cmpq $0, 0x70000000(%r11); jne .LQlg1; cmpq $0, 0x70000008(%r11); jne .LQlg1; leaq 8(%rsp), %r11; shlq $17, %r11; shrq $23, %r11; testb $255, 0x70000000(%r11); jne .LQlg1; jmp .LQlu1; .LQlg1: leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; pushq %rcx; .cfi_adjust_cfa_offset 8; movq $array+800, %rdx; subq %rax, %rdx; testl $7, %edx; jne .LQld1; leaq -1(%rdx), %r11; cmpq $0x40000000, %r11; jae .LQld1; leaq 16(%rdx), %rdx; leaq (%rdi,%rax), %r11; leaq 0(%r11,%rdx), %rcx; orq %rcx, %r11; shrq $47, %r11; jne .LQld1; leaq (%rdi,%rax), %r11; shrq $6, %r11; shrq $6, %rcx; .LQlw5: cmpq $0, 0x70000000(%r11); jne .LQlx5; cmpq $0, 0x70000008(%r11); jne .LQlx5; addq $16, %r11; cmpq %rcx, %r11; jle .LQlw5; .LQlz5: leaq 136+8(%rsp), %r11; shrq $6, %r11; movq %r11, %rcx; shrq $41, %rcx; jne .LQld1; testb $255, 0x70000000(%r11); jne .LQld1; popq %rcx; .cfi_adjust_cfa_offset -8; leaq 128(%rsp), %rsp; .cfi_adjust_cfa_offset -128; jmp .LQlu1; ; .cfi_adjust_cfa_offset 136; .LQlx5: testb $255, 0x70000000(%r11); jne .LQld1; addq $1, %r11; cmpq %rcx, %r11; jle .LQlx5; jmp .LQlz5; .LQld1: popq %rcx; .cfi_adjust_cfa_offset -8; leaq 128(%rsp), %rsp; .cfi_adjust_cfa_offset -128; .LQlv1: movq $0, %fs:quipu_watch_loop@tpoff; jmp .LQlc1_2; .p2align 6; .LQlb1_2: .LQlu1: .loc 1 4 1 is_stmt 1; movsd	(%rsi,%rax), %xmm0; addsd	(%rdi,%rax), %xmm0; movsd	%xmm0, (%rdi,%rax); movl	%ecx, 8(%rsp); addq	$8, %rax; cmpq	$array+800, %rax; .p2align 6,,5; {disp32} jne .LQlb1_2; .LQlj1_0:; movq $0, %fs:quipu_watch_loop@tpoff; jmp .LQlk1_2; .LQls1: cmpq %rsp, %fs:quipu_watch_loop@tpoff; je .LQlt1; cmpq $1, %fs:quipu_watch_loop@tpoff; jne .LQlc1_2; leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; call quipu_watch_loop_first; leaq 128(%rsp), %rsp; .cfi_adjust_cfa_offset -128; jmp .LQlp1; .LQlo1_0: movq $0, %fs:quipu_watch_loop@tpoff; leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; call quipu_watch_loop_left; leaq 128(%rsp), %rsp; .cfi_adjust_cfa_offset -128; jmp .LQlc1_2; .LQz7: call quipu_watch_function_end; jmp .LQq7; .cfi_restore_state; .loc 1 5 1 is_stmt 1
	.cfi_endproc
	.size	add, .-add
	.globl	find
	.type	find, @function
.LQf1_0:; find:
	.cfi_startproc
	.loc 1 8 1
	.p2align 6,,4; .LQa11: {disp8} nopl 0(%rax,%rax,1); .LQq11:; subq	$24, %rsp
	.cfi_def_cfa_offset 32
	movl	$100, %edx
	jmp	.LQlp10
.L5:
	.loc 1 9 1
	.LQlc10_1:; movq %rdi, %r11; shrq $6, %r11; cmpb $0, 0x70000000(%r11); .LQp12: {disp32} jne .LQx12; movb	$0, (%rdi); .LQy12:
	testl	%esi, %esi
	je	.L7
.L6:
	.loc 1 10 1
	.LQlc10_2:; leaq (%rdi,%rdx,4), %r11; shrq $6, %r11; cmpb $0, 0x70000000(%r11); .LQp13: {disp32} jne .LQx13; movl	%edx, (%rdi,%rdx,4); .LQy13:
	subl	$1, %edx
	jne	.L5; .LQlk10_2:
.L7:
	.loc 1 11 1
	addq	$24, %rsp
	.cfi_def_cfa_offset 8
	.p2align 6,,4; .LQa16: {disp8} nopl 0(%rax,%rax,1); .LQq16:; ret; .LQz11: .cfi_remember_state; .cfi_def_cfa %rsp, 8; pushq $.LQzb11-.LQf1_0; .cfi_adjust_cfa_offset 8; call quipu_watch_function_begin; .LQzb11: leaq 8(%rsp), %rsp; .cfi_adjust_cfa_offset -8; jmp .LQq11; .LQx12: .cfi_def_cfa %rsp, 32; .loc 1 9 1 is_stmt 1; leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; pushq %rax; .cfi_adjust_cfa_offset 8; movq %rdi, %rax; xchgq %rax, (%rsp); pushq $0x3000001; .cfi_adjust_cfa_offset 8; call quipu_watch_begin; .cfi_adjust_cfa_offset -144; movb	$0, (%rdi); leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; call quipu_watch_end; .cfi_adjust_cfa_offset -128; jmp .LQy12; .LQx13: .loc 1 10 1 is_stmt 1; leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; pushq %rax; .cfi_adjust_cfa_offset 8; leaq (%rdi,%rdx,4), %rax; xchgq %rax, (%rsp); pushq $0x3200004; .cfi_adjust_cfa_offset 8; call quipu_watch_begin; .cfi_adjust_cfa_offset -144; movl	%edx, (%rdi,%rdx,4); leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; call quipu_watch_end; .cfi_adjust_cfa_offset -128; jmp .LQy13; .LQlp10: cmpq $0, %fs:quipu_watch_loop@tpoff; jne .LQls10; .LQlt10: movq %rsp, %fs:quipu_watch_loop@tpoff; cmpb $0, 0x6ff00000; je .LQlu10; jmp .LQla10; .LQla10: leaq 0(%rdi), %r11; subq 0x6ff06010, %r11; addq 0x6ff06018, %r11; jc .LQlh10; leaq 0(%rdi,%rdx,4), %r11; subq 0x6ff06010, %r11; addq 0x6ff06018, %r11; jc .LQlh10; jmp .LQlu10; .LQlh10: cmpl $0, 0x6ff00018; jne .LQlv10; leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; pushq %rax; .cfi_adjust_cfa_offset 8; pushq %rcx; .cfi_adjust_cfa_offset 8; leaq (%rdi), %r11; shlq $17, %r11; shrq $23, %r11; testb $255, 0x70000000(%r11); jne .LQlg10; movl $0, %ecx; movl %edx, %eax; subl %ecx, %eax; leaq -1(%rax), %r11; cmpq $0x40000000, %r11; jae .LQlg10; leaq 2(%rax), %rax; movq %rdx, %r11; subq %rax, %r11; shrq $32, %r11; jne .LQlg10; shlq $2, %rax; cmpq $960, %rax; ja .LQlg10; leaq (%rdi,%rdx,4), %r11; subq %rax, %r11; jc .LQlg10; shlq $17, %r11; shrq $23, %r11; cmpq $0, 0x70000000(%r11); jne .LQlg10; cmpq $0, 0x70000008(%r11); jne .LQlg10; popq %rcx; .cfi_adjust_cfa_offset -8; popq %rax; .cfi_adjust_cfa_offset -8; leaq 128(%rsp), %rsp; .cfi_adjust_cfa_offset -128; jmp .LQlu10; .LQlg10: ; .cfi_adjust_cfa_offset 144; popq %rcx; .cfi_adjust_cfa_offset -8; popq %rax; .cfi_adjust_cfa_offset -8; leaq 128(%rsp), %rsp; .cfi_adjust_cfa_offset -128; leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; pushq %rax; .cfi_adjust_cfa_offset 8; pushq %rcx; .cfi_adjust_cfa_offset 8; leaq (%rdi), %r11; shrq $6, %r11; movq %r11, %rcx; shrq $41, %rcx; jne .LQld10; testb $255, 0x70000000(%r11); jne .LQld10; movl $0, %ecx; movl %edx, %eax; subl %ecx, %eax; leaq -1(%rax), %r11; cmpq $0x40000000, %r11; jae .LQld10; leaq 2(%rax), %rax; movq %rdx, %r11; subq %rax, %r11; shrq $32, %r11; jne .LQld10; shlq $2, %rax; cmpq $0x10000, %rax; jae .LQld10; leaq (%rdi,%rdx,4), %r11; leaq 0(%r11), %rcx; subq %rax, %r11; orq %rcx, %r11; shrq $47, %r11; jne .LQld10; leaq (%rdi,%rdx,4), %r11; subq %rax, %r11; shrq $6, %r11; shrq $6, %rcx; .LQlw15: cmpq $0, 0x70000000(%r11); jne .LQlx15; cmpq $0, 0x70000008(%r11); jne .LQlx15; addq $16, %r11; cmpq %rcx, %r11; jle .LQlw15; .LQlz15: popq %rcx; .cfi_adjust_cfa_offset -8; popq %rax; .cfi_adjust_cfa_offset -8; leaq 128(%rsp), %rsp; .cfi_adjust_cfa_offset -128; jmp .LQlu10; ; .cfi_adjust_cfa_offset 144; .LQlx15: testb $255, 0x70000000(%r11); jne .LQld10; addq $1, %r11; cmpq %rcx, %r11; jle .LQlx15; jmp .LQlz15; .LQld10: popq %rcx; .cfi_adjust_cfa_offset -8; popq %rax; .cfi_adjust_cfa_offset -8; leaq 128(%rsp), %rsp; .cfi_adjust_cfa_offset -128; .LQlv10: movq $0, %fs:quipu_watch_loop@tpoff; jmp .LQlc10_2; .p2align 6; .LQlb10_1: .loc 1 9 1 is_stmt 1; movb	$0, (%rdi); testl	%esi, %esi; je .LQle10_1; .LQlb10_2: .LQlu10: .loc 1 10 1 is_stmt 1; movl	%edx, (%rdi,%rdx,4); subl	$1, %edx; .p2align 6,,5; {disp32} jne .LQlb10_1; .LQlj10_0:; movq $0, %fs:quipu_watch_loop@tpoff; jmp .LQlk10_2; .LQls10: cmpq %rsp, %fs:quipu_watch_loop@tpoff; je .LQlt10; cmpq $1, %fs:quipu_watch_loop@tpoff; jne .LQlc10_2; leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; call quipu_watch_loop_first; leaq 128(%rsp), %rsp; .cfi_adjust_cfa_offset -128; jmp .LQlp10; .LQle10_1: movq $0, %fs:quipu_watch_loop@tpoff; jmp .L7; .LQlo10_0: movq $0, %fs:quipu_watch_loop@tpoff; leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; call quipu_watch_loop_left; leaq 128(%rsp), %rsp; .cfi_adjust_cfa_offset -128; jmp .LQlc10_1; .LQz16: .cfi_def_cfa %rsp, 8; call quipu_watch_function_end; jmp .LQq16; .cfi_restore_state; .loc 1 11 1 is_stmt 1
	.cfi_endproc
	.size	find, .-find
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits

	.att_syntax prefix
	.text
	.reloc .LQf0_0, R_X86_64_NONE, quipu_watch_early
	.text
	.reloc .LQf0_0, R_X86_64_NONE, .LQr9
	.section .quipu.sites,"a?",@progbits,unique,1
.LQr9:
	.long .LQa2-., .LQz2-., .LQf0_0-., 0xfffffff1
	.long .LQa4-., .LQz4-., 0, 0
	.long .LQlj1_0-4-., .LQlo1_0-., .LQlb1_2-., 0xfffffff6
	.long .LQa7-., .LQz7-., .LQf0_0-., 0xfffffff2
	.text
	.reloc .LQf1_0, R_X86_64_NONE, quipu_watch_early
	.text
	.reloc .LQf1_0, R_X86_64_NONE, .LQr18
	.section .quipu.sites,"a?",@progbits,unique,1
.LQr18:
	.long .LQa11-., .LQz11-., .LQf1_0-., 0xfffffff1
	.long .LQlj10_0-4-., .LQlo10_0-., .LQlb10_1-., 0xfffffff6
	.long .LQa16-., .LQz16-., .LQf1_0-., 0xfffffff2
	.section .quipu.units,"",@progbits
.LQx19:
	.long .LQy19-.LQx19
	.ascii "\001\0030.1.0\000loops.c\000GCC: (Debian 12.2.0-14) 12.2.0\000watch,placement=tree\000"
.LQy19:
	.hidden quipu_watch_begin
	.hidden quipu_watch_begin_more
	.hidden quipu_watch_end
	.hidden quipu_watch_return
	.hidden quipu_watch_call_begin
	.hidden quipu_watch_call_end
	.hidden quipu_watch_call_return
	.hidden quipu_watch_callees
	.hidden quipu_watch_text
	.hidden quipu_watch_function_begin
	.hidden quipu_watch_function_end
	.hidden quipu_watch_function_back
	.hidden quipu_watch_loop_first
	.hidden quipu_watch_loop_left
	.hidden quipu_watch_loop
	.type quipu_watch_loop, @tls_object
	.hidden quipu_watch_early
