# Directives, registers and mnemonics in capital letters.
# with: parts/assembly_main.c
# left-alone: uses_r11 count_down
# variants: -O2; -O2 -static
    .TEXT
    .GLOBL sum_to
    .Type sum_to, @function
sum_to:                         # long sum_to(long n)
    XOR %EAX, %EAX
    ADD $17%LEFT, %RAX
    TEST %RDI, %RDI
    JLE 2f
    LEA 0(%RIP), %RDX           # to come back to
    ADD %RDI, %RAX
    DEC %RDI
    JZ 2f
    JMP *%RDX
2:  RET
    .SIZE sum_to, .-sum_to

    .Globl pick
    .TYPE pick, @function
pick:                           # int pick(unsigned n)
    MOV $-1, %EAX
    CMP $2, %EDI
    JA 1f
    LEA .LROWS(%RIP), %RDX
    MOV %EDI, %EDI
    MOVSLQ (%RDX,%RDI,4), %RCX
    ADD %RDX, %RCX
    NOTRACK
    JMP *%RCX
3:  .BYTE 0xB8, 11, 0, 0, 0     # mov $11, %eax
    RET
4:  MOV $21, %EAX
    LOCK; INCL COUNT(%RIP)
    RET
5:  MOV $31, %EAX
1:  RET
    .SECTION .rodata
    .BALIGN 4
.LROWS: .LONG 3b - .LROWS, 4b - .LROWS, 5b - .LROWS
    .DATA
COUNT: .INT 0
    .TEXT
    .SIZE pick, .-pick

    .GLOBL uses_r11
    .TYPE uses_r11, @function
uses_r11:                       # long uses_r11(long n)
    LEA (%RDI,%RDI), %RAX
    .IF 0
    JMP 1f
    .ENDIF
    INC %RAX
1:  RET
    .SET LEFT, 3
    .SIZE uses_r11, .-uses_r11

    .GLOBL count_down
    .TYPE count_down, @function
count_down:                     # long count_down(long n), by a distance
    MOV %RDI, %RAX
    TEST %RDI, %RDI
    JS 1f
    MOV 8(%RIP), %ECX
    JMP 1f
    .LONG 0, 0
1:  DEC %RAX
    JG 1b
    RET
    .SIZE count_down, .-count_down
    .SECTION .note.GNU-stack, "", @progbits
