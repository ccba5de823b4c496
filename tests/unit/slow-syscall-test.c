/* SPDX-License-Identifier: MIT */
/*
 * slow-syscall-test.c - the event kunwind_slow_syscall: which calls have it, and
 * its fields; when its probes and its memory are there (on_demand.c)
 */
#include "kernel.h"
#include "pt-regs.h"
#include "tap.h"

/* ------------------------------------------------------ more of the kernel */

#define DEFINE_PER_CPU(type, name)	__typeof__(type) name
#define per_cpu_ptr(p, cpu)	((void)(cpu), p)
#define this_cpu_inc(x)		((x)++)
#define this_cpu_write(x, v)	((x) = (v))
#define for_each_possible_cpu(cpu)	for (cpu = 0; cpu < 1; cpu++)
#define cmpxchg(p, old, new)	__sync_val_compare_and_swap(p, old, new)
#define smp_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define hash_ptr(p, bits)	hash_long((u64)(p) >> 4, bits)
#define __WORK_INITIALIZER(name, fn)	{ fn }
#define schedule_work(work)	queue_work(NULL, work)
static unsigned int flushed;
#define flush_work(work)	({ flushed++; drain_workqueue(NULL); })
#define pr_notice_once(...)	(notices++)
static unsigned int notices;

#define CONFIG_IA32_EMULATION	1
static bool i386;
#define in_ia32_syscall()	i386
#define __X32_SYSCALL_BIT	0x40000000
#define __NR_exit		60
#define __NR_exit_group		231
#define __NR_ia32_exit		1
#define __NR_ia32_exit_group	252
#define syscall_get_nr(task, regs)	((int)(regs)->orig_ax)

/* Tracepoints. Only one probe is attached to each, with its own function. */
struct tracepoint { const char *name; void *probe; unsigned int times; };
static struct tracepoint sys_enter = { .name = "sys_enter" }, sys_exit = { .name = "sys_exit" },
			 signal_deliver = { .name = "signal_deliver" };
static struct tracepoint *const tracepoints[] = { &sys_enter, &sys_exit, &signal_deliver };
static struct tracepoint *absent, *refuses, *last_attached, *last_detached;
static void (*while_synchronizing)(void);
static unsigned int synchronized;

static struct tracepoint *kunwind_tracepoint_find(const char *name)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(tracepoints); i++)
		if (!strcmp(tracepoints[i]->name, name) && tracepoints[i] != absent)
			return tracepoints[i];
	return NULL;
}

static int tracepoint_probe_register(struct tracepoint *tp, void *probe, void *data)
{
	might_sleep();
	if (!tp || tp->probe || !probe || data || nr_held)
		wrong("a probe is attached twice, or with a lock held");
	if (tp == refuses)
		return -EEXIST;
	tp->probe = probe;
	tp->times++;
	last_attached = tp;
	return 0;
}

static void tracepoint_probe_unregister(struct tracepoint *tp, void *probe, void *data)
{
	might_sleep();
	if (!tp || !probe || tp->probe != probe || nr_held)
		wrong("a probe is detached that is not attached, or with a lock held");
	tp->probe = NULL;
	last_detached = tp;
}

static void tracepoint_synchronize_unregister(void)
{
	void (*meanwhile)(void) = while_synchronizing;

	might_sleep();
	synchronized++;
	while_synchronizing = NULL;
	if (meanwhile)
		meanwhile();
}

#define check_trace_callback_type_sys_enter(probe)	((void)(probe))
#define check_trace_callback_type_sys_exit(probe)	((void)(probe))
#define _KUNWIND_HOOK_H
#define _KUNWIND_EVENTS_H
#define _KUNWIND_EMIT_H
#define KUNWIND_SLOW_SYSCALL_NS	1000000
#define KUNWIND_EMIT(event, ...)	(emits(), trace_##event(__VA_ARGS__))
static struct { pid_t tgid, tid; int syscall; bool compat; long ret; u64 duration; } event;
static unsigned int events;
static void trace_kunwind_slow_syscall(pid_t tgid, pid_t tid, int syscall, bool compat, long ret,
				       u64 duration)
{
	event.tgid = tgid;
	event.tid = tid;
	event.syscall = syscall;
	event.compat = compat;
	event.ret = ret;
	event.duration = duration;
	events++;
}

/* The memory of begin times is freed only when no probe can be attached. */
#include "../../kmod/trace/call_times.c"
static unsigned int tables;
static struct kunwind_call_times *counted_alloc(void)
{
	struct kunwind_call_times *new = kunwind_call_times_alloc();

	tables += !!new;
	return new;
}
static void counted_free(struct kunwind_call_times *times)
{
	if (times && (sys_enter.probe || sys_exit.probe || !synchronized))
		wrong("a probe may use this memory");
	tables -= !!times;
	kunwind_call_times_free(times);
}
#define kunwind_call_times_alloc()	counted_alloc()
#define kunwind_call_times_free(times)	counted_free(times)
#include "../../kmod/trace/on_demand.c"
#include "../../kmod/trace/slow_syscall.c"

/* --------------------------------------------------------------- the scene */

static struct task_struct task = { .pid = 11, .tgid = 10 };

static void enters(long nr)
{
	struct pt_regs regs = { .orig_ax = nr };
	void (*probe)(void *, struct pt_regs *, long) = sys_enter.probe;

	if (probe)
		probe(NULL, &regs, nr);
}

static void leaves(long nr, long ret)
{
	struct pt_regs regs = { .orig_ax = nr };
	void (*probe)(void *, struct pt_regs *, long) = sys_exit.probe;

	if (probe)
		probe(NULL, &regs, ret);
}

/* Returns whether a call of @ns has the event. */
static bool emitted(long nr, u64 ns, long ret)
{
	const unsigned int before = events;

	enters(nr);
	now_ns += ns;
	leaves(nr, ret);
	return events == before + 1;
}

static bool on(void)
{
	int err = kunwind_slow_syscall_begin();

	drain_workqueue(NULL);
	return !err;
}

static void off(void)
{
	kunwind_slow_syscall_end();
	synchronized = 0;
	drain_workqueue(NULL);
}

static bool attached(void) { return sys_enter.probe == on_sys_enter && sys_exit.probe == on_sys_exit; }
static bool detached(void) { return !sys_enter.probe && !sys_exit.probe; }

/* ---------------------------------------------------------------- the tests */

/* The kernel turns the event on before the module's init. */
static void test_before_init(void)
{
	tap_ok(on() && detached() && kunwind_slow_syscall_demand.users == 1,
	       "on before the module's init: no probe is known");
	kunwind_slow_syscall_init();
	drain_workqueue(NULL);
	tap_ok(attached() && tables == 1, "module's init: the probes of the event that is on are attached");
	tap_ok(last_attached == &sys_enter, "sys_exit is attached before sys_enter");
	off();
	tap_ok(detached() && !tables, "off: neither probes nor memory are left");
	tap_ok(last_detached == &sys_exit, "sys_exit is detached after sys_enter");
}

static void test_calls(void)
{
	on();
	tap_ok(emitted(0, 1000000, -4) && event.tgid == 10 && event.tid == 11 && event.syscall == 0 &&
	       !event.compat && event.ret == -4 && event.duration == 1000000,
	       "call of a millisecond: the event has process, thread, call, result and duration");
	tap_ok(!emitted(0, 999999, 0), "shorter call: no event");
	tap_ok(emitted(35, 5000000000, 0x7f0000000000) && event.syscall == 35 &&
	       event.ret == 0x7f0000000000 && event.duration == 5000000000,
	       "call of five seconds with a large result: both are whole");
	leaves(35, 0);
	tap_ok(!emitted(0, 1, 0), "end of a call whose begin is not known: no event");
	i386 = true;
	tap_ok(emitted(60, 2000000, 0) && event.compat && event.syscall == 60,
	       "32-bit call: the event says so; number 60 is another call there");
	tap_ok(emitted(231, 2000000, 0), "32-bit call: number 231 is another call, too");
	i386 = false;
	tap_ok(emitted(1, 2000000, 0) && emitted(252, 2000000, 0),
	       "64-bit calls with the numbers of the 32-bit exit: events");
	off();
}

/* Calls that do not return leave nothing in the table. */
static void test_exit(void)
{
	static const struct { const char *name; bool i386; long nr; } of[] = {
		{ "exit", false, __NR_exit }, { "exit_group", false, __NR_exit_group },
		{ "exit of x32", false, __NR_exit | __X32_SYSCALL_BIT },
		{ "exit_group of x32", false, __NR_exit_group | __X32_SYSCALL_BIT },
		{ "32-bit exit", true, __NR_ia32_exit }, { "32-bit exit_group", true, __NR_ia32_exit_group },
	};
	u64 began;
	u32 i;

	on();
	for (i = 0; i < ARRAY_SIZE(of); i++) {
		i386 = of[i].i386;
		enters(of[i].nr);
		tap_ok(!kunwind_call_times_end(times, current, &began), "%s: no entry stays", of[i].name);
	}
	i386 = false;
	off();
}

static u64 not_timed_in_status(void)
{
	static struct seq_file m;
	unsigned long long n = 99;

	memset(&m, 0, sizeof(m));
	kunwind_slow_syscall_show(&m);
	return sscanf(m.text, "stat\tcalls_not_timed\t%llu\n", &n) == 1 ? n : 99;
}

static void test_full(void)
{
	static struct task_struct others[65536];
	u32 i;

	on();
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		current = &others[i];
		enters(0);
	}
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		current = &others[i];
		leaves(0, 0);
	}
	current = &task;
	tap_ok(not_timed_in_status() >= ARRAY_SIZE(others) / 2 &&
	       not_timed_in_status() < ARRAY_SIZE(others) && not_timed_in_status() == not_timed,
	       "more calls at a time than there is room for: the status has how many were not timed");
	tap_ok(emitted(0, 2000000, 0), "after them: a call is measured");
	/* Begun before the event is off, ended after it is on again. */
	enters(0);
	now_ns += 5000000;
	off();
	on();
	events = 0;
	leaves(0, 0);
	tap_ok(!events, "call that began before the event was on: no event");
	off();
}

static void is_on_again(void) { kunwind_slow_syscall_begin(); }

static void test_switches(void)
{
	on();
	on();
	tap_ok(attached() && tables == 1 && kunwind_slow_syscall_demand.users == 2,
	       "two users: one probe each");
	off();
	tap_ok(attached() && emitted(0, 2000000, 0), "one of two users is left: the probes stay");
	off();
	tap_ok(detached() && !tables, "no user: neither probes nor memory are left");
	on();
	kunwind_slow_syscall_end();
	while_synchronizing = is_on_again;
	synchronized = 0;
	drain_workqueue(NULL);
	tap_ok(attached() && tables == 1 && emitted(0, 2000000, 0),
	       "on again while the probes are detached: calls are measured");
	off();
	no_memory = 1;
	tap_ok(kunwind_slow_syscall_begin() == -ENOMEM && !nr_works && !kunwind_slow_syscall_demand.users,
	       "no memory: the event cannot be turned on");
	tap_ok(on() && attached(), "memory again: the event is on");
	off();
}

/* A probe cannot be attached: the event stays empty. */
static void test_refused(void)
{
	notices = 0;
	refuses = &sys_enter;
	tap_ok(on() && detached() && notices == 1, "second probe is refused: the first one is detached");
	off();
	refuses = NULL;
	tap_ok(on() && attached(), "after that: both are attached");
	off();
	absent = &sys_exit;
	kunwind_slow_syscall_init();
	tap_ok(on() && detached() && notices == 2, "kernel without a tracepoint: no probe, and a message");
	off();
	absent = NULL;
	kunwind_slow_syscall_init();
}

static void nothing(void) { }

/* The other event has probes and a state of its own. */
static void test_other_event(void)
{
	static const struct kunwind_on_demand_probe probe = {
		.tracepoint = "signal_deliver", .function = nothing,
	};

	kunwind_on_demand_init(&kunwind_fatal_signal_demand, &probe, 1, NULL, NULL);
	drain_workqueue(NULL);
	tap_ok(!signal_deliver.probe, "event that is off: its probe is not attached");
	kunwind_fatal_signal_begin();
	drain_workqueue(NULL);
	tap_ok(signal_deliver.probe == nothing && detached(), "one event is on: only its probe is attached");
	on();
	kunwind_fatal_signal_end();
	drain_workqueue(NULL);
	tap_ok(!signal_deliver.probe && attached(), "one event is off: the other's probes stay");
	off();
	kunwind_on_demand_exit(&kunwind_fatal_signal_demand);
}

/* The module is unloaded while the event is on. */
static void test_unload(void)
{
	on();
	flushed = synchronized = 0;
	kunwind_slow_syscall_exit();
	tap_ok(detached() && !tables && flushed && !nr_works,
	       "module unload: neither probes nor memory nor work is left");
	tap_ok(kunwind_slow_syscall_begin() == -ENODEV && !nr_works && !tables,
	       "module unload: the event cannot be turned on");
	kunwind_slow_syscall_end();
	tap_ok(!nr_works && !kunwind_slow_syscall_demand.users,
	       "off after the module's exit: no work is queued");
}

int main(void)
{
	current = &task;
	test_before_init();
	test_calls();
	test_exit();
	test_full();
	test_switches();
	test_refused();
	test_other_event();
	test_unload();
	return tap_done();
}
