// SPDX-License-Identifier: MIT
/*
 * stepped.c - find the kind of an instruction (Intel's SDM, vol. 2, appendix A)
 */
#include "stepped.h"

enum stepped stepped_kind(const u8 *code)
{
	u8 rex = 0, op, modrm, reg, rm;
	u32 n = 0;

	while (n < 12 && (code[n] == 0x66 || code[n] == 0x67 || code[n] == 0xf2 ||
			  code[n] == 0xf3 || code[n] == 0x2e || code[n] == 0x36 ||
			  code[n] == 0x3e || code[n] == 0x26 || code[n] == 0x64 ||
			  code[n] == 0x65 || code[n] == 0xf0))
		n++;
	if ((code[n] & 0xf0) == 0x40)
		rex = code[n++];
	op = code[n++];
	modrm = code[n];
	reg = (modrm >> 3 & 7) | (rex & 4) << 1;
	rm = (modrm & 7) | (rex & 1) << 3;
	switch (op) {
	case 0xe8:
		return STEPPED_CALL;
	case 0xc3: case 0xc2:
		return STEPPED_RETURN;
	case 0xff:
		if ((modrm >> 3 & 7) == 2)
			return STEPPED_CALL;
		return (modrm >> 3 & 7) == 4 ? STEPPED_JUMP : STEPPED_OTHER;
	case 0x58 ... 0x5f:
		return op == 0x5c && !(rex & 1) ? STEPPED_SET_SP : STEPPED_POP;
	case 0x8f:
		return modrm >> 6 == 3 && rm == 4 ? STEPPED_SET_SP : STEPPED_POP;
	case 0xc9:
		return STEPPED_SET_SP;
	case 0x8b:
		return reg == 4 ? STEPPED_SET_SP : STEPPED_OTHER;
	case 0x89:
		return modrm >> 6 == 3 && rm == 4 ? STEPPED_SET_SP : STEPPED_OTHER;
	case 0x87:
		return reg == 4 || (modrm >> 6 == 3 && rm == 4) ? STEPPED_SET_SP : STEPPED_OTHER;
	case 0x94:
		return rex & 1 ? STEPPED_OTHER : STEPPED_SET_SP;
	case 0x0f:
		if (code[n] == 0x05)
			return STEPPED_SYSCALL;
		reg = (code[n + 1] >> 3 & 7) | (rex & 4) << 1;
		return (code[n] & 0xf0) == 0x40 && reg == 4 ? STEPPED_SET_SP : STEPPED_OTHER;
	}
	return STEPPED_OTHER;
}
