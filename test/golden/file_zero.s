# A jump's code, out of line or in front of it, takes a line of a .file that is behind it. That .file is
# moved up, and .file 0 with it: only behind that may others have a checksum.
# options: count
	.file	"named.c"
	.text
	.globl	named
	.type	named, @function
named:
	.file	0 "/directory" "/directory/named.c" md5 0xf65aca611ee9023328e6efa3eeecc518
	.cfi_startproc
	.loc	0 1 1
	testl	%edi, %edi
	.file	1 "named.h" md5 0xf65aca611ee9023328e6efa3eeecc518
	.loc	1 2 53
	je	.LBB0_2
	incl	%eax
.LBB0_2:
	.loc	1 3 1
	retq
.Lfunc_end0:
	.size	named, .Lfunc_end0-named
	.cfi_endproc
	.globl	other
	.type	other, @function
other:
	.cfi_startproc
	.loc	0 5 1
	testl	%edi, %edi
	.file	2 "other.h" md5 0xf65aca611ee9023328e6efa3eeecc518
	.loc	2 2 53
	je	.LBB1_2
	incl	%eax
.LBB1_2:
	.loc	2 3 1
	retq
	.size	other, .-other
	.cfi_endproc
