/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * kunwind.h - the ABI of /dev/kunwind
 *
 * Each call is an ioctl on an open descriptor of /dev/kunwind. Its argument
 * points to a structure that begins with its own size in bytes ("size").
 * Structures are extended by the rule of openat2(2): the kernel knows a
 * structure of K bytes, the caller passes one of U bytes.
 *   U == K  taken as it is
 *   U <  K  bytes that the caller does not know are taken as zero, and not
 *           written back
 *   U >  K  accepted if the bytes that the kernel does not know are zero,
 *           otherwise -E2BIG; any structure longer than a page is also -E2BIG
 * Flags and padding that a version does not define must be zero, otherwise the
 * call fails with -EINVAL. Numbers are never reused. KUNWIND_IOC_INFO returns
 * what a module offers.
 *
 * Errors common to all calls:
 *   EFAULT    the argument, or a buffer named in it, is not accessible
 *   EINVAL    size is below that of the structure's first version, a flag is
 *             unknown, or padding is not zero
 *   E2BIG     the structure is longer, and its unknown part is not zero
 *   ENOTTY    no such call
 * Error of KUNWIND_IOC_REGISTER, KUNWIND_IOC_CALLSTACK,
 * KUNWIND_IOC_SYSTEM_WIDE (on) and KUNWIND_IOC_JIT_ADD:
 *   EOPNOTSUPP kunwind is switched off (module parameter "enabled" is N), or a
 *             required hook is missing (KUNWIND_F_FOLLOW is not set). In the
 *             second case, KUNWIND_IOC_CALLSTACK does not fail: it returns the
 *             reason KUNWIND_DISABLED
 */
#ifndef _UAPI_KUNWIND_H
#define _UAPI_KUNWIND_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "kunwind_reasons.h"

/*
 * The version of all parts: modules, libraries, tools. scripts/user.mk reads it
 * here for the makefiles, which put it into dkms.conf and the man pages.
 */
#define KUNWIND_VERSION		"0.1.0"

#define KUNWIND_DEVICE		"/dev/kunwind"
#define KUNWIND_ABI_VERSION	1

/* The largest number of addresses that one call can ask for. */
#define KUNWIND_MAX_FRAMES	4096

/* The state of an ELF object. */
enum kunwind_object_state {
	KUNWIND_OBJECT_PENDING = 0,	/* waits for its build, or is being built */
	KUNWIND_OBJECT_READY = 1,	/* its table is in use */
	KUNWIND_OBJECT_NO_CFI = 2,	/* no CFI, no table of Go's linker, and no row from code */
	KUNWIND_OBJECT_REFUSED = 3,	/* malformed or beyond a limit: see enum kunwind_build_error */
	KUNWIND_OBJECT_FAILED = 4,	/* could not be read, no memory, or the build was stopped */
};

/* KUNWIND_IOC_INFO: what this module is and can do. Needs no privilege. */
struct kunwind_info {
	__u32 size;
	__u32 abi_version;		/* out: KUNWIND_ABI_VERSION */
	__u32 max_frames;		/* out: KUNWIND_MAX_FRAMES */
	__u32 nr_reasons;		/* out: KUNWIND_NR_REASONS */
	__u64 features;			/* out: KUNWIND_F_* */
};
#define KUNWIND_F_TAKEOVER_STACK	(1ULL << 0)	/* stack_trace_save_user is served */
#define KUNWIND_F_TAKEOVER_PERF		(1ULL << 1)	/* perf_callchain_user is served */
#define KUNWIND_F_FOLLOW		(1ULL << 2)	/* all hooks that stacks need are on */
#define KUNWIND_F_TAKEOVER_DEFERRED	(1ULL << 3)	/* unwind_user is served (not in every
							 * kernel) */
#define KUNWIND_F_JIT			(1ULL << 4)	/* KUNWIND_IOC_JIT_ADD is available */
#define KUNWIND_F_THREAD		(1ULL << 5)	/* KUNWIND_IOC_THREAD is available */

/*
 * KUNWIND_IOC_REGISTER, KUNWIND_IOC_UNREGISTER: register or unregister a
 * process.
 *
 * mem_fd is -1 for the caller, or a descriptor of /proc/PID/mem that the caller
 * opened: the kernel's ptrace check at that open authorises the call.
 * Registering a process twice is no error. A registration lasts until the
 * process ends or is unregistered. An execve ends it if the new program gains
 * privilege or its file is not readable, unless the caller of this ioctl had
 * CAP_SYS_PTRACE. May sleep: on return the tables of all objects that are
 * mapped now are built, or have failed, or the time allowed for it (parameter
 * register_timeout_ms) is over; then they are built in the background.
 *
 *   EBADF     mem_fd is not open, or not a descriptor of /proc/PID/mem
 *   ESRCH     the process has ended (or has no memory: a kernel thread)
 *   ENOENT    (unregister) the process is not registered
 *   EACCES    another user registered the process. Only that user or
 *             CAP_SYS_ADMIN may unregister it or add flags. Registering it
 *             without new flags is no error and changes nothing: the
 *             registration lasts as long as the first one
 *   ENOMEM, ENOSPC  no memory; a limit of processes is reached
 *   EAGAIN    the memory map of another process stayed locked for the time
 *             allowed: one of its threads waits for a file system that does not
 *             answer
 *   EINTR     a fatal signal came
 */
struct kunwind_process {
	__u32 size;
	__u32 flags;			/* KUNWIND_REGISTER_* */
	__s32 mem_fd;
	__u32 reserved;
	__u32 nr_maps;			/* out: executable mappings found */
	__u32 nr_ready;			/* out: how many of these have a table */
};
#define KUNWIND_REGISTER_CHILDREN	(1U << 0)	/* also register children from now on */

/*
 * KUNWIND_IOC_SYSTEM_WIDE: register the whole system.
 *
 * On: all processes of all namespaces are registered: later ones when they fork
 * or exec, and those that already run. The call waits for the latter, at most
 * as long as a registration does. It does not wait for a process whose memory
 * map stays locked: the module tries that process again until it is registered
 * or has ended (the status line "stat system_wide_pending" counts such processes).
 * Off: drops the registrations of the whole system. Registrations by hand stay,
 * because the two are independent: KUNWIND_IOC_UNREGISTER removes only a
 * registration by hand.
 * A process for which there is no room is counted (missed_limit, missed_memory
 * of struct kunwind_stats) and tried again at its next exec, or when the call
 * is made again.
 *
 *   EPERM     no CAP_SYS_ADMIN in the initial user namespace
 *   EOPNOTSUPP (on) as above
 *   EINTR     a fatal signal came during the wait; the switch has been made
 */
struct kunwind_system_wide {
	__u32 size;
	__u32 flags;			/* KUNWIND_SYSTEM_WIDE_ON, or off */
	__u64 reserved;
};
#define KUNWIND_SYSTEM_WIDE_ON	(1U << 0)

/*
 * KUNWIND_IOC_CALLSTACK: the call stack of the caller, innermost first.
 *
 * addresses points to an array of capacity 8-byte words. The first entry is the
 * program counter, each further one a return address. Without
 * KUNWIND_HAVE_REGS, the walk begins at the instruction after the system call.
 * With it, regs points to 17 words: rax rdx rcx rbx rsi rdi rbp rsp r8 ... r15
 * rip (DWARF numbers of the x86-64 psABI). Bit n of valid_regs says that
 * register n is valid; rsp and rip must be. 32-bit code has the low halves of
 * these registers.
 *
 * In code without unwind information, the walk finds callers by other methods,
 * including guesses. trust, if not 0, points to capacity bytes: enum
 * kunwind_trust of each address.
 *
 *   ENOENT    the caller's process is not registered
 *   EINVAL    capacity is 0 or above KUNWIND_MAX_FRAMES
 * A stack that ends early is no error: reason says why it ended.
 */
struct kunwind_callstack {
	__u32 size;
	__u32 flags;			/* KUNWIND_HAVE_REGS */
	__u64 addresses;		/* __u64 * */
	__u32 capacity;			/* in addresses */
	__u32 count;			/* out */
	__u32 reason;			/* out: enum kunwind_reason */
	__u32 valid_regs;
	__u64 regs;			/* const __u64 [17] */
	__u64 trust;			/* __u8 *, or 0 */
};
#define KUNWIND_HAVE_REGS	(1U << 0)

/*
 * KUNWIND_IOC_JIT_ADD, KUNWIND_IOC_JIT_REMOVE: unwind information for code that
 * the caller's process has made in memory of no file (or of a memfd).
 *
 * The caller passes an .eh_frame in its own memory, as JIT compilers make it
 * for __register_frame(): CIEs and FDEs with absolute or pc-relative pointers,
 * and the augmentation "zR", "zPLR" or the like. A length of zero, or
 * eh_frame_len, ends it. It is read, checked and compiled before the call
 * returns, and not needed afterwards. FDEs of other code are ignored; an FDE
 * that is partly outside [start, start + len) is malformed.
 *
 * The information holds until it is removed; until something is mapped over any
 * byte of the code, or the code's protection changes (so make the call after
 * the last such change); until execve, the end of the process, or the end of
 * its registration. A forked child that is registered as its parent's child has
 * the same information. The information may be lost earlier if there is no
 * memory for a new list of mappings while a signal or a mapping is handled.
 * While threads of the process are in mremap() with MREMAP_FIXED, it is not
 * used for code between the lowest and the highest of their destinations.
 *
 * A table takes some two bytes a row of the user's share. The time of a call
 * grows with the number of the process's mappings, so one call for many
 * functions is better than many calls.
 *
 *   ENOENT    the caller's process is not registered; (remove) there is no
 *             information for exactly this range
 *   EINVAL    a length is 0, or an address is not the user's; (remove) eh_frame
 *             or eh_frame_len is not 0
 *   EFAULT    .eh_frame cannot be read; the code is not in one executable
 *             mapping
 *   EEXIST    some byte of the code already has unwind information: from an
 *             earlier call, or because the mapping is a file's
 *   ENOEXEC   .eh_frame is malformed: build_error says how
 *   ENOSPC    a limit is reached (build_error is KUNWIND_E_LIMIT if it is the
 *             limit of tables)
 *   ENOMEM    no memory
 *   EINTR, ETIME  a fatal signal came; the build took longer than the parameter
 *             max_build_ms
 */
struct kunwind_jit {
	__u32 size;
	__u32 flags;			/* 0 */
	__u64 start;			/* of the code */
	__u64 len;			/* bytes */
	__u64 eh_frame;			/* const void * */
	__u64 eh_frame_len;		/* bytes */
	__u32 build_error;		/* out: enum kunwind_build_error */
	__u32 nr_fdes;			/* out: functions described */
};

/* KUNWIND_IOC_STATS: counters of the whole system since the module's load. */
struct kunwind_stats {
	__u32 size;
	__u32 reserved;
	__u64 processes;		/* processes registered now */
	__u64 objects;			/* ELF objects known now */
	__u64 table_bytes;		/* memory of all tables, JITs' too */
	__u64 table_rows;		/* rows of these tables */
	__u64 stacks;			/* stacks walked */
	__u64 frames;			/* frames found by these walks */
	__u64 passed_through;		/* requests left to the kernel: process not registered */
	__u64 table_builds;		/* builds that ended, refused and failed ones included */
	__u64 table_refused;		/* of these, refused or failed */
	__u64 by_reason[32];		/* stacks by enum kunwind_reason */
	__u64 missed_limit;		/* processes not registered by fork, exec or system_wide: a limit
					 * of processes is reached */
	__u64 missed_memory;		/* the same: no memory */
};

/*
 * KUNWIND_IOC_THREAD: the user registers of another thread, without stopping it.
 * Its process need not be registered.
 *
 * mem_fd is a descriptor of /proc/PID/task/TID/mem that the caller opened: the
 * kernel's ptrace check at that open authorises the call, and the path names the
 * thread. The descriptor stays that of the program that was there then, so an
 * execve(2) ends the right.
 *
 * A thread that sleeps is not woken (KUNWIND_THREAD_ASLEEP). Its stack is not
 * copied: the caller reads it by mem_fd, and then makes the call again. If turns
 * and regs are as before, the thread has not run meanwhile, and its memory and its
 * registers belong together.
 * A thread that runs copies its registers, and its stack into the buffer, before
 * it next returns to user mode. The caller waits for that, at most timeout_ms. If
 * the thread goes to sleep in this time, it is read as one that sleeps. The copy
 * begins at a page, at or just below the stack pointer. It has whole pages, and
 * ends before the first one that is not resident.
 *
 *   EBADF     mem_fd is not open, or not a descriptor of a mem of procfs
 *   ESRCH     the thread has ended, has another program now, or never has user
 *             registers (a worker of io_uring)
 *   EAGAIN    the thread runs, and timeout_ms is 0
 *   ETIME     the thread has neither returned to user mode nor gone to sleep
 *   EDEADLK   the thread is the caller itself
 *   ENODATA   its code is neither 64-bit nor 32-bit code
 *   EOPNOTSUPP kunwind is switched off (module parameter "enabled" is N)
 *   ENOMEM, ENOSPC  no memory; too many threads are asked that do not return to
 *             user mode
 *   EINTR     a fatal signal came
 */
struct kunwind_thread_stack {
	__u32 size;
	__u32 flags;			/* 0 */
	__s32 mem_fd;
	__u32 timeout_ms;		/* at most KUNWIND_MOST_TIMEOUT_MS */
	__u64 stack;			/* buffer of stack_len bytes */
	__u32 stack_len;		/* in: at most KUNWIND_MOST_STACK; out: bytes copied */
	__u32 state;			/* out: KUNWIND_THREAD_* */
	__u64 stack_start;		/* out: address of the first of these */
	__u64 turns;			/* out, if it sleeps: times that it left a CPU */
	__u64 fs_base;			/* out: where its own data is; 32-bit code: 0 */
	__u64 regs[17];			/* out: in DWARF's order, as for KUNWIND_IOC_CALLSTACK */
};
#define KUNWIND_THREAD_ASLEEP		(1U << 0)
#define KUNWIND_THREAD_I386		(1U << 1)	/* 32-bit code: regs 0 to 7, and 16 */
#define KUNWIND_MOST_STACK		(256U << 10)
#define KUNWIND_MOST_TIMEOUT_MS		1000U

#define KUNWIND_IOC_MAGIC	'K'
#define KUNWIND_IOC_INFO	_IOWR(KUNWIND_IOC_MAGIC, 0xe0, struct kunwind_info)
#define KUNWIND_IOC_REGISTER	_IOWR(KUNWIND_IOC_MAGIC, 0xe1, struct kunwind_process)
#define KUNWIND_IOC_UNREGISTER	_IOWR(KUNWIND_IOC_MAGIC, 0xe2, struct kunwind_process)
#define KUNWIND_IOC_CALLSTACK	_IOWR(KUNWIND_IOC_MAGIC, 0xe3, struct kunwind_callstack)
#define KUNWIND_IOC_STATS	_IOWR(KUNWIND_IOC_MAGIC, 0xe4, struct kunwind_stats)
#define KUNWIND_IOC_SYSTEM_WIDE	_IOWR(KUNWIND_IOC_MAGIC, 0xe5, struct kunwind_system_wide)
#define KUNWIND_IOC_JIT_ADD	_IOWR(KUNWIND_IOC_MAGIC, 0xe6, struct kunwind_jit)
#define KUNWIND_IOC_JIT_REMOVE	_IOWR(KUNWIND_IOC_MAGIC, 0xe7, struct kunwind_jit)
#define KUNWIND_IOC_THREAD	_IOWR(KUNWIND_IOC_MAGIC, 0xe8, struct kunwind_thread_stack)

/*
 * read(2) on /dev/kunwind returns the module's status as text: lines of
 * tab-separated fields, the first of which names the kind of line:
 *   version  ABI  MODULE-VERSION
 *   param    NAME  VALUE
 *   hook     NAME  on|off|refused|lost  REASON
 *   stat     NAME  VALUE
 *   reason   NAME  STACKS                   (all consumers, also zeros)
 *   stacks   CONSUMER  REASON  STACKS       (tracers, event, ioctl, sampler; no zeros)
 *   frames   CONSUMER  TRUST  FRAMES        (the same)
 *   method   NAME  STEPS                    (steps without CFI, also zeros)
 *   sampler  CLOCK|off  REASON              (REASON: why no clock runs, or empty)
 *   process  PID  COMM  MAPS  FLAGS  BYTES  (FLAGS: -, children or system_wide)
 *   object   STATE  BUILD_ERROR  ROWS  BYTES  USERS  PATH
 *   parts    BUILT  ALL  PATH               (after an object with such a table)
 *   user     UID  BYTES  OBJECTS  PROCESSES  MS
 * Commas separate FLAGS. Of a long PATH, only the end is shown, after "...". A
 * line "user" shows what is charged to a user: PROCESSES are those that the
 * user registered by hand, MS is processor time of builds. UID 0 has a line for
 * each container, and one for root's own registrations. Readers ignore kinds
 * that they do not know.
 *
 * The task that opened the device decides what is shown. "Administrator" is an
 * opener with CAP_SYS_ADMIN in the initial user namespace.
 *   - All openers see the lines version, param, hook, reason, stacks, frames,
 *     method and sampler.
 *   - The administrator sees all lines "process". Another opener sees those of
 *     processes that are registered by hand by the opener's effective user,
 *     without the flag "system_wide". Processes without a number in the
 *     reader's pid namespace are left out.
 *   - Only the administrator sees the lines object, parts and user. Other
 *     openers do not see their own, either.
 *   - All openers see these lines "stat": those of struct kunwind_stats;
 *     system_wide_pending (see struct kunwind_system_wide); emitted: events
 *     kunwind_callstack; samples: events kunwind_sample; samples_skipped_*:
 *     samples not taken, by cause; sample_overruns: times at which no sample was
 *     taken because the timer was late, whose weight another sample has;
 *     fault_in_pages: pages faulted in for later walks;
 *     fault_in_requests: requests of walks for such pages, for parts of tables
 *     and for bytes under breakpoints; fault_in_works: task works that ran for
 *     requests; fault_in_dropped: requests without a task work;
 *     dump_left_out: mappings beyond the limits of the dump for a new LTTng
 *     session; calls_not_timed: system calls that kunwind_slow_syscall could
 *     not measure, because too many tasks were in one.
 *   - Only the administrator sees these: dropped: objects that no process used
 *     when their turn to be built came, so that they were not built; map_bytes:
 *     memory of lists of mappings; memory_bytes: this memory, tables and
 *     builds; memory_refused: requests for memory that found no room;
 *     idle_objects, idle_bytes: objects that no process uses.
 *
 * ioctl numbers contain the structure's size, so a caller of a longer or
 * shorter structure uses its own number. The module looks only at the number's
 * type, direction and sequence, and takes the size from the structure.
 */

#endif /* _UAPI_KUNWIND_H */
