/* SPDX-License-Identifier: MIT */
/*
 * trace-events-test.c - the fields of trace events, as ftrace and perf record and
 * print them, and as LTTng records them
 *
 * The kernel reads the definitions in several stages, and so does this test. All
 * arguments of an event have different values, so that no field can have the
 * value of another one.
 */
#include "kernel.h"
#include "tap.h"

#define _KUNWIND_COMPAT_TRACE_H
#define KUNWIND_DECLARE_TRACE(...)	struct unused
#define TRACE_DEFINE_ENUM(name)
#define TP_PROTO(...)			__VA_ARGS__
#define TP_ARGS(...)			__VA_ARGS__
#define TP_STRUCT__entry(...)		__VA_ARGS__
#define TP_fast_assign(...)		__VA_ARGS__
#define EXPAND(...)			__VA_ARGS__
#define TRACE_EVENT(name, proto, args, members, assign, print)			\
	STAGE(name, EXPAND(proto), EXPAND(members), EXPAND(assign), EXPAND(print))
#define TRACE_EVENT_FN(name, proto, args, members, assign, print, on, off)	\
	STAGE(name, EXPAND(proto), EXPAND(members), EXPAND(assign), EXPAND(print))

/* Stage 1: the record. */
#define MOST				256	/* elements of an array */
#define STAGE(name, proto, members, assign, print)	struct record_##name { members };
#define __field(type, item)		type item;
#define __dynamic_array(type, item, nr)	type item[MOST]; u32 nr_##item;
#define __string(item, from)		char item[MOST];
#define TP_printk(...)
#include "../../kmod/trace/kunwind_events.h"
#undef STAGE
#undef __field
#undef __dynamic_array
#undef __string
#undef TP_printk

/* Stage 2: what is recorded. The kernel does not initialize the record. */
#define TRACE_HEADER_MULTI_READ
#define STAGE(name, proto, members, assign, print)				\
	static void record_##name(struct record_##name *__entry, proto)		\
	{									\
		poison(__entry, sizeof(*__entry));				\
		members								\
		assign								\
	}
#define __field(type, item)
#define __dynamic_array(type, item, nr)						\
	({ if ((nr) > MOST) wrong("too long"); __entry->nr_##item = (nr); });
#define __string(item, from)
#define __get_dynamic_array(item)	(__entry->item)
#define kunwind_assign_str(item, from)	snprintf(__entry->item, MOST, "%s", from)
#include "../../kmod/trace/kunwind_events.h"
#undef STAGE
#undef __field
#undef __dynamic_array
#undef __string

/* Stage 3: the text. */
static char text[1024], part[4][MOST];
static const char *hex(char *to, const u8 *from, u32 nr)
{
	u32 i;

	to[0] = '\0';
	for (i = 0; i < nr; i++)
		sprintf(to + 2 * i, "%02x", from[i]);
	return to;
}
static const char *array(char *to, const u64 *from, u32 nr)
{
	u32 i;

	to[0] = '\0';
	for (i = 0; i < nr; i++)
		sprintf(to + strlen(to), "%s0x%llx", i ? "," : "", (unsigned long long)from[i]);
	return to;
}
struct symbol { unsigned long value; const char *name; };
static const char *symbol(unsigned long value, const struct symbol *of, u32 nr)
{
	while (nr--)
		if (of[nr].value == value)
			return of[nr].name;
	return "none";
}
#define STAGE(name, proto, members, assign, print)				\
	static void print_##name(struct record_##name *__entry)		\
	{									\
		snprintf(text, sizeof(text), print);				\
	}
#define TP_printk(format, ...)		format, __VA_ARGS__
#define __get_str(item)			(__entry->item)
#define __get_dynamic_array_len(item)	(__entry->nr_##item * sizeof(__entry->item[0]))
#define __print_hex_str(from, nr)	hex(part[0], from, nr)
#define __print_array(from, nr, size)	array(part[1], (const u64 *)(from), nr)
#define __print_symbolic(value, ...)						\
	symbol(value, (const struct symbol[]){ __VA_ARGS__ },			\
	       sizeof((const struct symbol[]){ __VA_ARGS__ }) / sizeof(struct symbol))
#pragma GCC diagnostic ignored "-Wformat"
#include "../../kmod/trace/kunwind_events.h"

#undef STAGE

/* Stage 4: all events, and who may turn them on by perf (events.c). */
struct perf_event { struct perf_event *parent; };
struct trace_event_call { int (*perf_perm)(struct trace_event_call *call, struct perf_event *event); };
#define STAGE(name, proto, members, assign, print)	static struct trace_event_call event_##name;
#include "../../kmod/trace/kunwind_events.h"
#undef STAGE
#define STAGE(name, proto, members, assign, print)	each(#name, &event_##name);
static void for_each_event(void (*each)(const char *name, struct trace_event_call *call))
{
#include "../../kmod/trace/kunwind_events.h"
}
#undef STAGE
#undef TRACE_HEADER_MULTI_READ
#define __init
#define DEFINE_TRACE(...)		struct unused
#define DEFINE_TRACE_FN(...)		struct unused
#define EXPORT_TRACEPOINT_SYMBOL_GPL(name)	struct unused
static bool may_trace_all;
#define perfmon_capable()		may_trace_all
#include "../../kmod/trace/events.c"

/* LTTng: one stage, in which the values of the fields are noted by their names. */
struct kunwind_sample;
#define TASK_COMM_LEN			16
#include "../../kmod/trace/sample.h"
#include "../../kmod/trace/blocked.h"
static struct {
	const char *name;
	u64 value;
	const void *array;
	u32 nr, size;
	char string[MOST];
} noted[32];
static unsigned int nr_noted;
static void note(const char *name, u64 value, const void *array, u32 nr, u32 size, const char *string)
{
	noted[nr_noted].name = name;
	noted[nr_noted].value = value;
	noted[nr_noted].array = array;
	noted[nr_noted].nr = nr;
	noted[nr_noted].size = size;
	snprintf(noted[nr_noted++].string, MOST, "%s", string);
}
#define task_pid_vnr(task)		((task)->pid + 1000)
#define _KUNWIND_VTGID_H
#define kunwind_vtgid(tgid)		((tgid) + 1000)
#define LTTNG_TRACEPOINT_ENUM(name, ...)
#define LTTNG_TRACEPOINT_EVENT(name, proto, args, fields)			\
	LTTNG_TRACEPOINT_EVENT_MAP(name, name, EXPAND(proto), EXPAND(args), EXPAND(fields))
#define LTTNG_TRACEPOINT_EVENT_MAP(of, name, proto, args, fields)		\
	static void note_##of(proto) { nr_noted = 0; fields }
#define LTTNG_TRACEPOINT_EVENT_CODE(name, proto, args, locals, before, fields, after)	\
	static void note_##name(proto)						\
	{									\
		struct { locals } locals_, *tp_locvar = &locals_;		\
										\
		nr_noted = 0;							\
		before								\
		fields								\
	}
#define TP_locvar(...)			__VA_ARGS__
#define TP_code_pre(...)		__VA_ARGS__
#define TP_code_post(...)
#define TP_FIELDS(...)			__VA_ARGS__
#define ctf_integer(type, name, value)	note(#name, (u64)(type)(value), NULL, 0, 0, "");
#define ctf_integer_hex			ctf_integer
#define ctf_enum(of, type, name, value)	note(#name, (type)(value), NULL, 0, 0, "");
#define ctf_string(name, value)		note(#name, 0, NULL, 0, 0, value);
#define ctf_array_text(type, name, value, nr)	note(#name, 0, NULL, 0, 0, value);
#define ctf_array_hex(type, name, from, nr)	note(#name, 0, from, nr, sizeof(type), "");
#define ctf_sequence(type, name, from, nr_type, nr)	note(#name, 0, from, (nr_type)(nr), sizeof(type), "");
#define ctf_sequence_hex		ctf_sequence
#define ctf_sequence_text		ctf_sequence
/* The kernel's %*phN is not the C library's. */
#define snprintf(to, size, format, nr, from)	hex(to, from, nr)
#include "../../lttng-probes/instrumentation/events/kunwind.h"
#undef snprintf

/* Returns the number of the field, which the event must have. */
static unsigned int at(const char *name)
{
	unsigned int i;

	for (i = 0; i < nr_noted && strcmp(noted[i].name, name); i++)
		;
	if (i == nr_noted)
		wrong("no field %s", name);
	return i;
}
static bool is(const char *name, u64 value) { return noted[at(name)].value == value; }
static bool says(const char *name, const char *string) { return !strcmp(noted[at(name)].string, string); }
static bool has(const char *name, const void *array, u32 nr, u32 size)
{
	return noted[at(name)].array == array && noted[at(name)].nr == nr && noted[at(name)].size == size;
}

/* ---------------------------------------------------------------- the tests */

#define PRINTS(name, record, want, what)					\
	do {									\
		print_##name(&(record));					\
		if (!tap_ok(!strcmp(text, want), "%s: the text has all fields", what))	\
			printf("# %s\n", text);					\
	} while (0)

static void test_map(void)
{
	static const u8 id[40] = { 0xab, 0xcd, 0xef, [31] = 0x31, [32] = 0x32 };
	struct record_kunwind_map r;
	char longest[65];

	record_kunwind_map(&r, 1, 0x2000000000, 0x3000000000, 0x4000000000, 0x5000000000, 0x12300456,
			   7ULL << 40, id, 3, "/bin/x");
	PRINTS(kunwind_map, r, "tgid=1 start=0x2000000000 end=0x3000000000 offset=0x4000000000 "
	       "bias=0x5000000000 dev=4:74582 ino=7696581394432 build_id=abcdef path=/bin/x", "kunwind_map");
	record_kunwind_map(&r, 1, 2, 3, 4, 5, 0, 0, NULL, 0, "[vdso]");
	PRINTS(kunwind_map, r, "tgid=1 start=0x2 end=0x3 offset=0x4 bias=0x5 dev=0:0 ino=0 build_id= "
	       "path=[vdso]", "kunwind_map without a build-id");
	note_kunwind_map(1, 0x2000000000, 0x3000000000, 0x4000000000, 0x5000000000, 0x12300456,
			 7ULL << 40, id, 3, "/bin/x");
	tap_ok(nr_noted == 10 && is("tgid", 1) && is("vtgid", 1001) && is("start", 0x2000000000) &&
	       is("end", 0x3000000000) && is("offset", 0x4000000000) && is("bias", 0x5000000000) &&
	       is("dev", 0x12300456) && is("ino", 7ULL << 40) && says("build_id", "abcdef") &&
	       says("path", "/bin/x"), "LTTng: the fields of kunwind_map");
	note_kunwind_map(1, 2, 3, 4, 5, 6, 7, id, 40, "");
	hex(longest, id, 32);
	tap_ok(says("build_id", longest), "LTTng: a build-id of more than 32 bytes is cut");
	note_kunwind_map(1, 2, 3, 4, 5, 6, 7, NULL, 0, "");
	tap_ok(says("build_id", ""), "LTTng: no build-id");
}

static void test_processes(void)
{
	struct record_kunwind_unmap unmap;
	struct record_kunwind_exec exec;
	struct record_kunwind_fork fork;
	struct record_kunwind_exit exit;

	record_kunwind_unmap(&unmap, 1, 0x2000000000, 0x3000000000);
	PRINTS(kunwind_unmap, unmap, "tgid=1 start=0x2000000000 end=0x3000000000", "kunwind_unmap");
	record_kunwind_exec(&exec, 1, "name");
	PRINTS(kunwind_exec, exec, "tgid=1 comm=name", "kunwind_exec");
	record_kunwind_fork(&fork, 1, 2);
	PRINTS(kunwind_fork, fork, "parent=1 child=2", "kunwind_fork");
	record_kunwind_exit(&exit, 1);
	PRINTS(kunwind_exit, exit, "tgid=1", "kunwind_exit");
	note_kunwind_unmap(1, 0x2000000000, 0x3000000000);
	tap_ok(nr_noted == 3 && is("tgid", 1) && is("start", 0x2000000000) && is("end", 0x3000000000),
	       "LTTng: the fields of kunwind_unmap");
	note_kunwind_exec(1, "name");
	tap_ok(nr_noted == 2 && is("tgid", 1) && says("comm", "name"), "LTTng: the fields of kunwind_exec");
	note_kunwind_fork(1, 2);
	tap_ok(nr_noted == 3 && is("parent", 1) && is("child", 2) && is("vchild", 1002),
	       "LTTng: the fields of kunwind_fork");
	note_kunwind_exit(1);
	tap_ok(nr_noted == 1 && is("tgid", 1), "LTTng: the field of kunwind_exit");
}

static unsigned long addresses[] = { 0x1000000000, 0x2000000000, 0x3000000000, 0x4000000000 };
static u8 trust[] = { 0, 1, 4, 6 };
static const struct kunwind_stack stack = {
	.addresses = addresses, .trust = trust, .count = 4, .reason = KUNWIND_NO_RULE, .tgid = 11, .tid = 12,
	.syscall = -1, .comm = { 0x656d616e /* name */ }, .id = 7ULL << 44, .inner = 3, .trusts = 2,
	.shared = 1, .base = -5,
};

/* Returns whether the noted fields are those of @stack. */
static bool is_stack(void)
{
	return is("tgid", 11) && is("tid", 12) && is("syscall", -1) && is("reason", KUNWIND_NO_RULE) &&
	       is("stack", 7ULL << 44) && is("base", -5) && is("shared", 1) &&
	       has("addresses", addresses, 3, sizeof(u64)) && has("trust", trust, 2, 1) && is("vtid", 1010);
}

static void test_stacks(void)
{
	static const unsigned long kernel[] = { 1, 2, 3 };
	const struct kunwind_sample sample = {
		.stack = stack, .kernel = kernel, .kernel_count = 3, .clock = KUNWIND_CLOCK_CYCLES,
		.period = 1ULL << 40,
	};
	static struct task_struct task = { .pid = 10, .comm = "task" };
	struct record_kunwind_callstack r;

	record_kunwind_callstack(&r, &stack, 1, 2);
	PRINTS(kunwind_callstack, r, "tgid=11 syscall=-1 reason=no_rule first=1 count=4 "
	       "addresses=0x2000000000,0x3000000000 trust=0104", "part of kunwind_callstack");
	record_kunwind_callstack(&r, &stack, 0, 4);
	PRINTS(kunwind_callstack, r, "tgid=11 syscall=-1 reason=no_rule first=0 count=4 "
	       "addresses=0x1000000000,0x2000000000,0x3000000000,0x4000000000 trust=00010406", "all of it");
	current = &task;
	note_kunwind_callstack_whole(&stack);
	tap_ok(nr_noted == 11 && is_stack() && has("comm", stack.comm, 4, 1),
	       "LTTng: the fields of kunwind_callstack");
	note_kunwind_kernel_callstack(&stack);
	tap_ok(nr_noted == 4 && is("stack", 7ULL << 44) && is("base", -5) && is("shared", 1) &&
	       has("addresses", addresses, 3, sizeof(u64)), "LTTng: the fields of kunwind_kernel_callstack");
	note_kunwind_sample(&sample);
	tap_ok(nr_noted == 14 && is_stack() && is("period", 1ULL << 40) &&
	       is("clock", KUNWIND_CLOCK_CYCLES) &&
	       says("comm", "task") && has("callstack_kernel", kernel, 3, sizeof(u64)),
	       "LTTng: the fields of kunwind_sample");
}

static void test_blocked(void)
{
	const struct kunwind_blocked blocked = {
		.stack = stack, .vtid = 1010, .comm = "blocked", .state = KUNWIND_STATE_STOPPED,
		.compat = true, .args = { 1, 2, 3, 4, 5, 6ULL << 40 }, .holder = 13, .duration = 7ULL << 40,
	};

	note_kunwind_blocked(&blocked);
	tap_ok(nr_noted == 16 && is_stack() && says("comm", "blocked") &&
	       is("state", KUNWIND_STATE_STOPPED) && is("duration", 7ULL << 40) && is("compat", 1) &&
	       is("holder", 13) &&
	       has("args", blocked.args, KUNWIND_SYSCALL_ARGS, sizeof(u64)),
	       "LTTng: the fields of kunwind_blocked");
}

static void test_others(void)
{
	struct record_kunwind_slow_syscall slow;
	struct record_kunwind_fatal_signal fatal;

	record_kunwind_slow_syscall(&slow, 1, 2, 3, true, -0x500000000, 6ULL << 40);
	PRINTS(kunwind_slow_syscall, slow, "tgid=1 tid=2 syscall=3 compat=1 ret=-21474836480 "
	       "duration=6597069766656", "kunwind_slow_syscall");
	record_kunwind_fatal_signal(&fatal, 1, 2, 3, -4, 0x5000000000, 6, true);
	PRINTS(kunwind_fatal_signal, fatal, "tgid=1 tid=2 signal=3 code=-4 address=0x5000000000 "
	       "sender=6 group=1",
	       "kunwind_fatal_signal");
	note_kunwind_slow_syscall(1, 2, 3, true, -0x500000000, 6ULL << 40);
	tap_ok(nr_noted == 6 && is("tgid", 1) && is("tid", 2) && is("syscall", 3) && is("compat", 1) &&
	       is("ret", -0x500000000) && is("duration", 6ULL << 40),
	       "LTTng: the fields of kunwind_slow_syscall");
	note_kunwind_fatal_signal(1, 2, 3, -4, 0x5000000000, 6, false);
	tap_ok(nr_noted == 7 && is("tgid", 1) && is("tid", 2) && is("signal", 3) && is("code", -4) &&
	       is("address", 0x5000000000) && is("sender", 6) && is("group", 0),
	       "LTTng: the fields of kunwind_fatal_signal");
}

static unsigned int nr_events, nr_open;
static void try_perf(const char *name, struct trace_event_call *call)
{
	struct perf_event checked = { NULL }, inherited = { &checked };

	nr_events++;
	if (call->perf_perm && !call->perf_perm(call, &inherited) &&
	    call->perf_perm(call, &checked) == (may_trace_all ? 0 : -EPERM))
		return;
	printf("# %s\n", name);
	nr_open++;
}

static void test_perf(void)
{
	kunwind_events_init();
	for_each_event(try_perf);
	tap_ok(nr_events == 8 && !nr_open, "perf: a user without CAP_PERFMON turns none of the %u events on",
	       nr_events);
	may_trace_all = true;
	for_each_event(try_perf);
	tap_ok(!nr_open, "perf: one with CAP_PERFMON does");
}

int main(void)
{
	test_perf();
	test_map();
	test_processes();
	test_stacks();
	test_blocked();
	test_others();
	return tap_done();
}
