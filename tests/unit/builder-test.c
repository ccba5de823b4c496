/* SPDX-License-Identifier: MIT */
/*
 * builder-test.c - one build: how the file is read, what is charged to whom,
 * how long the module is held, and which failure the object reports
 */
#include "builder-scene.h"

/* ------------------------------------------------------------------- tests */

static void stats(struct kunwind_stats *stats)
{
	kunwind_builder_stats(stats);
	kunwind_result_stats(stats);
}

static void test_read(void)
{
	struct kunwind_stats before = { .objects = 0 }, after = before;
	u32 rows, keep;

	begin();
	tap_ok(build(false, KUNWIND_OBJECT_READY, KUNWIND_OK) && object.has_elf &&
	       object.stats.nr_rows > 1000 &&
	       built == 1, "file: it has a table");
	tap_ok(code_made == 1 && code_started == 1 && !built_over && object.building_parts &&
	       reads > told_after,
	       "file: its code is read when the table is in use");
	tap_ok(!reads_unheld, "local file: the module is held while it is read");
	tap_ok(!reads_not_as_opener && cred == &worker, "the file is read with the opener's credentials");
	tap_ok(closed_here == 1 && !closed_elsewhere,
	       "file: closed by the worker, not by the kernel's work item");
	end("a file");

	begin();
	stats(&before);
	build(false, KUNWIND_OBJECT_READY, KUNWIND_OK);
	rows = object.stats.nr_rows;
	keep = object.stats.keep;
	end("a file again");
	begin();
	most_read = 1000;
	tap_ok(build(false, KUNWIND_OBJECT_READY, KUNWIND_OK) && object.stats.nr_rows == rows,
	       "reads that bring less than asked for: the table is the same");
	tap_ok(object.done_at == jiffies, "file: the object has the time of the build's end");
	end("short reads");
	begin();
	object.vdso = &(struct vdso_image){ .data = (void *)data.data };
	build_object(&object);
	tap_ok(object.state == KUNWIND_OBJECT_READY && object.stats.nr_rows >= rows && !reads,
	       "the vDSO: its bytes are in memory");
	tap_ok(object.stats.keep == KUNWIND_SAVED_REGS && keep != KUNWIND_SAVED_REGS,
	       "the vDSO: its table follows all callee-saved registers, a file's only those that it needs");
	end("the vDSO");

	begin();
	file.flags = IOCB_DIRECT | IOCB_OTHER;
	tap_ok(build(false, KUNWIND_OBJECT_READY, KUNWIND_OK) && !reads_direct && reads_other == reads,
	       "a descriptor with O_DIRECT: the reads go through the page cache");
	end("O_DIRECT");
	begin();
	inode.i_sb = &in_fuse;
	tap_ok(build(true, KUNWIND_OBJECT_READY, KUNWIND_OK) && reads_direct == reads,
	       "a file of FUSE: no read goes through the page cache");
	end("FUSE");
	begin();
	inode.i_sb = &in_fuse;
	no_direct = true;
	tap_ok(build(true, KUNWIND_OBJECT_READY, KUNWIND_OK) && 2 * reads_direct == reads,
	       "a file of FUSE without direct reads: they go through the page cache");
	end("FUSE without direct reads");

	begin();
	read_fails = 1;
	tap_ok(build(false, KUNWIND_OBJECT_FAILED, KUNWIND_E_IO) && reads == 1,
	       "a read that fails: failed with io");
	stats(&after);
	tap_ok(after.table_builds - before.table_builds == 7 &&
	       after.table_refused - before.table_refused == 1,
	       "status: builds and build errors are counted");
	end("a read that fails");
	begin();
	build(false, KUNWIND_OBJECT_READY, KUNWIND_OK);
	kunwind_table_free(object.table);
	read_fails = told_after;
	built = reads = told = code_made = code_started = 0;
	object = (struct kunwind_object){ .quota = &users[0], .key = object.key };
	users[0].bytes = 0;
	room = MUCH;
	tap_ok(build(false, KUNWIND_OBJECT_FAILED, KUNWIND_E_IO),
	       "the last read of a section fails: failed with io");
	end("the last read of a section fails");
	begin();
	build(false, KUNWIND_OBJECT_READY, KUNWIND_OK);
	kunwind_table_free(object.table);
	read_fails = reads;
	users[0].bytes = 0;
	room = MUCH;
	built = built_over = reads = told = code_made = code_started = 0;
	object = (struct kunwind_object){ .quota = &users[0], .key = object.key };
	tap_ok(build(false, KUNWIND_OBJECT_READY, KUNWIND_OK) && !code_started && built_over == 1 &&
	       !object.building_parts && object.parts_done.done,
	       "the code cannot be read: the table stays, and the build is over");
	end("the code cannot be read");
	begin();
	inode.i_mode = S_IFIFO;
	tap_ok(build(false, KUNWIND_OBJECT_FAILED, KUNWIND_E_IO) && !reads,
	       "no regular file: not read");
	end("no regular file");
	begin();
	file.f_mode = FMODE_CAN_READ;
	tap_ok(build(false, KUNWIND_OBJECT_FAILED, KUNWIND_E_IO) && !reads,
	       "not open for reading: not read");
	end("not open for reading");
}

static void test_long_read(void)
{
	static u8 bytes[64 * 1024], to[sizeof(bytes)];
	const struct object small = data;

	begin();
	inode.i_sb = &in_fuse;
	data = (struct object){ .data = bytes, .size = sizeof(bytes) };
	object.file = &file;
	most_read = SIZE_MAX;
	tap_ok(kunwind_source_read(&object, to, sizeof(to), 0) == 28 * 1024,
	       "a file of FUSE: no read is longer than an atomic allocation may be");
	inode.i_sb = &on_disk;
	tap_ok(kunwind_source_read(&object, to, sizeof(to), 0) == sizeof(to),
	       "a local file: a read is as long as its buffer");
	object.file = NULL;
	data = small;
}

static void other_time(void) { inode.ctime = 2; }
static void other_size(void) { inode.size++; }
static void writer_comes(void) { inode.writers = 1; }
static void writer_goes(void) { inode.writers = 0; }

static void test_changes(void)
{
	static const unsigned long memory[] = { TMPFS_MAGIC, RAMFS_MAGIC, HUGETLBFS_MAGIC };
	unsigned int i;

	begin();
	at_read = other_time;
	tap_ok(build(false, KUNWIND_OBJECT_FAILED, KUNWIND_E_IO) && !built,
	       "a file that changes while its table is built has no table");
	end("change");
	begin();
	at_read = other_size;
	tap_ok(build(false, KUNWIND_OBJECT_FAILED, KUNWIND_E_IO),
	       "a file that grows while its table is built has no table");
	end("growth");
	begin();
	at_read = other_time;
	max_whole_kb = 0;
	tap_ok(build(false, KUNWIND_OBJECT_FAILED, KUNWIND_E_IO) && in_parts && cancelled == 1 &&
	       !started,
	       "a large file that changes while it is built has no second stage");
	end("change in two stages");
	begin();
	inode.writers = 1;
	at_read = writer_goes;
	tap_ok(build(false, KUNWIND_OBJECT_FAILED, KUNWIND_E_IO) && reads && !built,
	       "a file that is open for writing only when its build begins has no table");
	end("writer before");
	begin();
	at_read = writer_comes;
	tap_ok(build(false, KUNWIND_OBJECT_FAILED, KUNWIND_E_IO) && !built,
	       "a file that is open for writing when its build ends has no table");
	end("writer after");
	begin();
	inode.writers = -1;
	tap_ok(build(false, KUNWIND_OBJECT_READY, KUNWIND_OK),
	       "a program that runs cannot be written: it has a table");
	end("no writers");
	for (i = 0; i < ARRAY_SIZE(memory); i++) {
		struct super_block sb = { memory[i] };

		begin();
		inode.i_sb = &sb;
		mapping.writably_mapped = true;
		tap_ok(build(false, KUNWIND_OBJECT_FAILED, KUNWIND_E_IO),
		       "a file in memory that is mapped for writing has no table: it changes unseen");
		end("writable mapping in memory");
	}
	begin();
	mapping.writably_mapped = true;
	tap_ok(build(false, KUNWIND_OBJECT_READY, KUNWIND_OK),
	       "a file on a disk that is mapped for writing has a table");
	end("writable mapping on a disk");
}

static s64 estimate(void)		/* what a build charges at first */
{
	const s64 size = data.elf.eh_size + data.elf.debug_size;
	return kunwind_kmalloc_size(size) + 2 * (size + TABLE_SLACK);
}
/* A process starts to write to the file when the table is in use. */
static void writes_after(void)
{
	if (told)
		inode.writers = 1;
}
/* Another build, which used the room, ends. */
static void other_ends(void)
{
	room = MUCH;
	nr_charged.n--;
}
static void nothing(void) { jiffies += HZ; }
static void test_charge(void)
{
	begin();
	max_eh_frame_mb = 0;
	tap_ok(build(false, KUNWIND_OBJECT_REFUSED, KUNWIND_E_LIMIT) && refused == 1,
	       "unwind information larger than max_eh_frame_mb: refused");
	end("max_eh_frame_mb");
	begin();
	pretends_go = true;
	max_eh_frame_mb = 1;
	tap_ok(build(false, KUNWIND_OBJECT_READY, KUNWIND_OK) && !object.elf.go && !object.elf.debug_size,
	       "a Go program whose own table is too large: a table of the other unwind information");
	pretends_go = false;
	end("a large Go program");
	begin();
	max_whole_kb = 0;
	tap_ok(build(false, KUNWIND_OBJECT_READY, KUNWIND_OK) && in_parts && started == 1 && !built_over &&
	       (s64)parts_charged == estimate() && users[0].bytes == (s64)parts_charged,
	       "unwind information larger than max_whole_kb: the second stage takes over what was charged");
	end("two stages");
	begin();
	users[0].most = estimate() - 1;
	tap_ok(build(false, KUNWIND_OBJECT_REFUSED, KUNWIND_E_LIMIT) && object.over_share,
	       "a user's share is too small: refused because of that");
	end("a small share");
	begin();
	users[0].most = users[1].most = estimate() - 1;
	nr_users = 3;
	tap_ok(build(false, KUNWIND_OBJECT_READY, KUNWIND_OK) && object.quota == &users[2] &&
	       !object.over_share,
	       "another user who maps the file has room: that user is charged");
	end("another user is charged");
	begin();
	users[0].most = users[1].most = estimate() - 1;
	nr_users = 2;
	tap_ok(build(false, KUNWIND_OBJECT_REFUSED, KUNWIND_E_LIMIT) && object.over_share,
	       "no user who maps the file has room: refused");
	end("nobody has room");
	begin();
	room = 0;
	tap_ok(build(false, KUNWIND_OBJECT_REFUSED, KUNWIND_E_LIMIT) && !object.over_share,
	       "no room, no other build: refused at once, not because of the user");
	tap_ok(object.over_users, "no room: there may be room for CAP_SYS_ADMIN");
	room += MUCH;
	end("no room");
	begin();
	room = 0;
	nr_users = 3;
	has_admin = true;
	tap_ok(build(false, KUNWIND_OBJECT_READY, KUNWIND_OK) && object.quota == &users[2] &&
	       !object.over_users,
	       "no room for users, and CAP_SYS_ADMIN maps the file: built from its reserve");
	room += MUCH;
	end("room for CAP_SYS_ADMIN");
	begin();
	room = 0;
	nr_charged.n = 1;
	while_waiting = other_ends;
	tap_ok(build(false, KUNWIND_OBJECT_READY, KUNWIND_OK),
	       "no room during another build: waits for its end");
	end("waits for another build");
	begin();
	room = 0;
	nr_charged.n = 1;
	while_waiting = nothing;
	tap_ok(build(false, KUNWIND_OBJECT_REFUSED, KUNWIND_E_LIMIT),
	       "no room during another build: waits at most max_build_ms");
	nr_charged.n--;
	room += MUCH;
	end("waits in vain");
	begin();
	users[0].most = estimate();
	tap_ok(build(false, KUNWIND_OBJECT_READY, KUNWIND_OK) && !code_made && built_over == 1,
	       "no room for the code: the table stays, without rows from code");
	end("no room for the code");
	begin();
	at_read = writes_after;
	tap_ok(build(false, KUNWIND_OBJECT_READY, KUNWIND_OK) && !code_made && built_over == 1,
	       "the file changes while its code is read: no rows from code");
	end("the file changes late");
	begin();
	no_memory = 2;	/* with a charge, then without */
	tap_ok(build(false, KUNWIND_OBJECT_FAILED, KUNWIND_E_NOMEM),
	       "no memory for the bytes: failed with nomem, not refused");
	end("no memory");
}

/* The bytes of the file, with an .eh_frame that has no FDE. */
static u8 *without_fdes(void)
{
	u8 *bytes = malloc(data.size);

	memcpy(bytes, data.data, data.size);
	memset(bytes + data.elf.eh_offset, 0, data.elf.eh_size);
	return bytes;
}

static unsigned int last_read;
static void writes_at_last(void)
{
	if (reads == last_read)
		inode.writers = 1;
}

static void test_no_fde(void)
{
	const u8 *const whole = data.data;
	u8 *bytes = without_fdes();

	data.data = bytes;
	begin();
	tap_ok(build(false, KUNWIND_OBJECT_READY, KUNWIND_OK) && object.stats.nr_rows && !code_made &&
	       built_over == 1, "sections without an FDE: the table has rows from code");
	last_read = reads;
	end("no FDE");
	begin();
	read_fails = last_read;
	tap_ok(build(false, KUNWIND_OBJECT_FAILED, KUNWIND_E_IO) && reads == last_read,
	       "sections without an FDE, and the code cannot be read: failed");
	end("no FDE and no code");
	begin();
	at_read = writes_at_last;
	tap_ok(build(false, KUNWIND_OBJECT_FAILED, KUNWIND_E_IO) && reads == last_read,
	       "sections without an FDE, and the file changes while its code is read: failed");
	end("no FDE, and the file changes");
	data.data = whole;
	free(bytes);
}

static void stop_now(void) { may_go_on = 0; }
static void time_passes(void) { jiffies += msecs_to_jiffies(max_build_ms) + 1; }

static void test_ends(void)
{
	begin();
	at_read = stop_now;
	tap_ok(build(false, KUNWIND_OBJECT_FAILED, KUNWIND_E_ABORTED) && reads == 1,
	       "aborted while it reads: reported as aborted, not as unreadable");
	end("aborted");
	begin();
	may_go_on = 0;
	tap_ok(build(false, KUNWIND_OBJECT_FAILED, KUNWIND_E_ABORTED) && !reads,
	       "aborted before the first read: not read");
	end("aborted before");
	begin();
	at_read = time_passes;
	tap_ok(build(true, KUNWIND_OBJECT_FAILED, KUNWIND_E_ABORTED) && reads == 1,
	       "remote file: reads end max_build_ms after their start");
	end("a slow remote file");
	begin();
	at_read = time_passes;
	tap_ok(build(false, KUNWIND_OBJECT_READY, KUNWIND_OK),
	       "local file: slow reads are not aborted");
	end("a slow local file");
	begin();
	going = true;
	tap_ok(build(false, KUNWIND_OBJECT_FAILED, KUNWIND_E_ABORTED) && !reads,
	       "module unload: a local file is not read");
	tap_ok(!kunwind_source_attach(&object, &file, true) && file.refs == 1,
	       "module unload: no remote file is accepted");
	end("unload");

	begin();
	attach(true);
	tap_ok(module_refs == 1 && object.reading,
	       "remote file: the module is held while the file is queued");
	stalls = 0;
	kunwind_source_stalled(&object);
	build_object(&object);
	kunwind_source_stalled(&object);
	tap_ok(stalls == 1, "remote file: its file system counts as stalled only until it is read");
	tap_ok(module_refs == 1 && !object.reading && answered,
	       "remote file: the module is held until the file is closed");
	kunwind_source_close(&object);
	end("a remote file");
	begin();
	attach(false);
	tap_ok(!module_refs, "local file: the module is not held while the file is queued");
	build_object(&object);
	tap_ok(!module_refs && file.refs == 2,
	       "local file: the module is not held after the last read");
	kunwind_source_close(&object);
	end("a local file");
	begin();
	attach(true);
	kunwind_source_detach(&object);
	end("a file that was never queued");
}

/* Unwind information of a JIT, read from the process's memory. */
static bool build_user(enum kunwind_object_state state, enum kunwind_build_error build_error)
{
	struct kunwind_section section = data.sections[0];
	const void *from = section.data;

	section.data = NULL;
	kunwind_builder_build_user(&object, &section, from);
	return object.state == state && object.build_error == build_error &&
	       !!object.table == (state == KUNWIND_OBJECT_READY);
}

static void test_user(void)
{
	begin();
	tap_ok(build_user(KUNWIND_OBJECT_READY, KUNWIND_OK) && built == 1 && faults == 1,
	       "jit: it has a table");
	end("jit");
	begin();
	no_page = true;
	tap_ok(build_user(KUNWIND_OBJECT_FAILED, KUNWIND_E_IO) && !users[0].bytes,
	       "jit: an address that is not mapped: failed with io");
	end("jit, not there");
	begin();
	absent_tries = 3;
	tap_ok(build_user(KUNWIND_OBJECT_READY, KUNWIND_OK) && faults == 4,
	       "jit: pages that vanish before the copy are faulted in again");
	end("jit, goes");
	begin();
	absent_tries = ~0U;
	tap_ok(build_user(KUNWIND_OBJECT_FAILED, KUNWIND_E_NOMEM) && faults == COPY_TRIES,
	       "jit: pages that vanish each time: failed with nomem after 8 tries");
	end("jit, does not stay");
	begin();
	max_eh_frame_mb = 0;
	tap_ok(build_user(KUNWIND_OBJECT_REFUSED, KUNWIND_E_LIMIT) && !faults,
	       "jit: more than max_eh_frame_mb is refused");
	end("jit, too large");
	begin();
	users[0].most = estimate() / 2;
	tap_ok(build_user(KUNWIND_OBJECT_REFUSED, KUNWIND_E_LIMIT) && object.over_share,
	       "jit: more than the user's share is refused");
	end("jit, over the share");
}

static unsigned int reads_charged;
static void count_charged(void) { reads_charged += active_memcg != NULL; }
static void test_memcg(void)
{
	struct mem_cgroup memcg = { .full = false };

	begin();
	object.memcg = &memcg;
	reads_charged = 0;
	at_read = count_charged;
	tap_ok(build(false, KUNWIND_OBJECT_READY, KUNWIND_OK) &&
	       memcg.charged == data.elf.eh_size + data.elf.debug_size,
	       "control group: charged for the bytes of the sections");
	tap_ok(reads && reads_charged == reads,
	       "control group: charged for the page cache of all reads");
	end("a build for a control group");

	begin();
	memcg = (struct mem_cgroup){ .full = true };
	object.memcg = &memcg;
	reads_charged = 0;
	at_read = count_charged;
	tap_ok(build(false, KUNWIND_OBJECT_READY, KUNWIND_OK) && !memcg.charged && !memcg.oom_kills,
	       "control group without room: it is built, and the OOM killer is not called");
	tap_ok(reads_charged && reads_charged < reads && !active_memcg,
	       "control group without room: no page cache of sections is charged");
	end("a build for a control group without room");
}

int main(void)
{
	if (object_open(&data, "/proc/self/exe"))
		return 2;
	kunwind_result_listen(&listens);
	test_read();
	test_long_read();
	test_changes();
	test_charge();
	test_no_fde();
	test_ends();
	test_user();
	test_memcg();
	return tap_done();
}
