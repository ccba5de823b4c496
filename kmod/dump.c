// SPDX-License-Identifier: GPL-2.0-only
/*
 * dump.c - report all known mappings again, for a tracer that starts later, and
 * the threads that are blocked
 *
 * The number of events is limited, because users choose the number of processes,
 * mappings and threads: PROCESS_MAX mappings of one process, and USER_MAX mappings
 * and threads of all processes of a user without CAP_SYS_ADMIN (stack/blocked.c has
 * the limit for the threads of one process). What is beyond the limits is counted.
 *
 * The mappings of a process are reported a few at a time. In between, no lock
 * is held, and the process may end, call exec or change its mappings: each of
 * these emits its own event. So the process is looked up again each time. No
 * lock is held while events are emitted (trace/emit.h). Task context; may sleep.
 */
#include <linux/atomic.h>
#include <linux/export.h>
#include <linux/limits.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/seq_file.h>

#include "base/hook.h"
#include "base/quota.h"
#include "process/process.h"
#include "space/snapshot.h"
#include "stack/blocked.h"
#include "trace/dump.h"
#include "trace/kunwind_events.h"

#define PROCESS_MAX	4096U
#define USER_MAX	(64 * PROCESS_MAX)

static bool dumping;			/* one dump at a time */
static u32 dump_nr;			/* number of the current dump, never 0; only the dump's */
static atomic64_t left_out;

/* Returns whether the event is off, or mappings may be old because a hook is missing. */
static bool unwanted(void)
{
	return !trace_kunwind_map_enabled() || kunwind_hook_missing();
}

static void dump_process(struct pid *pid)
{
	struct kunwind_snapshot *snapshot;
	u32 nr, room, emitted = 0;
	u64 at = 0;

	while (at != U64_MAX && !unwanted()) {
		snapshot = kunwind_process_snapshot(pid);
		if (!snapshot)
			return;
		room = kunwind_quota_dump(snapshot->quota, dump_nr, 0, USER_MAX);
		room = min(room, PROCESS_MAX - emitted);
		if (room) {
			nr = kunwind_snapshot_dump(snapshot, pid_nr(pid), &at, room);
			kunwind_quota_dump(snapshot->quota, dump_nr, nr, USER_MAX);
			emitted += nr;
		} else {
			atomic64_add(kunwind_snapshot_known(snapshot, at), &left_out);
			at = U64_MAX;
		}
		kunwind_snapshot_put(snapshot);
		cond_resched();
	}
}

/* After the mappings, which name the frames. */
static void dump_blocked(struct kunwind_blocked_report *report, struct pid *pid)
{
	struct kunwind_snapshot *snapshot = kunwind_process_snapshot(pid);

	if (!snapshot)
		return;
	kunwind_blocked_process(report, pid, snapshot->quota, dump_nr, USER_MAX);
	kunwind_snapshot_put(snapshot);
}

void kunwind_dump_all(void)
{
	struct kunwind_blocked_report *report = NULL;
	unsigned int bucket = 0;
	struct pid *pid;

	/* The only caller is one work item, which does not run twice at a time. */
	if (WARN_ON_ONCE(xchg(&dumping, true)))
		return;
	if (!++dump_nr)
		dump_nr = 1;
	if (kunwind_blocked_wanted())
		report = kunwind_blocked_begin();
	while ((report || !unwanted()) && (pid = kunwind_process_next(&bucket, dump_nr))) {
		dump_process(pid);
		if (report && kunwind_blocked_wanted())
			dump_blocked(report, pid);
		put_pid(pid);
	}
	kunwind_blocked_end(report);
	smp_store_release(&dumping, false);
}
EXPORT_SYMBOL_GPL(kunwind_dump_all);

void kunwind_dump_show(struct seq_file *m)
{
	seq_printf(m, "stat\tdump_left_out\t%llu\n", atomic64_read(&left_out));
	kunwind_blocked_show(m);
}
