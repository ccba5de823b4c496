// SPDX-License-Identifier: MIT
/*
 * python_find.c - describe CPython's call stack by its version and its file
 *
 * The offsets of each version have two sources: a table here, and the file itself, where it
 * says the same thing in another way: the size of code objects, the code that reads the
 * thread-specific data, and, from 3.13 on, CPython's own table for debuggers. If they differ, the
 * file is refused.
 */
#include "python.h"
#include "x86/insn_decode.h"

#define FIRST_BLOCK	0x310		/* glibc: specific_1stblock in struct pthread, 32 keys */
#define KEYS		32
#define CODE_MOST	512		/* bytes of PyGILState_GetThisThreadState() */
#define DECODE_MORE	(8 * KUNWIND_TEXT_BEHIND)

/* What differs between versions, by offsets. */
static const struct numbers {
	u16 key;			/* in _PyRuntime: Py_tss_t */
	u16 code_size;			/* of PyCodeObject, without instructions */
	u16 frame[2];			/* from the thread state to the first node; 0xffff: none */
	u16 code, next, position;	/* in a node */
	u16 owner, end;			/* the byte that ends a group, and its value */
	u16 first_line;			/* in a code object */
	u16 header;			/* the longer header of str objects */
} numbers[] = {
	{ 0x250, 184, { 56, 0xffff }, 32, 48, 56, 68, 1, 72, 72 },	/* 3.11 */
	{ 0x608, 192, { 56, 0 }, 0, 8, 56, 70, 3, 68, 56 },
	{ 0x870, 200, { 72, 0xffff }, 0, 8, 56, 70, 3, 68, 56 },
};

enum { RUNTIME, LOOP, VERSION, CODE_TYPE, THIS_STATE };

static void add_step(struct kunwind_interp_desc *desc, u8 op, u8 width, u32 limit, s64 arg)
{
	desc->step[desc->nr_steps++] = (struct kunwind_interp_step){
		.op = op, .width = width, .limit = limit, .arg = arg,
	};
}

static void add_steps(struct kunwind_interp_desc *desc, const struct numbers *from, u64 runtime)
{
	add_step(desc, KUNWIND_INTERP_OBJECT, 0, 0, (s64)(runtime + from->key));
	add_step(desc, KUNWIND_INTERP_KEY, 4, KEYS, 4);
	add_step(desc, KUNWIND_INTERP_FS, 0, 0, FIRST_BLOCK);
	add_step(desc, KUNWIND_INTERP_INDEX, 0, 0, 16);
	add_step(desc, KUNWIND_INTERP_LOAD, 8, 0, 8);		/* the thread state */
	add_step(desc, KUNWIND_INTERP_LOAD, 8, 0, from->frame[0]);
	if (from->frame[1] != 0xffff)
		add_step(desc, KUNWIND_INTERP_LOAD, 8, 0, from->frame[1]);
}

/* A str object: its longer header, and the bytes of each character. */
static void add_text(struct kunwind_interp_desc *desc, u16 at, u32 header)
{
	desc->field[desc->nr_fields++] = (struct kunwind_interp_field){
		.path = { at }, .nr_path = 1, .length_width = 8, .length = 16, .unit = 7, .unit_width = 4,
		.unit_at = 32, .unit_shift = 2, .fixed = header, .most = 4 * PYTHON_FILE,
	};
}

static void add_check(struct kunwind_interp_desc *desc, u16 off, u8 width)
{
	desc->check[desc->nr_checks++] = (struct kunwind_interp_value){
		.off = off, .width = width, .base = KUNWIND_INTERP_ID,
	};
}

/* What python_name.c reads: co_filename, co_qualname, co_linetable, and the code object. */
static void add_fields(struct kunwind_interp_desc *desc, const struct numbers *from)
{
	add_text(desc, 112, from->header);
	add_text(desc, 128, from->header);
	desc->field[desc->nr_fields++] = (struct kunwind_interp_field){
		.path = { 136 }, .nr_path = 1, .length_width = 8, .length = 16, .unit = 1,
		.fixed = 32, .most = KUNWIND_INTERP_BYTES,
	};
	desc->field[desc->nr_fields++] = (struct kunwind_interp_field){ .fixed = 96, .most = 96 };
}

static void describe(struct python *python, u64 runtime)
{
	const struct numbers *from = &numbers[python->minor - 11];
	struct kunwind_interp_desc *desc = &python->desc;
	const bool first = python->minor == 11;

	desc->size = sizeof(*desc);
	add_steps(desc, from, runtime);
	if (first) {		/* _PyCFrame */
		desc->flags = KUNWIND_INTERP_HAS_OUTER | KUNWIND_INTERP_HAS_CHAIN;
		desc->outer_head = 8;
		desc->outer_next = 16;
	}
	desc->anchor = first ? KUNWIND_INTERP_AT_OUTER : KUNWIND_INTERP_AT_END;
	desc->id = from->code;
	desc->next = from->next;
	desc->id_mask = ~0ULL;
	desc->position = (struct kunwind_interp_value){ .off = from->position, .width = 8 };
	desc->nr_tests = 1;
	desc->test[0] = (struct kunwind_interp_test){
		.value = { .off = from->owner, .width = 1 }, .mask = 0xff, .equals = from->end,
		.verdict = first ? KUNWIND_INTERP_LAST : KUNWIND_INTERP_BEYOND,
	};
	/* These change if another code object comes to the same address. */
	add_check(desc, from->first_line, 4);
	if (first) {
		add_check(desc, 128, 8);
		add_check(desc, 136, 8);
	} else {
		add_check(desc, 92, 4);		/* co_version */
	}
	add_fields(desc, from);
}

/* Whether the function that returns the thread's state reads the key at @key. */
static bool reads_key(const struct interp_file *file, const struct interp_symbol *function, u64 runtime,
		      u32 key)
{
	const u32 size = function->size < CODE_MOST ? (u32)function->size : CODE_MOST;
	u8 code[CODE_MOST + DECODE_MORE] = { 0 };
	struct kunwind_insn insn;
	u32 at, n;

	if (!interp_file_bytes(file, function->addr, code, size))
		return false;
	for (at = 0; at < size; at += insn.length) {
		if (!kunwind_insn_decode(code + at, &insn))
			return false;
		if (!insn.has_modrm)
			continue;
		/* Py_tss_t: whether it is in use, then the key */
		for (n = 0; n <= 4; n += 4)
			if ((insn.modrm & 0xc7) == 5 ?
			    function->addr + at + insn.length + (u64)(s64)insn.disp == runtime + key + n :
			    insn.modrm >> 6 == 2 && insn.disp == (s32)(key + n))
				return true;
	}
	return false;
}

/* Compares the numbers with _Py_DebugOffsets, from 3.13 on. Returns NULL, or why they differ. */
static const char *compare_offsets(const struct interp_file *file, u64 runtime, const struct numbers *from)
{
	/* Words of _Py_DebugOffsets in 3.13. */
	enum { COOKIE, HEX_VERSION, FREE_THREADED, CURRENT_FRAME = 23, PREVIOUS = 29, EXECUTABLE, INSTR_PTR,
	       OWNER = 33, FILENAME = 35, QUALNAME = 37, LINETABLE, FIRSTLINENO, WORDS };
	u64 word[WORDS];

	if (!interp_file_bytes(file, runtime, word, sizeof(word)) || memcmp(word, "xdebugpy", 8))
		return "it has no table of offsets";
	if (word[FREE_THREADED])
		return "it is free-threaded";
	if (word[CURRENT_FRAME] != from->frame[0] || word[PREVIOUS] != from->next ||
	    word[EXECUTABLE] != from->code || word[INSTR_PTR] != from->position ||
	    word[OWNER] != from->owner || word[FILENAME] != 112 || word[QUALNAME] != 128 ||
	    word[LINETABLE] != 136 || word[FIRSTLINENO] != from->first_line)
		return "its own table of offsets differs from that of its version";
	return NULL;
}

static const char *examine(const struct interp_file *file, const struct interp_symbol *symbol,
			   struct python *python)
{
	const struct numbers *from;
	const char *why = NULL;
	u64 version, size;

	if (!symbol[VERSION].addr ||
	    !interp_file_bytes(file, symbol[VERSION].addr, &version, sizeof(version)))
		return "its version is not known";
	python->minor = version >> 16 & 0xff;
	/* not an alpha or beta version, whose layout may differ */
	if (version >> 24 != 3 || python->minor < 11 || python->minor - 11 >= ARRAY_SIZE(numbers) ||
	    (version >> 4 & 15) < 12)
		return "its version is not supported";
	from = &numbers[python->minor - 11];
	if (!symbol[CODE_TYPE].addr ||
	    !interp_file_bytes(file, symbol[CODE_TYPE].addr + 32, &size, sizeof(size)) ||
	    size != from->code_size)
		return "its code objects have another size than those of its version";
	if (!symbol[THIS_STATE].addr ||
	    !reads_key(file, &symbol[THIS_STATE], symbol[RUNTIME].addr, from->key))
		return "where it keeps the state of a thread is not known";
	if (python->minor >= 13)
		why = compare_offsets(file, symbol[RUNTIME].addr, from);
	if (why)
		return why;
	python->code_size = from->code_size;
	describe(python, symbol[RUNTIME].addr);
	return python_loop(file, &symbol[LOOP], python);
}

enum python_result python_find(kunwind_read_memory *read, void *data, struct python *python, const char **why)
{
	struct interp_symbol symbol[] = {
		[RUNTIME] = { .name = "_PyRuntime" },
		[LOOP] = { .name = "_PyEval_EvalFrameDefault" },
		[VERSION] = { .name = "Py_Version" },
		[CODE_TYPE] = { .name = "PyCode_Type" },
		[THIS_STATE] = { .name = "PyGILState_GetThisThreadState" },
		{ 0 },
	};
	struct interp_file file;

	memset(python, 0, sizeof(*python));
	if (!interp_file_open(&file, read, data) || !interp_file_symbols(&file, symbol) ||
	    !symbol[RUNTIME].addr || !symbol[LOOP].addr)
		return PYTHON_NONE;
	*why = examine(&file, symbol, python);
	return *why ? PYTHON_REFUSED : PYTHON_FOUND;
}
