/* SPDX-License-Identifier: MIT */
/*
 * unwind-tables-test.c - for which objects tables are built, from what, within which limit, and
 * which ranges get them
 *
 * The builder, the reader of files and the objects are the test's; so is the thread, which is this
 * one.
 */
#include "../../libkunwind/unwind/tables.c"
#include "../unit/tap.h"

#define BYTES	1000U			/* of a table */

static struct kunwind_elf file_elf;	/* what a file says */
static enum kunwind_build_error find_error, read_error, code_error, rows_error, build_error;
static u32 finds, builds, copies, gaps_made, last_keep;
static size_t last_limit, last_eh, last_debug;
static u64 last_copy;
static bool copy_fails, stop_meanwhile;
static struct kunwind_unwinder *unwinder;

enum kunwind_build_error kunwind_unwind_info_find(kunwind_read_fn *read, void *file, u64 size,
						  struct kunwind_elf *elf)
{
	(void)read, (void)file, (void)size;
	finds++;
	*elf = file_elf;
	return find_error;
}

enum kunwind_build_error kunwind_unwind_info_read(kunwind_read_fn *read, void *file,
						  const struct kunwind_elf *elf, u8 *data)
{
	(void)read, (void)file;
	memset(data, 1, elf->eh_size + elf->debug_size);
	return read_error;
}

enum kunwind_build_error
kunwind_unwind_info_read_code(kunwind_read_fn *read, void *file, const struct kunwind_elf *elf,
			      const u8 *data, kunwind_charge_fn *charge, kunwind_abort_fn *abort,
			      void *hook_data, struct kunwind_code_gaps **gaps)
{
	(void)read, (void)file, (void)elf, (void)data, (void)charge, (void)abort, (void)hook_data;
	*gaps = NULL;
	gaps_made++;
	return code_error;
}

enum kunwind_build_error
kunwind_unwind_info_add_rows(struct kunwind_elf *elf, struct kunwind_code_gaps *gaps,
			     kunwind_charge_fn *charge, kunwind_abort_fn *abort, void *hook_data,
			     u8 **data)
{
	(void)elf, (void)gaps, (void)charge, (void)abort, (void)hook_data, (void)data;
	return rows_error;
}

void kunwind_elf_sections(const struct kunwind_elf *elf, const u8 *eh, const u8 *debug,
			  struct kunwind_section section[2])
{
	memset(section, 0, 2 * sizeof(*section));
	last_eh = elf->eh_size;
	last_debug = elf->debug_size;
	section[0].size = debug - eh;
}

enum kunwind_build_error
kunwind_table_build(const struct kunwind_section *section, u32 keep, size_t limit,
		    kunwind_abort_fn *abort, void *data, struct kunwind_table **table)
{
	(void)section;
	builds++;
	last_keep = keep;
	last_limit = limit;
	if (stop_meanwhile)
		unwinder->stop = true;
	if (abort(data) != unwinder->stop)
		return KUNWIND_E_IO;
	if (build_error || limit < BYTES)
		return build_error ?: KUNWIND_E_LIMIT;
	*table = calloc(1, sizeof(**table));
	(*table)->bytes = BYTES;
	return KUNWIND_OK;
}

bool unwind_copy(u64 addr, void *to, size_t len, pid_t *pid)
{
	(void)pid;
	copies++;
	last_copy = addr;
	memset(to, 2, len);
	return !copy_fails;
}

int unwind_file_read(void *file, u64 off, void *buf, size_t len)
{
	(void)file, (void)off, (void)buf, (void)len;
	return -1;
}

int unwind_image_read(void *file, u64 off, void *buf, size_t len)
{
	(void)file, (void)off, (void)buf, (void)len;
	return -1;
}

u64 unwind_image_vaddr(const struct kunwind_elf *elf)
{
	return elf->load[0].vaddr;
}

const struct kunwind_range *unwind_range_known(const struct kunwind_ranges *ranges, u64 addr)
{
	return addr < ranges->nr ? &ranges->range[addr] : NULL;
}

const struct unwind_range *unwind_range_info(const struct unwind_snapshot *snapshot,
					     const struct kunwind_range *range)
{
	return &snapshot->info[range - snapshot->ranges.range];
}

#define OBJECTS	4
static struct unwind_snapshot *snapshot;
static struct unwind_object object[OBJECTS];
static struct kunwind_module module[2 * OBJECTS];
static char own_path[] = "/proc/self/exe";

/* Each object has two ranges: n and n + OBJECTS. */
static void begin(void)
{
	u32 i;

	for (i = 0; i < OBJECTS; i++) {
		free(object[i].table);
		object[i] = (struct unwind_object){ .fd = -1, .own = true, .uses = 2, .path = own_path,
						    .bias = 0x1000, .image = 0x9000 };
		object[i].elf = (struct kunwind_elf){ .eh_size = 100, .eh_addr = 0x40, .nr_loads = 1,
						      .entry = 7 };
	}
	memset(module, 0, sizeof(module));
	memset(snapshot->info, 0, 2 * OBJECTS * sizeof(*snapshot->info));
	memset(snapshot->ranges.range, 0, 2 * OBJECTS * sizeof(struct kunwind_range));
	for (i = 0; i < 2 * OBJECTS; i++)
		snapshot->info[i] = (struct unwind_range){ .object = &object[i % OBJECTS], .biased = true,
							   .module = &module[i] };
	file_elf = object[0].elf;
	find_error = read_error = code_error = rows_error = build_error = KUNWIND_OK;
	finds = builds = copies = gaps_made = 0;
	copy_fails = stop_meanwhile = false;
	unwinder->stop = false;
	unwinder->memory = 1 << 20;
}

static void build_all(bool all)
{
	pthread_mutex_lock(&unwinder->lock);
	unwind_tables_build(unwinder, all);
	pthread_mutex_unlock(&unwinder->lock);
}

/* How many objects have tables in both of their ranges. */
static u32 tables(void)
{
	u32 i, nr = 0;

	for (i = 0; i < OBJECTS; i++)
		nr += object[i].table && snapshot->ranges.range[i].table == object[i].table &&
		      snapshot->ranges.range[i + OBJECTS].table == object[i].table;
	return nr;
}

static void test_which(void)
{
	u32 i, uses = 0;

	begin();
	build_all(true);
	for (i = 0; i < OBJECTS; i++)
		uses += object[i].uses;
	tap_ok(tables() == OBJECTS && builds == OBJECTS && uses == 2 * OBJECTS,
	       "each object has one table, in all of its ranges, and is used as before");
	tap_ok(unwinder->memory == (1 << 20) - OBJECTS * BYTES, "each is charged once");
	build_all(true);
	tap_ok(builds == OBJECTS, "none is built again");
	begin();
	object[2].needs_table = true;
	build_all(false);
	tap_ok(builds == 1 && object[2].table && tables() == 1,
	       "not all: only those that have no search table");
	begin();
	object[1].read = (kunwind_read_memory *)begin;
	snapshot->info[2].biased = false;
	snapshot->info[3].object = NULL;
	build_all(true);
	tap_ok(builds == 3 && !object[1].table && !object[1].tried,
	       "an image is not built before a walk meets it");
	tap_ok(object[2].table && !snapshot->ranges.range[2].table &&
	       snapshot->ranges.range[2 + OBJECTS].table && !snapshot->ranges.range[3].table,
	       "a range without a bias, or of no object, gets none");
	begin();
	stop_meanwhile = true;
	build_all(true);
	tap_ok(builds == 1, "when the unwinder is freed, no other table is built");
}

static void build_first(void)
{
	object[1].tried = object[2].tried = object[3].tried = true;
	build_all(true);
}

static void test_limit(void)
{
	u32 i, tried = 0;

	begin();
	unwinder->memory = 2 * BYTES + BYTES - 1;
	build_all(true);
	for (i = 0; i < OBJECTS; i++)
		tried += object[i].tried;
	tap_ok(tables() == 2 && unwinder->memory == BYTES - 1 && tried == OBJECTS && last_limit == BYTES - 1,
	       "tables are built as long as there is memory for them");
	begin();
	unwinder->memory = BYTES;
	build_all(true);
	tap_ok(tables() == 1 && !unwinder->memory, "a table may take all that is left");
	begin();
	file_elf.eh_size = unwinder->memory + 1;
	object[0].elf.eh_size = unwinder->memory + 1;
	build_first();
	tap_ok(!builds && !tables(), "CFI beyond the limit is not read");
	begin();
	file_elf.debug_size = unwinder->memory + 1;
	build_first();
	tap_ok(builds == 1 && copies == 1,
	       "a file's .debug_frame beyond the limit is not read, .eh_frame in memory is");
}

/* Whether the first object's table is built from its file, or from .eh_frame in its memory. */
static bool from_the_file(void)
{
	build_first();
	return tables() == 1 && !copies && builds == 1;
}

static bool from_memory(void)
{
	build_first();
	return tables() == 1 && copies == 1 && builds == 1 && !last_debug && last_eh == 100 &&
	       last_copy == 0x1000 + object[0].elf.eh_addr;
}

static bool has_none(void)
{
	build_first();
	return !tables() && object[0].tried && object[0].uses == 2 && unwinder->memory == 1 << 20;
}

static void test_same(void)
{
	begin();
	file_elf.debug_size = 50;
	file_elf.text_lo = 5;
	tap_ok(from_the_file() && finds == 1 && !last_keep && last_debug == 50 && gaps_made == 1,
	       "of a file that is the loaded one, all is used");
	begin();
	file_elf.nr_loads = 2;
	object[0].elf.debug_size = 50;
	tap_ok(from_memory() && !last_keep, "another number of segments: memory is used");
	begin();
	file_elf.entry = 8;
	tap_ok(from_memory(), "another entry point");
	begin();
	file_elf.eh_addr = 0x48;
	tap_ok(from_memory(), "another .eh_frame");
	begin();
	object[0].elf.eh_addr = 0;
	tap_ok(from_the_file(), "only the file has .eh_frame: it is used");
	begin();
	file_elf.load[0].memsz = 1;
	tap_ok(from_memory(), "another segment");
	begin();
	file_elf.load[1].memsz = 1;
	tap_ok(from_the_file(), "what is not a segment is not compared");
	begin();
	file_elf.build_id_len = 20;
	tap_ok(from_memory(), "a build-id that the loaded one has not");
	begin();
	object[0].elf.build_id_len = file_elf.build_id_len = 20;
	tap_ok(from_the_file(), "the same build-id");
	begin();
	object[0].elf.build_id_len = file_elf.build_id_len = 20;
	file_elf.build_id[19] = 1;
	tap_ok(from_memory(), "a build-id of which the last byte is another one");
}

static void test_errors(void)
{
	enum kunwind_build_error *const errors[] = { &find_error, &read_error, &code_error, &rows_error };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		begin();
		*errors[i] = KUNWIND_E_IO;
		tap_ok(from_memory() && object[0].tried,
		       "error %u of the file: the table is that of memory", i);
	}
	begin();
	build_error = KUNWIND_E_NOMEM;
	tap_ok(has_none() && builds == 2 && copies == 1, "nothing can be built: there is no table");
	begin();
	object[0].path = NULL;
	tap_ok(from_memory() && !finds && last_keep == KUNWIND_SAVED_REGS,
	       "the vDSO: its table follows all callee-saved registers");
	begin();
	object[0].path = NULL;
	copy_fails = true;
	tap_ok(has_none() && !builds, "memory that cannot be read has none");
	begin();
	object[0].path = NULL;
	object[0].elf.eh_size = 0;
	tap_ok(has_none() && !copies && !builds, "nor has an object without .eh_frame");
	begin();
	object[0].own = false;
	tap_ok(has_none() && !finds && !copies && !builds, "nor another process's without a file");
	begin();
	object[0].own = false;
	object[0].fd = open(own_path, O_RDONLY | O_CLOEXEC);
	file_elf.entry = 99;
	tap_ok(from_the_file(), "a file that is mapped otherwise is compared with nothing");
	close(object[0].fd);
	begin();
	object[0].own = false;
	object[0].fd = open("/", O_RDONLY | O_CLOEXEC);
	tap_ok(has_none() && !finds, "a directory is not read");
	close(object[0].fd);
}

static size_t never(void *data, uint64_t addr, void *buf, size_t len)
{
	(void)data, (void)addr, (void)buf, (void)len;
	return 0;
}

static bool settled(u32 at)
{
	return snapshot->info[at].biased && snapshot->ranges.range[at].reason == KUNWIND_NO_TABLE &&
	       snapshot->ranges.range[at].bias == 0x9000 - 0x400 && module[at].bias == 0x9000 - 0x400 &&
	       module[at].build_id_len == 20 && module[at].build_id[19] == 9;
}

static void begin_image(void)
{
	begin();
	object[1].read = never;
	object[1].own = false;
	object[1].bias = 0;
	snapshot->info[1].biased = snapshot->info[1 + OBJECTS].biased = false;
	file_elf.build_id_len = 20;
	file_elf.build_id[19] = 9;
	file_elf.load[0].vaddr = 0x400;
}

static void test_meet(void)
{
	begin_image();
	tap_ok(!unwind_tables_meet(unwinder, 2 * OBJECTS) && !unwind_tables_meet(unwinder, 0) && !finds,
	       "no range, or no image: there is nothing to build");
	snapshot->info[0].object = NULL;
	tap_ok(!unwind_tables_meet(unwinder, 0), "nor for code of no file");
	tap_ok(unwind_tables_meet(unwinder, 1 + OBJECTS) && builds == 1 && last_keep == KUNWIND_SAVED_REGS &&
	       last_limit == 1 << 20, "an image that a walk meets is built");
	tap_ok(settled(1) && settled(1 + OBJECTS) && !module[2].bias && !module[2].build_id_len,
	       "its ranges and modules get its bias and build-id, and no others");
	tap_ok(tables() == 1 && object[1].table && unwinder->memory == (1 << 20) - BYTES,
	       "its table is charged");
	tap_ok(!unwind_tables_meet(unwinder, 1) && builds == 1, "once");
	begin_image();
	find_error = KUNWIND_E_NO_CFI;
	tap_ok(unwind_tables_meet(unwinder, 1) && !builds && settled(1) && !tables(),
	       "an image without CFI has a bias and a build-id");
	begin_image();
	find_error = KUNWIND_E_IO;
	tap_ok(unwind_tables_meet(unwinder, 1) && !builds && !object[1].elf.nr_loads &&
	       !snapshot->info[1].biased &&
	       snapshot->ranges.range[1].reason == KUNWIND_NO_TABLE && !module[1].build_id_len,
	       "one that cannot be read has none, and no table");
	tap_ok(!unwind_tables_meet(unwinder, 1) && finds == 1, "and is not read again");
	begin_image();
	file_elf.nr_loads = 0;
	tap_ok(unwind_tables_meet(unwinder, 1) && !builds && !snapshot->info[1].biased && !object[1].bias,
	       "nor has one without segments");
	begin_image();
	unwinder->memory = BYTES - 1;
	tap_ok(unwind_tables_meet(unwinder, 1) && builds == 1 && settled(1) && !object[1].table &&
	       unwinder->memory == BYTES - 1, "a table beyond the limit is none");
}

int main(void)
{
	unwinder = calloc(1, sizeof(*unwinder));
	snapshot = calloc(1, sizeof(*snapshot) + 2 * OBJECTS * sizeof(struct kunwind_range));
	snapshot->info = calloc(2 * OBJECTS, sizeof(*snapshot->info));
	snapshot->ranges.nr = 2 * OBJECTS;
	unwinder->snapshot = snapshot;
	alarm(60);
	pthread_mutex_init(&unwinder->lock, NULL);
	test_which();
	test_limit();
	test_same();
	test_errors();
	test_meet();
	begin();
	free(snapshot->info);
	free(snapshot);
	free(unwinder);
	return tap_done();
}
