#!/bin/bash
# In front of each instruction, of the program's and of what is inserted, the stack can be unwound to
# its end.
set -uo pipefail
parts=$(cd "$(dirname "$0")/parts" && pwd)
exact=$(cd "$(dirname "$0")/../exact" && pwd)

fail() {
    printf '%s\n' "$(basename "$0"): $*"
    exit 1
}

gcc -O2 "$parts/unwinder.c" -ldw -lelf -o unwinder || fail "the unwinder does not compile"
cat >live.s <<'EOS'
	.text
	.globl live
	.type live, @function
live:
	.cfi_startproc
	push %rbx
	.cfi_def_cfa_offset 16
	.cfi_offset rbx, -16
	cmp $3, %rdi
	mov %rdi, (%rsi)
	movb $1, 8(%rsi)
	jb 1f
	sete 9(%rsi)
	dec %rdi
	call live
	jmp 2f
1:	adc $2, %rdi
	mov %rdi, 16(%rsi)
	mov $3, %ecx
	mov %rsi, %rbx
	xchg %rbx, %rdi
	rep stosb
	btsq $1, (%rsi)
2:	pop %rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size live, . - live
	.section .note.GNU-stack, "", @progbits
EOS
cat >main.c <<'EOC'
long to[8];
long live(long n, long *at);
int main(void) {
    live(5, to);
    return 0;
}
EOC
for mode in none count moment event calls watch; do
    events=
    [ $mode != event ] || events='--quipu-event=instructions --quipu-event=stores'
    # shellcheck disable=SC2086
    quipu cc --quipu=$mode $events -O2 -static live.s main.c -o live || fail "$mode: does not build"
    ./unwinder ./live >told || fail "$mode, live: $(cat told)"
done
quipu cc --quipu=calls -O2 -static "$exact/longjmp.c" -o longjmp || fail "calls: does not build"
./unwinder ./longjmp >told || fail "calls, longjmp: $(cat told)"
