// The first instructions at EL1, the end of the machine, and the files that main.c reads.

    .section .text.start, "ax"
    .global _start
_start:
    mov     x0, #(3 << 20)          // FP and SIMD registers may be used
    msr     cpacr_el1, x0
    isb
    adrp    x0, stack_end
    add     x0, x0, :lo12:stack_end
    mov     sp, x0
    adrp    x0, bss_start
    add     x0, x0, :lo12:bss_start
    adrp    x1, bss_end
    add     x1, x1, :lo12:bss_end
1:  cmp     x0, x1
    b.hs    2f
    stp     xzr, xzr, [x0], #16
    b       1b
2:  bl      main

// Ends QEMU with what main gave, by semihosting (SYS_EXIT: "the application exited", and the status). A board has nobody to take
// the call: replace it.
    sub     sp, sp, #16
    mov     w1, #0x0026
    movk    w1, #0x2, lsl #16
    sxtw    x0, w0
    stp     x1, x0, [sp]
    mov     x1, sp
    mov     w0, #0x18
    hlt     #0xf000

    .macro file name, path
    .section .rodata.\name, "a"
    .balign 16
    .global \name, \name\()_end
\name:
    .incbin "\path"
\name\()_end:
    .endm

    file firmware, "firmware.bin"
    file double_program, "double.program"
    file vertex_program, "triangle.vert.eprg"
    file fragment_program, "triangle.frag.eprg"
