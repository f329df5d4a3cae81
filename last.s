# Checks of stores: one for stores that are near to each other, in front of the first; one above the
# comparison whose flags live over the store; with nothing free, by the stack.  Those of variables,
# of the frame, of pushes and calls are left out until they are needed.
# options: watch
	.file	"watch.c"
	.text
	.file 1 "watch.c"
	.globl	fill
	.type	fill, @function
.LQf0_0:; fill:
	.cfi_startproc
	.loc 1 3 1
	.p2align 6,,4; .LQa1: {disp8} nopl 0(%rax,%rax,1); .LQq1:; pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	pushq	%rbx; .LQy1:
	.cfi_def_cfa_offset 24
	.cfi_offset 3, -24
	subq	$24, %rsp
	.cfi_def_cfa_offset 48
	.loc 1 4 1
	leaq 0(%rdi), %r11; shrq $6, %r11; cmpb $0, 0x70000000(%r11); .LQp2: {disp32} jne .LQx2; movl	%esi, (%rdi)
	leal	1(%rsi), %eax
	movl	%eax, 4(%rdi)
	movq	$0, 40(%rdi); .LQy2:
	.loc 1 5 1
	.p2align 6,,4; .LQa3: {disp8} nopl 0(%rax,%rax,1); .LQq3:; movq	%rdi, 8(%rsp); .LQy3:
	.p2align 6,,4; .LQa4: {disp8} nopl 0(%rax,%rax,1); .LQq4:; movl	$7, variable+4(%rip); .LQy4:
	.loc 1 6 1
	leaq 16(%rdi,%rsi), %r11; shrq $6, %r11; cmpb $0, 0x70000000(%r11); .LQp5: {disp32} jne .LQx5; cmpl	$3, %esi
	movb	$1, 16(%rdi,%rsi); .LQy5:
	jle	.L2
	.loc 1 7 1
	leaq counter@tpoff, %r11; addq %fs:0, %r11; shrq $6, %r11; cmpb $0, 0x70000000(%r11); .LQp6: {disp32} jne .LQx6; addl	$1, %fs:counter@tpoff; .LQy6:
	movq %rdi, %r11; shrq $6, %r11; cmpb $0, 0x70000000(%r11); .LQp7: {disp32} jne .LQx7; lock xaddl	%eax, (%rdi); .LQy7:
	cmpb $0, 0x6ff00000; .LQp8: {disp32} jne .LQx8; rep stosb; .LQy8:
	leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; pushq %rax; .cfi_adjust_cfa_offset 8; pushq %rax; movq %rdi, %rax; pushq %rax; movslq 8(%rsp), %rax; sarq $5, %rax; shlq $2, %rax; addq (%rsp), %rax; leaq 16(%rsp), %rsp; shrq $6, %rax; cmpb $0, 0x70000000(%rax); .LQp9: {disp32} jne .LQx9; popq %rax; .cfi_adjust_cfa_offset -8; leaq 128(%rsp), %rsp; .cfi_adjust_cfa_offset -128; btsl	%eax, (%rdi); .LQy9:
	movq %rdi, %r11; shrq $6, %r11; cmpb $0, 0x70000000(%r11); .LQp10: {disp32} jne .LQx10; vmovdqu32	%zmm0, (%rdi){%k1}; .LQy10:
	.p2align 6,,4; .LQcf11: {disp8} nopl 0(%rax,%rax,1); .p2align 6,,9; .LQcm11:; call	other; .LQy11: {disp8} nopl 0(%rax,%rax,1); .LQco11:
.L2:
	addq	$24, %rsp
	.cfi_def_cfa_offset 24
	popq	%rbx
	.cfi_def_cfa_offset 16
	popq	%rbp
	.cfi_def_cfa_offset 8
	.p2align 6,,4; .LQa12: {disp8} nopl 0(%rax,%rax,1); .LQq12:; ret; .LQz1: .cfi_remember_state; .cfi_def_cfa %rsp, 8; cmpq %rsp, 0x6ff06048; jae .LQq1; cmpq %rsp, 0x6ff06050; jbe .LQq1; leaq -16(%rsp), %r11; shrq $6, %r11; cmpb $0, 0x70000000(%r11); .LQp1: {disp32} jne .LQx1; jmp .LQq1; .LQzf1: pushq $.LQzb1-.LQf0_0; .cfi_adjust_cfa_offset 8; call quipu_watch_function_begin; .LQzb1: leaq 8(%rsp), %rsp; .cfi_adjust_cfa_offset -8; jmp .LQz1; .LQx1: .loc 1 3 1 is_stmt 1; leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; pushq %rax; .cfi_adjust_cfa_offset 8; leaq 136+-8(%rsp), %rax; xchgq %rax, (%rsp); pushq $0x1300008; .cfi_adjust_cfa_offset 8; call quipu_watch_begin; .cfi_adjust_cfa_offset -144; pushq	%rbp; ; .cfi_adjust_cfa_offset 8; leaq 8(%rsp), %rsp; .cfi_adjust_cfa_offset -8; leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; call quipu_watch_end; .cfi_adjust_cfa_offset -128; leaq -8(%rsp), %rsp; .cfi_adjust_cfa_offset 8; .cfi_def_cfa %rsp, 16; leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; pushq %rax; .cfi_adjust_cfa_offset 8; leaq 136+-8(%rsp), %rax; xchgq %rax, (%rsp); pushq $0x1300008; .cfi_adjust_cfa_offset 8; call quipu_watch_begin; .cfi_adjust_cfa_offset -144; pushq	%rbx; ; .cfi_adjust_cfa_offset 8; leaq 8(%rsp), %rsp; .cfi_adjust_cfa_offset -8; leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; call quipu_watch_end; .cfi_adjust_cfa_offset -128; leaq -8(%rsp), %rsp; .cfi_adjust_cfa_offset 8; jmp .LQy1; .LQx2: .cfi_def_cfa %rsp, 48; .loc 1 4 1 is_stmt 1; leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; pushq %rax; .cfi_adjust_cfa_offset 8; movq %rdi, %rax; xchgq %rax, (%rsp); pushq $0x2200004; .cfi_adjust_cfa_offset 8; call quipu_watch_begin; .cfi_adjust_cfa_offset -144; movl	%esi, (%rdi); leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; call quipu_watch_end; .cfi_adjust_cfa_offset -128; leal	1(%rsi), %eax; leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; pushq %rax; .cfi_adjust_cfa_offset 8; leaq 4(%rdi), %rax; xchgq %rax, (%rsp); pushq $0x3200004; .cfi_adjust_cfa_offset 8; call quipu_watch_begin; .cfi_adjust_cfa_offset -144; movl	%eax, 4(%rdi); leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; call quipu_watch_end; .cfi_adjust_cfa_offset -128; leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; pushq %rax; .cfi_adjust_cfa_offset 8; leaq 40(%rdi), %rax; xchgq %rax, (%rsp); pushq $0x8300008; .cfi_adjust_cfa_offset 8; call quipu_watch_begin; .cfi_adjust_cfa_offset -144; movq	$0, 40(%rdi); leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; call quipu_watch_end; .cfi_adjust_cfa_offset -128; jmp .LQy2; .LQz3: leaq 8(%rsp), %r11; shrq $6, %r11; cmpb $0, 0x70000000(%r11); .LQp3: {disp32} jne .LQx3; jmp .LQq3; .LQx3: .loc 1 5 1 is_stmt 1; leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; pushq %rax; .cfi_adjust_cfa_offset 8; leaq 136+8(%rsp), %rax; xchgq %rax, (%rsp); pushq $0x5300008; .cfi_adjust_cfa_offset 8; call quipu_watch_begin; .cfi_adjust_cfa_offset -144; movq	%rdi, 8(%rsp); leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; call quipu_watch_end; .cfi_adjust_cfa_offset -128; jmp .LQy3; .LQz4: leaq variable+4(%rip), %r11; shrq $6, %r11; cmpb $0, 0x70000000(%r11); .LQp4: {disp32} jne .LQx4; jmp .LQq4; .LQx4: .loc 1 5 1 is_stmt 1; leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; pushq %rax; .cfi_adjust_cfa_offset 8; leaq variable+4(%rip), %rax; xchgq %rax, (%rsp); pushq $0xa200004; .cfi_adjust_cfa_offset 8; call quipu_watch_begin; .cfi_adjust_cfa_offset -144; movl	$7, variable+4(%rip); leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; call quipu_watch_end; .cfi_adjust_cfa_offset -128; jmp .LQy4; .LQx5: .loc 1 6 1 is_stmt 1; cmpl	$3, %esi; leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; pushq %rax; .cfi_adjust_cfa_offset 8; leaq 16(%rdi,%rsi), %rax; xchgq %rax, (%rsp); pushq $0x5000001; .cfi_adjust_cfa_offset 8; call quipu_watch_begin; .cfi_adjust_cfa_offset -144; movb	$1, 16(%rdi,%rsi); leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; call quipu_watch_end; .cfi_adjust_cfa_offset -128; jmp .LQy5; .LQx6: .loc 1 7 1 is_stmt 1; leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; pushq %rax; .cfi_adjust_cfa_offset 8; pushfq; .cfi_adjust_cfa_offset 8; leaq counter@tpoff, %rax; addq %fs:0, %rax; popfq; .cfi_adjust_cfa_offset -8; xchgq %rax, (%rsp); pushq $0x9200004; .cfi_adjust_cfa_offset 8; call quipu_watch_begin; .cfi_adjust_cfa_offset -144; addl	$1, %fs:counter@tpoff; leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; call quipu_watch_end; .cfi_adjust_cfa_offset -128; jmp .LQy6; .LQx7: .loc 1 7 1 is_stmt 1; leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; pushq %rax; .cfi_adjust_cfa_offset 8; movq %rdi, %rax; xchgq %rax, (%rsp); pushq $0x4200004; .cfi_adjust_cfa_offset 8; call quipu_watch_begin; .cfi_adjust_cfa_offset -144; lock xaddl	%eax, (%rdi); leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; call quipu_watch_end; .cfi_adjust_cfa_offset -128; jmp .LQy7; .LQx8: .loc 1 7 1 is_stmt 1; leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; pushq %rcx; .cfi_adjust_cfa_offset 8; pushq %rax; .cfi_adjust_cfa_offset 8; leaq (%rdi), %rax; xchgq %rax, (%rsp); pushq $0x2020001; .cfi_adjust_cfa_offset 8; call quipu_watch_begin_more; .cfi_adjust_cfa_offset -152; rep stosb; leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; call quipu_watch_end; .cfi_adjust_cfa_offset -128; jmp .LQy8; .LQx9: ; .cfi_adjust_cfa_offset 136; popq %rax; .cfi_adjust_cfa_offset -8; leaq 128(%rsp), %rsp; .cfi_adjust_cfa_offset -128; .loc 1 7 1 is_stmt 1; leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; pushq %rax; .cfi_adjust_cfa_offset 8; pushfq; .cfi_adjust_cfa_offset 8; pushq %rax; movq %rdi, %rax; pushq %rax; movslq 8(%rsp), %rax; sarq $5, %rax; shlq $2, %rax; addq (%rsp), %rax; leaq 16(%rsp), %rsp; popfq; .cfi_adjust_cfa_offset -8; xchgq %rax, (%rsp); pushq $0x3200004; .cfi_adjust_cfa_offset 8; call quipu_watch_begin; .cfi_adjust_cfa_offset -144; btsl	%eax, (%rdi); leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; call quipu_watch_end; .cfi_adjust_cfa_offset -128; jmp .LQy9; .LQx10: .loc 1 7 1 is_stmt 1; leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; pushq %rax; .cfi_adjust_cfa_offset 8; kmovw %k1, %eax; xchgq %rax, (%rsp); pushq %rax; .cfi_adjust_cfa_offset 8; movq %rdi, %rax; xchgq %rax, (%rsp); pushq $0x6210040; .cfi_adjust_cfa_offset 8; call quipu_watch_begin_more; .cfi_adjust_cfa_offset -152; vmovdqu32	%zmm0, (%rdi){%k1}; leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; call quipu_watch_end; .cfi_adjust_cfa_offset -128; jmp .LQy10; .LQcl11: .cfi_remember_state; .cfi_def_cfa %rsp, 48; .LQcz11: cmpq %rsp, 0x6ff06048; jae .LQcq11; cmpq %rsp, 0x6ff06050; jbe .LQcq11; leaq -128(%rsp), %rsp; .cfi_adjust_cfa_offset 128; pushq $.LQy11-.LQcr11; .cfi_adjust_cfa_offset 8; call quipu_watch_return; .LQcr11:; .cfi_adjust_cfa_offset -136; jmp .LQcq11; cmpb $0, 0x6ff00000; {disp32} jne .LQcn11; {disp32} jmp .LQco11; .LQcq11: cmpb $0, 0x6ff00003; je .LQcm11; movq other@GOTPCREL(%rip), %r11; subq quipu_watch_text(%rip), %r11; cmpq quipu_watch_text+8(%rip), %r11; jb .LQcm11; pushq $33882112; .cfi_adjust_cfa_offset 8; call quipu_watch_call_begin; leaq 8(%rsp), %rsp; .cfi_adjust_cfa_offset -8; jmp .LQcm11; .LQcn11: movq other@GOTPCREL(%rip), %r11; subq quipu_watch_text(%rip), %r11; cmpq quipu_watch_text+8(%rip), %r11; jb .LQco11; call quipu_watch_call_return; jmp .LQco11; .cfi_restore_state; .LQz12: .cfi_def_cfa %rsp, 8; call quipu_watch_function_end; jmp .LQq12; .cfi_restore_state; .loc 1 7 1 is_stmt 1
	.cfi_endproc
	.size	fill, .-fill
	.comm	variable,8,8
	.ident	"GCC: (Debian 12.2.0-14) 12.2.0"
	.section	.note.GNU-stack,"",@progbits

	.att_syntax prefix
	.text
	.reloc .LQf0_0, R_X86_64_NONE, quipu_watch_early
	.text
	.reloc .LQf0_0, R_X86_64_NONE, .LQr14
	.section .quipu.sites,"a?",@progbits,unique,1
.LQr14:
	.long .LQa1-., .LQz1-., .LQf0_0-., 0xfffffff0
	.long .LQa1-., .LQzf1-., .LQf0_0-., 0xfffffff1
	.long .LQa3-., .LQz3-., .LQf0_0-., 0xfffffff0
	.long .LQa4-., .LQz4-., variable+4-., 4
	.long .LQcf11-., .LQcq11-., .LQco11-., 0xfffffff8
	.long .LQcf11-., .LQcz11-., .LQf0_0-., 0xffffffef
	.long .LQa12-., .LQz12-., .LQf0_0-., 0xfffffff2
	.section .quipu.units,"",@progbits
.LQx15:
	.long .LQy15-.LQx15
	.ascii "\001\0030.1.0\000watch.c\000GCC: (Debian 12.2.0-14) 12.2.0\000watch,placement=tree\000"
.LQy15:
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
