/* image.S: the code that is copied into programs, as it is linked from entry.S and inside.c. */
        .section .rodata
        .globl  quipu_inside_image
        .globl  quipu_inside_image_end
quipu_inside_image:
        .incbin "inside.bin"
quipu_inside_image_end:

        .section .note.GNU-stack, "", @progbits
