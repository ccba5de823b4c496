// SPDX-License-Identifier: GPL-2.0-only
/*
 * slow_syscall.c - emit the trace event kunwind_slow_syscall
 *
 * A tracer can select events by their fields. No field has the duration of a
 * system call, because it is the difference between the times of two events.
 * This event has it in a field, so a tracer's filter can select calls by it, for
 * example in a trigger of LTTng.
 *
 * While the event is on, probes of sys_enter and sys_exit measure all system
 * calls of all tasks. Only calls that take at least a millisecond emit the
 * event, so a filter costs nothing for the others. A call that does not return
 * (exit) is not measured. A call that began before the event was turned on has
 * no event.
 *
 * Histogram triggers (tracefs) could do the same without a module. But their
 * map has a fixed size and keeps the key of each thread that ever ran. When it
 * is full, they miss the calls of all new threads.
 */
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/timekeeping.h>
#include <asm/syscall.h>
#include <asm/unistd.h>
#include <trace/events/syscalls.h>

#include "call_times.h"
#include "emit.h"
#include "kunwind_events.h"
#include "on_demand.h"
#include "slow_syscall.h"

static struct kunwind_call_times *times;	/* not NULL while a probe is attached */
static DEFINE_PER_CPU(u64, not_timed);

static int prepare(void)
{
	if (!times)
		times = kunwind_call_times_alloc();
	return times ? 0 : -ENOMEM;
}

static void release(void)
{
	kunwind_call_times_free(times);
	times = NULL;
}

/* These calls have no end, so their entry in the table would stay. */
static notrace bool returns(long id)
{
#ifdef CONFIG_IA32_EMULATION
	if (in_ia32_syscall())
		return id != __NR_ia32_exit && id != __NR_ia32_exit_group;
#endif
	id &= ~__X32_SYSCALL_BIT;
	return id != __NR_exit && id != __NR_exit_group;
}

static notrace void on_sys_enter(void *data, struct pt_regs *regs, long id)
{
	if (!returns(id))
		return;
	if (!kunwind_call_times_begin(times, current, ktime_get_mono_fast_ns()))
		this_cpu_inc(not_timed);
}

static notrace void on_sys_exit(void *data, struct pt_regs *regs, long ret)
{
	u64 began, duration;

	if (!kunwind_call_times_end(times, current, &began))
		return;
	duration = ktime_get_mono_fast_ns() - began;
	if (duration >= KUNWIND_SLOW_SYSCALL_NS)
		KUNWIND_EMIT(kunwind_slow_syscall, current->tgid, current->pid,
			     syscall_get_nr(current, regs), in_ia32_syscall(), ret, duration);
}

void kunwind_slow_syscall_show(struct seq_file *m)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(&not_timed, cpu));
	seq_printf(m, "stat\tcalls_not_timed\t%llu\n", sum);
}

void kunwind_slow_syscall_init(void)
{
	/* sys_exit is attached first and detached last, so no entry stays in the table. */
	static const struct kunwind_on_demand_probe probes[] = {
		{ .tracepoint = "sys_exit", .function = on_sys_exit },
		{ .tracepoint = "sys_enter", .function = on_sys_enter },
	};

	check_trace_callback_type_sys_enter(on_sys_enter);
	check_trace_callback_type_sys_exit(on_sys_exit);
	kunwind_on_demand_init(&kunwind_slow_syscall_demand, probes, ARRAY_SIZE(probes), prepare,
			       release);
}

void kunwind_slow_syscall_exit(void)
{
	kunwind_on_demand_exit(&kunwind_slow_syscall_demand);
}
