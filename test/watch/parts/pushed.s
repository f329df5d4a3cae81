# By clang 21 -O1 -g, of test/watch/frame_base.sh's program: the base of frames is told as a sum.
	.file	"pushed.c"
	.file	0 "." "pushed.c" md5 0xa396b5b57ada36ca3d242b224c865136
	.text
	.globl	many
	.p2align	4
	.type	many,@function
many:
.Lfunc_begin0:
	.cfi_startproc
# %bb.0:














	.loc	0 2 103 prologue_end
	addl	%edi, %esi
.Ltmp0:

	.loc	0 2 107 is_stmt 0
	leal	(%rdx,%rcx), %eax
	.loc	0 2 111
	addl	%esi, %eax
	.loc	0 2 119
	addl	%r8d, %eax
	addl	%r9d, %eax
	.loc	0 2 123
	addl	8(%rsp), %eax
	.loc	0 2 127
	addl	16(%rsp), %eax
	.loc	0 2 131
	addl	used(%rip), %eax
	.loc	0 2 94
	retq
.Ltmp1:
.Lfunc_end0:
	.size	many, .Lfunc_end0-many
	.cfi_endproc

	.globl	pushes
	.p2align	4
	.type	pushes,@function
pushes:
.Lfunc_begin1:
	.loc	0 3 0 is_stmt 1
	.cfi_startproc
# %bb.0:

	pushq	%rax
	.cfi_def_cfa_offset 16
.Ltmp2:
	.loc	0 3 60 prologue_end
	movl	%edi, 4(%rsp)
	.loc	0 3 71 is_stmt 0
	movl	$1, %edi
.Ltmp3:

	movl	$2, %esi
	movl	$3, %edx
	movl	$4, %ecx
	movl	$5, %r8d
	movl	$6, %r9d
	pushq	$8
	.cfi_adjust_cfa_offset 8
	pushq	$7
	.cfi_adjust_cfa_offset 8
	callq	many
.Ltmp4:
	addq	$16, %rsp
	.cfi_adjust_cfa_offset -16
	.loc	0 3 69
	movl	%eax, 4(%rsp)
	.loc	0 3 103
	incl	4(%rsp)
	.loc	0 3 119
	movl	4(%rsp), %eax
	.loc	0 3 112 epilogue_begin
	popq	%rcx
	.cfi_def_cfa_offset 8
	retq
.Ltmp5:
.Lfunc_end1:
	.size	pushes, .Lfunc_end1-pushes
	.cfi_endproc

	.globl	main
	.p2align	4
	.type	main,@function
main:
.Lfunc_begin2:
	.loc	0 4 0 is_stmt 1
	.cfi_startproc
# %bb.0:


	pushq	%rax
	.cfi_def_cfa_offset 16
.Ltmp6:
	.loc	0 4 54 prologue_end
	callq	pushes
.Ltmp7:


	.loc	0 4 52 is_stmt 0
	movl	%eax, used(%rip)
	.loc	0 4 80
	xorl	%ecx, %ecx
	cmpl	$37, %eax
	setne	%cl
	.loc	0 4 68
	movl	%ecx, %eax
	.loc	0 4 68 epilogue_begin
	popq	%rcx
	.cfi_def_cfa_offset 8
	retq
.Ltmp8:
.Lfunc_end2:
	.size	main, .Lfunc_end2-main
	.cfi_endproc

	.type	used,@object
	.bss
	.globl	used
	.p2align	2, 0x0
used:
	.long	0
	.size	used, 4

	.section	.debug_loclists,"",@progbits
	.long	.Ldebug_list_header_end0-.Ldebug_list_header_start0
.Ldebug_list_header_start0:
	.short	5
	.byte	8
	.byte	0
	.long	4
.Lloclists_table_base0:
	.long	.Ldebug_loc0-.Lloclists_table_base0
	.long	.Ldebug_loc1-.Lloclists_table_base0
	.long	.Ldebug_loc2-.Lloclists_table_base0
	.long	.Ldebug_loc3-.Lloclists_table_base0
.Ldebug_loc0:
	.byte	4
	.uleb128 .Lfunc_begin0-.Lfunc_begin0
	.uleb128 .Ltmp0-.Lfunc_begin0
	.byte	1
	.byte	84
	.byte	4
	.uleb128 .Ltmp0-.Lfunc_begin0
	.uleb128 .Lfunc_end0-.Lfunc_begin0
	.byte	4
	.byte	163
	.byte	1
	.byte	84
	.byte	159
	.byte	0
.Ldebug_loc1:
	.byte	4
	.uleb128 .Lfunc_begin1-.Lfunc_begin0
	.uleb128 .Ltmp3-.Lfunc_begin0
	.byte	1
	.byte	85
	.byte	4
	.uleb128 .Ltmp3-.Lfunc_begin0
	.uleb128 .Lfunc_end1-.Lfunc_begin0
	.byte	4
	.byte	163
	.byte	1
	.byte	85
	.byte	159
	.byte	0
.Ldebug_loc2:
	.byte	4
	.uleb128 .Lfunc_begin2-.Lfunc_begin0
	.uleb128 .Ltmp7-.Lfunc_begin0
	.byte	1
	.byte	85
	.byte	4
	.uleb128 .Ltmp7-.Lfunc_begin0
	.uleb128 .Lfunc_end2-.Lfunc_begin0
	.byte	4
	.byte	163
	.byte	1
	.byte	85
	.byte	159
	.byte	0
.Ldebug_loc3:
	.byte	4
	.uleb128 .Lfunc_begin2-.Lfunc_begin0
	.uleb128 .Ltmp7-.Lfunc_begin0
	.byte	1
	.byte	84
	.byte	4
	.uleb128 .Ltmp7-.Lfunc_begin0
	.uleb128 .Lfunc_end2-.Lfunc_begin0
	.byte	4
	.byte	163
	.byte	1
	.byte	84
	.byte	159
	.byte	0
.Ldebug_list_header_end0:
	.section	.debug_abbrev,"",@progbits
	.byte	1
	.byte	17
	.byte	1
	.byte	37
	.byte	37
	.byte	19
	.byte	5
	.byte	3
	.byte	37
	.byte	114
	.byte	23
	.byte	16
	.byte	23
	.byte	27
	.byte	37
	.byte	17
	.byte	27
	.byte	18
	.byte	6
	.byte	115
	.byte	23
	.ascii	"\214\001"
	.byte	23
	.byte	0
	.byte	0
	.byte	2
	.byte	52
	.byte	0
	.byte	3
	.byte	37
	.byte	73
	.byte	19
	.byte	63
	.byte	25
	.byte	58
	.byte	11
	.byte	59
	.byte	11
	.byte	2
	.byte	24
	.byte	0
	.byte	0
	.byte	3
	.byte	36
	.byte	0
	.byte	3
	.byte	37
	.byte	62
	.byte	11
	.byte	11
	.byte	11
	.byte	0
	.byte	0
	.byte	4
	.byte	46
	.byte	1
	.byte	17
	.byte	27
	.byte	18
	.byte	6
	.byte	64
	.byte	24
	.byte	122
	.byte	25
	.byte	3
	.byte	37
	.byte	58
	.byte	11
	.byte	59
	.byte	11
	.byte	39
	.byte	25
	.byte	73
	.byte	19
	.byte	63
	.byte	25
	.byte	0
	.byte	0
	.byte	5
	.byte	5
	.byte	0
	.byte	2
	.byte	24
	.byte	3
	.byte	37
	.byte	58
	.byte	11
	.byte	59
	.byte	11
	.byte	73
	.byte	19
	.byte	0
	.byte	0
	.byte	6
	.byte	5
	.byte	0
	.byte	2
	.byte	34
	.byte	3
	.byte	37
	.byte	58
	.byte	11
	.byte	59
	.byte	11
	.byte	73
	.byte	19
	.byte	0
	.byte	0
	.byte	7
	.byte	52
	.byte	0
	.byte	2
	.byte	24
	.byte	3
	.byte	37
	.byte	58
	.byte	11
	.byte	59
	.byte	11
	.byte	73
	.byte	19
	.byte	0
	.byte	0
	.byte	8
	.byte	72
	.byte	1
	.byte	127
	.byte	19
	.byte	125
	.byte	27
	.byte	0
	.byte	0
	.byte	9
	.byte	73
	.byte	0
	.byte	2
	.byte	24
	.byte	126
	.byte	24
	.byte	0
	.byte	0
	.byte	10
	.byte	53
	.byte	0
	.byte	73
	.byte	19
	.byte	0
	.byte	0
	.byte	11
	.byte	15
	.byte	0
	.byte	73
	.byte	19
	.byte	0
	.byte	0
	.byte	0
	.section	.debug_info,"",@progbits
.Lcu_begin0:
	.long	.Ldebug_info_end0-.Ldebug_info_start0
.Ldebug_info_start0:
	.short	5
	.byte	1
	.byte	8
	.long	.debug_abbrev
	.byte	1
	.byte	0
	.short	29
	.byte	1
	.long	.Lstr_offsets_base0
	.long	.Lline_table_start0
	.byte	2
	.byte	1
	.long	.Lfunc_end2-.Lfunc_begin0
	.long	.Laddr_table_base0
	.long	.Lloclists_table_base0
	.byte	2
	.byte	3
	.long	50

	.byte	0
	.byte	1
	.byte	2
	.byte	161
	.byte	0
	.byte	3
	.byte	4
	.byte	5
	.byte	4
	.byte	4
	.byte	1
	.long	.Lfunc_end0-.Lfunc_begin0
	.byte	1
	.byte	87

	.byte	5
	.byte	0
	.byte	2

	.long	50

	.byte	5
	.byte	1
	.byte	85
	.byte	8
	.byte	0
	.byte	2
	.long	50
	.byte	6
	.byte	0
	.byte	9
	.byte	0
	.byte	2
	.long	50
	.byte	5
	.byte	1
	.byte	81
	.byte	10
	.byte	0
	.byte	2
	.long	50
	.byte	5
	.byte	1
	.byte	82
	.byte	11
	.byte	0
	.byte	2
	.long	50
	.byte	5
	.byte	1
	.byte	88
	.byte	12
	.byte	0
	.byte	2
	.long	50
	.byte	5
	.byte	1
	.byte	89
	.byte	13
	.byte	0
	.byte	2
	.long	50
	.byte	5
	.byte	2
	.byte	145
	.byte	8
	.byte	14
	.byte	0
	.byte	2
	.long	50
	.byte	5
	.byte	2
	.byte	145
	.byte	16
	.byte	15
	.byte	0
	.byte	2
	.long	50
	.byte	0
	.byte	4
	.byte	2
	.long	.Lfunc_end1-.Lfunc_begin1
	.byte	4
	.byte	156
	.byte	17
	.byte	112
	.byte	34

	.byte	6
	.byte	0
	.byte	3

	.long	50

	.byte	6
	.byte	1
	.byte	17
	.byte	0
	.byte	3
	.long	50
	.byte	7
	.byte	2
	.byte	145
	.byte	4
	.byte	16
	.byte	0
	.byte	3
	.long	275
	.byte	8
	.long	54
	.byte	3
	.byte	9
	.byte	1
	.byte	89
	.byte	1
	.byte	54
	.byte	9
	.byte	1
	.byte	88
	.byte	1
	.byte	53
	.byte	9
	.byte	1
	.byte	82
	.byte	1
	.byte	52
	.byte	9
	.byte	1
	.byte	81
	.byte	1
	.byte	51
	.byte	9
	.byte	1
	.byte	84
	.byte	1
	.byte	50
	.byte	9
	.byte	1
	.byte	85
	.byte	1
	.byte	49
	.byte	0
	.byte	0
	.byte	4
	.byte	4
	.long	.Lfunc_end2-.Lfunc_begin2
	.byte	1
	.byte	87

	.byte	7
	.byte	0
	.byte	4

	.long	50

	.byte	6
	.byte	2
	.byte	18
	.byte	0
	.byte	4
	.long	50
	.byte	6
	.byte	3
	.byte	19
	.byte	0
	.byte	4
	.long	280
	.byte	8
	.long	151
	.byte	5
	.byte	9
	.byte	1
	.byte	85
	.byte	3
	.byte	163
	.byte	1
	.byte	85
	.byte	0
	.byte	0
	.byte	10
	.long	50
	.byte	11
	.long	285
	.byte	11
	.long	290
	.byte	3
	.byte	20
	.byte	6
	.byte	1
	.byte	0
.Ldebug_info_end0:
	.section	.debug_str_offsets,"",@progbits
	.long	88
	.short	5
	.short	0
.Lstr_offsets_base0:
	.section	.debug_str,"MS",@progbits,1
.Linfo_string0:
	.asciz	"Debian clang version 21.1.8 (14)"
.Linfo_string1:
	.asciz	"pushed.c"
.Linfo_string2:
	.asciz	"."
.Linfo_string3:
	.asciz	"used"
.Linfo_string4:
	.asciz	"int"
.Linfo_string5:
	.asciz	"many"
.Linfo_string6:
	.asciz	"pushes"
.Linfo_string7:
	.asciz	"main"
.Linfo_string8:
	.asciz	"a"
.Linfo_string9:
	.asciz	"b"
.Linfo_string10:
	.asciz	"c"
.Linfo_string11:
	.asciz	"d"
.Linfo_string12:
	.asciz	"e"
.Linfo_string13:
	.asciz	"f"
.Linfo_string14:
	.asciz	"g"
.Linfo_string15:
	.asciz	"h"
.Linfo_string16:
	.asciz	"v"
.Linfo_string17:
	.asciz	"n"
.Linfo_string18:
	.asciz	"argc"
.Linfo_string19:
	.asciz	"argv"
.Linfo_string20:
	.asciz	"char"
	.section	.debug_str_offsets,"",@progbits
	.long	.Linfo_string0
	.long	.Linfo_string1
	.long	.Linfo_string2
	.long	.Linfo_string3
	.long	.Linfo_string4
	.long	.Linfo_string5
	.long	.Linfo_string6
	.long	.Linfo_string7
	.long	.Linfo_string8
	.long	.Linfo_string9
	.long	.Linfo_string10
	.long	.Linfo_string11
	.long	.Linfo_string12
	.long	.Linfo_string13
	.long	.Linfo_string14
	.long	.Linfo_string15
	.long	.Linfo_string16
	.long	.Linfo_string17
	.long	.Linfo_string18
	.long	.Linfo_string19
	.long	.Linfo_string20
	.section	.debug_addr,"",@progbits
	.long	.Ldebug_addr_end0-.Ldebug_addr_start0
.Ldebug_addr_start0:
	.short	5
	.byte	8
	.byte	0
.Laddr_table_base0:
	.quad	used
	.quad	.Lfunc_begin0
	.quad	.Lfunc_begin1
	.quad	.Ltmp4
	.quad	.Lfunc_begin2
	.quad	.Ltmp7
.Ldebug_addr_end0:
	.ident	"Debian clang version 21.1.8 (14)"
	.section	".note.GNU-stack","",@progbits
	.section	.debug_line,"",@progbits
.Lline_table_start0:
