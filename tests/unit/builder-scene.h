/* SPDX-License-Identifier: MIT */
/*
 * builder-scene.h - a file, its users, and what builder.c needs of other files; for
 * builder-test.c
 *
 * The file is the test itself; the core builds its table. Users, jobs and later stages
 * are the test's.
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
#include "../../kmod/core/rows/unwind_info.h"
/* A Go program, of which Go's own table has 1 MiB. */
static bool pretends_go;
static enum kunwind_build_error find_info(kunwind_read_fn *read, void *from, u64 size,
					  struct kunwind_elf *elf)
{
	enum kunwind_build_error error = kunwind_unwind_info_find(read, from, size, elf);

	if (pretends_go) {
		elf->go = true;
		elf->debug_size = 1 << 20;
	}
	return error;
}
#define kunwind_unwind_info_find	find_info
#include "../../kmod/object/builder.c"
#undef kunwind_unwind_info_find

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
static unsigned int told_after;		/* reads */
static void is_told(void)
{
	told++;
	told_after = reads;
}
static const struct kunwind_result_listener listens = { .done = is_told };
bool kunwind_filesystem_hangs(u32 dev) { (void)dev; return false; }
static unsigned int stalls;
void kunwind_filesystem_stalled(u32 dev) { stalls += dev == object.key.dev; }
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
void kunwind_part_builder_start(struct kunwind_part_builder *builder, void *bytes, size_t charged,
				struct kunwind_code_builder *code)
{
	(void)builder;
	kunwind_code_builder_cancel(code);
	started++;
	parts_charged = charged;
	kvfree(bytes);
}
int kunwind_part_builder_init(void) { return 0; }
void kunwind_part_builder_stop(void) { }
void kunwind_part_builder_exit(void) { }

struct kunwind_code_builder { struct kunwind_code_gaps *gaps; size_t charged; };
static struct kunwind_code_builder the_code_builder;
static unsigned int code_made, code_started;
static u32 code_state;			/* of the object when the code was there */
struct kunwind_code_builder *kunwind_code_builder_new(struct kunwind_object *of,
						      struct kunwind_code_gaps *gaps, size_t charged)
{
	code_state = of->state;
	code_made++;
	the_code_builder = (struct kunwind_code_builder){ gaps, charged };
	return &the_code_builder;
}
void kunwind_code_builder_cancel(struct kunwind_code_builder *builder)
{
	if (!builder)
		return;
	kunwind_unwind_info_free_code(builder->gaps);
	kunwind_memory_uncharge(object.quota, builder->charged);
}
void kunwind_code_builder_start(struct kunwind_code_builder *builder, u64 left)
{
	(void)left;
	code_started++;
	kunwind_code_builder_cancel(builder);
}
int kunwind_code_builder_init(void) { return 0; }
void kunwind_code_builder_stop(void) { }
void kunwind_code_builder_exit(void) { }
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
	code_made = code_started = built = built_over = told = refused = answered = cancelled = started = 0;
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
