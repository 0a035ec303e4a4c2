#include "textflag.h"

// entry runs before the Go runtime, when the program was linked with
// -ldflags="-E safeshell/shims.entry": it notes which of the standard files are
// closed and which signals are ignored, since the runtime changes both, and then
// goes on to the runtime's own entry.
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
	XORQ DX, DX
	JMP _rt0_amd64_linux(SB)

// GrowStack is nothing but a frame so large that the stack grows at once to what
// judging a command needs.
TEXT ·GrowStack(SB),0,$24000-0
	RET
