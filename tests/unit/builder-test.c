/* SPDX-License-Identifier: MIT */
/*
 * builder-test.c - one build: how the file is read, what is charged to whom,
 * how long the module is held, and which failure the object reports
 *
 * The file is this program; the core builds its table. Users, jobs and second
 * stages are the test's.
 */
#include "kernel.h"
#include "object.h"
#include "tap.h"

/* ------------------------------------------------------ more of the kernel */

#define THIS_MODULE		NULL
#define READ			0
#define IOCB_DIRECT		1
#define IOCB_OTHER		2
#define FMODE_READ		1
#define FMODE_CAN_READ		2
#define msecs_to_jiffies(ms)	((ms) / 4)

struct super_block { unsigned long s_magic; };
struct inode { struct super_block *i_sb; unsigned int i_mode; u64 size; s64 ctime; int writers; };
struct kvec { void *iov_base; size_t iov_len; };
struct file;
struct kiocb { struct file *ki_filp; loff_t ki_pos; int ki_flags; };
struct iov_iter { const struct kvec *kvec; size_t len; };
struct file_operations {
	ssize_t (*read_iter)(struct kiocb *kiocb, struct iov_iter *iter);
	void *read;
};
struct address_space { bool writably_mapped; };
struct file {
	struct inode *inode;
	struct address_space *f_mapping;
	const struct file_operations *f_op;
	unsigned int f_mode;
	int flags, refs;		/* flags: those of each kiocb */
	const struct cred *f_cred;
};
struct vdso_image { void *data; };
#define file_inode(file)			((file)->inode)
#define inode_is_open_for_write(inode)		((inode)->writers > 0)
#define mapping_writably_mapped(mapping)	((mapping)->writably_mapped)
#define init_sync_kiocb(at, of)			\
	(*(at) = (struct kiocb){ .ki_filp = (of), .ki_flags = (of)->flags })
#define iov_iter_kvec(iter, way, vec, nr, size)	\
	(*(iter) = (struct iov_iter){ .kvec = (vec), .len = (size) })

static const struct cred worker, opener;
static const struct cred *cred = &worker;
static const struct cred *override_creds(const struct cred *other)
{
	const struct cred *old = cred;

	cred = other;
	return old;
}
static void revert_creds(const struct cred *old) { cred = old; }

static unsigned int closed_here, closed_elsewhere;
static struct file *get_file(struct file *file) { file->refs++; return file; }
static void fput(struct file *file) { file->refs--; closed_elsewhere++; }
static void __fput_sync(struct file *file) { file->refs--; closed_here++; }
static int module_refs;
static bool going;			/* the module is unloaded */
static bool try_module_get(void *module) { (void)module; return !going && ++module_refs; }
static void module_put(void *module) { (void)module; module_refs--; }

/* A JIT's section: the first @absent_tries copies find a missing page. */
static unsigned int absent_tries, faults;
static bool no_page;
static int fault_in_readable(const void *from, size_t size)
{
	(void)from, (void)size;
	faults++;
	return no_page ? -EFAULT : 0;
}
static int copy_from_user_nofault(void *to, const void *from, size_t size)
{
	if (absent_tries) {
		absent_tries--;
		return -EFAULT;
	}
	memcpy(to, from, size);
	return 0;
}

#include "../../kmod/object/source.c"
#include "../../kmod/object/estimate.c"
#include "../../kmod/object/result.c"
#include "../../kmod/object/builder.c"

/* ----------------------------------------- what these files need of others */

static struct super_block on_disk = { 0xef53 }, in_memory = { TMPFS_MAGIC }, in_fuse = { FUSE_SUPER_MAGIC };
static struct inode inode;
static struct address_space mapping;
static struct file file;
static struct object data;		/* of the file */
static struct kunwind_object object;

static unsigned int reads, reads_direct, reads_other, reads_unheld, reads_not_as_opener;
static unsigned int read_fails;		/* number of the read that fails, from 1 */
static size_t most_read;		/* bytes at once */
static bool no_direct;
static void (*at_read)(void);		/* happens at each read */

static ssize_t read_iter(struct kiocb *kiocb, struct iov_iter *iter)
{
	size_t len;

	reads++;
	reads_direct += !!(kiocb->ki_flags & IOCB_DIRECT);
	reads_other += !!(kiocb->ki_flags & IOCB_OTHER);
	reads_unheld += !module_refs;
	reads_not_as_opener += cred != &opener;
	if (at_read)
		at_read();
	if ((kiocb->ki_flags & IOCB_DIRECT) && no_direct)
		return -EINVAL;
	if (reads == read_fails)
		return 0;
	if (kiocb->ki_filp != &file || (u64)kiocb->ki_pos + iter->len > data.size)
		abort();
	len = min(iter->len, most_read);
	memcpy(iter->kvec->iov_base, data.data + kiocb->ki_pos, len);
	return len;
}
static const struct file_operations operations = { .read_iter = read_iter };

void kunwind_object_key_init(struct kunwind_object_key *key, struct file *of)
{
	memset(key, 0, sizeof(*key));
	key->size = of->inode->size;
	key->ctime_sec = of->inode->ctime;
}

/* Users 0 to 2; the object knows the first nr_users of them. */
static struct kunwind_quota { s64 bytes, most; } users[3];
static unsigned int nr_users, refused;
static s64 room;			/* for all of them */
static bool has_admin;			/* the last of these users has CAP_SYS_ADMIN */

int kunwind_memory_make_room(struct kunwind_quota *quota, size_t bytes)
{
	if (quota->bytes + (s64)bytes > quota->most)
		return -EDQUOT;
	if (room < (s64)bytes && !(has_admin && quota == &users[nr_users - 1]))
		return -ENOSPC;
	room -= bytes;
	quota->bytes += bytes;
	return 0;
}
void kunwind_memory_uncharge(struct kunwind_quota *quota, size_t bytes)
{
	room += bytes;
	quota->bytes -= bytes;
}
bool kunwind_object_next_quota(struct kunwind_object *of, int err)
{
	if (of->quota == &users[nr_users - 1] || (err == -ENOSPC && !has_admin))
		return false;
	if (err == -ENOSPC)
		of->quota = &users[nr_users - 2];
	of->quota++;
	return true;
}
void kunwind_memory_refused(void) { refused++; }

static unsigned int built, built_over, told, answered, cancelled, started;
static bool stops, in_parts;
static unsigned int may_go_on;		/* how often a job may go on */
void kunwind_object_cache_built(struct kunwind_object *of) { (void)of; built++; }
void kunwind_object_build_over(struct kunwind_object *of) { (void)of; built_over++; }
static void is_told(void) { told++; }
static const struct kunwind_result_listener listens = { .done = is_told };
bool kunwind_filesystem_hangs(u32 dev) { (void)dev; return false; }
void kunwind_filesystem_stalled(u32 dev) { (void)dev; }
void kunwind_filesystem_answered(u32 dev) { (void)dev; answered++; }
void kunwind_job_begin(struct kunwind_job *job, struct kunwind_object *of, u64 left)
{
	*job = (struct kunwind_job){ .object = of, .left = left };
	set_active_memcg(of->memcg);
}
void kunwind_job_end(struct kunwind_job *job) { (void)job; set_active_memcg(NULL); }
void kunwind_job_stop_charging_memory(void) { set_active_memcg(NULL); }
bool kunwind_job_may_go_on(struct kunwind_job *job) { (void)job; return may_go_on && may_go_on--; }
bool kunwind_job_take_turn(struct kunwind_job *job, enum kunwind_turn kind,
			   bool (*urgent)(void *data), void *with)
{
	(void)job, (void)kind, (void)urgent, (void)with;
	return !stops;
}
bool kunwind_jobs_stopping(void) { return stops; }
void kunwind_jobs_stop(void) { stops = true; }

struct kunwind_part_builder { int unused; };
static struct kunwind_part_builder the_part_builder;
static size_t parts_charged;
enum kunwind_build_error kunwind_part_builder_begin(struct kunwind_job *job,
						    const struct kunwind_section *section,
						    size_t limit, struct kunwind_part_builder **builder)
{
	in_parts = true;
	*builder = &the_part_builder;
	return kunwind_table_build(section, 0, limit, NULL, NULL, &job->object->table);
}
void kunwind_part_builder_cancel(struct kunwind_part_builder *builder) { (void)builder; cancelled++; }
void kunwind_part_builder_start(struct kunwind_part_builder *builder, void *bytes, size_t charged)
{
	(void)builder;
	started++;
	parts_charged = charged;
	kvfree(bytes);
}
int kunwind_part_builder_init(void) { return 0; }
void kunwind_part_builder_stop(void) { }
void kunwind_part_builder_exit(void) { }
int kunwind_build_queues_init(void (*function)(struct kunwind_build_queue *queue,
					       struct kunwind_quota *quota))
{
	(void)function;
	return 0;
}
struct kunwind_object *kunwind_object_next(struct kunwind_build_queue *queue,
					   struct kunwind_quota *quota, bool *wanted)
{
	(void)queue, (void)quota;
	*wanted = false;
	return NULL;
}
void kunwind_object_put(struct kunwind_object *of) { (void)of; }
void kunwind_build_queues_drain(void) { }
void kunwind_build_queues_exit(void) { }

/* --------------------------------------------------------------- the scene */

#define MUCH	(1LL << 40)

static void begin(void)
{
	unsigned int i;

	inode = (struct inode){ .i_sb = &on_disk, .i_mode = S_IFREG, .size = data.size, .ctime = 1 };
	mapping.writably_mapped = false;
	file = (struct file){ &inode, &mapping, &operations, FMODE_READ | FMODE_CAN_READ, 0, 1, &opener };
	for (i = 0; i < ARRAY_SIZE(users); i++)
		users[i] = (struct kunwind_quota){ .most = MUCH };
	object = (struct kunwind_object){ .quota = &users[0] };
	kunwind_object_key_init(&object.key, &file);
	nr_users = 1;
	room = MUCH;
	reads = reads_direct = reads_other = reads_unheld = read_fails = 0;
	built = built_over = told = refused = answered = cancelled = started = 0;
	closed_here = closed_elsewhere = faults = absent_tries = 0;
	going = stops = in_parts = no_direct = no_page = has_admin = false;
	most_read = ~0UL;
	no_memory = 0;
	may_go_on = ~0U;
	at_read = while_waiting = NULL;
	max_eh_frame_mb = 64;
	max_whole_kb = 6144;
	parts_charged = 0;
	nr_charged.n = 0;
}

static void attach(bool remote)
{
	if (!kunwind_source_attach(&object, &file, remote))
		abort();
}

/* Builds the object of the file. Returns whether it ends in this state. */
static bool build(bool remote, enum kunwind_object_state state, enum kunwind_build_error build_error)
{
	bool good;

	attach(remote);
	build_object(&object);
	kunwind_source_close(&object);
	good = object.state == state && object.build_error == build_error && object.done.done &&
	       told == 1 && !!object.table == (state == KUNWIND_OBJECT_READY);
	if (!good)
		printf("# state %u, build error %u, %u reads, table %p\n", object.state,
		       object.build_error, reads, (void *)object.table);
	return good;
}

/* Checks what is charged and held after the build. */
static void end(const char *what)
{
	s64 kept = object.table && !in_parts ? object.stats.bytes : 0;

	if (in_parts && object.table)
		kunwind_estimate_uncharge(&object, parts_charged, 0);
	tap_ok(object.quota->bytes == kept && room == MUCH - kept && !nr_charged.n && !module_refs &&
	       file.refs == 1 && users[0].bytes + users[1].bytes + users[2].bytes == kept,
	       "%s: everything except the table is released", what);
	kunwind_table_free(object.table);
}

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
	       built == 1 && built_over == 1, "file: it has a table");
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
	read_fails = reads;
	built = reads = told = 0;
	object = (struct kunwind_object){ .quota = &users[0], .key = object.key };
	users[0].bytes = 0;
	room = MUCH;
	tap_ok(build(false, KUNWIND_OBJECT_FAILED, KUNWIND_E_IO), "the last read fails: failed with io");
	end("the last read fails");
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
	begin();
	inode.i_sb = &in_memory;
	mapping.writably_mapped = true;
	tap_ok(build(false, KUNWIND_OBJECT_FAILED, KUNWIND_E_IO),
	       "a file in memory that is mapped for writing has no table: it changes unseen");
	end("writable mapping in memory");
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
static s64 more(s64 rows)		/* what rows from its code need in addition */
{
	s64 gaps = kunwind_code_gaps_memory(&object.elf);
	return rows ? gaps + kunwind_code_power(object.elf.eh_size + object.elf.debug_size) + 2 * rows : gaps;
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
	max_whole_kb = 0;
	tap_ok(build(false, KUNWIND_OBJECT_READY, KUNWIND_OK) && in_parts && started == 1 && !built_over &&
	       (s64)parts_charged == estimate() + more(object.elf.debug_size - data.elf.debug_size) &&
	       users[0].bytes == (s64)parts_charged,
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
	no_memory = 2;	/* with a charge, then without */
	tap_ok(build(false, KUNWIND_OBJECT_FAILED, KUNWIND_E_NOMEM),
	       "no memory for the bytes: failed with nomem, not refused");
	end("no memory");
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
	build_object(&object);
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
	test_ends();
	test_user();
	test_memcg();
	return tap_done();
}
