// SPDX-License-Identifier: GPL-2.0-only
/*
 * device.c - /dev/kunwind: the calls of uapi/kunwind.h
 *
 * Each call copies a structure in by the rules of copy_struct_from_user(),
 * works on the copy, and copies it out. The caller names another process by a
 * descriptor of its /proc/PID/mem: when that file was opened, the kernel
 * checked by ptrace_may_access() that the opener may read that memory. The
 * module recognizes such a descriptor by its file operations, which must be
 * those of a file that the module itself opened when it was loaded.
 *
 * System call context; all calls may sleep. Memory: what a call needs, up to 36
 * KB for the addresses of a stack, freed at its end.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pid_namespace.h>
#include <linux/proc_fs.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/sched/task_stack.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "base/enabled.h"
#include "process/system_wide.h"
#include "stack/callstack.h"
#include "device.h"
#include "space/mm_hooks.h"
#include "space/jit.h"
#include "process/process.h"
#include "status.h"
#include "stack/takeover.h"
#include "stack/thread.h"

/*
 * File operations of /proc/PID/mem, or NULL if the module could not open the
 * file.
 */
static const struct file_operations *mem_fops;

/*
 * Copies in a structure of which this module knows @ksize bytes, and whose
 * first version had @min bytes. Sets *usize to the size that the caller knows.
 * Returns 0, -EFAULT, -EINVAL or -E2BIG.
 */
static int copy_in(void *to, size_t ksize, size_t min, const void __user *from, u32 *usize)
{
	if (get_user(*usize, (const u32 __user *)from))
		return -EFAULT;
	if (*usize < min)
		return -EINVAL;
	/* A valid size is at most a page, and the copy checks every byte. */
	if (*usize > PAGE_SIZE)
		return -E2BIG;
	return copy_struct_from_user(to, ksize, from, *usize);
}

static int copy_out(void __user *to, const void *from, size_t ksize, u32 usize)
{
	return copy_to_user(to, from, min_t(size_t, ksize, usize)) ? -EFAULT : 0;
}

static long do_info(void __user *arg)
{
	struct kunwind_info info;
	u32 usize;
	int err;

	err = copy_in(&info, sizeof(info), offsetofend(struct kunwind_info, features), arg, &usize);
	if (err)
		return err;
	info = (struct kunwind_info){
		.size = usize,
		.abi_version = KUNWIND_ABI_VERSION,
		.max_frames = KUNWIND_MAX_FRAMES,
		.nr_reasons = KUNWIND_NR_REASONS,
		.features = kunwind_takeover_features() | kunwind_mm_hooks_features() |
			    KUNWIND_F_JIT | KUNWIND_F_THREAD,
	};
	return copy_out(arg, &info, sizeof(info), usize);
}

static long do_stats(void __user *arg)
{
	struct kunwind_stats stats;
	u32 usize;
	int err;

	err = copy_in(&stats, sizeof(stats), offsetofend(struct kunwind_stats, by_reason), arg,
		      &usize);
	if (err)
		return err;
	if (stats.reserved)
		return -EINVAL;
	kunwind_status_stats(&stats);
	stats.size = usize;
	return copy_out(arg, &stats, sizeof(stats), usize);
}

static long do_system_wide(void __user *arg)
{
	struct kunwind_system_wide request;
	u32 usize;
	int err;

	err = copy_in(&request, sizeof(request), offsetofend(struct kunwind_system_wide, reserved), arg,
		      &usize);
	if (err)
		return err;
	if (request.flags & ~KUNWIND_SYSTEM_WIDE_ON || request.reserved)
		return -EINVAL;
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	return kunwind_system_wide_set(request.flags & KUNWIND_SYSTEM_WIDE_ON);
}

/* Returns the file that @fd is, if it is a mem of procfs, with a reference; or NULL. */
static struct file *mem_file(int fd)
{
	struct file *file = fget(fd);

	if (!file || (mem_fops && file->f_op == mem_fops))
		return file;
	fput(file);
	return NULL;
}

/* Returns the number that is the name of the directory of @file, a file of procfs; or -1. */
static int number_of(const struct file *file)
{
	struct dentry *dir = dget_parent(file->f_path.dentry);
	int nr;

	/* The name is stable: procfs renames nothing. */
	if (kstrtoint(dir->d_name.name, 10, &nr))
		nr = -1;
	dput(dir);
	return nr;
}

/*
 * Returns the thread group of @file, a file below /proc/PID, with a reference,
 * or NULL if none of its threads uses @mm. The name of the file's directory is
 * the PID, which distinguishes a vfork child from the parent whose mm it uses.
 */
static struct pid *owner_of(const struct file *file, const struct mm_struct *mm)
{
	struct pid_namespace *ns = proc_pid_ns(file_inode(file)->i_sb);
	const int nr = number_of(file);
	struct task_struct *task, *t;
	struct pid *pid = NULL;

	rcu_read_lock();
	task = pid_task(find_pid_ns(nr, ns), PIDTYPE_PID);
	if (task && !(task->flags & PF_KTHREAD))
		for_each_thread(task, t)
			if (READ_ONCE(t->mm) == mm) {
				pid = get_pid(task_tgid(task));
				break;
			}
	rcu_read_unlock();
	return pid;
}

/*
 * Gets the process that @fd names: references to its struct mm_struct
 * (mmdrop()) and to its thread group (put_pid()). Returns 0, -EBADF or -ESRCH.
 */
static int process_get(int fd, struct mm_struct **mmp, struct pid **tgidp)
{
	struct mm_struct *mm;
	struct file *file;
	struct pid *tgid;

	if (fd == -1) {
		mm = current->mm;
		if (!mm)
			return -ESRCH;
		mmgrab(mm);
		tgid = get_pid(task_tgid(current));
	} else {
		file = mem_file(fd);
		if (!file)
			return -EBADF;
		/* Like mmgrab(), the file holds the struct, not the memory. */
		mm = file->private_data;
		tgid = mm ? owner_of(file, mm) : NULL;
		if (tgid)
			mmgrab(mm);
		fput(file);
		if (!tgid)
			return -ESRCH;
	}
	*mmp = mm;
	*tgidp = tgid;
	return 0;
}

static long do_process(void __user *arg, bool registers)
{
	struct kunwind_process process;
	struct mm_struct *mm;
	struct pid *tgid;
	u32 usize;
	int err;

	err = copy_in(&process, sizeof(process), offsetofend(struct kunwind_process, nr_ready), arg,
		      &usize);
	if (err)
		return err;
	if (process.reserved || (process.flags & ~(registers ? KUNWIND_REGISTER_CHILDREN : 0)))
		return -EINVAL;
	if (registers && !kunwind_allowed())
		return -EOPNOTSUPP;
	err = process_get(process.mem_fd, &mm, &tgid);
	if (err)
		return err;
	process.nr_maps = 0;
	process.nr_ready = 0;
	if (registers)
		err = kunwind_process_register(mm, tgid, process.flags,
					       &process.nr_maps, &process.nr_ready);
	else
		err = kunwind_process_unregister(tgid);
	put_pid(tgid);
	mmdrop(mm);
	if (err)
		return err;
	return copy_out(arg, &process, sizeof(process), usize);
}

static int regs_in(struct kunwind_regs *regs, const struct kunwind_callstack *call)
{
	BUILD_BUG_ON(sizeof(regs->r) != 17 * sizeof(u64));
	if (call->valid_regs & ~KUNWIND_ALL_REGS ||
	    ~call->valid_regs & (KUNWIND_REG(KUNWIND_RSP) | KUNWIND_REG(KUNWIND_RA)))
		return -EINVAL;
	if (copy_from_user(regs->r, u64_to_user_ptr(call->regs), sizeof(regs->r)))
		return -EFAULT;
	regs->valid = call->valid_regs;
	return 0;
}

static long do_callstack(void __user *arg)
{
	const struct pt_regs *pt = task_pt_regs(current);
	struct kunwind_request request;
	struct kunwind_callstack call;
	struct kunwind_space *space;
	struct kunwind_regs regs;
	unsigned long *store;
	u32 usize;
	u8 *trust;
	long err;

	err = copy_in(&call, sizeof(call), offsetofend(struct kunwind_callstack, regs), arg,
		      &usize);
	if (err)
		return err;
	if ((call.flags & ~KUNWIND_HAVE_REGS) || !call.capacity ||
	    call.capacity > KUNWIND_MAX_FRAMES)
		return -EINVAL;
	if (!READ_ONCE(kunwind_enabled))
		return -EOPNOTSUPP;
	if (call.flags & KUNWIND_HAVE_REGS) {
		err = regs_in(&regs, &call);
		if (err)
			return err;
	}
	store = kvmalloc_array(call.capacity, sizeof(*store) + sizeof(*trust),
			       GFP_KERNEL | __GFP_NOWARN);
	if (!store)
		return -ENOMEM;
	trust = (u8 *)(store + call.capacity);
	memset(trust, KUNWIND_TRUST_CFI, call.capacity);
	trust[0] = KUNWIND_TRUST_REGISTERS;
	request = (struct kunwind_request){
		.consumer = KUNWIND_FOR_IOCTL, .store = store, .trust = trust,
		.capacity = call.capacity,
	};

	rcu_read_lock();
	space = current->mm ? kunwind_space_find(current->mm) : NULL;
	if (!space)
		err = -ENOENT;
	else if ((call.reason = kunwind_callstack_excluded(pt)) != KUNWIND_COMPLETE)
		err = 0;
	else if (call.flags & KUNWIND_HAVE_REGS)
		call.reason = kunwind_callstack_walk_regs(space, &regs, &request);
	else
		call.reason = kunwind_callstack_walk(space, pt, KUNWIND_ALL_REGS, &request);
	rcu_read_unlock();
	if (err)
		goto out;
	call.count = request.count;
	if (call.count &&
	    (copy_to_user(u64_to_user_ptr(call.addresses), store, call.count * sizeof(*store)) ||
	     (call.trust && copy_to_user(u64_to_user_ptr(call.trust), trust, call.count))))
		err = -EFAULT;
	else
		err = copy_out(arg, &call, sizeof(call), usize);
out:
	kvfree(store);
	return err;
}

/*
 * The name of the file's directory is the number of the thread: the file is
 * /proc/PID/task/TID/mem. The file keeps the struct mm_struct.
 */
static int thread_read(const struct file *file, struct kunwind_thread_stack *thread)
{
	struct pid_namespace *ns = proc_pid_ns(file_inode(file)->i_sb);
	struct mm_struct *mm = file->private_data;
	const int nr = number_of(file);
	struct task_struct *task;
	int err;

	rcu_read_lock();
	task = pid_task(find_pid_ns(nr, ns), PIDTYPE_PID);
	if (task)
		get_task_struct(task);
	rcu_read_unlock();
	if (!task)
		return -ESRCH;
	err = mm ? kunwind_thread_read(task, mm, thread) : -ESRCH;
	put_task_struct(task);
	return err;
}

static long do_thread(void __user *arg)
{
	struct kunwind_thread_stack thread;
	struct file *file;
	u32 usize;
	int err;

	err = copy_in(&thread, sizeof(thread), offsetofend(struct kunwind_thread_stack, regs), arg, &usize);
	if (err)
		return err;
	if (thread.flags || thread.timeout_ms > KUNWIND_MOST_TIMEOUT_MS ||
	    thread.stack_len > KUNWIND_MOST_STACK)
		return -EINVAL;
	if (!READ_ONCE(kunwind_enabled))
		return -EOPNOTSUPP;
	file = mem_file(thread.mem_fd);
	if (!file)
		return -EBADF;
	err = thread_read(file, &thread);
	fput(file);
	return err ? err : copy_out(arg, &thread, sizeof(thread), usize);
}

static long do_jit(void __user *arg, bool adds)
{
	struct kunwind_jit jit;
	u32 usize;
	int err, copied;

	err = copy_in(&jit, sizeof(jit), offsetofend(struct kunwind_jit, nr_fdes), arg, &usize);
	if (err)
		return err;
	if (jit.flags)
		return -EINVAL;
	if (adds && !kunwind_allowed())
		return -EOPNOTSUPP;
	jit.build_error = KUNWIND_OK;
	jit.nr_fdes = 0;
	err = adds ? kunwind_jit_add(&jit) : kunwind_jit_remove(&jit);
	/* Copy the build error out even after an error: it says more. */
	copied = copy_out(arg, &jit, sizeof(jit), usize);
	return err ? err : copied;
}

/*
 * Looks only at the number's type, direction and sequence, because its size is
 * that of the caller's structure.
 */
static long device_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *uarg = (void __user *)arg;

	if (_IOC_TYPE(cmd) != KUNWIND_IOC_MAGIC || _IOC_DIR(cmd) != (_IOC_READ | _IOC_WRITE))
		return -ENOTTY;
	switch (_IOC_NR(cmd)) {
	case _IOC_NR(KUNWIND_IOC_INFO):
		return do_info(uarg);
	case _IOC_NR(KUNWIND_IOC_REGISTER):
		return do_process(uarg, true);
	case _IOC_NR(KUNWIND_IOC_UNREGISTER):
		return do_process(uarg, false);
	case _IOC_NR(KUNWIND_IOC_CALLSTACK):
		return do_callstack(uarg);
	case _IOC_NR(KUNWIND_IOC_STATS):
		return do_stats(uarg);
	case _IOC_NR(KUNWIND_IOC_SYSTEM_WIDE):
		return do_system_wide(uarg);
	case _IOC_NR(KUNWIND_IOC_THREAD):
		return do_thread(uarg);
	case _IOC_NR(KUNWIND_IOC_JIT_ADD):
		return do_jit(uarg, true);
	case _IOC_NR(KUNWIND_IOC_JIT_REMOVE):
		return do_jit(uarg, false);
	default:
		return -ENOTTY;
	}
}

static int device_open(struct inode *inode, struct file *file)
{
	/* The status depends on the task that opened the device. */
	file->private_data = NULL;	/* set by misc_open() */
	return single_open(file, kunwind_status_show, file);
}

static const struct file_operations device_fops = {
	.owner = THIS_MODULE,
	.open = device_open,
	.release = single_release,
	.read = seq_read,
	.llseek = seq_lseek,
	.unlocked_ioctl = device_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "kunwind",
	.fops = &device_fops,
	.mode = 0660,
};

/*
 * Sets mem_fops. The task that loads the module may have another file system at
 * /proc, so the opened file must be procfs's and have the mm of this task.
 */
static void find_mem_fops(void)
{
	struct file *file = filp_open("/proc/self/mem", O_RDONLY, 0);

	if (!IS_ERR(file)) {
		if (file_inode(file)->i_sb->s_magic == PROC_SUPER_MAGIC && current->mm &&
		    file->private_data == current->mm)
			mem_fops = file->f_op;
		filp_close(file, NULL);
	}
	if (!mem_fops)
		pr_notice("no /proc/self/mem: processes can only register themselves\n");
}

int kunwind_device_init(void)
{
	find_mem_fops();
	return misc_register(&device);
}

void kunwind_device_exit(void)
{
	misc_deregister(&device);
}
