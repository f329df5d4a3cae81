/* The end of a signal's handler, as C libraries have it: unwinders know the bytes.  And a call of the
 * kernel that a handler interrupts. */
    .text
    nop
    .globl restore_rt
    .hidden restore_rt
    .type restore_rt, @function
restore_rt:
    mov $15, %rax
    syscall
    .size restore_rt, .-restore_rt

    .globl send_signal                      /* (process, signal): with unwinding information */
    .type send_signal, @function
send_signal:
    .cfi_startproc
    test %edi, %edi
    jle 1f
    mov $62, %eax
    syscall
    ret
1:  mov $-1, %eax
    ret
    .cfi_endproc
    .size send_signal, .-send_signal
    .section .note.GNU-stack, "", @progbits
