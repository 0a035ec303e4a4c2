#include "textflag.h"

// entry runs before the Go runtime, when the program was linked with
// -ldflags="-E safeshell/shims.entry": it notes which of the standard files are
// closed and which signals are ignored, since the runtime changes both, asks the
// runtime for one processor, and then goes on to the runtime's own entry.
TEXT ·entry(SB),NOSPLIT|NOFRAME,$0
	SUBQ $256, SP
	XORQ R12, R12
	XORQ R13, R13
// fcntl(fd, F_GETFD) fails on a closed one.
fds:
	MOVQ $72, AX
	MOVQ R13, DI
	MOVQ $1, SI
	XORQ DX, DX
	SYSCALL
	TESTQ AX, AX
	JGE next
	BTSQ R13, R12
next:
	INCQ R13
	CMPQ R13, $3
	JLT fds
	MOVQ R12, ·closedAtStart(SB)

	XORQ R12, R12
	MOVQ $1, R13
// rt_sigaction(sig, NULL, buf, 8): buf[0] is 1 for SIG_IGN.
sigs:
	MOVQ $13, AX
	MOVQ R13, DI
	XORQ SI, SI
	MOVQ SP, DX
	MOVQ $8, R10
	SYSCALL
	TESTQ AX, AX
	JNE skip
	CMPQ 0(SP), $1
	JNE skip
	BTSQ R13, R12
skip:
	INCQ R13
	CMPQ R13, $32
	JLT sigs
	MOVQ R12, ·ignoredAtStart(SB)
	ADDQ $256, SP

// The kernel has left argc, argv, 0, environ, 0 at SP. With GOMAXPROCS=1 the
// runtime starts no threads for processors that a shim has no use for. Whoever
// has set the variable keeps the value.
	MOVQ 0(SP), CX
	LEAQ 16(SP)(CX*8), DI
	MOVQ $0x4f525058414d4f47, R8 // "GOMAXPRO"
	MOVQ $0x4c45485345464153, R9 // "SAFESHEL"
	MOVQ $0x3d54524150415f4c, R10 // "L_APART="
	MOVQ $1, ·apartAtStart(SB)
env:
	MOVQ 0(DI), AX
	TESTQ AX, AX
	JEQ add
	ADDQ $8, DI
	CMPQ 0(AX), R9
	JEQ apart
	CMPQ 0(AX), R8 // behind the last string are the program's name and eight zeros
	JNE env
	MOVL 8(AX), AX
	ANDL $0xffffff, AX
	CMPL AX, $0x3d5343 // "CS="
	JNE env
	JMP start
// unshare(CLONE_NEWUSER|CLONE_NEWNS), which a process of several threads cannot.
apart:
	CMPQ 8(AX), R10
	JNE env
	MOVQ DI, R14
	MOVQ CX, R15
	MOVQ $272, AX
	MOVQ $0x10020000, DI
	SYSCALL
	MOVQ R14, DI
	MOVQ R15, CX
	TESTQ AX, AX
	JNE env
	MOVQ $2, ·apartAtStart(SB)
	JMP env
// argc, argv and its 0 move down by a word, and the variable takes the place.
add:
	MOVQ $1, ·addedAtStart(SB)
	MOVQ SP, SI
	SUBQ $8, SP
	MOVQ SP, DI
	ADDQ $2, CX
	CLD
	REP; MOVSQ
	LEAQ oneProcessor<>(SB), AX
	MOVQ AX, 0(DI)
start:
	XORQ DX, DX
	JMP _rt0_amd64_linux(SB)

DATA oneProcessor<>+0(SB)/8, $"GOMAXPRO"
DATA oneProcessor<>+8(SB)/8, $"CS=1\x00\x00\x00\x00"
GLOBL oneProcessor<>(SB), RODATA|NOPTR, $16

// growStack is nothing but a frame so large that the stack grows at once to what
// judging a command needs.
TEXT ·growStack(SB),0,$24000-0
	RET
