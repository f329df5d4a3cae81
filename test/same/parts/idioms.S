// Ways in which hand-written code computes with its own addresses.  Each is a function long f(long),
// and says what must become of it: "counted", or "left: REASON".

#include "idioms.h"

// counted
FUNCTION(plain):
    WORK
    ret
END(plain)

// left: a call is made for its return address
FUNCTION(call_pop):
    WORK
    call 1f
1:  pop %rcx
    mov .Lword-1b(%rcx), %ecx
    add %rcx, %rax
    ret
END(call_pop)
.Lword:
    .long 4711

// left: a call is made for its return address
FUNCTION(call_pop_jump):
    WORK
    call 1f
1:  pop %rcx
    add $(2f-1b), %rcx
    jmp *%rcx
    mov $99, %eax
    ret
2:  add $3, %rax
    ret
END(call_pop_jump)

// left: a call is made for its return address
FUNCTION(call_aligned_pop):
    WORK
    call 12f
    .balign 16
12: pop %rcx
    sub $12b, %rcx
    cmp $16, %rcx
    ja 1f
    add $100, %rax
1:  ret
END(call_aligned_pop)

// left: a call is made for its return address
FUNCTION(call_over):
    WORK
    call 1f
    add $9, %rax
    ret
1:  pop %rcx
    push %rcx
    test %rax, %rax
    js 2f
    inc %rax
2:  ret
END(call_over)

// left: a call is made for its return address
FUNCTION(call_skips):
    WORK
    call 1f
    dec %rax
    nop
    ret
1:  add $3, (%rsp)
    ret
END(call_skips)

// left: a distance between labels goes over it
FUNCTION(difference_in_operand):
1:  WORK
2:  lea 1b(%rip), %rcx
    mov $2b-1b, %edx
    movzbl (%rcx,%rdx), %ecx
    add %rcx, %rax
    add %rdx, %rax
    ret
END(difference_in_operand)

// left: a distance between labels goes over it
FUNCTION(difference_in_data):
    WORK
    movzbl .Lsize(%rip), %ecx
    add %rcx, %rax
    ret
.Lend:
END(difference_in_data)
    .section .rodata
.Lsize:
    .byte .Lend-difference_in_data
    .text

// left: a distance between labels goes over it
FUNCTION(difference_by_name):
.Lfirst:
    WORK
    mov $length, %ecx
    add %rcx, %rax
    ret
END(difference_by_name)
    .set length, .-.Lfirst

// left: a distance between labels goes over it
FUNCTION(difference_by_names):
.Lbegin:
    WORK
    add $twice, %rax
    ret
END(difference_by_names)
past = .
    .equ twice, (past - .Lbegin) * 2

// left: an address in it is given as a label and a number
FUNCTION(number_behind):
    WORK
    lea 7f+1(%rip), %rcx
    jmp *%rcx
7:  nop
    add $5, %rax
    ret
END(number_behind)

// left: an address in it is given as a label and a number
FUNCTION(number_in_data):
    WORK
    jmp *.Lbehind(%rip)
.Lhere:
    nop
    add $6, %rax
    ret
END(number_in_data)
    .section .data.rel.ro, "aw"
.Lbehind:
    .quad .Lhere+1
    .text

// left: an address in it is given as a label and a number
FUNCTION(here_and_number):
    WORK
    lea .+8(%rip), %rcx
    jmp *%rcx
    nop
    add $7, %rax
    ret
END(here_and_number)

// left: an address is given as its distance from an instruction
FUNCTION(distance_from_here):
    WORK
    lea 3(%rip), %rcx
    jmp *%rcx
    nop
    add $8, %rax
    ret
END(distance_from_here)

// counted
FUNCTION(address_of_next):
    WORK
    xor %edx, %edx
    lea 0(%rip), %rcx
    add $8, %rax
    inc %edx
    cmp $3, %edx
    je 1f
    jmp *%rcx
1:  ret
END(address_of_next)

// left: a jump goes to an address that it computes
FUNCTION(behind_next):
    WORK
    lea 0(%rip), %rcx
    add $11, %rcx
    jmp *%rcx
    add $64, %rax
    nop
    add $8, %rax
    ret
END(behind_next)

// left: its instructions are read or written as data
FUNCTION(reads_next):
    WORK
    lea 0(%rip), %rcx
    add $8, %rax
    movzbl 2(%rcx), %ecx
    add %rcx, %rax
    ret
END(reads_next)

// left: its instructions are read or written as data
FUNCTION(reads_itself):
    WORK
    movzbl reads_itself(%rip), %ecx
    add %rcx, %rax
    ret
END(reads_itself)

// left: a distance between labels goes over it
FUNCTION(between_others):
    WORK
    ret
END(between_others)

// counted
FUNCTION(over_others):
    WORK
    add $.Lpast-between_others, %rax
    ret
END(over_others)
    .set .Lpast, over_others

// counted
FUNCTION(table_of_differences):
    WORK
    and $3, %eax
    lea .Ltable(%rip), %rdx
    movslq (%rdx,%rax,4), %rcx
    add %rdx, %rcx
    jmp *%rcx
.Lzero:
    mov $10, %eax
    ret
.Lone:
    mov $20, %eax
    ret
.Ltwo:
    mov $30, %eax
    jmp .Lzero
.Lthree:
    mov $40, %eax
    ret
END(table_of_differences)
    .section .rodata
    .balign 4
.Ltable:
    .long .Lzero-.Ltable, .Lone-.Ltable
    .long .Ltwo-.Ltable, .Lthree-.Ltable
    .text

// counted
FUNCTION(table_in_text):
    WORK
    and $1, %eax
    lea .Ltexts(%rip), %rdx
    movslq (%rdx,%rax,4), %rcx
    add %rdx, %rcx
    jmp *%rcx
.Leven:
    mov $11, %eax
    ret
.Lodd:
    mov $12, %eax
    ret
END(table_in_text)
.Ltexts:
    .long .Leven-.Ltexts, .Lodd-.Ltexts

// counted
FUNCTION(return_made_up):
    WORK
    lea 1f(%rip), %rcx
    push %rcx
    jmp plain
1:  add $2, %rax
    ret
END(return_made_up)

// counted
FUNCTION(numbered_labels):
    xor %eax, %eax
    test %rdi, %rdi
    jle 102f
101:
    add $2, %rax
    dec %rdi
    jnz 101b
    jmp 102f
102: inc %rax
    cmp $3, %rax
    je 102f
    inc %rax
102:
    ret
END(numbered_labels)

// counted
FUNCTION(intel_syntax):
    .intel_syntax noprefix
    xor eax, eax
    test rdi, rdi
    jz short 2f
    jle near ptr 2f
1:  add rax, rdi
    dec rdi
    jnz short 1b
2:  ret
    .att_syntax prefix
END(intel_syntax)

// left: a distance between labels goes over it
FUNCTION(intel_difference):
    .intel_syntax noprefix
1:  xor eax, eax
    test rdi, rdi
    jz 2f
    mov eax, OFFSET 2f - 1b
    inc rax
2:  ret
    .att_syntax prefix
END(intel_difference)

// left: an address in it is given as a label and a number
FUNCTION(intel_number):
    .intel_syntax noprefix
    xor eax, eax
    test rdi, rdi
    jz 1f
    inc rax
    lea rcx, [rip + 1f + 1]
    jmp rcx
1:  nop
    ret
    .att_syntax prefix
END(intel_number)

// left: a jump goes to an address that it computes
FUNCTION(even_spacing):
    xor %eax, %eax
    cmp $3, %rdi
    ja 9f
    lea 0f(%rip), %rdx
    lea (%rdx,%rdi,8), %rdx
    jmp *%rdx
    .balign 8
0:  mov $10, %eax
    ret
    .balign 8
    mov $11, %eax
    ret
    .balign 8
    mov $12, %eax
    ret
    .balign 8
    mov $13, %eax
9:  ret
END(even_spacing)

// left: a jump goes to an address that it computes
FUNCTION(even_spacing_pushed):
    xor %eax, %eax
    cmp $1, %rdi
    ja 9f
    shl $4, %rdi
    lea 0f(%rip), %rdx
    add %rdi, %rdx
    push %rdx
    ret
    .balign 16
0:  mov $10, %eax
    ret
    .balign 16
    mov $11, %eax
9:  ret
END(even_spacing_pushed)

// left: a jump goes to an address that it computes
FUNCTION(even_spacing_joined):
    mov %rdi, %rcx
    and $3, %rcx
    lea 1f(%rip), %rdx
    lea (%rdx,%rcx,8), %rdx
    jmp 3f
2:  lea pointer_to_ten(%rip), %rdx
    mov (%rdx), %rdx
3:  jmp *%rdx
    .balign 8
1:  mov $20, %eax
    ret
    .balign 8
    mov $21, %eax
    ret
    .balign 8
    mov $22, %eax
    ret
    .balign 8
    jmp 2b
4:  mov $10, %eax
    ret
    .pushsection .data
    .balign 8
pointer_to_ten: .quad 4b
    .popsection
END(even_spacing_joined)

// left: a label next to a system call is known elsewhere
FUNCTION(system_call_label):
    WORK
    mov %rax, %r8
    mov $39, %eax           # getpid; %rcx becomes the address behind it
    cmp $2, %r8
    je 1f
    syscall
system_call_end:
    sub .Lsystem_call_end(%rip), %rcx
    lea (%r8,%rcx), %rax
    ret
1:  mov $1, %eax
    ret
END(system_call_label)
    .section .data.rel.ro, "aw"
.Lsystem_call_end:
    .quad system_call_end
    .text

// left: a label next to a system call is known elsewhere
FUNCTION(system_call_restarted):
    test %rdi, %rdi
    mov $39, %eax
    js 1f
    .globl system_call_start
system_call_start:
    syscall
    lea system_call_start(%rip), %rax
    sub %rcx, %rax
    ret
1:  xor %eax, %eax
    ret
END(system_call_restarted)

// counted
FUNCTION(system_call_alone):
    test %rdi, %rdi
    mov $-1, %edi
    mov $3, %eax            # close
    jns 1f
    lea system_call_alone(%rip), %rax
    cmp %rax, %rdi
    sete %al
    movzbl %al, %eax
1:  syscall
2:  test %eax, %eax
    js 3f
    neg %rax
    jmp 2b
3:  ret
END(system_call_alone)

// counted
FUNCTION(jump_to_label):
    lea 1f(%rip), %rdx
    mov %rdx, %rcx
    test %rdi, %rdi
    jmp *%rcx
1:  setg %al
    movzbl %al, %eax
    ret
END(jump_to_label)
// left: a label stands between a prefix and its instruction
FUNCTION(jump_over_lock):
    WORK
    lea -8(%rsp), %rcx
    mov %rax, (%rcx)
    test $1, %eax
    je 0f
    lock
0:  incq (%rcx)
    je 0b
    mov (%rcx), %rax
    ret
END(jump_over_lock)

// left: a label stands between a prefix and its instruction
FUNCTION(jump_over_repeat):
    WORK
    lea jump_over_repeat_text(%rip), %rsi
    lea -64(%rsp), %rdi
    mov %eax, %ecx
    and $3, %ecx
    cmp $1, %eax
    je 1f
    rep
1:  movsb
    sub %rsi, %rax
    lea jump_over_repeat_text(%rip), %rsi
    add %rsi, %rax
    ret
END(jump_over_repeat)
    .section .rodata
jump_over_repeat_text:
    .ascii "0123456789"
    .text

// left: data among instructions
FUNCTION(jump_over_byte):
    WORK
    lea jump_over_repeat_text(%rip), %rsi
    lea -64(%rsp), %rdi
    mov %eax, %ecx
    and $3, %ecx
    cmp $1, %eax
    je 1f
    .byte 0xf3
1:  movsb
    lea jump_over_repeat_text(%rip), %rcx
    sub %rcx, %rsi
    add %rsi, %rax
    ret
END(jump_over_byte)

// left: a label stands between a prefix and its instruction
FUNCTION(jump_over_width):
    WORK
    mov $-1, %ecx
    test $1, %eax
    je 1f
    DATA16
1:  add $1, %ecx
    jz 2f
    rex.W
2:  add $1, %ecx
    add %rcx, %rax
    ret
END(jump_over_width)

// left: a label stands between a prefix and its instruction
FUNCTION(ends_in_prefix):
    WORK
    rep
END(ends_in_prefix)
// left: a label stands between a prefix and its instruction
FUNCTION(begins_behind_prefix):
    bsf %rdi, %rax
    jz 1f
    inc %rax
1:  ret
END(begins_behind_prefix)

    .section .note.GNU-stack, "", @progbits
