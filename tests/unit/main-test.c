/* SPDX-License-Identifier: MIT */
/*
 * main-test.c - the order in which the parts of the module begin and end, also if one
 * of them fails
 *
 * Each function of another file notes its name. main.c and docs/lifetimes.md say why
 * one step comes before another.
 */
#include <setjmp.h>

#include "kernel.h"
#include "tap.h"

/* ------------------------------------------------- steps of other files */

#define MOST_STEPS	64
static const char *steps[MOST_STEPS];
static unsigned int nr_steps;
static const char *fails;	/* this step returns an error, or false */

static bool step(const char *name)
{
	if (nr_steps == MOST_STEPS)
		wrong("MOST_STEPS");
	steps[nr_steps++] = name;
	return !fails || strcmp(fails, name);
}

#define STEP(name)	static void kunwind_##name(void) { step(#name); }
#define INIT(name)	static int kunwind_##name(void) { return step(#name) ? 0 : -ENOMEM; }
#define STOP(name)	static bool kunwind_##name(void) { return step(#name); }
STEP(events_init)
INIT(object_cache_init)
INIT(builder_init)
INIT(space_init)
INIT(callstack_init)
STEP(fault_in_init)
INIT(process_memory_init)
INIT(system_wide_init)
STEP(stack_event_init)
STEP(slow_syscall_init)
STEP(fatal_signal_init)
STEP(mm_hooks_init)
STEP(process_init)
STEP(takeover_init)
INIT(device_init)
STEP(system_wide_start)
STEP(sampler_init)
STEP(stack_context_init)
STEP(system_wide_exit)
STEP(process_memory_exit)
STEP(device_exit)
STEP(sampler_exit)
STEP(stack_context_exit)
STEP(hooks_retire)
STOP(takeover_exit)
STOP(fatal_signal_stop)
STOP(process_stop)
STOP(mm_hooks_exit)
STEP(stack_event_exit)
STEP(slow_syscall_exit)
STEP(fatal_signal_exit)
STEP(builder_stop)
STEP(process_exit)
STEP(space_exit)
STEP(fault_in_exit)
STEP(callstack_exit)
STEP(builder_exit)
STEP(object_cache_exit)

#define _KUNWIND_SYSTEM_WIDE_H
#define _KUNWIND_BUILDER_H
#define _KUNWIND_CALLSTACK_H
#define _KUNWIND_DEVICE_H
#define _KUNWIND_STACK_CONTEXT_H
#define _KUNWIND_STACK_EVENT_H
#define _KUNWIND_MM_HOOKS_H
#define _KUNWIND_HOOK_H
#define _KUNWIND_OBJECT_CACHE_H
#define _KUNWIND_FATAL_SIGNAL_H
#define _KUNWIND_PROCESS_H
#define _KUNWIND_PROCESS_MEMORY_H
#define _KUNWIND_SAMPLER_H
#define _KUNWIND_SPACE_H
#define _KUNWIND_STATUS_H
#define _KUNWIND_TAKEOVER_H
#define _KUNWIND_FAULT_IN_H
#define _KUNWIND_TRACE_EVENTS_H
#define _KUNWIND_SLOW_SYSCALL_H

/* ------------------------------------------------------ more of the kernel */

#define __init
#define __exit
#define module_init(function)		static int (*const begin)(void) = function
#define module_exit(function)		static void (*const end)(void) = function
#define MODULE_DESCRIPTION(text)	extern int unused_description
#define MODULE_AUTHOR(text)		extern int unused_author
#define MODULE_VERSION(text)		extern int unused_version
#define MODULE_LICENSE(text)		extern int unused_licence
#undef synchronize_rcu
#define synchronize_rcu()		step("synchronize_rcu")
#define synchronize_rcu_tasks()		step("synchronize_rcu_tasks")
#define tracepoint_synchronize_unregister()	step("tracepoint_synchronize")
#define TASK_IDLE			0x402
#define set_current_state(value)	(state = (value))
#define pr_err(...)			(errors++)
static unsigned int errors, state, slept;
static jmp_buf stuck;
/* A task that is not idle would return at once, and count as load. */
static void schedule(void)
{
	if (state != TASK_IDLE)
		wrong("the state is %#x", state);
	state = 0;
	if (++slept == 3)
		longjmp(stuck, 1);
}

#include "../../kmod/main.c"

/* ---------------------------------------------------------------- tests */

/* Returns the number of the step's place, from 1; 0: it is not there, or twice. */
static unsigned int place(const char *name)
{
	unsigned int i, at = 0;

	for (i = 0; i < nr_steps; i++)
		if (!strcmp(steps[i], name)) {
			if (at)
				return 0;
			at = i + 1;
		}
	return at;
}

static bool absent(const char *name)
{
	unsigned int i;

	for (i = 0; i < nr_steps; i++)
		if (!strcmp(steps[i], name))
			return false;
	return true;
}

/* Returns whether all these steps were taken, each once, in this order. */
static bool in_order(const char *const *names, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (!place(names[i]) || (i && place(names[i]) < place(names[i - 1]))) {
			printf("# %s: at place %u\n", names[i], place(names[i]));
			return false;
		}
	return true;
}
#define ORDER(...)	in_order((const char *const []){ __VA_ARGS__ },		\
				 ARRAY_SIZE(((const char *const []){ __VA_ARGS__ })))

static void clear(const char *failing)
{
	nr_steps = errors = slept = 0;
	fails = failing;
}

/* The end of the hooks and of what they use, which is the same after a failure. */
static void check_let_go(const char *what)
{
	static const char *const hooks[] = {
		"takeover_exit", "fatal_signal_stop", "process_stop", "mm_hooks_exit",
	};
	bool good = true;
	u32 i;

	tap_ok(ORDER("system_wide_exit", "sampler_exit", "hooks_retire", "synchronize_rcu"),
	       "%s: the callers that register processes and the sampler end before the hooks", what);
	tap_ok(place("stack_context_exit") && place("stack_context_exit") < place("hooks_retire"),
	       "%s: stacks of interrupts end before the hooks", what);
	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		good &= ORDER("synchronize_rcu", hooks[i], "tracepoint_synchronize");
	tap_ok(good, "%s: hooks are removed after a grace period, in which the last walk ends", what);
	tap_ok(ORDER("mm_hooks_exit", "stack_event_exit", "tracepoint_synchronize") &&
	       ORDER("mm_hooks_exit", "slow_syscall_exit", "tracepoint_synchronize") &&
	       ORDER("mm_hooks_exit", "fatal_signal_exit", "tracepoint_synchronize"),
	       "%s: the probes end after the hooks, and are waited for", what);
	tap_ok(ORDER("tracepoint_synchronize", "builder_stop", "process_exit", "space_exit",
		     "synchronize_rcu_tasks", "fault_in_exit", "callstack_exit", "builder_exit",
		     "object_cache_exit"),
	       "%s: builds end before the records, and what walks use is freed last", what);
	tap_ok(ORDER("process_memory_exit", "process_exit"), "%s: the memory of processes is let go", what);
}

static void test_whole(void)
{
	clear(NULL);
	tap_ok(!begin(), "the module is loaded");
	tap_ok(ORDER("events_init", "object_cache_init", "builder_init", "space_init", "callstack_init",
		     "fault_in_init", "process_memory_init", "system_wide_init", "process_init",
		     "takeover_init", "device_init", "system_wide_start"),
	       "load: each part begins once, after those that it uses");
	tap_ok(ORDER("stack_event_init", "takeover_init") && ORDER("slow_syscall_init", "takeover_init") &&
	       ORDER("fatal_signal_init", "takeover_init") && ORDER("mm_hooks_init", "takeover_init"),
	       "load: the kernel's unwinder is replaced after the required hooks are there");
	tap_ok(ORDER("device_init", "sampler_init") && ORDER("device_init", "stack_context_init"),
	       "load: samples are taken after all else is there");
	tap_ok(nr_steps == 18, "load: nothing ends");
	clear(NULL);
	end();
	check_let_go("unload");
	tap_ok(ORDER("system_wide_exit", "device_exit", "sampler_exit"),
	       "unload: the device ends before what its callers use");
	tap_ok(nr_steps == 23, "unload: nothing else happens");
}

/* One step fails: what has begun ends, and nothing else does. */
static void test_failures(void)
{
	static const struct {
		const char *fails;
		bool cache, builder, space, callstack, memory;
	} cases[] = {
		{ .fails = "object_cache_init" },
		{ .fails = "builder_init", .cache = true },
		{ .fails = "space_init", .cache = true, .builder = true },
		{ .fails = "callstack_init", .cache = true, .builder = true, .space = true },
		{ .fails = "process_memory_init", .cache = true, .builder = true, .space = true,
		  .callstack = true },
		{ .fails = "system_wide_init", .cache = true, .builder = true, .space = true,
		  .callstack = true, .memory = true },
	};
	static const char *const later[] = {
		"device_init", "sampler_init", "system_wide_start", "hooks_retire", "system_wide_exit",
		"device_exit", "process_exit", "builder_stop", "takeover_init", "process_init",
	};
	bool good;
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		clear(cases[i].fails);
		tap_ok(begin() == -ENOMEM, "%s fails: the module is not loaded", fails);
#define ENDED(name, begun)	((begun) ? place(name) != 0 : absent(name))
		tap_ok(ENDED("object_cache_exit", cases[i].cache) &&
		       ENDED("builder_exit", cases[i].builder) && ENDED("space_exit", cases[i].space) &&
		       ENDED("callstack_exit", cases[i].callstack) &&
		       ENDED("fault_in_exit", cases[i].callstack) &&
		       ENDED("process_memory_exit", cases[i].memory),
		       "%s fails: each part that has begun ends once, no other one does", fails);
		tap_ok((!cases[i].builder || ORDER("builder_exit", "object_cache_exit")) &&
		       (!cases[i].space || ORDER("space_exit", "builder_exit")) &&
		       (!cases[i].callstack || ORDER("fault_in_exit", "callstack_exit", "space_exit")),
		       "%s fails: parts end in the opposite order", fails);
		tap_ok(place("sampler_exit") && place("stack_event_exit") && place("slow_syscall_exit") &&
		       place("fatal_signal_exit"), "%s fails: events that are on end", fails);
		for (good = true, j = 0; j < ARRAY_SIZE(later); j++)
			good &= absent(later[j]);
		tap_ok(good, "%s fails: later parts neither begin nor end", fails);
	}
	clear("device_init");
	tap_ok(begin() == -ENOMEM, "device_init fails: the module is not loaded");
	check_let_go("device_init fails");
	tap_ok(absent("system_wide_start") && absent("sampler_init") && absent("stack_context_init") &&
	       absent("device_exit"), "device_init fails: no caller begins");
}

/* ftrace keeps a hook: its code may still be called, so the module must stay. */
static void test_stuck(void)
{
	static const char *const hooks[] = {
		"takeover_exit", "fatal_signal_stop", "process_stop", "mm_hooks_exit",
	};
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		volatile bool good = true;

		clear(hooks[i]);
		if (!setjmp(stuck)) {
			end();
			good = false;
		}
		for (j = 0; j < ARRAY_SIZE(hooks); j++)
			good &= place(hooks[j]) != 0;
		tap_ok(good, "%s fails: the others are removed, and unloading never returns", hooks[i]);
		tap_ok(errors == 1 && slept == 3, "%s fails: the log says so once", hooks[i]);
		tap_ok(absent("builder_stop") && absent("process_exit") && absent("callstack_exit") &&
		       absent("stack_event_exit"), "%s fails: nothing that the hook uses is freed", hooks[i]);
	}
}

int main(void)
{
	test_whole();
	test_failures();
	test_stuck();
	return tap_done();
}
