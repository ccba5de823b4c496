/* SPDX-License-Identifier: MIT */
/*
 * status-test.c - the text of the status: which parts it has, who sees objects and
 * other users' processes, and which file counts what
 *
 * The parts of other files print their names only.
 */
#include "kernel.h"
#include "tap.h"

#define _KUNWIND_ENABLED_H
#define _KUNWIND_MEMORY_LIMIT_H
#define _KUNWIND_FATAL_SIGNAL_H
#define _KUNWIND_SYSTEM_WIDE_H
#define _KUNWIND_CALLSTACK_H
#define _KUNWIND_STACK_EVENT_H
#define _KUNWIND_MM_HOOKS_H
#define _KUNWIND_SNAPSHOT_H
#define _KUNWIND_BUILDER_H
#define _KUNWIND_OBJECT_H
#define _KUNWIND_OBJECT_CACHE_H
#define _KUNWIND_RESULT_H
#define _KUNWIND_PROCESS_H
#define _KUNWIND_SAMPLER_H
#define _KUNWIND_TAKEOVER_H
#define _KUNWIND_FAULT_IN_H
#define _KUNWIND_DUMP_H
#define _KUNWIND_SLOW_SYSCALL_H
#include "../../kmod/core/kunwind_core.h"
#include "../../kmod/uapi/kunwind.h"

static bool kunwind_enabled;

/* Who opened the device: not necessarily who reads. */
static struct { struct user_namespace *user_ns; u64 cap_effective; kuid_t uid, euid; } opener;
struct file { __typeof__(opener) *f_cred; };
static bool permitted;		/* what the security modules say */
static unsigned int asked;	/* each refusal is in the audit log */
static bool file_ns_capable(const struct file *file, struct user_namespace *ns, int cap)
{
	if (file->f_cred != &opener || ns != &init_user_ns || cap != CAP_SYS_ADMIN)
		wrong("another capability");
	asked++;
	return permitted;
}

/* ------------------------------------------- the parts of other files */

#define PART(name)	static void kunwind_##name(struct seq_file *m) { seq_puts(m, #name "\n"); }
PART(system_wide_show)
PART(callstack_show_params)
PART(object_cache_show_params)
PART(memory_show_params)
PART(builder_show_params)
PART(space_show_params)
PART(process_show_params)
PART(mm_hooks_show_params)
PART(sampler_show_params)
PART(takeover_show)
PART(mm_hooks_show)
PART(process_show_hooks)
PART(fatal_signal_show_hooks)
PART(callstack_show)
PART(stack_event_show)
PART(sampler_show)
PART(slow_syscall_show)
PART(fault_in_show)
PART(dump_show)
PART(object_show_dropped)
PART(memory_show)
PART(object_cache_show)

static u64 kunwind_snapshot_bytes(void) { return 5ULL << 40; }

static void kunwind_process_show(struct seq_file *m, struct pid_namespace *ns, kuid_t uid, bool all)
{
	seq_printf(m, "processes of %u in namespace %u%s\n", uid.val, ns->ns.inum, all ? ", all" : "");
}

static unsigned int counted;
static void kunwind_process_stats(struct kunwind_stats *stats)
{
	if (memchr_inv(stats, 0, sizeof(*stats)))
		wrong("the counters are not cleared first");
	stats->processes = 101;
	stats->missed_limit = 102;
	stats->missed_memory = 103;
	counted |= 1;
}
static void kunwind_object_cache_stats(struct kunwind_stats *stats)
{
	stats->objects = 104;
	counted |= 2;
}
static void kunwind_builder_stats(struct kunwind_stats *stats)
{
	stats->table_builds = 105;
	stats->table_refused = 106;
	counted |= 4;
}
static void kunwind_result_stats(struct kunwind_stats *stats)
{
	stats->table_bytes = 7ULL << 40;
	stats->table_rows = 108;
	counted |= 8;
}
static void kunwind_callstack_stats(struct kunwind_stats *stats)
{
	u32 i;

	stats->stacks = 109;
	stats->frames = 110;
	stats->passed_through = 111;
	for (i = 0; i < KUNWIND_NR_REASONS; i++)
		stats->by_reason[i] = 200 + i;
	counted |= 16;
}

#include "../../kmod/status.c"

/* --------------------------------------------------------------- tests */

static struct pid_namespace inner = { .ns = { 7 } };
static struct task_struct reader = { .pid_ns = &inner };
static struct file file = { &opener };
static struct seq_file m;

static int show(void)
{
	current = &reader;
	m = (struct seq_file){ .private = &file };
	asked = 0;
	return kunwind_status_show(&m, NULL);
}

/* How often the status has this line. */
static unsigned int has(const char *line)
{
	const char *at = m.text;
	unsigned int found = 0;

	for (; *at; at = strchr(at, '\n') + 1)
		found += !strncmp(at, line, strlen(line)) && at[strlen(line)] == '\n';
	return found;
}

static unsigned int nr_lines(void)
{
	const char *at = m.text;
	unsigned int nr = 0;

	for (; *at; at = strchr(at, '\n') + 1)
		nr++;
	return nr;
}

static const char *const for_all[] = {
	"system_wide_show", "callstack_show_params", "object_cache_show_params", "memory_show_params",
	"builder_show_params", "space_show_params", "process_show_params", "mm_hooks_show_params",
	"sampler_show_params", "takeover_show", "mm_hooks_show", "process_show_hooks",
	"fatal_signal_show_hooks", "callstack_show", "stack_event_show", "sampler_show",
	"slow_syscall_show", "fault_in_show", "dump_show",
	"stat\tprocesses\t101", "stat\tmissed_limit\t102", "stat\tmissed_memory\t103",
	"stat\tobjects\t104", "stat\ttable_builds\t105", "stat\ttable_refused\t106",
	"stat\ttable_bytes\t7696581394432", "stat\ttable_rows\t108", "stat\tstacks\t109",
	"stat\tframes\t110", "stat\tpassed_through\t111",
};
static const char *const for_admins[] = {
	"object_show_dropped", "stat\tmap_bytes\t5497558138880", "memory_show", "object_cache_show",
};

/* Besides these: version, enabled, processes, and a line for each reason. */
#define LINES	(ARRAY_SIZE(for_all) + 3 + KUNWIND_NR_REASONS)

static void test_parts(void)
{
	char line[80];
	bool good = true;
	u32 i;

	opener = (__typeof__(opener)){ &init_user_ns, 0, { 1000 }, { 1001 } };
	permitted = true;
	kunwind_enabled = true;
	tap_ok(!show() && nr_lines() == LINES, "all: the number of lines");
	for (i = 0; i < ARRAY_SIZE(for_all); i++)
		if (has(for_all[i]) != 1)
			good = false, printf("# %u times: %s\n", has(for_all[i]), for_all[i]);
	tap_ok(good, "all: each part and each counter is there once, with its own value");
	for (good = true, i = 0; i < KUNWIND_NR_REASONS; i++) {
		snprintf(line, sizeof(line), "reason\t%s\t%u", kunwind_reason_name(i), 200 + i);
		good &= has(line) == 1;
	}
	tap_ok(good, "all: each reason has its own count");
	snprintf(line, sizeof(line), "version\t%u\t%s\n", KUNWIND_ABI_VERSION, KUNWIND_VERSION);
	tap_ok(!strncmp(m.text, line, strlen(line)), "all: the version is the first line");
	tap_ok(has("param\tenabled\tY") == 1, "all: the module is switched on");
	kunwind_enabled = false;
	show();
	tap_ok(has("param\tenabled\tN") == 1, "all: the module is switched off");
	tap_ok(has("processes of 1001 in namespace 7") == 1,
	       "processes: those of the opener's effective user, numbered as the reader sees them");
}

static void admin(bool want, const char *what)
{
	bool good = true;
	u32 i;

	show();
	for (i = 0; i < ARRAY_SIZE(for_admins); i++)
		good &= has(for_admins[i]) == want;
	tap_ok(good && nr_lines() == LINES + want * ARRAY_SIZE(for_admins) &&
	       has("processes of 1001 in namespace 7, all") == want, "%s: %s objects and all processes",
	       what, want ? "sees" : "does not see");
}

static void test_admin(void)
{
	struct user_namespace other = { &init_user_ns, { 1001 } };

	opener = (__typeof__(opener)){ &init_user_ns, ~(1ULL << CAP_SYS_ADMIN), { 1000 }, { 1001 } };
	permitted = true;
	admin(false, "all capabilities except CAP_SYS_ADMIN");
	tap_ok(!asked, "without the capability, nothing is asked that could be in the audit log");
	opener.cap_effective = 1ULL << CAP_SYS_ADMIN;
	admin(true, "CAP_SYS_ADMIN");
	permitted = false;
	admin(false, "CAP_SYS_ADMIN that a security module refuses");
	permitted = true;
	opener.user_ns = &other;
	admin(false, "CAP_SYS_ADMIN of another user namespace");
	tap_ok(!asked, "in another user namespace, nothing is asked that could be in the audit log");
}

static void test_end(void)
{
	dying_task = &reader;
	tap_ok(show() == -EINTR, "a fatal signal ends the read with an error");
	dying_task = NULL;
	tap_ok(!show(), "without one, the read succeeds");
}

static void test_stats(void)
{
	struct kunwind_stats stats;

	memset(&stats, 0xff, sizeof(stats));
	counted = 0;
	kunwind_status_stats(&stats);
	tap_ok(counted == 31 && stats.processes == 101 && stats.objects == 104 && stats.stacks == 109,
	       "counters: all files are asked");
	tap_ok(!stats.size && !stats.reserved && !memchr_inv(stats.by_reason + KUNWIND_NR_REASONS, 0,
		sizeof(stats.by_reason) - KUNWIND_NR_REASONS * sizeof(u64)),
	       "counters: what no file sets is 0");
}

int main(void)
{
	test_parts();
	test_admin();
	test_end();
	test_stats();
	return tap_done();
}
