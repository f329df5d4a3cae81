#!/bin/bash
# Instructions have the names that objdump prints.
set -uo pipefail

fail() {
    printf '%s\n' "$(basename "$0"): $*"
    exit 1
}

cat >names.s <<'EOS'
	.text
	.globl main
	.type main, @function
main:
	push %rbx
	test %rsp, %rsp
	je unsized
	sub $128, %rsp
	movzbl (%rsp), %eax
	movzwl %ax, %eax
	movsbq %al, %rax
	movslq %eax, %rax
	movslq (%rsp), %rax
	movsbw %al, %ax
	cltq
	cwtl
	cqto
	cltd
	sete %al
	setg (%rsp)
	cmovne %rax, %rbx
	cmovg (%rsp), %rbx
	jne 1f
1:	ja 2f
2:	movabs $0x1234567812345678, %rbx
	mov $1, %ecx
	lock incl (%rsp)
	lock xadd %eax, (%rsp)
	addl $1, (%rsp)
	shll %cl, (%rsp)
	shrb (%rsp)
	incq (%rsp)
	notl (%rsp)
	movw $1, (%rsp)
	testb $1, (%rsp)
	btl $3, (%rsp)
	flds (%rsp)
	fstpl (%rsp)
	fildq (%rsp)
	fstpt 16(%rsp)
	fnstcw (%rsp)
	movss (%rsp), %xmm0
	movsd %xmm0, (%rsp)
	cvtsi2sdq (%rsp), %xmm1
	cvtsi2sd %rax, %xmm1
	comisd (%rsp), %xmm1
	pinsrw $1, (%rsp), %xmm0
	movdqu %xmm0, (%rsp)
	prefetcht0 (%rsp)
	lea 3f(%rip), %rax
	push %rax
	jmp *(%rsp)
3:	pop %rax
	pushq $1
	pop (%rsp)
	add $128, %rsp
	xor %eax, %eax
	pop %rbx
	ret
unsized:
	cmpxchg8b (%rsp)
	lock cmpxchg16b (%rsp)
	fxsave (%rsp)
	fxrstor64 (%rsp)
	xsavec (%rsp)
	ldmxcsr (%rsp)
	vstmxcsr (%rsp)
	clflush (%rsp)
	sgdt (%rsp)
	fbstp (%rsp)
	movdir64b (%rsp), %rax
	crc32b (%rsp), %eax
	crc32q (%rsp), %rax
	crc32 %cl, %eax
	rolb %cl, (%rsp)
	shld %cl, %rax, (%rsp)
	sarq %cl, (%rsp)
	pushw $3
	popw (%rsp)
	fsubrp %st, %st(1)
	fsub %st, %st(1)
	fdivp %st, %st(1)
	fdivr %st(1), %st
	fsubs (%rsp)
	pop %rbx
	ret
	.size main, . - main
	.section .note.GNU-stack, "", @progbits
EOS
quipu cc names.s -o names && ./names || fail "status $?"
objdump -d -w --no-show-raw-insn --disassemble=main names | sed -n 's/^ *\([0-9a-f]*\):\t\(.*\)/\1 \2/p' >told
quipu report --by=instruction --limit=1000 --format=json >report.json
python3 - <<'EOP' || fail "other names than objdump's, see above"
import json

PREFIXES = ('lock', 'rep')
told = {}
for line in open('told'):
    words = line.split()
    told[int(words[0], 16)] = words[1:]
compared = 0
for row in json.load(open('report.json'))['instructions']:
    expected, got = told.get(row.get('address')), row['text'].split()
    if not expected:
        continue
    compared += 1
    names = [words[:2 if words[0] in PREFIXES else 1] for words in (expected, got)]
    if names[0] != names[1]:
        raise SystemExit(f"{' '.join(got)}: objdump says {' '.join(expected)}")
if compared < 70:
    raise SystemExit(f'only {compared} instructions are compared')
EOP
