/* image.S: the code that is copied into programs, as it is linked from the other files here. */
        .section .rodata
        .globl  quipu_inside_image
        .globl  quipu_inside_image_size
quipu_inside_image:
        .incbin "inside.bin"
1:      .balign 4
quipu_inside_image_size:
        .long   1b - quipu_inside_image

        .section .note.GNU-stack, "", @progbits
