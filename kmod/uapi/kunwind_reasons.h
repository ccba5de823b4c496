/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * kunwind_reasons.h - why a stack ended, how a frame was found, and why an object
 * has no table
 *
 * These numbers are part of the ABI of /dev/kunwind (kunwind.h). They are in a
 * header of their own because the core and libkunwind-unwind have them, too,
 * and need neither the device nor a header of the kernel.
 */
#ifndef _UAPI_KUNWIND_REASONS_H
#define _UAPI_KUNWIND_REASONS_H

/*
 * Why a stack ended. Only zero means that the stack is complete. The values are
 * ABI. kunwind_reason_name() of libkunwind returns a name for each.
 */
enum kunwind_reason {
	KUNWIND_COMPLETE = 0,		/* the walk reached an entry point */
	KUNWIND_BUFFER_FULL = 1,	/* the buffer has no room for the next address */
	KUNWIND_BUDGET_SPENT = 2,	/* the walk's budget of work is spent */
	KUNWIND_NO_OBJECT = 3,		/* the address is in no known executable mapping, or in code
					 * of a JIT (memory of no file, or of a memfd) for which
					 * no method found the caller */
	KUNWIND_NO_RULE = 4,		/* the object is known, and has no row for this address */
	KUNWIND_REG_UNKNOWN = 5,	/* a rule needs a register that is not known */
	KUNWIND_UNREADABLE = 6,		/* stack memory is absent or not the user's */
	KUNWIND_CFA_STUCK = 7,		/* same frame twice; in 32-bit code: the CFA did not grow */
	KUNWIND_BAD_ADDRESS = 8,	/* the return address is no user address */
	KUNWIND_CORRUPT = 9,		/* a table or an expression contradicts itself */
	KUNWIND_NOT_READY = 10,		/* the mappings are not read, or the table is not built */
	KUNWIND_NO_TABLE = 11,		/* the object has no usable .eh_frame or .debug_frame */
	KUNWIND_MEMORY_LIMIT = 12,	/* no memory for the table, or a limit is reached */
	KUNWIND_KTHREAD = 13,		/* the task has no user stack */
	KUNWIND_CODE_SEGMENT = 14,	/* the code segment is neither that of 64-bit nor of 32-bit code */
	KUNWIND_DISABLED = 15,		/* the kill switch is on, or a required hook is missing */
	KUNWIND_NESTED = 16,		/* requested inside a walk on this CPU */
	KUNWIND_NR_REASONS
};

/*
 * How the address of a frame was found, the surest first. A frame is only as
 * sure as the least sure of itself and the frames before it. The values are
 * ABI. kunwind_trust_name() of libkunwind returns a name for each.
 */
enum kunwind_trust {
	KUNWIND_TRUST_REGISTERS = 0,	/* the program counter itself */
	KUNWIND_TRUST_CFI = 1,		/* unwind information of the frame before */
	KUNWIND_TRUST_URETPROBE = 2,	/* the same, in place of a return probe's trampoline */
	KUNWIND_TRUST_SIGNAL = 3,	/* signal frame, recognized by its trampoline's code */
	KUNWIND_TRUST_CODE = 4,		/* the code of the frame before: evidence, which can mislead in
					 * the cases that docs/limits.md lists ("Wrong frames") */
	KUNWIND_TRUST_FP = 5,		/* a guess: the frame pointer */
	KUNWIND_TRUST_SCAN = 6,		/* a guess: the nearest stack word that follows a call */
	KUNWIND_NR_TRUSTS
};

/*
 * Why an ELF object has no unwind table. Malformed unwind information is an
 * error only if no record can be read; the value is then that of the first
 * record that could not be read. kunwind_jit_register() of libkunwind and the
 * status report the value.
 */
enum kunwind_build_error {
	KUNWIND_OK = 0,
	KUNWIND_E_NOMEM = 1,
	KUNWIND_E_IO = 2,		/* the file could not be read, has changed, or is
					 * open for writing */
	KUNWIND_E_NOT_ELF = 3,		/* magic, class, machine, version */
	KUNWIND_E_HEADER = 4,		/* ELF headers contradict each other */
	KUNWIND_E_NO_CFI = 5,		/* the same as KUNWIND_OBJECT_NO_CFI */
	KUNWIND_E_TRUNCATED = 6,	/* record or section past the end */
	KUNWIND_E_CIE = 7,		/* CIE pointer leads to no CIE, or to
					 * one that is too long */
	KUNWIND_E_VERSION = 8,		/* CIE version, address or segment size */
	KUNWIND_E_AUGMENTATION = 9,	/* unknown augmentation */
	KUNWIND_E_ENCODING = 10,	/* pointer encoding */
	KUNWIND_E_RANGE = 11,		/* address range wraps, runs backwards,
					 * or leaves the code */
	KUNWIND_E_OPCODE = 12,		/* unknown or misplaced DW_CFA opcode */
	KUNWIND_E_OPERAND = 13,		/* operand too large, or runs off the end */
	KUNWIND_E_EXPRESSION = 14,	/* expression not acceptable */
	KUNWIND_E_STATE_STACK = 15,	/* remember/restore out of balance, or too deep */
	KUNWIND_E_LIMIT = 16,		/* too many records, rows, rules, bytes */
	KUNWIND_E_ABORTED = 17,		/* the build was stopped (deadline, kill) */
	KUNWIND_E_OVERLAP = 18,		/* two FDEs contradict each other */
	KUNWIND_NR_BUILD_ERRORS
};

#endif /* _UAPI_KUNWIND_REASONS_H */
