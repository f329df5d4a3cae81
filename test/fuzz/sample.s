# sample.s: a program with notes written by hand, as the shim writes them (src/format/notes.h), for
# the fuzzer of the readers.  It sums 3 + 2 + 1 in a loop, with padding, a cold piece, a hub and
# cells.  It is linked as it is: no runtime, no increments; the fuzzer makes up the counts.
	.file	"sample.c"
	.text
	.globl	_start
	.type	_start, @function
_start:
.L_start_1:
	movl	$3, %edi
	call	sum
.L_start_2:
	movl	%eax, %edi
	movl	$60, %eax
	syscall
.L_start_3:
	ud2
	.size	_start, .-_start

	.type	sum, @function
sum:
.L_sum_1:
	xorl	%eax, %eax
	testl	%edi, %edi
	jle	sum.cold
.L_sum_loop:
	addl	%edi, %eax
	decl	%edi
	jne	.L_sum_loop
.L_sum_end:
	ret
	.size	sum, .-sum

	.section	.text.unlikely,"ax",@progbits
	.type	sum.cold, @function
sum.cold:
	movl	$-1, %eax
	leaq	sum.cold(%rip), %rdx
	jmp	*%rdx
.L_cold_2:
	jmp	.L_sum_end
	.size	sum.cold, .-sum.cold

	.section	.quipu.cells,"aw",@nobits
	.balign	64
.L_start_cells:
	.skip	24
.L_sum_cells:
	.skip	24
.L_end_cells:

	.section	.note.quipu,"a",@note
	.balign	4
	.long	6, 8, 2
	.asciz	"quipu"
	.balign	4
	.long	.L_start_cells - ., .L_end_cells - .

# Records: size, kind, version.
	.macro	record begin end kind
	.long	\end-\begin
	.byte	\kind, 5
	.endm
# A block of code: fragment, offset and size in the original, cell, start in this binary.
	.macro	code fragment offset size cell start
	.byte	0
	.uleb128 \fragment
	.uleb128 \offset
	.uleb128 \size
	.uleb128 \cell
	.long	\start
	.endm
	.macro	edge source target kind cell
	.uleb128 \source
	.uleb128 \target
	.byte	\kind
	.uleb128 \cell
	.endm

	.section	.quipu.units,"",@progbits
.L_unit:
	record	.L_unit, .L_unit_end, 1
	.asciz	"0.1.0"
	.asciz	"sample.c"
	.asciz	"by hand"
	.asciz	"count,placement=tree"
.L_unit_end:

	.section	.quipu.functions,"",@progbits
.L_note_1:
	record	.L_note_1, .L_note_1_end, 2
	.quad	_start
	.quad	.L_start_cells
	.asciz	"_start"
	.uleb128 1
	.quad	_start
	.uleb128 3
	code	0, 0, 10, 1, 0
	code	0, 10, 9, 2, .L_start_2-_start
	code	0, 19, 2, 3, .L_start_3-_start
	.uleb128 0
	.uleb128 6
	edge	0, 1, 1, 0
	edge	1, 2, 8, 0
	edge	1, 0, 9, 0
	edge	2, 3, 8, 0
	edge	2, 0, 9, 0
	edge	3, 0, 12, 0
.L_note_1_end:
.L_note_2:
	record	.L_note_2, .L_note_2_end, 2
	.quad	sum
	.quad	.L_sum_cells
	.asciz	"sum"
	.uleb128 2
	.quad	sum
	.quad	sum.cold
	.uleb128 6
	code	0, 0, 6, 0, 0			# the jump was short
	.byte	1				# padding
	.uleb128 0
	.uleb128 6
	.uleb128 10
	.uleb128 0
	.byte	0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0
	.uleb128 0			# its line
	code	0, 16, 6, 1, .L_sum_loop-sum
	code	0, 22, 1, 0, .L_sum_end-sum
	code	1, 0, 14, 0, 0
	code	1, 14, 2, 0, .L_cold_2-sum.cold	# the jump was short
	.uleb128 1
	.uleb128 10
	edge	0, 1, 1, 0
	edge	1, 2, 6, 0
	edge	2, 3, 3, 0
	edge	1, 5, 5, 2
	edge	3, 3, 5, 3
	edge	3, 4, 6, 0
	edge	5, 7, 7, 0
	edge	7, 6, 7, 0
	edge	6, 4, 4, 0
	edge	4, 0, 10, 0
.L_note_2_end:
.L_note_3:
	record	.L_note_3, .L_note_3_end, 2	# dropped by the linker
	.quad	0
	.quad	0
	.asciz	"dropped"
	.uleb128 0
	.uleb128 0
	.uleb128 0
	.uleb128 0
.L_note_3_end:
.L_note_4:
	record	.L_note_4, .L_note_4_end, 3
	.quad	sum.cold
	.asciz	"odd"
	.asciz	"an example of a reason"
.L_note_4_end:

	.section	.note.GNU-stack,"",@progbits
