/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * interp_desc.h - how an interpreter keeps its own call stack: a description
 * by numbers, which interp_check.c checks
 *
 * The description belongs to one ELF object (libpython or python3), and holds
 * for each process that maps the object. It names no language. It says where the
 * interpreter's frames of a thread are, as a linked list or an array of nodes, and
 * which native frames they belong to:
 *
 *   root steps ---> node --next or stride--> node --> ...          (no outer list)
 *   root steps ---> outer --outer_next--> outer --> ...
 *                     |outer_head
 *                     v
 *                   node --next--> node --> ...
 *
 * The eval loop is the native function that runs the interpreter's code. It is
 * called again when native code calls an interpreted function. A test for an end
 * divides the nodes into groups, one for each call of the loop. A group belongs to
 * the native frame of the loop whose stack memory holds the group's anchor. Without
 * an anchor, the outermost group belongs to the outermost frame of the loop.
 *
 * A frame is an id (an address, of a code object for instance), a position, and a
 * digest of check words, which change if another id comes to the same address.
 * Fields say which bytes name an id. Nothing here interprets these bytes.
 *
 * Numbers that are not used must be zero. All nodes, and what fields are
 * read from, are aligned to 8 bytes. A value does not cross a multiple of its width.
 */
#ifndef _KUNWIND_INTERP_DESC_H
#define _KUNWIND_INTERP_DESC_H

#include <linux/types.h>

#define KUNWIND_INTERP_RANGES	8
#define KUNWIND_INTERP_STEPS	8
#define KUNWIND_INTERP_TESTS	4
#define KUNWIND_INTERP_CHECKS	4
#define KUNWIND_INTERP_FIELDS	4
#define KUNWIND_INTERP_PATH	4

#define KUNWIND_INTERP_OFFSETS	0x10000	/* offsets and strides are below this, in either direction */
#define KUNWIND_INTERP_KEYS	1024	/* keys are below this */
#define KUNWIND_INTERP_BYTES	0x10000	/* most bytes of a field */
/* ELF virtual addresses are below this. */
#define KUNWIND_INTERP_ADDRESSES	(1ULL << 47)

/* Code of the eval loop, [start, end), ELF virtual addresses. Sorted, disjoint. */
struct kunwind_interp_range {
	__u64 start, end;
	__u32 flags;		/* KUNWIND_INTERP_UNSETTLED or 0 */
	__u32 pad;
};
/* While the thread is at an instruction of this range, its lists are not to be used. */
#define KUNWIND_INTERP_UNSETTLED	(1U << 0)

/*
 * How to find the first node of a thread. The steps change one address, which is 0
 * at first, and may set one key.
 */
enum kunwind_interp_op {
	KUNWIND_INTERP_OBJECT = 1,	/* address = the object's byte at the ELF virtual address arg */
	KUNWIND_INTERP_FS = 2,		/* address = the base of fs + arg */
	KUNWIND_INTERP_LOAD = 3,	/* address = the value of width bytes at address + arg; 0 ends
					 * the steps: the thread has no node */
	KUNWIND_INTERP_KEY = 4,		/* key = the value of width bytes at address + arg, which must
					 * be below limit */
	KUNWIND_INTERP_INDEX = 5,	/* address += key * arg */
};

struct kunwind_interp_step {
	__u8 op;		/* enum kunwind_interp_op */
	__u8 width;		/* of _LOAD and _KEY: 1, 2, 4 or 8 */
	__u16 pad;
	__u32 limit;		/* of _KEY */
	__s64 arg;
};

/* What an offset is counted from. */
enum kunwind_interp_base {
	KUNWIND_INTERP_NODE = 0,
	KUNWIND_INTERP_VIA = 1,		/* the address that is stored at the node's offset via */
	KUNWIND_INTERP_ID = 2,
};

struct kunwind_interp_value {
	__u16 off;
	__u8 width;		/* 1, 2, 4 or 8 */
	__u8 base;		/* enum kunwind_interp_base */
};

/* What a node is for which a test holds. The first test that holds decides. */
enum kunwind_interp_verdict {
	KUNWIND_INTERP_LAST = 1,	/* a frame, and the outermost one of its group */
	KUNWIND_INTERP_BEYOND = 2,	/* no frame; the node before was the outermost of the group */
	KUNWIND_INTERP_SKIP = 3,	/* no frame */
	KUNWIND_INTERP_STOP = 4,	/* no frame; the list ends here, and so does the group */
};

struct kunwind_interp_test {
	struct kunwind_interp_value value;
	__u8 verdict;		/* enum kunwind_interp_verdict */
	__u8 differs;		/* 1: the test holds if the value differs */
	__u16 pad;
	__u64 mask;		/* not 0 */
	__u64 equals;		/* compared with value & mask */
};

/*
 * Bytes that name an id. Each element of the path is an offset: the address that is
 * stored there is the next one to count from, the first is the id. The bytes begin at
 * the last address + start. There are fixed + unit * length of them, at most "most".
 * With a unit_width, the unit is the number at unit_at >> unit_shift & unit.
 */
struct kunwind_interp_field {
	__u16 path[KUNWIND_INTERP_PATH];
	__u8 nr_path;
	__u8 length_width;	/* 0: there is no length */
	__u8 unit;		/* bytes, at most 16 */
	__u8 unit_width;
	__u16 length, unit_at;	/* counted from the last address */
	__u16 start;
	__u8 unit_shift;
	__u8 pad;
	__u32 fixed;
	__u32 most;		/* at most KUNWIND_INTERP_BYTES */
};

enum kunwind_interp_anchor {
	KUNWIND_INTERP_NO_ANCHOR = 0,
	KUNWIND_INTERP_AT_OUTER = 1,	/* the address of the node of the outer list */
	KUNWIND_INTERP_AT_END = 2,	/* the address of the node that ends the group */
};

struct kunwind_interp_desc {
	__u32 size;			/* of this structure */
	__u32 flags;			/* KUNWIND_INTERP_HAS_... */
	__u8 nr_ranges, nr_steps, nr_tests, nr_checks, nr_fields;
	__u8 anchor;			/* enum kunwind_interp_anchor */
	__u16 outer_head, outer_next;	/* offsets in a node of the outer list */
	__u16 next;			/* offset of the address of the next node */
	__s32 stride;			/* of an array: bytes to the next node; a multiple of 8 */
	__u16 id, via;			/* offsets of addresses in a node. A node without id is no frame */
	__u32 pad;
	__u64 id_mask;
	struct kunwind_interp_value position;	/* counted from the node */
	__u32 pad2;
	struct kunwind_interp_range range[KUNWIND_INTERP_RANGES];
	struct kunwind_interp_step step[KUNWIND_INTERP_STEPS];
	struct kunwind_interp_test test[KUNWIND_INTERP_TESTS];
	struct kunwind_interp_value check[KUNWIND_INTERP_CHECKS];
	struct kunwind_interp_field field[KUNWIND_INTERP_FIELDS];
};

#define KUNWIND_INTERP_HAS_OUTER	(1U << 0)
#define KUNWIND_INTERP_HAS_ARRAY	(1U << 1)	/* stride, not next */
#define KUNWIND_INTERP_HAS_VIA		(1U << 2)
/* With an outer list: the next node after a group is the head of the next outer node. */
#define KUNWIND_INTERP_HAS_CHAIN	(1U << 3)

/* Why a description is refused. */
enum kunwind_interp_error {
	KUNWIND_INTERP_OK = 0,
	KUNWIND_INTERP_E_FORM = 1,	/* size, unknown flag, unused number that is not zero */
	KUNWIND_INTERP_E_COUNT = 2,	/* too many elements, or too few */
	KUNWIND_INTERP_E_RANGE = 3,	/* ranges: empty, too high, not sorted, or overlapping */
	KUNWIND_INTERP_E_STEP = 4,	/* root steps */
	KUNWIND_INTERP_E_VALUE = 5,	/* width, offset, base or mask */
	KUNWIND_INTERP_E_LIST = 6,	/* list, array and anchor do not fit together */
	KUNWIND_INTERP_E_FIELD = 7,	/* fields */
};

#endif /* _KUNWIND_INTERP_DESC_H */
