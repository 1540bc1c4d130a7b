import type { LauncherCode } from "./launcher-code.ts";

/**
 * The launcher for x86-64, as bytes with the instructions they are (in Intel's notation, as `objdump -d -M intel` prints
 * them; a test holds the two columns together). It does what `launcher-code.ts` says, with system calls only: 89 is
 * readlink, 59 execve, 1 write, 60 exit.
 */
export const LAUNCHER_X64: LauncherCode = {
  machine: 62,
  listing: `
_start:
  48 89 e5                       mov rbp,rsp                        ; rbp: argc, then argv, then envp
  48 8b 04 24                    mov rax,QWORD PTR [rsp]
  4c 8d 6c c4 10                 lea r13,[rsp+rax*8+0x10]           ; r13: the first variable
  4c 89 eb                       mov rbx,r13
  49 b8 4f 50 45 4e 53 53 4c 5f  movabs r8,0x5f4c53534e45504f       ; "OPENSSL_"
variable:
  48 8b 3b                       mov rdi,QWORD PTR [rbx]
  48 83 c3 08                    add rbx,0x8
  48 85 ff                       test rdi,rdi
  74 37                          je 5c <path>
  4c 39 07                       cmp QWORD PTR [rdi],r8
  74 1f                          je 49 <hide>
  8b 07                          mov eax,DWORD PTR [rdi]
  3d 42 55 4e 5f                 cmp eax,0x5f4e5542                 ; "BUN_"
  74 16                          je 49 <hide>
  3d 4e 4f 44 45                 cmp eax,0x45444f4e                 ; "NODE"
  75 14                          jne 4e <loader>
  80 7f 04 5f                    cmp BYTE PTR [rdi+0x4],0x5f        ; "_"
  75 d9                          jne 19 <variable>
  81 7f 05 45 58 54 52           cmp DWORD PTR [rdi+0x5],0x52545845 ; "EXTR": NODE_EXTRA_CA_CERTS stays
  74 d0                          je 19 <variable>
hide:
  c6 07 25                       mov BYTE PTR [rdi],0x25            ; "%" in place of its first letter
  eb cb                          jmp 19 <variable>
loader:
  25 ff ff ff 00                 and eax,0xffffff
  3d 4c 44 5f 00                 cmp eax,0x5f444c                   ; "LD_"
  74 ef                          je 49 <hide>
  eb bd                          jmp 19 <variable>
path:
  48 8d a5 00 80 ff ff           lea rsp,[rbp-0x8000]               ; room; our path at +0
  4c 8d 35 0e 01 00 00           lea r14,[rip+0x10e]                ; r14: what a complaint is about
  4c 89 f7                       mov rdi,r14
  48 89 e6                       mov rsi,rsp
  ba ff 0f 00 00                 mov edx,0xfff
  b8 59 00 00 00                 mov eax,0x59                       ; readlink
  0f 05                          syscall
  48 85 c0                       test rax,rax
  78 73                          js f4 <failed>
  c6 04 04 00                    mov BYTE PTR [rsp+rax*1],0x0
  48 89 c1                       mov rcx,rax
slash:
  80 7c 0c ff 2f                 cmp BYTE PTR [rsp+rcx*1-0x1],0x2f  ; "/"
  74 05                          je 94 <found>
  48 ff c9                       dec rcx
  75 f4                          jne 88 <slash>
found:
  49 89 cc                       mov r12,rcx                        ; r12: the length of our folder with its slash
  48 89 65 00                    mov QWORD PTR [rbp+0x0],rsp        ; our path, before argv
  48 8d bc 24 00 10 00 00        lea rdi,[rsp+0x1000]               ; the paths we build
  48 8d 35 75 01 00 00           lea rsi,[rip+0x175]
entry:
  ac                             lods al,BYTE PTR ds:[rsi]
  84 c0                          test al,al                         ; 0: the end
  74 2d                          je dc <run>
  48 83 ed 08                    sub rbp,0x8                        ; arguments grow downward, the last one first
  3c 01                          cmp al,0x1                         ; 1: a text
  74 1a                          je d1 <text>
  48 89 7d 00                    mov QWORD PTR [rbp+0x0],rdi        ; 2: a path in our folder
  48 89 f2                       mov rdx,rsi
  48 89 e6                       mov rsi,rsp
  4c 89 e1                       mov rcx,r12
  f3 a4                          rep movs BYTE PTR es:[rdi],BYTE PTR ds:[rsi]
  48 89 d6                       mov rsi,rdx
copy:
  ac                             lods al,BYTE PTR ds:[rsi]
  aa                             stos BYTE PTR es:[rdi],al
  84 c0                          test al,al
  75 fa                          jne c9 <copy>
  eb d9                          jmp aa <entry>
text:
  48 89 75 00                    mov QWORD PTR [rbp+0x0],rsi
skip:
  ac                             lods al,BYTE PTR ds:[rsi]
  84 c0                          test al,al
  75 fb                          jne d5 <skip>
  eb ce                          jmp aa <entry>
run:
  48 8b 7d 00                    mov rdi,QWORD PTR [rbp+0x0]        ; the entry that came last is the program
  49 89 fe                       mov r14,rdi
  48 89 65 00                    mov QWORD PTR [rbp+0x0],rsp        ; what it is called by is our path
  48 89 ee                       mov rsi,rbp
  4c 89 ea                       mov rdx,r13
  b8 3b 00 00 00                 mov eax,0x3b                       ; execve
  0f 05                          syscall
failed:
  89 c3                          mov ebx,eax
  f7 db                          neg ebx                            ; ebx: the number of the error
  48 8d bc 24 00 58 00 00        lea rdi,[rsp+0x5800]               ; the complaint
  48 8d 35 80 00 00 00           lea rsi,[rip+0x80]
  e8 63 00 00 00                 call 16f <append>
  4c 89 f6                       mov rsi,r14
  e8 5b 00 00 00                 call 16f <append>
  48 8d 35 87 00 00 00           lea rsi,[rip+0x87]
  e8 4f 00 00 00                 call 16f <append>
  89 d8                          mov eax,ebx
  b9 0a 00 00 00                 mov ecx,0xa
  31 db                          xor ebx,ebx                        ; ebx: how many digits there are
divide:
  31 d2                          xor edx,edx
  f7 f1                          div ecx
  83 c2 30                       add edx,0x30                       ; "0"
  52                             push rdx
  ff c3                          inc ebx
  85 c0                          test eax,eax
  75 f2                          jne 129 <divide>
digit:
  58                             pop rax
  aa                             stos BYTE PTR es:[rdi],al
  ff cb                          dec ebx
  75 fa                          jne 137 <digit>
  48 8d 35 67 00 00 00           lea rsi,[rip+0x67]
  e8 26 00 00 00                 call 16f <append>
  48 8d b4 24 00 58 00 00        lea rsi,[rsp+0x5800]
  48 89 fa                       mov rdx,rdi
  48 29 f2                       sub rdx,rsi
  bf 02 00 00 00                 mov edi,0x2
  b8 01 00 00 00                 mov eax,0x1                        ; write
  0f 05                          syscall
  bf 7f 00 00 00                 mov edi,0x7f
  b8 3c 00 00 00                 mov eax,0x3c                       ; exit
  0f 05                          syscall
append:
  ac                             lods al,BYTE PTR ds:[rsi]
  84 c0                          test al,al
  74 03                          je 177 <done>
  aa                             stos BYTE PTR es:[rdi],al
  eb f8                          jmp 16f <append>
done:
  c3                             ret`,
  texts: [],
};
