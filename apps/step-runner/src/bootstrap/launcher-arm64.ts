import type { LauncherCode } from "./launcher-code.ts";

/**
 * The launcher for 64-bit ARM, as bytes in the order of the memory with the instructions they are (as `objdump -d` prints
 * them; a test holds the two columns together). It does what `launcher-code.ts` says, with system calls only: 78 is
 * readlinkat, 221 execve, 64 write, 93 exit.
 */
export const LAUNCHER_ARM64: LauncherCode = {
  machine: 183,
  listing: `
_start:
  f4 03 00 91                    mov x20, sp                        ; x20: argc, then argv, then envp
  80 02 40 f9                    ldr x0, [x20]
  95 0e 00 8b                    add x21, x20, x0, lsl #3
  b5 42 00 91                    add x21, x21, #0x10                ; x21: the first variable
  e9 03 15 aa                    mov x9, x21
  2a 0e 00 10                    adr x10, 1d8 <names>
  4b 01 40 f9                    ldr x11, [x10]                     ; x11: "OPENSSL_"
  4c 09 40 b9                    ldr w12, [x10, #8]                 ; w12: "NODE"
  4d 0d 40 b9                    ldr w13, [x10, #12]                ; w13: "EXTR"
  4e 11 40 b9                    ldr w14, [x10, #16]                ; w14: "LD_"
  af 04 80 52                    mov w15, #0x25                     ; "%"
  50 a8 8a 52                    mov w16, #0x5542                   ; "BUN_"
  d0 e9 ab 72                    movk w16, #0x5f4e, lsl #16
variable:
  20 85 40 f8                    ldr x0, [x9], #8
  80 02 00 b4                    cbz x0, 88 <path>
  01 00 40 f9                    ldr x1, [x0]
  3f 00 0b eb                    cmp x1, x11
  60 01 00 54                    b.eq 70 <hide>
  3f 00 10 6b                    cmp w1, w16
  20 01 00 54                    b.eq 70 <hide>
  3f 00 0c 6b                    cmp w1, w12
  21 01 00 54                    b.ne 78 <loader>
  02 10 40 39                    ldrb w2, [x0, #4]
  5f 7c 01 71                    cmp w2, #0x5f                      ; "_"
  a1 fe ff 54                    b.ne 34 <variable>
  02 50 40 b8                    ldur w2, [x0, #5]
  5f 00 0d 6b                    cmp w2, w13                        ; NODE_EXTRA_CA_CERTS stays
  40 fe ff 54                    b.eq 34 <variable>
hide:
  0f 00 00 39                    strb w15, [x0]                     ; "%" in place of its first letter
  f0 ff ff 17                    b 34 <variable>
loader:
  21 5c 00 12                    and w1, w1, #0xffffff
  3f 00 0e 6b                    cmp w1, w14
  80 ff ff 54                    b.eq 70 <hide>
  ec ff ff 17                    b 34 <variable>
path:
  9f 22 40 d1                    sub sp, x20, #0x8, lsl #12         ; room; our path at +0
  16 0b 00 10                    adr x22, 1ec <self>                ; x22: what a complaint is about
  60 0c 80 92                    mov x0, #0xffffffffffffff9c        ; AT_FDCWD
  e1 03 16 aa                    mov x1, x22
  e2 03 00 91                    mov x2, sp
  e3 ff 81 d2                    mov x3, #0xfff
  c8 09 80 d2                    mov x8, #0x4e                      ; readlinkat
  01 00 00 d4                    svc #0x0
  00 05 f8 b7                    tbnz x0, #63, 148 <failed>
  e2 03 00 91                    mov x2, sp
  5f 68 20 38                    strb wzr, [x2, x0]
  f7 03 00 aa                    mov x23, x0
slash:
  e3 06 00 d1                    sub x3, x23, #0x1
  44 68 63 38                    ldrb w4, [x2, x3]
  9f bc 00 71                    cmp w4, #0x2f                      ; "/"
  60 00 00 54                    b.eq d0 <found>
  f7 03 03 aa                    mov x23, x3                        ; x23: the length of our folder with its slash
  77 ff ff b5                    cbnz x23, b8 <slash>
found:
  82 02 00 f9                    str x2, [x20]                      ; our path, before argv
  45 04 40 91                    add x5, x2, #0x1, lsl #12          ; the paths we build at +0x1000
  c6 0d 00 70                    adr x6, 293 <table>
entry:
  c0 14 40 38                    ldrb w0, [x6], #1
  60 02 00 34                    cbz w0, 12c <run>                  ; 0: the end
  1f 04 00 71                    cmp w0, #0x1                       ; 1: a text
  a0 01 00 54                    b.eq 11c <text>
  85 8e 1f f8                    str x5, [x20, #-8]!                ; 2: a path in our folder
  03 00 80 d2                    mov x3, #0x0
folder:
  7f 00 17 eb                    cmp x3, x23
  a0 00 00 54                    b.eq 10c <copy>
  40 68 63 38                    ldrb w0, [x2, x3]
  a0 14 00 38                    strb w0, [x5], #1
  63 04 00 91                    add x3, x3, #0x1
  fb ff ff 17                    b f4 <folder>
copy:
  c0 14 40 38                    ldrb w0, [x6], #1
  a0 14 00 38                    strb w0, [x5], #1
  c0 ff ff 35                    cbnz w0, 10c <copy>
  f1 ff ff 17                    b dc <entry>
text:
  86 8e 1f f8                    str x6, [x20, #-8]!
skip:
  c0 14 40 38                    ldrb w0, [x6], #1
  e0 ff ff 35                    cbnz w0, 120 <skip>
  ed ff ff 17                    b dc <entry>
run:
  80 02 40 f9                    ldr x0, [x20]                      ; the entry that came last is the program
  f6 03 00 aa                    mov x22, x0
  82 02 00 f9                    str x2, [x20]                      ; what it is called by is our path
  e1 03 14 aa                    mov x1, x20
  e2 03 15 aa                    mov x2, x21
  a8 1b 80 d2                    mov x8, #0xdd                      ; execve
  01 00 00 d4                    svc #0x0
failed:
  f8 03 00 4b                    neg w24, w0                        ; w24: the number of the error
  e2 03 00 91                    mov x2, sp
  59 18 40 91                    add x25, x2, #0x6, lsl #12         ; x25: the complaint, at +0x6000
  e5 03 19 aa                    mov x5, x25
  06 05 00 70                    adr x6, 1fb <before>
  1a 00 00 94                    bl 1c4 <append>
  e6 03 16 aa                    mov x6, x22
  18 00 00 94                    bl 1c4 <append>
  66 05 00 50                    adr x6, 216 <middle>
  16 00 00 94                    bl 1c4 <append>
  09 7d 80 52                    mov w9, #0x3e8                     ; errors have up to four digits
  4b 01 80 52                    mov w11, #0xa
  0c 00 80 52                    mov w12, #0x0                      ; w12: whether there was a digit that is shown
divide:
  00 0b c9 1a                    udiv w0, w24, w9
  18 e0 09 1b                    msub w24, w0, w9, w24
  8c 01 00 2a                    orr w12, w12, w0
  6c 00 00 34                    cbz w12, 194 <next>
  00 c0 00 11                    add w0, w0, #0x30                  ; "0"
  a0 14 00 38                    strb w0, [x5], #1
next:
  29 09 cb 1a                    udiv w9, w9, w11
  29 ff ff 35                    cbnz w9, 17c <divide>
  06 04 00 70                    adr x6, 21f <after>
  09 00 00 94                    bl 1c4 <append>
  40 00 80 d2                    mov x0, #0x2
  e1 03 19 aa                    mov x1, x25
  a2 00 19 cb                    sub x2, x5, x25
  08 08 80 d2                    mov x8, #0x40                      ; write
  01 00 00 d4                    svc #0x0
  e0 0f 80 d2                    mov x0, #0x7f
  a8 0b 80 d2                    mov x8, #0x5d                      ; exit
  01 00 00 d4                    svc #0x0
append:
  c0 14 40 38                    ldrb w0, [x6], #1
  60 00 00 34                    cbz w0, 1d4 <done>
  a0 14 00 38                    strb w0, [x5], #1
  fd ff ff 17                    b 1c4 <append>
done:
  c0 03 5f d6                    ret`,
  texts: ["OPENSSL_NODEEXTRLD_"],
};
