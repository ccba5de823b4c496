/* SPDX-License-Identifier: MIT */
/*
 * go-test.c - rows of Go's functions: made tables of all formats, and damaged tables
 * under AddressSanitizer
 */
#include "go-scene.h"
#include "../../kmod/core/rows/unwind_info.h"

#define NOP13	"90909090909090909090909090"

/* The functions of most tests. */
static const struct function program[] = {
	{ "_rt0_amd64_linux", .flags = 4, .list = { 0, 5 } },
	{ "main.leaf", .list = { 0, 20 } },
	/* push %rbp; mov %rsp,%rbp; sub $16,%rsp; ...; add; pop; ret; more behind the return */
	{ "main.framed", .code = "554889e54883ec109090909090904883c4105dc3",
	  .list = { 0, 1, 8, 7, 24, 10, 8, 1, 0, 1, 24, 20 } },
	/* sub $24,%rsp; mov %rbp,16(%rsp); ... */
	{ "main.older", .code = "4883ec18" NOP13 NOP13 "4883c418c3", .list = { 0, 4, 24, 30, 0, 1 } },
	{ "runtime.memmove", .flags = 4, .code = "4883ec10909090904883c410c390",
	  .list = { 0, 4, 16, 8, 0, 2 } },
	{ "runtime.goexit", .id = 7, .flags = 5, .list = { 0, 8 } },
	{ "runtime.sigpanic", .id = 18, .list = { 0, 1, 8, 20 } },
	{ "runtime.mstart", .id = 13, .flags = 5, .list = { 0, 8 } },
	{ "syscall.rawVforkSyscall", .flags = 4, .code = "909090909090415c9090909090904154",
	  .list = { 0, 8, -8, 8, 0, 8 } },
	{ "main.odd", .code = "4883ec0c4883c40c", .list = { 0, 4, 12, 4, 0, 4 } },
	{ .name = "main.foreign" },
	{ "runtime.goexit1", .id = 1, .list = { 0, 4 } },
	/* assembler: where it saves rbp, only its code says */
	{ "runtime.asyncPreempt", .id = 3, .flags = 4, .list = { 0, 1, 8, 8 } },
};
#define NR_FUNCTIONS	((int)(sizeof(program) / sizeof(program[0])))

static const struct expected rows[] = {
	SAME(0, 0, "end"), SAME(0, 4, "end"),
	SAME(1, 0, "rsp+8"), SAME(1, 19, "rsp+8"), SAME(1, 20, "none"), SAME(1, 63, "none"),
	SAME(2, 0, "rsp+8"), { 2, 1, "rsp+16", "rsp+16 unknown" }, { 2, 3, "rsp+16", "rsp+16 unknown" },
	{ 2, 4, "rsp+16 saved", "rsp+16 unknown" }, { 2, 8, "rsp+32 saved", "rsp+32 unknown" },
	{ 2, 17, "rsp+32 saved", "rsp+32 unknown" }, { 2, 18, "rsp+16 saved", "rsp+16 unknown" },
	SAME(2, 19, "rsp+8"), { 2, 20, "rsp+32 saved", "rsp+32 unknown" },
	{ 2, 39, "rsp+32 saved", "rsp+32 unknown" }, SAME(2, 40, "none"),
	{ 3, 4, "rsp+32", "rsp+32 unknown" }, { 3, 6, "rsp+32", "rsp+32 unknown" },
	{ 3, 7, "rsp+32 saved", "rsp+32 unknown" }, SAME(3, 34, "rsp+8"), SAME(3, 35, "none"),
	SAME(4, 3, "rsp+8"), SAME(4, 4, "rsp+24 unknown"), SAME(4, 12, "rsp+8"),
	SAME(5, 0, "end"), SAME(5, 1, "end"),
	SAME(6, 0, "signal rsp+8"), { 6, 1, "signal rsp+16", "signal rsp+16 unknown" },
	SAME(7, 0, "rsp+8"), SAME(7, 7, "rsp+8"),
	SAME(8, 7, "rsp+8"), SAME(8, 8, "none"), SAME(8, 15, "none"), SAME(8, 16, "rsp+8"),
	SAME(9, 4, "none"), SAME(9, 8, "rsp+8"),
	SAME(10, 0, "none"),
	SAME(11, 0, "rsp+8"), SAME(11, 3, "rsp+8"),
	SAME(12, 0, "signal rsp+8"), SAME(12, 8, "signal rsp+16 unknown"),
};

static void test_formats(void)
{
	static struct file f;
	unsigned int m, i;

	for (m = 0; m < 4; m++) {
		struct kunwind_table *table = NULL;
		enum kunwind_build_error err;
		const bool newer = m >= 2;

		make(&f, magics[m], program, NR_FUNCTIONS, TEXT);
		err = build(&f, &table);
		tap_ok(!err, "magic %x: a table is built", magics[m]);
		if (err)
			continue;
		for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			const struct expected *e = &rows[i];
			const char *want = newer ? e->newer : e->older;
			const char *is = words_of(kunwind_table_lookup(table, TEXT + e->function * STEP +
									      e->at));

			tap_ok(!strcmp(is, want), "magic %x: %s+%d: %s", magics[m],
			   program[e->function].name, e->at, want);
			if (strcmp(is, want))
				printf("# it is %s\n", is);
		}
		kunwind_table_free(table);
	}
}

/* The start of Go's text: in the header, in a relocation, or by the entry point. */
static void test_text(void)
{
	static struct file f;
	u64 rela[3] = { TEXT + 0x10000 + 24, 8, TEXT }, size;

	make(&f, magics[3], program, NR_FUNCTIONS, 0);
	tap_ok(!kunwind_go_measure(file_read, &f, &f.elf, &size), "text: found by the entry point");
	f.elf.entry++;
	tap_ok(kunwind_go_measure(file_read, &f, &f.elf, &size) == KUNWIND_E_RANGE,
	   "text: refused if the entry point is no function's");
	f.elf.entry = TEXT + STEP;
	tap_ok(kunwind_go_measure(file_read, &f, &f.elf, &size) == KUNWIND_E_RANGE,
	   "text: refused if the entry point is another function's");
	f.elf.entry = 0;
	memcpy(f.data + RELA + 24, rela, sizeof(rela));
	f.elf.rela_offset = RELA;
	f.elf.rela_size = 48;
	tap_ok(!kunwind_go_measure(file_read, &f, &f.elf, &size), "text: found by a relocation");
	f.elf.rela_size = 47;
	tap_ok(kunwind_go_measure(file_read, &f, &f.elf, &size) == KUNWIND_E_RANGE,
	   "text: half a relocation is not read");
	f.elf.rela_size = 48;
	f.data[RELA + 24 + 8] = 1;
	tap_ok(kunwind_go_measure(file_read, &f, &f.elf, &size) == KUNWIND_E_RANGE,
	   "text: a relocation of another type is not used");
}

/* One thing is wrong; nothing of the section is used. */
static void test_refused(void)
{
	static const struct {
		const char *what;
		int at, len;		/* from the section's start; -1: the list, -2: the table */
		u64 val;
		enum kunwind_build_error err;
	} wrong[] = {
		{ "another magic", 0, 4, 0xfffffffc, KUNWIND_E_VERSION },
		{ "big-endian magic", 0, 4, 0xf0ffffff, KUNWIND_E_VERSION },
		{ "a padding byte", 4, 1, 1, KUNWIND_E_HEADER },
		{ "instructions of 4 bytes", 6, 1, 4, KUNWIND_E_HEADER },
		{ "pointers of 4 bytes", 7, 1, 4, KUNWIND_E_HEADER },
		{ "no function", 8, 8, 0, KUNWIND_E_HEADER },
		{ "more functions than bytes", 8, 8, 0x400, KUNWIND_E_HEADER },
		{ "functions beyond all bounds", 8, 8, ~0ULL, KUNWIND_E_HEADER },
		{ "names outside", 32, 8, 0x10000, KUNWIND_E_HEADER },
		{ "lists outside", 56, 8, ~0ULL, KUNWIND_E_HEADER },
		{ "functions outside", 64, 8, 0x10000, KUNWIND_E_HEADER },
		{ "text before the code", 24, 8, TEXT - 1, KUNWIND_E_RANGE },
		{ "text after the code", 24, 8, TEXT + 1, KUNWIND_E_RANGE },
		{ "text that wraps", 24, 8, ~0ULL - 8, KUNWIND_E_RANGE },
		{ "a function outside the section", -2 - 4, 4, 0xffffff00, KUNWIND_E_TRUNCATED },
		{ "a function that ends before it starts", -2 - 16, 4, 0, KUNWIND_E_RANGE },
		{ "a list longer than its function", -1, 2, 0x4102, KUNWIND_E_RANGE },
		{ "a list with an empty range", -1, 2, 0x0002, KUNWIND_E_RANGE },
		{ "a number of 33 bits", -1, 5, 0x1fffffffffULL, KUNWIND_E_OPERAND },
	};
	static struct file f;
	unsigned int i;
	u64 size;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		enum kunwind_build_error err;
		u64 at = wrong[i].at;

		make(&f, magics[2], program, NR_FUNCTIONS, TEXT);
		if (wrong[i].at == -1)
			at = f.lists + 4;	/* the first function has rows without its list */
		else if (wrong[i].at < -1)
			at = f.table - wrong[i].at - 2;
		set(&f, at, wrong[i].val, wrong[i].len);
		err = kunwind_go_measure(file_read, &f, &f.elf, &size);
		tap_ok(err == wrong[i].err, "refused: %s", wrong[i].what);
		if (err != wrong[i].err)
			printf("# it is %d\n", err);
	}
}

static void test_reads(void)
{
	static struct file f;
	int i, nr;
	u64 size, again;
	u8 *out;

	make(&f, magics[2], program, NR_FUNCTIONS, TEXT);
	tap_ok(!kunwind_go_measure(file_read, &f, &f.elf, &size), "reads: all succeed");
	nr = f.reads;
	for (i = 1; i <= nr; i++) {
		f.reads = 0;
		f.fail_at = i;
		if (kunwind_go_measure(file_read, &f, &f.elf, &again) != KUNWIND_E_IO)
			break;
	}
	tap_ok(i > nr, "reads: an error of any of %d is returned", nr);
	f.fail_at = 0;
	out = malloc(size);
	tap_ok(!kunwind_go_write(file_read, &f, &f.elf, out, size), "written: as many bytes as measured");
	/* The file changed between the two passes. */
	f.data[TABLE + f.lists + 4] = 4;
	tap_ok(kunwind_go_write(file_read, &f, &f.elf, out, size) == KUNWIND_E_IO ||
	   kunwind_go_write(file_read, &f, &f.elf, out, size - 1) == KUNWIND_E_IO,
	   "written: a file that changed is refused");
	tap_ok(kunwind_go_write(file_read, &f, &f.elf, out, size - 1) == KUNWIND_E_IO,
	   "written: nothing after the room");
	free(out);
}

/* A section of 8 bytes a function, whose descriptions lie @apart bytes from each other, in turn. */
struct wide {
	u8 data[0x20000];
	struct kunwind_elf elf;
	u64 bytes;		/* read */
};

static int wide_read(void *data, u64 off, void *buf, size_t len)
{
	struct wide *wide = data;

	wide->bytes += len;
	memcpy(buf, wide->data + off, len);
	return 0;
}

static enum kunwind_build_error measure_wide(struct wide *wide, u32 nr, u32 apart)
{
	const u64 table = 72, funcs = 8 * (u64)(nr + 1);
	u64 words[9] = { 0x08010000ULL << 32 | magics[3], nr, 0, TEXT }, size;
	u32 i;

	memset(wide, 0, sizeof(*wide));
	for (i = 4; i < ARRAY_SIZE(words); i++)
		words[i] = table;
	memcpy(wide->data, words, sizeof(words));
	for (i = 0; i < nr; i++)
		memcpy(wide->data + table + 8 * i + 4, &(u32){ (u32)funcs + (i & 1) * apart }, 4);
	wide->elf = (struct kunwind_elf){
		.go_size = table + funcs + apart + 64, .text_lo = TEXT, .text_hi = TEXT + STEP, .entry = 1,
	};
	return kunwind_go_measure(wide_read, wide, &wide->elf, &size);
}

/* A small section must not make the reader read for long. */
static void test_work(void)
{
	static struct wide wide;
	enum kunwind_build_error err = measure_wide(&wide, 4000, 0);

	tap_ok(!err, "work: functions that share a description: %d", err);
	err = measure_wide(&wide, 4000, 4096);
	tap_ok(err == KUNWIND_E_LIMIT && wide.bytes <= 32 * wide.elf.go_size + (1 << 20),
	       "work: a section of %u KB from which %u KB would be read again and again is refused: %d",
	       (unsigned int)(wide.elf.go_size >> 10), (unsigned int)(wide.bytes >> 10), err);
}

static void put(struct file *f, u64 at, u64 val, int size)
{
	memcpy(f->data + at, &val, size);
}

#define OTHER_NAMES "\0.text\0.debug_frame\0.shstrtab\0.note.go.buildid"

/*
 * Makes an ELF file of it: one segment, and sections. @name: of the Go table's section.
 * @note: with the note of Go's linker.
 */
static void make_elf(struct file *f, const char *name, bool note)
{
	static const char strings[] = OTHER_NAMES;
	const u64 headers = RELA + 0x200, names = RELA + 0x100;
	struct { u32 name, type; u64 flags, addr, offset, size; } sections[] = {
		{ note ? 30 : 0, note ? 7 : 0, 0, 0, TABLE, 16 },
		{ 1, 1, 6, TEXT, CODE, f->elf.text_hi - TEXT },
		{ 7, 1, 0, 0, TABLE, 64 },	/* as Go's linker writes, too */
		{ sizeof(strings), 1, 2, f->elf.go_addr, TABLE, f->elf.go_size },
		{ 20, 3, 0, 0, names, sizeof(strings) + strlen(name) + 1 },
	};
	unsigned int i;

	memcpy(f->data, "\x7f" "ELF\2\1\1", 7);
	put(f, 16, 2, 2);
	put(f, 18, 62, 2);
	put(f, 20, 1, 4);
	put(f, 24, f->elf.entry, 8);
	put(f, 32, 64, 8);
	put(f, 40, headers, 8);
	put(f, 54, 56, 2);
	put(f, 56, 1, 2);
	put(f, 58, 64, 2);
	put(f, 60, 5, 2);
	put(f, 62, 4, 2);
	put(f, 64, 1, 4);
	put(f, 68, 5, 4);
	put(f, 72, CODE, 8);
	put(f, 80, TEXT, 8);
	put(f, 96, f->elf.load[0].filesz, 8);
	put(f, 104, f->elf.load[0].memsz, 8);
	memcpy(f->data + names, strings, sizeof(strings));
	strcpy((char *)f->data + names + sizeof(strings), name);
	for (i = 0; i < 5; i++)
		memcpy(f->data + headers + 64 * i, &sections[i], sizeof(sections[i]));
}

static void test_elf(void)
{
	static const char *const sections[] = { ".gopclntab", ".data.rel.ro.gopclntab", ".data.rel.ro" };
	static struct file f;
	struct kunwind_elf elf;
	unsigned int i;
	u8 *data;
	u64 size;

	for (i = 0; i < 3; i++) {
		make(&f, magics[2], program, NR_FUNCTIONS, TEXT);
		(void)!kunwind_go_measure(file_read, &f, &f.elf, &size);
		make_elf(&f, sections[i], i == 2);
		tap_ok(!kunwind_unwind_info_find(file_read, &f, SIZE, &elf) && elf.go && !elf.eh_size &&
		       elf.debug_size == size, "%s: its rows take the place of .debug_frame", sections[i]);
		data = malloc(elf.debug_size);
		tap_ok(!kunwind_unwind_info_read(file_read, &f, &elf, data) && data[4] == 0xff,
		       "%s: the rows are written", sections[i]);
		free(data);
	}
	/* Position-independent programs of Go have both sections. */
	make(&f, magics[2], program, NR_FUNCTIONS, TEXT);
	make_elf(&f, ".data.rel.ro.gopclntab", true);
	put(&f, RELA + 0x200 + 2 * 64, sizeof(OTHER_NAMES) + strlen(".data.rel.ro.gopclntab") + 1, 4);
	put(&f, RELA + 0x200 + 2 * 64 + 8, 2, 8);
	strcpy((char *)f.data + RELA + 0x100 + sizeof(OTHER_NAMES) + strlen(".data.rel.ro.gopclntab") + 1,
	       ".data.rel.ro");
	put(&f, RELA + 0x200 + 4 * 64 + 32, 0x100, 8);
	tap_ok(!kunwind_unwind_info_find(file_read, &f, SIZE, &elf) && elf.go &&
	       elf.go_size == f.elf.go_size && !elf.go_inside,
	       "the table after .data.rel.ro: found by its own section");
	make(&f, magics[2], program, NR_FUNCTIONS, TEXT);
	make_elf(&f, ".gopclntab", false);
	f.data[TABLE] = 0;
	tap_ok(!kunwind_unwind_info_find(file_read, &f, SIZE, &elf) && !elf.go &&
	       !elf.debug_size, "a malformed table: the file has no unwind information");
	make(&f, magics[2], program, NR_FUNCTIONS, TEXT);
	make_elf(&f, ".gopclntabx", false);
	tap_ok(!kunwind_unwind_info_find(file_read, &f, SIZE, &elf) && !elf.go && elf.debug_size == 64,
	       "a section with a longer name is not Go's");
	make(&f, magics[2], program, NR_FUNCTIONS, TEXT);
	make_elf(&f, ".data.rel.ro", false);
	tap_ok(!kunwind_unwind_info_find(file_read, &f, SIZE, &elf) && !elf.go && elf.debug_size == 64,
	       "without the note of Go's linker, .data.rel.ro is not searched");
}

/* Each byte of the section damaged: an answer or an error, no read outside. */
static void test_damage(void)
{
	static struct file f;
	static const u8 values[] = { 0, 1, 0x7f, 0x80, 0xff };
	unsigned int m, v, tables = 0, errors = 0;
	u64 i;

	for (m = 0; m < 4; m++) {
		make(&f, magics[m], program, NR_FUNCTIONS, TEXT);
		for (i = 0; i < f.elf.go_size; i++) {
			const u8 old = f.data[TABLE + i];

			for (v = 0; v < sizeof(values); v++) {
				struct kunwind_table *table = NULL;

				f.data[TABLE + i] = values[v];
				if (build(&f, &table))
					errors++;
				else
					tables++;
				kunwind_table_free(table);
			}
			f.data[TABLE + i] = old;
		}
		for (i = f.elf.go_size; i; i--) {
			u64 size;

			f.elf.go_size = i - 1;
			errors += !!kunwind_go_measure(file_read, &f, &f.elf, &size);
		}
	}
	tap_ok(tables && errors, "damaged: %u tables, %u errors", tables, errors);
}

int main(void)
{
	test_formats();
	test_text();
	test_refused();
	test_reads();
	test_work();
	test_elf();
	test_damage();
	return tap_done();
}
