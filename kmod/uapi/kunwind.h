/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * kunwind.h - the ABI of /dev/kunwind
 *
 * Every call is an ioctl on an open descriptor of /dev/kunwind whose argument
 * points to a structure that begins with its own size in bytes ("size"). The
 * rule of extension is that of openat2(2): the kernel knows structures of some
 * length K, the caller passes one of length U.
 *   U == K  taken as it is
 *   U <  K  what the caller does not know is taken as zero, and not written back
 *   U >  K  accepted when the bytes that the kernel does not know are zero,
 *           else -E2BIG; as is any structure longer than a page
 * Flags and padding that a version does not define must be zero, else -EINVAL.
 * Numbers are never reused. KUNWIND_IOC_INFO tells what a module offers.
 *
 * Errors common to all calls:
 *   EFAULT    the argument, or a buffer named in it, is not accessible
 *   EINVAL    size smaller than the first version of the structure, an unknown
 *             flag, padding that is not zero
 *   E2BIG     a longer structure whose unknown part is not zero
 *   ENOTTY    no such call
 * and of KUNWIND_IOC_REGISTER, KUNWIND_IOC_CALLSTACK, KUNWIND_IOC_AUTO (on),
 * KUNWIND_IOC_JIT_ADD:
 *   EOPNOTSUPP the kill switch is on (module parameter "enabled" is N), or a
 *             hook that stacks need is missing (KUNWIND_F_FOLLOW is not set).
 *             KUNWIND_IOC_CALLSTACK does not fail for the latter: the reason of
 *             its stack is KUNWIND_DISABLED
 */
#ifndef _UAPI_KUNWIND_H
#define _UAPI_KUNWIND_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define KUNWIND_DEVICE		"/dev/kunwind"
#define KUNWIND_ABI_VERSION	1

/* The deepest stack that one call can ask for, in addresses. */
#define KUNWIND_MAX_FRAMES	4096

/*
 * Why a stack ended. Zero is the only good ending. Values are ABI; a name for
 * each is in kunwind_reason_name() of libkunwind.
 */
enum kunwind_reason {
	KUNWIND_COMPLETE = 0,		/* reached an entry point */
	KUNWIND_DEPTH = 1,		/* caller's buffer is full, or the walk's budget is spent */
	KUNWIND_NO_OBJECT = 2,		/* address in no known executable mapping */
	KUNWIND_NO_RULE = 3,		/* object known, no CFI for this address */
	KUNWIND_REG_UNKNOWN = 4,	/* rule needs a register that is not known */
	KUNWIND_UNREADABLE = 5,		/* stack memory absent or not the user's */
	KUNWIND_CFA_STUCK = 6,		/* same frame twice; of 32-bit code: CFA did not grow */
	KUNWIND_BAD_ADDRESS = 7,	/* return address is no user address */
	KUNWIND_CORRUPT = 8,		/* table or expression contradicts itself */
	KUNWIND_NOT_READY = 9,		/* object's table is not built yet */
	KUNWIND_NO_TABLE = 10,		/* object has no usable .eh_frame */
	KUNWIND_MEMORY_LIMIT = 11,	/* object's table did not fit the limit */
	KUNWIND_NOT_REGISTERED = 12,	/* not used: KUNWIND_IOC_CALLSTACK answers ENOENT */
	KUNWIND_KTHREAD = 13,		/* task has no user stack */
	KUNWIND_COMPAT32 = 14,		/* neither 64-bit nor 32-bit code: a segment of its own */
	KUNWIND_IN_EXEC = 15,		/* not used: such a stack is the new program's entry */
	KUNWIND_DISABLED = 16,		/* kill switch, or a required hook is missing */
	KUNWIND_NESTED = 17,		/* asked for inside a walk on this CPU */
	KUNWIND_NR_REASONS
};

/*
 * How the address of a frame was found, the surest first. A frame is as sure as
 * the least sure of those before it. Values are ABI; names: kunwind_trust_name().
 */
enum kunwind_trust {
	KUNWIND_TRUST_REGISTERS = 0,	/* the program counter itself */
	KUNWIND_TRUST_CFI = 1,		/* unwind information of the frame before */
	KUNWIND_TRUST_URETPROBE = 2,	/* the same, a return probe's trampoline seen through */
	KUNWIND_TRUST_SIGNAL = 3,	/* signal frame, known by its trampoline's code */
	KUNWIND_TRUST_CODE = 4,		/* the code of the frame before: a proof */
	KUNWIND_TRUST_FP = 5,		/* a guess: the frame pointer */
	KUNWIND_TRUST_SCAN = 6,		/* a guess: the nearest word of the stack that follows a call */
	KUNWIND_NR_TRUSTS
};

/* What became of an ELF object. */
enum kunwind_object_state {
	KUNWIND_OBJECT_PENDING = 0,	/* being read */
	KUNWIND_OBJECT_READY = 1,	/* table in use */
	KUNWIND_OBJECT_NO_CFI = 2,	/* no .eh_frame */
	KUNWIND_OBJECT_REFUSED = 3,	/* malformed: see enum kunwind_refusal */
	KUNWIND_OBJECT_FAILED = 4,	/* could not be read, or no memory */
};

/*
 * Why an ELF object or its .eh_frame was refused. Of unwind information it is the first thing
 * that could not be read, and it refuses the object only if nothing else can be read.
 */
enum kunwind_refusal {
	KUNWIND_OK = 0,
	KUNWIND_E_NOMEM = 1,
	KUNWIND_E_IO = 2,		/* file could not be read */
	KUNWIND_E_NOT_ELF = 3,		/* magic, class, machine, version */
	KUNWIND_E_HEADER = 4,		/* ELF headers contradict each other */
	KUNWIND_E_NO_CFI = 5,		/* no .eh_frame */
	KUNWIND_E_TRUNCATED = 6,	/* record or section past the end */
	KUNWIND_E_CIE = 7,		/* CIE pointer leads to no CIE, or to one that is too long */
	KUNWIND_E_VERSION = 8,		/* CIE version, address or segment size */
	KUNWIND_E_AUGMENTATION = 9,	/* unknown augmentation */
	KUNWIND_E_ENCODING = 10,	/* pointer encoding */
	KUNWIND_E_RANGE = 11,		/* address range around the end of memory, or backwards */
	KUNWIND_E_OPCODE = 12,		/* unknown or misplaced DW_CFA opcode */
	KUNWIND_E_OPERAND = 13,		/* operand too large, or runs off the end */
	KUNWIND_E_EXPRESSION = 14,	/* expression not acceptable */
	KUNWIND_E_STATE_STACK = 15,	/* remember/restore out of balance, or too deep */
	KUNWIND_E_LIMIT = 16,		/* too many records, rows, rules, bytes */
	KUNWIND_E_ABORTED = 17,		/* builder was told to stop (deadline, kill) */
	KUNWIND_E_OVERLAP = 18,		/* two FDEs contradict each other */
	KUNWIND_NR_REFUSALS
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
#define KUNWIND_F_TAKEOVER_DEFERRED	(1ULL << 3)	/* unwind_user is served (not in every kernel) */
#define KUNWIND_F_JIT			(1ULL << 4)	/* KUNWIND_IOC_JIT_ADD is there */

/*
 * KUNWIND_IOC_REGISTER, KUNWIND_IOC_UNREGISTER: a process, by address space.
 *
 * mem_fd is -1 for the caller, or a descriptor of /proc/PID/mem that the
 * caller opened: the kernel's ptrace check at that open authorises the call.
 * Registering twice is no error. A registration is kept across execve (but
 * for one that gains privilege) and ends with the process or when unregistered.
 * May sleep: on return the tables of all objects mapped now are built, or
 * failed, or the time allowed for it is over (they are then built behind).
 *
 *   EBADF     mem_fd is not open, or not a descriptor of /proc/PID/mem
 *   ESRCH     the process is gone (or it has no memory: a kernel thread)
 *   ENOENT    (unregister) it is not registered
 *   EACCES    registered by another user, who alone (or CAP_SYS_ADMIN) may
 *             unregister it or add flags. Registering it without new flags is
 *             no error, changes nothing, and lasts as long as the first does
 *   ENOMEM, ENOSPC  out of memory; out of the limit of processes
 *   EAGAIN    the memory map of another process stayed locked for the time allowed:
 *             one of its threads waits for a file system that does not answer
 *   EINTR     a fatal signal came
 */
struct kunwind_process {
	__u32 size;
	__u32 flags;			/* KUNWIND_REGISTER_* */
	__s32 mem_fd;
	__u32 reserved;
	__u32 nr_maps;			/* out: executable mappings found */
	__u32 nr_ready;			/* out: of these, with a table */
};
#define KUNWIND_REGISTER_CHILDREN	(1U << 0)	/* children too, from now on */

/*
 * KUNWIND_IOC_AUTO: the whole system.
 *
 * On: every process is registered, in whatever namespaces: those that come later
 * as they fork or exec, and those that run. For the latter the call waits, as
 * long as a registration does. A process whose memory map stays locked is not waited
 * for; the module tries it again until it is registered or gone ("stat auto_pending"
 * of the status: how many such processes there are).
 * Off: what only this registered is dropped; what was registered by hand stays as
 * it was, for the two do not know of each other: KUNWIND_IOC_UNREGISTER takes
 * back what was registered by hand only.
 * A process that there is no room for is counted (missed_limit, missed_memory
 * of struct kunwind_stats) and tried again at its next exec, or when the call
 * is made again.
 *
 *   EPERM     no CAP_SYS_ADMIN in the initial user namespace
 *   EOPNOTSUPP (on) the parameter enabled is N
 *   EINTR     a fatal signal came while the call waited; the switch has been made
 */
struct kunwind_auto {
	__u32 size;
	__u32 flags;			/* KUNWIND_AUTO_ON, or off */
	__u64 reserved;
};
#define KUNWIND_AUTO_ON		(1U << 0)

/*
 * KUNWIND_IOC_CALLSTACK: the call stack of the caller, innermost first.
 *
 * addresses points to an array of capacity 8-byte words. The first entry is
 * the program counter itself, each further one a return address. Without
 * KUNWIND_HAVE_REGS the walk begins at the instruction after the system call.
 * With it, regs points to 17 words: rax rdx rcx rbx rsi rdi rbp rsp r8 ... r15
 * rip (DWARF numbers of the x86-64 psABI), valid in valid_regs (bit n =
 * register n; rsp and rip must be set). 32-bit code has the low halves of these.
 *
 * Where code has no unwind information, the stack goes on by what proves
 * itself. trust, if not 0, points to capacity bytes: enum kunwind_trust of each
 * address.
 *
 *   ENOENT    the caller's process is not registered
 *   EINVAL    capacity 0 or above KUNWIND_MAX_FRAMES
 * A stack that ends early is no error: reason says why.
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
 * the caller's process made itself, in memory of no file (or a memfd's).
 *
 * What is handed in is an .eh_frame in the caller's memory, as compilers of code at
 * run time make it for __register_frame(): CIEs and FDEs, their pointers absolute or
 * relative to where they lie (and their augmentation is "zR", "zPLR" or the like); a length
 * of zero, or eh_frame_len, ends it. It is read, checked and compiled before
 * the call returns, and not looked at again. FDEs of other code are left out; one that
 * reaches beyond [start, start + len) is malformed.
 *
 * It holds until it is removed; until anything is mapped over any byte of
 * the code, or its protection changes (hand it in when the code has its last one); until
 * execve, the end of the process, or of its registration. A forked child that is
 * registered as its parent's child has the same. When memory for the list of mappings
 * is refused in a signal's or a mapping's course, it may be lost earlier.
 * While threads of the process are in mremap() with MREMAP_FIXED, it is not used for code
 * between the lowest and the highest of their destinations.
 *
 * A table takes some two bytes a row of the user's share; each call costs time that
 * grows with the number of the process's mappings: rather one for many functions.
 *
 *   ENOENT    the caller's process is not registered; (remove) nothing was handed in
 *             for just this range
 *   EINVAL    a length of 0, an address that is not the user's; (remove) eh_frame or
 *             eh_frame_len not 0
 *   EFAULT    .eh_frame cannot be read; the code is not in one executable mapping
 *   EEXIST    for some byte of the code there is unwind information already: it was handed
 *             in, or the mapping is a file's
 *   ENOEXEC   .eh_frame is malformed: refusal says how
 *   ENOSPC    out of a limit (refusal is KUNWIND_E_LIMIT, if it is that of tables)
 *   ENOMEM    no memory
 *   EINTR, ETIME  a fatal signal came; it took longer than the parameter max_build_ms
 */
struct kunwind_jit {
	__u32 size;
	__u32 flags;			/* 0 */
	__u64 start;			/* of the code */
	__u64 len;			/* bytes */
	__u64 eh_frame;			/* const void * */
	__u64 eh_frame_len;		/* bytes */
	__u32 refusal;			/* out: enum kunwind_refusal */
	__u32 nr_fdes;			/* out: functions described */
};

/* KUNWIND_IOC_STATS: counters of the whole system since the module's load. */
struct kunwind_stats {
	__u32 size;
	__u32 reserved;
	__u64 processes;		/* registered now */
	__u64 objects;			/* tables held now */
	__u64 table_bytes;		/* memory of these tables */
	__u64 table_rows;
	__u64 stacks;			/* walked */
	__u64 frames;			/* found by these walks */
	__u64 passed_through;		/* stack requests left to the kernel: not registered */
	__u64 table_builds;		/* tables built, ever */
	__u64 table_refused;		/* of these refused or failed */
	__u64 by_reason[32];		/* stacks by enum kunwind_reason */
	__u64 missed_limit;		/* processes not registered by fork, exec or
					 * auto: a limit of processes is reached */
	__u64 missed_memory;		/* the same: no memory */
};

#define KUNWIND_IOC_MAGIC	'K'
#define KUNWIND_IOC_INFO	_IOWR(KUNWIND_IOC_MAGIC, 0xe0, struct kunwind_info)
#define KUNWIND_IOC_REGISTER	_IOWR(KUNWIND_IOC_MAGIC, 0xe1, struct kunwind_process)
#define KUNWIND_IOC_UNREGISTER	_IOWR(KUNWIND_IOC_MAGIC, 0xe2, struct kunwind_process)
#define KUNWIND_IOC_CALLSTACK	_IOWR(KUNWIND_IOC_MAGIC, 0xe3, struct kunwind_callstack)
#define KUNWIND_IOC_STATS	_IOWR(KUNWIND_IOC_MAGIC, 0xe4, struct kunwind_stats)
#define KUNWIND_IOC_AUTO	_IOWR(KUNWIND_IOC_MAGIC, 0xe5, struct kunwind_auto)
#define KUNWIND_IOC_JIT_ADD	_IOWR(KUNWIND_IOC_MAGIC, 0xe6, struct kunwind_jit)
#define KUNWIND_IOC_JIT_REMOVE	_IOWR(KUNWIND_IOC_MAGIC, 0xe7, struct kunwind_jit)

/*
 * read(2) on /dev/kunwind gives the module's status as text: lines of
 * tab-separated fields, the first of which names the kind of line:
 *   version  ABI  MODULE-VERSION
 *   param    NAME  VALUE
 *   hook     NAME  on|off|refused|lost  REASON
 *   stat     NAME  VALUE
 *   reason   NAME  STACKS                     (of all consumers, zeros included)
 *   stacks   CONSUMER  REASON  STACKS         (tracers, event or ioctl; no zeros)
 *   frames   CONSUMER  TRUST  FRAMES          (the same)
 *   process  PID  COMM  MAPS  FLAGS  BYTES    (FLAGS: -, or of children, auto, with commas)
 *   object   STATE  REFUSAL  ROWS  BYTES  USERS  PATH
 *                                             (of a long path the end, behind "...")
 *   parts    BUILT  ALL  PATH                 (behind the object whose table is in parts)
 *   user     UID  BYTES  OBJECTS  PROCESSES  MS
 *                                             (what is charged to a user; PROCESSES:
 *                                              registered by the user, by hand; MS:
 *                                              processor time of builds; UID 0: a line for
 *                                              each container, and one for root's own
 *                                              registrations)
 * Readers ignore kinds that they do not know.
 *
 * What is shown depends on who opened the device. "Administrator" is an opener with
 * CAP_SYS_ADMIN in the initial user namespace.
 *   - All openers see the lines version, param, hook, reason, stacks and frames.
 *   - The administrator sees all lines "process". Another opener sees those of processes that
 *     are registered by hand by the opener's effective user, without the flag "auto".
 *     Processes without a number in the reader's pid namespace are left out.
 *   - Only the administrator sees the lines object, parts and user. Others do not see their
 *     own, either.
 *   - All openers see these lines "stat": those of struct kunwind_stats; auto_pending (see
 *     struct kunwind_auto); budget_spent: walks that ended because their budget was spent;
 *     emitted: kunwind_callstack; touched: pages brought in for later walks;
 *     touch_requests, touch_works, touch_dropped: requests of walks for that, task works that
 *     ran for them, and requests that came to nothing; dump_left_out: mappings that were
 *     beyond the limits of the dump for a new LTTng session.
 *   - Only the administrator sees these: dropped: builds that nobody needed any more;
 *     map_bytes: memory of lists of mappings; memory_bytes: these, tables and builds;
 *     memory_refused: what found no room; idle_objects, idle_bytes: used by nobody.
 *
 * Because ioctl numbers carry the structure's size, a caller of a longer or
 * shorter structure uses its own number; the module looks at the number's
 * type and sequence only, and takes the size from the structure.
 */

#endif /* _UAPI_KUNWIND_H */
