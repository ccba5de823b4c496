// SPDX-License-Identifier: GPL-2.0-only
/*
 * status.c - the text that read(2) on /dev/kunwind returns
 *
 * uapi/kunwind.h describes the format. The permissions of the task that opened
 * the device count, not those of the reader: only an opener with CAP_SYS_ADMIN
 * in the initial user namespace sees objects, what users are charged for, and
 * the processes of other users. System call context; may sleep.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/user_namespace.h>

#include "base/enabled.h"
#include "base/memory_limit.h"
#include "process/fatal_signal.h"
#include "process/system_wide.h"
#include "stack/callstack.h"
#include "stack/stack_event.h"
#include "space/mm_hooks.h"
#include "space/snapshot.h"
#include "object/builder.h"
#include "object/object.h"
#include "object/object_cache.h"
#include "object/result.h"
#include "process/process.h"
#include "sample/sampler.h"
#include "status.h"
#include "stack/takeover.h"
#include "stack/fault_in.h"
#include "trace/dump.h"
#include "trace/slow_syscall.h"

void kunwind_status_stats(struct kunwind_stats *stats)
{
	*stats = (struct kunwind_stats){ };
	kunwind_process_stats(stats);
	kunwind_object_cache_stats(stats);
	kunwind_builder_stats(stats);
	kunwind_result_stats(stats);
	kunwind_callstack_stats(stats);
}

static void show_stats(struct seq_file *m)
{
	struct kunwind_stats stats;
	unsigned int i;

	kunwind_status_stats(&stats);
#define SHOW(name)	seq_printf(m, "stat\t" #name "\t%llu\n", stats.name)
	SHOW(processes);
	SHOW(missed_limit);
	SHOW(missed_memory);
	SHOW(objects);
	SHOW(table_bytes);
	SHOW(table_rows);
	SHOW(stacks);
	SHOW(frames);
	SHOW(passed_through);
	SHOW(table_builds);
	SHOW(table_refused);
#undef SHOW
	for (i = 0; i < KUNWIND_NR_REASONS; i++)
		seq_printf(m, "reason\t%s\t%llu\n", kunwind_reason_name(i), stats.by_reason[i]);
}

int kunwind_status_show(struct seq_file *m, void *data)
{
	struct file *file = m->private;
	/*
	 * file_ns_capable() audits a refusal, but here the capability only adds
	 * lines. So it is asked only if the opener has it.
	 */
	bool admin = file->f_cred->user_ns == &init_user_ns &&
		     cap_raised(file->f_cred->cap_effective, CAP_SYS_ADMIN) &&
		     file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN);

	seq_printf(m, "version\t%u\t%s\n", KUNWIND_ABI_VERSION, KUNWIND_VERSION);
	seq_printf(m, "param\tenabled\t%c\n", READ_ONCE(kunwind_enabled) ? 'Y' : 'N');
	kunwind_system_wide_show(m);
	kunwind_callstack_show_params(m);
	kunwind_object_cache_show_params(m);
	kunwind_memory_show_params(m);
	kunwind_builder_show_params(m);
	kunwind_space_show_params(m);
	kunwind_process_show_params(m);
	kunwind_mm_hooks_show_params(m);
	kunwind_sampler_show_params(m);
	kunwind_takeover_show(m);
	kunwind_mm_hooks_show(m);
	kunwind_process_show_hooks(m);
	kunwind_fatal_signal_show_hooks(m);
	show_stats(m);
	kunwind_callstack_show(m);
	kunwind_stack_event_show(m);
	kunwind_sampler_show(m);
	kunwind_slow_syscall_show(m);
	kunwind_fault_in_show(m);
	kunwind_dump_show(m);
	kunwind_process_show(m, task_active_pid_ns(current), file->f_cred->euid, admin);
	if (admin) {
		kunwind_object_show_dropped(m);
		seq_printf(m, "stat\tmap_bytes\t%llu\n", kunwind_snapshot_bytes());
		kunwind_memory_show(m);
		kunwind_object_cache_show(m);
	}
	return fatal_signal_pending(current) ? -EINTR : 0;
}
