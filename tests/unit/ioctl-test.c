/* SPDX-License-Identifier: MIT */
/*
 * ioctl-test.c - the calls of /dev/kunwind: sizes, flags and padding that they
 * refuse, which process they mean, what they copy out, and what they give back
 */
#include "kernel.h"
#include "tap.h"
#include <asm-generic/ioctl.h>

/* ------------------------------------------------------ more of the kernel */

#define THIS_MODULE		NULL
#define pr_notice(...)		(noticed++)
#define TASK_SIZE_MAX		0x7ffffffff000ULL
#define PIDTYPE_PID		0
#define PIDTYPE_TGID		1
#define PID_MAX			3
#define u64_to_user_ptr(at)	((void *)(uintptr_t)(at))
#define MISC_DYNAMIC_MINOR	255
static unsigned int noticed;
static u64 caps;
#define capable(cap)		(caps >> (cap) & 1)

struct file;
struct super_block { unsigned long s_magic; };
struct inode { struct super_block *i_sb; };
struct dentry { struct { const char *name; } d_name; int refs; };
struct file_operations {
	void *owner;
	int (*open)(struct inode *inode, struct file *file);
	void *release, *read, *llseek, *compat_ioctl;
	long (*unlocked_ioctl)(struct file *file, unsigned int cmd, unsigned long arg);
};
struct file {
	struct inode inode;
	const struct file_operations *f_op;
	void *private_data;
	struct { struct dentry *dentry; } f_path;
	int refs;
};
struct miscdevice { int minor; const char *name; const struct file_operations *fops; int mode; };
#define single_release		NULL
#define seq_read		NULL
#define seq_lseek		NULL
#define compat_ptr_ioctl	NULL
static struct miscdevice *registered;
static int misc_register(struct miscdevice *device) { registered = device; return 0; }
static void misc_deregister(struct miscdevice *device) { registered = NULL; }
#define file_inode(file)	(&(file)->inode)
#define proc_pid_ns(sb)		(&init_pid_ns)

/* Process 1 is the caller's, with memory; 2 has two threads; 3 is a kernel thread. */
struct pid { int nr, refs; };
static struct pid pids[PID_MAX + 1];
static struct mm_struct mms[PID_MAX + 1];
static struct task_struct tasks[PID_MAX + 1], second_thread;
static struct pid *get_pid(struct pid *pid) { pid->refs++; return pid; }
static void put_pid(struct pid *pid) { pid->refs--; }
#define task_tgid(task)		(&pids[(task)->tgid])
static struct task_struct *pid_task(struct pid *pid, int type)
{
	return pid ? &tasks[pid - pids] : NULL;
}
static int task_refs;
static void get_task_struct(struct task_struct *task) { task_refs++; }
static void put_task_struct(struct task_struct *task) { task_refs--; }
static struct pid *find_pid_ns(int nr, struct pid_namespace *ns)
{
	return nr > 0 && nr <= PID_MAX ? &pids[nr] : NULL;
}
static struct task_struct *next_thread_of(struct task_struct *task)
{
	return task == &tasks[2] ? &second_thread : NULL;
}
#define for_each_thread(leader, t)	for ((t) = (leader); (t); (t) = next_thread_of(t))
#define task_pt_regs(task)		((struct pt_regs *)NULL)

static const struct file_operations procfs, other_fops;
static struct super_block proc_sb = { PROC_SUPER_MAGIC }, other_sb = { 1 };
static struct dentry dirs[PID_MAX + 1];
static struct file files[PID_MAX + 1], mounted_there;
static struct file *self_mem;
static struct dentry *dget_parent(struct dentry *dentry) { dentry->refs++; return dentry; }
static void dput(struct dentry *dentry) { dentry->refs--; }
static struct file *fget(int fd)
{
	if (fd < 0 || fd > PID_MAX)
		return NULL;
	files[fd].refs++;
	return &files[fd];
}
static void fput(struct file *file) { file->refs--; }
#define O_RDONLY		0
static struct file *filp_open(const char *path, int flags, int mode)
{
	if (!self_mem)
		return ERR_PTR(-ENOENT);
	self_mem->refs++;
	return self_mem;
}
static void filp_close(struct file *file, void *id) { fput(file); }
static int kstrtoint(const char *text, int base, int *result)
{
	char *end;

	*result = strtol(text, &end, base);
	return *end ? -EINVAL : 0;
}
static int single_open(struct file *file, int (*show)(struct seq_file *m, void *data), void *data)
{
	return file->private_data ? -EINVAL : 0;
}

/* The user's memory: what lies outside of [user, user + user_room) faults. */
static u8 user[0x4000];
static size_t user_room = sizeof(user);
static bool accessible(const void *at, size_t size)
{
	return (const u8 *)at >= user && (const u8 *)at + size <= user + user_room;
}
#define get_user(to, from)							\
	(accessible(from, sizeof(*(from))) ? (to) = *(from), 0 : -EFAULT)
static unsigned long copy_from_user(void *to, const void *from, size_t size)
{
	might_sleep();
	if (!accessible(from, size))
		return size;
	memcpy(to, from, size);
	return 0;
}
static unsigned long copy_to_user(void *to, const void *from, size_t size)
{
	might_sleep();
	if (!accessible(to, size))
		return size;
	memcpy(to, from, size);
	return 0;
}
static int copy_struct_from_user(void *to, size_t ksize, const void *from, size_t usize)
{
	if (!accessible(from, usize))
		return -EFAULT;
	if (usize > ksize && memchr_inv((const u8 *)from + ksize, 0, usize - ksize))
		return -E2BIG;
	memset(to, 0, ksize);
	memcpy(to, from, min(ksize, usize));
	return 0;
}

#define _KUNWIND_HOOK_H
static bool hook_missing;
#define kunwind_hook_missing()	hook_missing
#include "../../kmod/device.c"

/* ------------------------------------------------- the files below device.c */

bool kunwind_enabled = true;
static struct { int err; u32 flags; struct mm_struct *mm; struct pid *pid; unsigned int nr; } got;
static int called(struct mm_struct *mm, struct pid *pid, u32 flags)
{
	got.mm = mm;
	got.pid = pid;
	got.flags = flags;
	got.nr++;
	return got.err;
}
int kunwind_process_register(struct mm_struct *mm, struct pid *tgid, u32 flags, u32 *nr_maps, u32 *nr_ready)
{
	if (*nr_maps || *nr_ready)
		wrong("counts of the caller");
	*nr_maps = 7;
	*nr_ready = 5;
	return called(mm, tgid, flags);
}
int kunwind_process_unregister(struct pid *tgid) { return called(NULL, tgid, 0); }
int kunwind_system_wide_set(bool on) { return called(NULL, NULL, on); }
u64 kunwind_takeover_features(void) { return KUNWIND_F_TAKEOVER_PERF; }
u64 kunwind_mm_hooks_features(void) { return KUNWIND_F_FOLLOW; }
void kunwind_status_stats(struct kunwind_stats *stats) { *stats = (struct kunwind_stats){ .stacks = 9 }; }
int kunwind_status_show(struct seq_file *m, void *data) { return 0; }
static struct kunwind_jit jit_got;
static int jit_err;
int kunwind_jit_add(struct kunwind_jit *jit)
{
	jit_got = *jit;
	jit->build_error = KUNWIND_E_OPCODE;
	jit->nr_fdes = 3;
	got.nr++;
	return jit_err;
}
int kunwind_jit_remove(const struct kunwind_jit *jit) { jit_got = *jit; got.nr += 100; return jit_err; }

static struct {
	struct task_struct *task;
	struct mm_struct *mm;
	struct kunwind_thread_stack of;
	int err;
} thread_got;
int kunwind_thread_read(struct task_struct *task, struct mm_struct *mm, struct kunwind_thread_stack *of)
{
	might_sleep();
	thread_got.task = task;
	thread_got.mm = mm;
	thread_got.of = *of;
	got.nr++;
	of->state = KUNWIND_THREAD_ASLEEP;
	of->regs[16] = 0x1234;
	return thread_got.err;
}

static struct kunwind_space a_space;
static bool no_space;
struct kunwind_space *kunwind_space_find(const struct mm_struct *mm)
{
	if (!rcu_depth)
		wrong("not in a read side");
	return !no_space && mm == &mms[1] ? &a_space : NULL;
}
static enum kunwind_reason excluded;
static u32 found;
static struct kunwind_regs regs_got;
enum kunwind_reason kunwind_callstack_excluded(const struct pt_regs *regs) { return excluded; }
static enum kunwind_reason walked(struct kunwind_request *request)
{
	u32 i;

	if (request->consumer != KUNWIND_FOR_IOCTL || request->count || request->other)
		wrong("the request");
	for (i = 0; i < request->capacity; i++)
		if (request->trust[i] != (i ? KUNWIND_TRUST_CFI : KUNWIND_TRUST_REGISTERS))
			wrong("trust %u", i);
	for (i = 0; i < found && i < request->capacity; i++) {
		request->store[i] = 0x1000 + i;
		request->trust[i] = i + 1;
	}
	request->count = i;
	return KUNWIND_BUFFER_FULL;
}
enum kunwind_reason kunwind_callstack_walk(struct kunwind_space *space, const struct pt_regs *regs,
					   u32 valid, struct kunwind_request *request)
{
	if (valid != KUNWIND_ALL_REGS)
		wrong("the registers");
	return walked(request);
}
enum kunwind_reason kunwind_callstack_walk_regs(struct kunwind_space *space, const struct kunwind_regs *regs,
						struct kunwind_request *request)
{
	regs_got = *regs;
	return walked(request);
}

/* ------------------------------------------------------------------ tests */

static long call_at(const void *arg, unsigned int cmd)
{
	const long err = device_ioctl(NULL, cmd, (unsigned long)arg);
	unsigned int i;

	for (i = 0; i <= PID_MAX; i++)
		if (pids[i].refs || mms[i].grabbed || files[i].refs || dirs[i].refs || task_refs)
			wrong("a reference is kept");
	if (nr_of_kvmalloc || rcu_depth)
		wrong("memory or a read side is kept");
	return err;
}

/* Calls with the structure @arg of @size bytes, which gets what is copied out. */
#define CALL(cmd, arg)								\
	({									\
		const typeof(*(arg)) *at_ = memcpy(user, arg, sizeof(*(arg)));	\
		long err_;							\
										\
		memset(user + sizeof(*at_), 0, 64);				\
		err_ = call_at(at_, cmd);					\
		memcpy(arg, user, sizeof(*(arg)));				\
		err_;								\
	})

/*
 * Tests which sizes the call @cmd accepts. The first version of its structure had @ksize bytes,
 * @good has @now bytes.
 */
static void sizes(const char *name, unsigned int cmd, const void *good, size_t ksize, size_t now)
{
	bool right = true;
	u32 size;

	memcpy(user, good, ksize);
	for (size = 0; size < ksize; size++)
		right &= (*(u32 *)user = size, call_at(user, cmd) == -EINVAL);
	tap_ok(right, "%s: a smaller structure than the first is refused", name);
	memcpy(user, good, ksize);
	memset(user + ksize, 0, 2 * PAGE_SIZE);
	*(u32 *)user = PAGE_SIZE;
	tap_ok(call_at(user, cmd) == 0, "%s: a structure of a page with zeros at its end is accepted", name);
	memcpy(user, good, ksize);
	*(u32 *)user = PAGE_SIZE + 1;
	tap_ok(call_at(user, cmd) == -E2BIG, "%s: a larger structure than a page is refused", name);
	memcpy(user, good, now);
	*(u32 *)user = now + 8;
	user[now + 7] = 1;
	tap_ok(call_at(user, cmd) == -E2BIG, "%s: an unknown member that is set is refused", name);
	memcpy(user, good, ksize);
	*(u32 *)user = ksize;
	memset(user + ksize, 0xaa, 8);
	tap_ok(call_at(user, cmd) == 0 && *(u32 *)user == ksize && !memchr_inv(user + ksize, 0xaa, 8),
	       "%s: the first structure keeps its size, and nothing is written after it", name);
	user_room = ksize - 1;
	tap_ok(call_at(user, cmd) == -EFAULT, "%s: memory that cannot be read: EFAULT", name);
	user_room = 3;
	tap_ok(call_at(user, cmd) == -EFAULT, "%s: a size that cannot be read: EFAULT", name);
	user_room = sizeof(user);
}

static void test_numbers(void)
{
	struct kunwind_info info = { .size = sizeof(info) };
	bool right = true;
	unsigned int nr;

	for (nr = 0; nr < 256; nr++)
		if (nr < 0xe0 || nr > 0xe8)
			right &= CALL(_IOWR('K', nr, struct kunwind_info), &info) == -ENOTTY;
	tap_ok(right, "unknown numbers are refused");
	tap_ok(CALL(_IOWR('L', 0xe0, struct kunwind_info), &info) == -ENOTTY &&
	       CALL(_IOR('K', 0xe0, struct kunwind_info), &info) == -ENOTTY &&
	       CALL(_IOW('K', 0xe0, struct kunwind_info), &info) == -ENOTTY,
	       "numbers of another type or direction are refused");
	tap_ok(CALL(_IOWR('K', 0xe0, u64), &info) == 0, "the size in the number does not matter");
	sizes("info", KUNWIND_IOC_INFO, &info, offsetofend(struct kunwind_info, features), sizeof(info));
	info = (struct kunwind_info){ .size = sizeof(info), .features = ~0ULL };
	tap_ok(!CALL(KUNWIND_IOC_INFO, &info) && info.size == sizeof(info) &&
	       info.abi_version == KUNWIND_ABI_VERSION && info.max_frames == KUNWIND_MAX_FRAMES &&
	       info.nr_reasons == KUNWIND_NR_REASONS &&
	       info.features == (KUNWIND_F_TAKEOVER_PERF | KUNWIND_F_FOLLOW | KUNWIND_F_JIT |
				KUNWIND_F_THREAD),
	       "info: all members are set");
}

static void test_stats(void)
{
	struct kunwind_stats stats = { .size = sizeof(stats) };

	sizes("stats", KUNWIND_IOC_STATS, &stats, offsetofend(struct kunwind_stats, by_reason),
	      sizeof(stats));
	stats.reserved = 1;
	tap_ok(CALL(KUNWIND_IOC_STATS, &stats) == -EINVAL, "stats: padding that is set is refused");
	stats = (struct kunwind_stats){ .size = sizeof(stats), .frames = 4 };
	tap_ok(!CALL(KUNWIND_IOC_STATS, &stats) && stats.size == sizeof(stats) &&
	       stats.stacks == 9 && !stats.frames,
	       "stats: all counters and the caller's size");
}

static void test_system_wide(void)
{
	struct kunwind_system_wide on = { .size = sizeof(on), .flags = KUNWIND_SYSTEM_WIDE_ON }, request;

	caps = 1ULL << CAP_SYS_ADMIN;
	sizes("system_wide", KUNWIND_IOC_SYSTEM_WIDE, &on, sizeof(on), sizeof(on));
	request = on;
	request.reserved = 1;
	tap_ok(CALL(KUNWIND_IOC_SYSTEM_WIDE, &request) == -EINVAL,
	       "system_wide: padding that is set is refused");
	request = on;
	request.flags |= 2;
	tap_ok(CALL(KUNWIND_IOC_SYSTEM_WIDE, &request) == -EINVAL, "system_wide: unknown flags are refused");
	caps = ~(1ULL << CAP_SYS_ADMIN);
	request = on;
	got.nr = 0;
	tap_ok(CALL(KUNWIND_IOC_SYSTEM_WIDE, &request) == -EPERM && !got.nr,
	       "system_wide: only with CAP_SYS_ADMIN");
	caps = 1ULL << CAP_SYS_ADMIN;
	request = on;
	tap_ok(!CALL(KUNWIND_IOC_SYSTEM_WIDE, &request) && got.flags == 1, "system_wide: on");
	request.flags = 0;
	got.err = -EINTR;
	tap_ok(CALL(KUNWIND_IOC_SYSTEM_WIDE, &request) == -EINTR && !got.flags,
	       "system_wide: off, and its error");
	got.err = 0;
}

static long do_register(int fd, struct kunwind_process *process)
{
	*process = (struct kunwind_process){
		.size = sizeof(*process), .mem_fd = fd, .nr_maps = 1, .nr_ready = 1,
	};
	got.nr = 0;
	return CALL(KUNWIND_IOC_REGISTER, process);
}

static void test_process(void)
{
	struct kunwind_process process = { .size = sizeof(process), .mem_fd = -1 };

	sizes("register", KUNWIND_IOC_REGISTER, &process, sizeof(process), sizeof(process));
	sizes("unregister", KUNWIND_IOC_UNREGISTER, &process, sizeof(process), sizeof(process));
	tap_ok(!do_register(-1, &process) && got.mm == &mms[1] && got.pid == &pids[1] &&
	       process.nr_maps == 7 && process.nr_ready == 5, "register: the caller itself, and the counts");
	got.err = -ENOSPC;
	tap_ok(do_register(-1, &process) == -ENOSPC && process.nr_maps == 1,
	       "register: after an error nothing is copied out");
	got.err = 0;
	process = (struct kunwind_process){
		.size = sizeof(process), .mem_fd = -1, .flags = KUNWIND_REGISTER_CHILDREN,
	};
	tap_ok(!CALL(KUNWIND_IOC_REGISTER, &process) && got.flags == KUNWIND_REGISTER_CHILDREN,
	       "register: children, too");
	tap_ok(CALL(KUNWIND_IOC_UNREGISTER, &process) == -EINVAL, "unregister: flags are refused");
	process.flags = 2;
	tap_ok(CALL(KUNWIND_IOC_REGISTER, &process) == -EINVAL, "register: unknown flags are refused");
	process.flags = 0;
	process.reserved = 1;
	tap_ok(CALL(KUNWIND_IOC_REGISTER, &process) == -EINVAL, "register: padding that is set is refused");

	tap_ok(!do_register(2, &process) && got.mm == &mms[2] && got.pid == &pids[2],
	       "the descriptor of a process whose leader has ended: its thread has the memory");
	files[2].private_data = &mms[1];
	tap_ok(do_register(2, &process) == -ESRCH && !got.nr,
	       "memory that the process does not use any more: ESRCH");
	files[2].private_data = NULL;
	tap_ok(do_register(2, &process) == -ESRCH && !got.nr, "a process without memory: ESRCH");
	files[2].private_data = &mms[2];
	tasks[3].mm = &mms[3];
	tap_ok(do_register(3, &process) == -ESRCH && !got.nr,
	       "a kernel thread that uses a process's memory: ESRCH");
	dirs[2].d_name.name = "2x";
	tap_ok(do_register(2, &process) == -ESRCH, "a directory that is no process's: ESRCH");
	dirs[2].d_name.name = "2";
	files[2].f_op = &other_fops;
	tap_ok(do_register(2, &process) == -EBADF && !got.nr, "a descriptor of another file: EBADF");
	files[2].f_op = &procfs;
	tap_ok(do_register(99, &process) == -EBADF, "no descriptor: EBADF");
	tap_ok(do_register(-2, &process) == -EBADF, "only -1 means the caller itself");
	current->mm = NULL;
	tap_ok(do_register(-1, &process) == -ESRCH, "a caller without memory: ESRCH");
	current->mm = &mms[1];

	kunwind_enabled = false;
	tap_ok(do_register(-1, &process) == -EOPNOTSUPP && !got.nr, "register: not while switched off");
	tap_ok(!CALL(KUNWIND_IOC_UNREGISTER, &process) && got.nr == 1, "unregister: also while switched off");
	kunwind_enabled = true;
	hook_missing = true;
	tap_ok(do_register(-1, &process) == -EOPNOTSUPP && !got.nr, "register: not without the hooks");
	hook_missing = false;
}

#define ADDRESSES	((unsigned long *)(user + 0x800))
#define TRUST		(user + 0x1000)
#define REGS		((u64 *)(user + 0x1800))
static struct kunwind_callstack stack_call(u32 capacity)
{
	memset(ADDRESSES, 0x55, 0x1000);
	return (struct kunwind_callstack){
		.size = sizeof(struct kunwind_callstack), .capacity = capacity, .count = 99, .reason = 99,
		.addresses = (uintptr_t)ADDRESSES, .trust = (uintptr_t)TRUST,
	};
}

static void test_callstack(void)
{
	struct kunwind_callstack call = stack_call(4), one = call;
	bool right = true;
	u32 reg;

	found = 3;
	one.addresses = (uintptr_t)(user + 0x3800);
	one.trust = (uintptr_t)(user + 0x3c00);
	sizes("callstack", KUNWIND_IOC_CALLSTACK, &one, offsetofend(struct kunwind_callstack, regs),
	      sizeof(one));
	call = stack_call(4);
	tap_ok(!CALL(KUNWIND_IOC_CALLSTACK, &call) && call.count == 3 && call.reason == KUNWIND_BUFFER_FULL &&
	       ADDRESSES[0] == 0x1000 && ADDRESSES[2] == 0x1002 && ADDRESSES[3] == 0x5555555555555555 &&
	       TRUST[0] == 1 && TRUST[2] == 3 && TRUST[3] == 0x55, "callstack: addresses, trust and counts");
	call = stack_call(4);
	call.trust = 0;
	tap_ok(!CALL(KUNWIND_IOC_CALLSTACK, &call) && call.count == 3 && TRUST[0] == 0x55,
	       "callstack: without trust");
	call = stack_call(0);
	right = CALL(KUNWIND_IOC_CALLSTACK, &call) == -EINVAL;
	call = stack_call(KUNWIND_MAX_FRAMES + 1);
	right &= CALL(KUNWIND_IOC_CALLSTACK, &call) == -EINVAL;
	call = stack_call(KUNWIND_MAX_FRAMES);
	right &= CALL(KUNWIND_IOC_CALLSTACK, &call) == 0;
	tap_ok(right, "callstack: 1 to %u addresses", KUNWIND_MAX_FRAMES);
	call = stack_call(4);
	call.flags = 2;
	tap_ok(CALL(KUNWIND_IOC_CALLSTACK, &call) == -EINVAL, "callstack: unknown flags are refused");

	call = stack_call(4);
	call.addresses = 0x10;
	right = CALL(KUNWIND_IOC_CALLSTACK, &call) == -EFAULT;
	call = stack_call(4);
	call.trust = 0x10;
	right &= CALL(KUNWIND_IOC_CALLSTACK, &call) == -EFAULT;
	tap_ok(right, "callstack: memory that cannot be written: EFAULT");
	found = 0;
	call.addresses = 0x10;
	tap_ok(!CALL(KUNWIND_IOC_CALLSTACK, &call) && !call.count, "callstack: an empty stack is not copied");
	found = 3;

	excluded = KUNWIND_CODE_SEGMENT;
	call = stack_call(4);
	tap_ok(!CALL(KUNWIND_IOC_CALLSTACK, &call) && !call.count && call.reason == KUNWIND_CODE_SEGMENT,
	       "callstack: code that is not walked has a reason and no address");
	excluded = KUNWIND_COMPLETE;
	no_space = true;
	call = stack_call(4);
	tap_ok(CALL(KUNWIND_IOC_CALLSTACK, &call) == -ENOENT, "callstack: not registered: ENOENT");
	no_space = false;
	kunwind_enabled = false;
	tap_ok(CALL(KUNWIND_IOC_CALLSTACK, &call) == -EOPNOTSUPP, "callstack: not while switched off");
	kunwind_enabled = true;
	no_memory = 1;
	tap_ok(CALL(KUNWIND_IOC_CALLSTACK, &call) == -ENOMEM, "callstack: no memory: ENOMEM");

	for (reg = 0; reg < 17; reg++)
		REGS[reg] = 100 + reg;
	call = stack_call(4);
	call.flags = KUNWIND_HAVE_REGS;
	call.regs = (uintptr_t)REGS;
	call.valid_regs = KUNWIND_REG(KUNWIND_RSP) | KUNWIND_REG(KUNWIND_RA);
	for (reg = 0; reg < 17; reg++)
		REGS[reg] = 100 + reg;
	tap_ok(!CALL(KUNWIND_IOC_CALLSTACK, &call) && regs_got.valid == call.valid_regs &&
	       regs_got.r[0] == 100 && regs_got.r[16] == 116, "callstack: from the caller's registers");
	call.valid_regs = KUNWIND_ALL_REGS & ~KUNWIND_REG(KUNWIND_RSP);
	right = CALL(KUNWIND_IOC_CALLSTACK, &call) == -EINVAL;
	call.valid_regs = KUNWIND_ALL_REGS & ~KUNWIND_REG(KUNWIND_RA);
	right &= CALL(KUNWIND_IOC_CALLSTACK, &call) == -EINVAL;
	call.valid_regs = KUNWIND_ALL_REGS | 1U << 17;
	right &= CALL(KUNWIND_IOC_CALLSTACK, &call) == -EINVAL;
	call.valid_regs = KUNWIND_ALL_REGS;
	right &= CALL(KUNWIND_IOC_CALLSTACK, &call) == 0;
	tap_ok(right, "callstack: rsp and the return address are needed, others are known or not");
	call.regs = 0x10;
	tap_ok(CALL(KUNWIND_IOC_CALLSTACK, &call) == -EFAULT,
	       "callstack: registers that cannot be read: EFAULT");
}

static void test_thread(void)
{
	struct kunwind_thread_stack of = {
		.size = sizeof(of), .mem_fd = 2, .timeout_ms = KUNWIND_MOST_TIMEOUT_MS,
		.stack_len = KUNWIND_MOST_STACK, .state = ~0U, .turns = ~0ULL,
	};
	bool right;

	sizes("thread", KUNWIND_IOC_THREAD, &of, sizeof(of), sizeof(of));
	tap_ok(!CALL(KUNWIND_IOC_THREAD, &of) && thread_got.task == &tasks[2] && thread_got.mm == &mms[2] &&
	       thread_got.of.timeout_ms == 1000 && of.state == KUNWIND_THREAD_ASLEEP && of.regs[16] == 0x1234,
	       "thread: that of the directory of the file, with the file's memory");
	thread_got.err = -ETIME;
	of.regs[16] = 0;
	tap_ok(CALL(KUNWIND_IOC_THREAD, &of) == -ETIME && !of.regs[16],
	       "thread: after an error nothing is copied out");
	thread_got.err = 0;
	got.nr = 0;
	of.flags = 1;
	right = CALL(KUNWIND_IOC_THREAD, &of) == -EINVAL;
	of.flags = 0;
	of.timeout_ms++;
	right &= CALL(KUNWIND_IOC_THREAD, &of) == -EINVAL;
	of.timeout_ms--;
	of.stack_len++;
	right &= CALL(KUNWIND_IOC_THREAD, &of) == -EINVAL;
	of.stack_len--;
	tap_ok(right && !got.nr, "thread: a flag, a long timeout and a large stack are refused");
	files[2].f_op = &other_fops;
	right = CALL(KUNWIND_IOC_THREAD, &of) == -EBADF;
	files[2].f_op = &procfs;
	of.mem_fd = -1;
	right &= CALL(KUNWIND_IOC_THREAD, &of) == -EBADF;
	mem_fops = NULL;
	of.mem_fd = 2;
	right &= CALL(KUNWIND_IOC_THREAD, &of) == -EBADF;
	mem_fops = &procfs;
	tap_ok(right && !got.nr, "thread: a descriptor of another file, of none, and no /proc are refused");
	dirs[2].d_name.name = "self";
	right = CALL(KUNWIND_IOC_THREAD, &of) == -ESRCH;
	dirs[2].d_name.name = "9";
	right &= CALL(KUNWIND_IOC_THREAD, &of) == -ESRCH;
	dirs[2].d_name.name = "2";
	files[2].private_data = NULL;
	right &= CALL(KUNWIND_IOC_THREAD, &of) == -ESRCH;
	files[2].private_data = &mms[2];
	tap_ok(right && !got.nr, "thread: no such thread, and none with memory: ESRCH");
	kunwind_enabled = false;
	tap_ok(CALL(KUNWIND_IOC_THREAD, &of) == -EOPNOTSUPP && !got.nr,
	       "thread: none is read while switched off");
	kunwind_enabled = true;
}

static void test_jit(void)
{
	struct kunwind_jit jit = { .size = sizeof(jit), .start = 0x1000, .build_error = 9, .nr_fdes = 9 };

	sizes("jit", KUNWIND_IOC_JIT_ADD, &jit, sizeof(jit), sizeof(jit));
	tap_ok(!CALL(KUNWIND_IOC_JIT_ADD, &jit) && !jit_got.build_error && !jit_got.nr_fdes &&
	       jit_got.start == 0x1000 && jit.nr_fdes == 3,
	"jit: the results of an earlier call are not used");
	jit_err = -ENOEXEC;
	jit.build_error = 0;
	tap_ok(CALL(KUNWIND_IOC_JIT_ADD, &jit) == -ENOEXEC && jit.build_error == KUNWIND_E_OPCODE,
	       "jit: an error of the build is copied out, too");
	jit_err = 0;
	jit.flags = 1;
	tap_ok(CALL(KUNWIND_IOC_JIT_ADD, &jit) == -EINVAL && CALL(KUNWIND_IOC_JIT_REMOVE, &jit) == -EINVAL,
	       "jit: flags are refused");
	jit.flags = 0;
	kunwind_enabled = false;
	got.nr = 0;
	tap_ok(CALL(KUNWIND_IOC_JIT_ADD, &jit) == -EOPNOTSUPP && !got.nr,
	       "jit: nothing is added while switched off");
	tap_ok(!CALL(KUNWIND_IOC_JIT_REMOVE, &jit) && got.nr == 100,
	       "jit: tables are also removed while switched off");
	kunwind_enabled = true;
}

/* Loads the device while /proc/self/mem is @file, and returns whether it knows such files. */
static bool knows(struct file *file)
{
	bool known;

	mem_fops = NULL;
	self_mem = file;
	known = !kunwind_device_init() && registered == &device && mem_fops == &procfs;
	if (file && file->refs)
		wrong("/proc/self/mem is kept open");
	kunwind_device_exit();
	return known;
}

static void test_init(void)
{
	struct file opened = { .private_data = &files };

	tap_ok(!knows(NULL) && noticed == 1, "no /proc: the log says that");
	mounted_there = files[1];
	mounted_there.inode.i_sb = &other_sb;
	tap_ok(!knows(&mounted_there), "another file system at /proc is not procfs");
	mounted_there.inode.i_sb = &proc_sb;
	mounted_there.private_data = &mms[2];
	tap_ok(!knows(&mounted_there), "a file of procfs with another's memory is not /proc/self/mem");
	tap_ok(knows(&files[1]), "/proc/self/mem is known");
	tap_ok(!device_fops.open(NULL, &opened), "the status is opened without misc_open()'s pointer");
	tap_ok(device.mode == 0660, "the device is for its group only");
}

int main(void)
{
	static const char *const names[PID_MAX + 1] = { NULL, "1", "2", "3" };
	int i;

	for (i = 1; i <= PID_MAX; i++) {
		dirs[i].d_name.name = names[i];
		tasks[i] = (struct task_struct){ .mm = &mms[i], .pid = i, .tgid = i };
		files[i] = (struct file){
			.inode.i_sb = &proc_sb, .f_op = &procfs, .private_data = &mms[i],
			.f_path.dentry = &dirs[i],
		};
	}
	second_thread = tasks[2];
	tasks[2].mm = NULL;
	tasks[3].flags = PF_KTHREAD;
	current = &tasks[1];
	test_init();
	mem_fops = &procfs;
	test_numbers();
	test_stats();
	test_system_wide();
	test_process();
	test_callstack();
	test_thread();
	test_jit();
	return tap_done();
}
