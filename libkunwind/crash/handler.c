// SPDX-License-Identifier: MIT
/*
 * handler.c - from a signal to a report, and to what would have been done without it
 *
 * One thread reports at a time. A second one that crashes meanwhile waits, then reports, too; if the
 * first one's signal ends the process, it ends while the second one waits. A signal of the thread
 * that reports is a crash in the report: it ends a piece of it (guard.c).
 *
 * Who reports is in a page of its own, which is zero in a forked child. A child of vfork(2) shares
 * it with its parent, so it says which process it is, and that process may have been killed.
 *
 * Then the handler that was there before is called as the kernel would have called it, except that
 * it runs on the stack of this one. If there was none, the same signal is sent again: it arrives
 * when this handler returns, at the instruction that has crashed, so the core has the registers and
 * the siginfo_t of the crash.
 */
#include <errno.h>
#include <sys/syscall.h>

#include "internal.h"
#include "line.h"
#include "../unwind/syscall.h"

static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS };
static struct sigaction before[ARRAY_SIZE(signals)];

#define SECCOMP_CODE	1		/* SYS_SECCOMP, which musl's headers have under another name */
#define WAIT_MS		10

static struct sigaction *before_of(int signal)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(signals) - 1 && signals[i] != signal; i++)
		;
	return &before[i];
}

static bool has_handler(const struct sigaction *action)
{
	return action->sa_flags & SA_SIGINFO ||
	       (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

static u64 bit(int signal)
{
	return 1ULL << (signal - 1);
}

static void set_mask(int how, const u64 *mask)
{
	unwind_syscall(SYS_rt_sigprocmask, how, (long)mask, 0, sizeof(*mask), 0, 0);
}

static u64 owner_of(pid_t pid, pid_t tid)
{
	return (u64)(u32)pid << 32 | (u32)tid;
}

/* ------------------------------------------------------------ who reports */

/* Whether @owner's process is gone: it was a child of vfork() that was killed. */
static bool is_gone(u64 owner, pid_t pid)
{
	return (pid_t)(owner >> 32) != pid &&
	       unwind_syscall(SYS_kill, (long)(owner >> 32), 0, 0, 0, 0, 0) == -ESRCH;
}

/* False: another thread reports, and does not end in time. */
static bool acquire(const struct crash_event *event)
{
	const u64 own = owner_of(event->pid, event->tid);
	u32 tries = 2 * crash_state.deadline_ms / WAIT_MS + 10;
	u64 owner;

	while (tries--) {
		owner = 0;
		if (__atomic_compare_exchange_n(crash_state.owner, &owner, own, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return true;
		if (is_gone(owner, event->pid) &&
		    __atomic_compare_exchange_n(crash_state.owner, &owner, own, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return true;
		crash_sleep(WAIT_MS * 1000000);
	}
	return false;
}

static void release(const struct crash_event *event)
{
	u64 own = owner_of(event->pid, event->tid);

	__atomic_compare_exchange_n(crash_state.owner, &own, 0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

/* ------------------------------------------------------------ what follows a report */

/* In the order of the kernel's structure. */
struct crash_kernel_action {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	u64 mask;
};

static void set_default(int signal)
{
	const struct crash_kernel_action action = { .handler = SIG_DFL };

	unwind_syscall(SYS_rt_sigaction, signal, (long)&action, 0, sizeof(action.mask), 0, 0);
}

/* A process has sent it: the instruction has not failed. */
static bool is_sent(const struct crash_event *event)
{
	return event->info->si_code <= 0;
}

/*
 * The process ends when the handler returns. The kernel drops what process 1 sends to itself, so that
 * ends by its next try of the instruction; after a breakpoint or a system call there is none.
 */
static void end_process(const struct crash_event *event)
{
	const u64 mask = bit(event->signal);

	if (event->pid == 1 && !is_sent(event) && (event->signal == SIGTRAP || event->signal == SIGSYS))
		unwind_syscall(SYS_exit_group, 128 + event->signal, 0, 0, 0, 0, 0);
	set_default(event->signal);
	set_mask(SIG_BLOCK, &mask);
	if (unwind_syscall(SYS_rt_tgsigqueueinfo, event->pid, event->tid, event->signal, (long)event->info,
			   0, 0))
		unwind_syscall(SYS_tgkill, event->pid, event->tid, event->signal, 0, 0, 0);
}

static void call_before(struct sigaction *action, const struct crash_event *event)
{
	const struct sigaction copy = *action;
	u64 mask, own;

	memcpy(&mask, &event->context->uc_sigmask, sizeof(mask));
	memcpy(&own, &copy.sa_mask, sizeof(own));
	mask |= own;
	if (!(copy.sa_flags & SA_NODEFER))
		mask |= bit(event->signal);
	if (copy.sa_flags & (int)SA_RESETHAND) {
		action->sa_flags = 0;
		action->sa_handler = SIG_DFL;
	}
	set_mask(SIG_SETMASK, &mask);
	if (copy.sa_flags & SA_SIGINFO)
		copy.sa_sigaction(event->signal, event->info, event->context);
	else
		copy.sa_handler(event->signal);
}

static void go_on(const struct crash_event *event)
{
	struct sigaction *action = before_of(event->signal);

	if (has_handler(action)) {
		release(event);
		call_before(action, event);
		return;
	}
	/*
	 * The process remains the owner, so that no other thread begins a report that its end would
	 * cut off. A child of vfork() shares the owner with its parent.
	 */
	end_process(event);
	if (event->pid != crash_state.pid)
		release(event);
}

/* ------------------------------------------------------------ signals */

/* A signal of the thread that reports. */
static void on_nested(const struct crash_event *event)
{
	/* A filter refuses a system call of the report. */
	if (event->signal == SIGSYS && event->info->si_code == SECCOMP_CODE) {
		event->context->uc_mcontext.gregs[REG_RAX] = -ENOSYS;
		return;
	}
	if (!is_sent(event) && !crash_guard_leave(event->context))
		end_process(event);
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
	const struct crash_event event = {
		.signal = signal, .info = info, .context = context,
		.pid = (pid_t)unwind_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0),
		.tid = (pid_t)unwind_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0),
	};
	const struct sigaction *action = before_of(signal);

	if (__atomic_load_n(crash_state.owner, __ATOMIC_RELAXED) == owner_of(event.pid, event.tid) ||
	    crash_state.helper == event.pid) {
		on_nested(&event);
		return;
	}
	if (!has_handler(action) && action->sa_handler == SIG_IGN && is_sent(&event))
		return;
	if (acquire(&event))
		crash_report_write(&event);
	go_on(&event);
}

/* Crashes in the report must arrive, and nothing else. */
int crash_handlers_install(void)
{
	struct sigaction action = {
		.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER,
	};
	u32 i;

	sigfillset(&action.sa_mask);
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigdelset(&action.sa_mask, signals[i]);
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		if (sigaction(signals[i], NULL, &before[i]))
			return -errno;
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		if (sigaction(signals[i], &action, NULL))
			return -errno;
	return 0;
}
