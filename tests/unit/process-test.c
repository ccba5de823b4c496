/* SPDX-License-Identifier: MIT */
/*
 * process-test.c - which processes are registered, by whom, and to whom they
 * are charged, at registration, fork and exit; what a user may do to another's
 * registration
 */
#include "process-scene.h"

/* ------------------------------------------------------------------- tests */

static void test_children(void)
{
	struct one *alone, *parent, *child;
	unsigned long long missed;
	unsigned int taken;

	begin();
	alone = start(1, ANN, 0);
	parent = start(2, ANN, 0);
	registers(alone, alone, 0);
	registers(parent, parent, KUNWIND_REGISTER_CHILDREN);
	child = forks(alone, 3);
	tap_ok(is(alone, "-") && is(child, "absent") && !kunwind_space_find(child->task.mm) && !forked,
	       "fork: without KUNWIND_REGISTER_CHILDREN the child is not registered");
	child = forks(parent, 4);
	tap_ok(is(child, "children") && kunwind_space_find(child->task.mm) && forked == child->pid.nr,
	       "fork: with KUNWIND_REGISTER_CHILDREN the child is registered");
	tap_ok(!named_at_fork && kunwind_space_find(child->task.mm)->tgid == child->pid.nr,
	       "fork: kunwind_map names the child after kunwind_fork, not before");
	tap_ok(follower == &child->task && follow_why == READ_IF_CHANGED,
	       "fork: the child is asked to read its mappings");
	tap_ok(is(forks(child, 5), "children"),
	       "fork: with KUNWIND_REGISTER_CHILDREN the child's child is registered");
	tap_ok(is(forks(start(6, ANN, 0), 7), "absent"),
	       "fork: the child of a process that is not registered is not registered");
	switches(true);
	child = forks(alone, 8);
	tap_ok(is(child, "system_wide") && !sees(ANN, child),
	       "fork under system_wide: without KUNWIND_REGISTER_CHILDREN the child is system_wide's only");
	child = forks(parent, 9);
	tap_ok(is(child, "children,system_wide") && sees(ANN, child),
	       "fork under system_wide: with KUNWIND_REGISTER_CHILDREN the child is registered in both ways");
	tap_ok(!strcmp(told(child, false, ANN), "children"),
	       "status of a user: it does not say that system_wide has registered the process, too");
	child = forks(&all[6], 10);
	switches(false);
	tap_ok(is(&all[8], "absent") && is(child, "absent") && is(&all[9], "children"),
	       "system_wide off: only registrations by hand stay");
	tap_ok(!shares_of(ANN) && by_hand_of(ANN) == 5,
	       "system_wide off: the user's share has no records");
	end("children");

	/* processes without a record, while another one has one */
	begin();
	registers(&all[0], start(1, ANN, 0), KUNWIND_REGISTER_CHILDREN);
	alone = start(2, ANN, 0);
	taken = kunwind_processes_lock.taken;
	child = forks(alone, 3);
	ends(child);
	ends(alone);
	tap_ok(kunwind_processes_lock.taken == taken && !forked && !nr_exited,
	       "fork and exit of a process that is not registered: wait for no lock");
	switches(true);
	forks(start(4, ANN, 0), 5);
	forks(&all[4], 6);
	nr_exited = 0;
	switches(false);
	tap_ok(nr_exited == 2,
	       "system_wide off: each process that is not registered any more has kunwind_exit");
	no_memory = 2;	/* for the space and for the record */
	missed = missed_by_memory();
	child = forks(&all[1], 7);
	tap_ok(is(child, "absent") && missed_by_memory() == missed + 1 && !no_memory,
	       "fork, no memory for a record: no registration, missed_memory counts it");
	end("processes without a record");

	/* whether fork copies the parent's space */
	begin();
	alone = start(1, ANN, 0);
	registers(alone, alone, 0);
	tap_ok(!kunwind_space_find(alone->task.mm)->children,
	       "register without children: fork copies no space");
	registers(alone, alone, KUNWIND_REGISTER_CHILDREN);
	tap_ok(kunwind_space_find(alone->task.mm)->children == 1,
	       "register again with children: fork copies the space");
	registers(alone, alone, 0);
	tap_ok(is(alone, "children") && kunwind_space_find(alone->task.mm)->children == 1,
	       "register once more without children: the children stay registered");
	unregisters(alone, alone);
	registers(alone, alone, 0);
	switches(true);
	be(nobody);
	kunwind_process_adopt(alone->task.mm, &alone->pid, true);
	tap_ok(kunwind_space_find(alone->task.mm)->children == 1, "system_wide on: fork copies the space");
	kunwind_process_whole_system(false);
	parent = forks(alone, 2);
	tap_ok(is(parent, "absent") && !kunwind_space_find(parent->task.mm),
	       "system_wide switched off during fork: the copied space is dropped");
	switches(false);
	tap_ok(is(alone, "-") && !kunwind_space_find(alone->task.mm)->children,
	       "system_wide off: fork copies no space");
	end("copies of spaces");
}

static void test_registrar(void)
{
	struct one *root, *ann, *bob, *child;

	begin();
	root = start(1, 0, ROOT);
	ann = start(2, ANN, 0);
	bob = start(3, BOB, 0);
	registers(root, ann, KUNWIND_REGISTER_CHILDREN);
	child = forks(ann, 4);
	tap_ok(sees(0, child) && !sees(ANN, child) && by_hand_of(0) == 2 && !by_hand_of(ANN),
	       "fork: the child is registered by the user who registered the parent");
	tap_ok(unregisters(ann, child) == -EACCES && unregisters(ann, ann) == -EACCES &&
	       is(child, "children") && is(ann, "children"),
	       "unregister: a user cannot remove root's registration");
	tap_ok(!unregisters(root, child) && is(child,
					       "absent"), "unregister: root can remove its own registration");
	registers(ann, bob, 0);
	tap_ok(unregisters(bob, bob) == -EACCES && is(bob, "-") &&
	       !unregisters(root, bob) && is(bob, "absent"),
	       "unregister: CAP_SYS_ADMIN can remove a user's registration, another user cannot");
	tap_ok(unregisters(bob, bob) == -ENOENT,
	       "unregister: a process that is not registered returns ENOENT");

	tap_ok(!audited, "register, unregister: a user without capabilities leaves nothing in the audit log");

	registers(ann, bob, 0);
	tap_ok(!registers(bob, bob, 0) && by_hand_of(ANN) == 1 && !by_hand_of(BOB),
	       "register: another user's second registration changes nothing");
	tap_ok(registers(bob, bob, KUNWIND_REGISTER_CHILDREN) == -EACCES && is(bob, "-"),
	       "register: another user cannot add flags");
	tap_ok(!registers(ann, bob, KUNWIND_REGISTER_CHILDREN) && is(bob, "children"),
	       "register: the user who registered the process can add flags");
	unregisters(ann, bob);
	registers(ann, bob, 0);
	tap_ok(!registers(root, bob, KUNWIND_REGISTER_CHILDREN) && is(bob, "children") &&
	       sees(ANN, bob),
	       "register: CAP_SYS_ADMIN can add flags");

	switches(true);
	child = forks(bob, 5);
	tap_ok(shares_of(BOB) == 1 && by_hand_of(ANN) == 2,
	       "fork under system_wide: the child is counted for both users");
	tap_ok(unregisters(ann, child) == 0 && is(child, "system_wide") && !sees(ANN, child),
	       "unregister: the system-wide registration stays");
	tap_ok(shares_of(BOB) == 1 && by_hand_of(ANN) == 1,
	       "unregister: the user's count of registrations decreases");
	tap_ok(unregisters(root, child) == -ENOENT && is(child, "system_wide"),
	       "unregister: a system-wide registration cannot be removed");
	end("registrar");
}

static void test_quota(void)
{
	struct one *ann, *child;
	unsigned long long missed;
	unsigned int i;

	begin();
	max_user_processes = 2;
	ann = start(1, ANN, 0);
	registers(ann, ann, KUNWIND_REGISTER_CHILDREN);
	forks(ann, 2);
	missed = missed_by_limit();
	tap_ok(is(forks(ann, 3), "absent") && missed_by_limit() == missed + 1,
	       "fork: a child over max_user_processes is not registered, missed_limit counts it");
	tap_ok(!kunwind_space_find(all[3].task.mm),
	       "fork: a child that is not registered has no space");
	tap_ok(registers(&all[3], &all[3], 0) == -ENOSPC && is(&all[3], "absent"),
	       "register: a process over max_user_processes is refused");
	registers(start(5, 0, ROOT), start(6, ANN, 0), KUNWIND_REGISTER_CHILDREN);
	for (i = 7; i < 10; i++)
		forks(&all[6], i);
	tap_ok(is(&all[9], "children") && by_hand_of(0) == 4,
	       "fork: for children of a process that CAP_SYS_ADMIN registered, no limit applies");
	switches(true);
	child = forks(ann, 4);
	tap_ok(is(child, "system_wide") && by_hand_of(ANN) == 2 && shares_of(ANN) == 1,
	       "fork under system_wide: a child over max_user_processes is registered system-wide");
	tap_ok(kunwind_space_find(child->task.mm),
	       "fork under system_wide: a child registered system-wide has a space");
	end("quota");

	begin();
	max_processes = 10;
	ann = start(1, ANN, 0);
	registers(ann, ann, KUNWIND_REGISTER_CHILDREN);
	switches(true);
	for (i = 2; i < 16; i++)
		forks(ann, i);
	for (i = 2; !strcmp(told(&all[i], true, 0), "children,system_wide"); i++)
		;
	/* Ann has 5 and the parent: four of ten are free, fewer than five. */
	tap_ok(i == 7 && shares_of(ANN) == 5,
	       "fork under system_wide: a user has at most as many records as are free: %u",
	       shares_of(ANN));
	tap_ok(is(&all[7], "children") && by_hand_of(ANN) > 6,
	       "fork under system_wide: a child over the user's share is still registered by hand");
	end("share of system_wide");
}

static void test_known(void)
{
	struct one *root, *ann, *child;
	unsigned long long missed;

	begin();
	root = start(1, 0, ROOT);
	ann = start(2, ANN, 0);
	registers(ann, ann, KUNWIND_REGISTER_CHILDREN);
	switches(true);
	/* the child is visible, but the hook of its fork has not run yet */
	child = start(3, ANN, 0);
	be(root);
	tap_ok(!kunwind_process_adopt(child->task.mm, &child->pid, true) && is(child, "system_wide"),
	       "system_wide: registers a child before the hook of its fork has run");
	be(ann);
	hook_perf_event_fork(&child->task);
	tap_ok(is(child, "children,system_wide") && sees(ANN, child) && shares_of(ANN) == 1,
	       "fork: the hook adds the parent's registration by hand to one by system_wide");
	child = start(4, ANN, 0);
	registers(root, child, 0);
	be(ann);
	hook_perf_event_fork(&child->task);
	tap_ok(is(child, "system_wide") && sees(0, child) && !sees(ANN, child) && forked == child->pid.nr,
	       "fork: a registration by root before the hook stays root's");
	end("known children");

	begin();
	max_user_processes = 1;
	root = start(1, 0, ROOT);
	ann = start(2, ANN, 0);
	registers(ann, ann, KUNWIND_REGISTER_CHILDREN);
	switches(true);
	child = start(3, ANN, 0);
	be(root);
	kunwind_process_adopt(child->task.mm, &child->pid, true);
	missed = missed_by_limit();
	be(ann);
	hook_perf_event_fork(&child->task);
	tap_ok(is(child, "system_wide") && missed_by_limit() == missed + 1,
	       "fork: a known child without its parent's registration is counted as missed");
	end("known child over a limit");
}

/* Limits that are lowered below what is registered, and records that change while they are used. */
static void test_lowered(void)
{
	struct one *root, *ann, *bob;

	begin();
	root = start(1, 0, ROOT);
	ann = start(2, ANN, 0);
	bob = start(3, ANN, 0);
	registers(ann, ann, 0);
	registers(bob, bob, 0);
	registers(root, start(4, BOB, 0), 0);
	switches(true);
	be(root);
	max_processes = 2;
	tap_ok(!kunwind_process_adopt(ann->task.mm, &ann->pid, true) && shares_of(ANN) == 1,
	       "max_processes below the number of records: a user's first one may be system_wide's, too");
	tap_ok(kunwind_process_adopt(bob->task.mm, &bob->pid, true) == -ENOSPC && shares_of(ANN) == 1 &&
	       is(bob, "-"), "max_processes below the number of records: the user's second one may not");
	max_processes = 100;
	/* In exec: the mm is new, and the hook has not run yet. */
	ann->task.mm = &ann->mm[1];
	tap_ok(kunwind_process_adopt(&ann->mm[0], &ann->pid, true) == -ESRCH && is(ann, "system_wide") &&
	       shares_of(ANN) == 1,
	       "system_wide tries a process in exec again: its registration stays");
	ann->task.mm = &ann->mm[0];
	end("lowered");
}

/* How the mappings are read, and what the status has of the memory. */
static void test_read(void)
{
	static struct seq_file m;
	struct one *root, *ann, *child;
	struct kunwind_snapshot *snapshot;
	struct kunwind_space *space;
	char bytes[32];

	begin();
	register_timeout_ms = 4000;
	root = start(1, 0, ROOT);
	ann = start(2, ANN, 0);
	registers(ann, ann, KUNWIND_REGISTER_CHILDREN);
	tap_ok(scan.force && scan.patient && scan.timeout == msecs_to_jiffies(4000),
	       "register: all mappings are read, and the call waits for the tables");
	registers(ann, ann, KUNWIND_REGISTER_CHILDREN);
	tap_ok(scan.force && scan.patient, "register again: all mappings are read, too");
	switches(true);
	be(root);
	kunwind_process_adopt(ann->task.mm, &ann->pid, true);
	tap_ok(!scan.force && !scan.patient && !scan.timeout,
	       "system_wide: what is known is not read again, and nothing waits");
	switches(false);
	space = kunwind_space_find(ann->task.mm);
	snprintf(bytes, sizeof(bytes), "\t%zu\n",
		 sizeof(struct kunwind_process_record) + kunwind_space_bytes(space));
	kunwind_process_show(&m, &init_pid_ns, KUIDT_INIT(0), true);
	tap_ok(strstr(m.text, bytes), "status: the bytes of a process are those of its record and space");

	forks(ann, 3);
	tap_ok(follower == &all[3].task && follow_why == READ_IF_CHANGED,
	       "fork while the parent has read nothing: the child reads its mappings");
	/* the parent has read and announced all */
	snapshot = kunwind_snapshot_alloc(0, NULL, GFP_KERNEL);
	snapshot->announced = snapshot->settled = true;
	spin_lock(&space->lock);
	kunwind_space_publish(space, snapshot);
	space->read_seq = space->map_seq;
	spin_unlock(&space->lock);
	follower = NULL;
	child = forks(ann, 4);
	tap_ok(is(child, "children") && !follower && kunwind_space_find(child->task.mm),
	       "fork after all is read: the child reads nothing");
	end("reads");
}

/* Two processes run in one mm, as after clone() with CLONE_VM. */
static void test_shared_mm(void)
{
	struct one *ann, *child;
	struct kunwind_space *space;

	begin();
	ann = start(1, ANN, 0);
	registers(ann, ann, KUNWIND_REGISTER_CHILDREN);
	registers(ann, ann, KUNWIND_REGISTER_CHILDREN);
	space = kunwind_space_find(ann->task.mm);
	tap_ok(space->tgid == ann->pid.nr, "shared mm: the first process names its mappings");
	child = start(2, ANN, 0);
	child->task.mm = ann->task.mm;
	be(ann);
	hook_perf_event_fork(&child->task);
	tap_ok(space->tgid == ann->pid.nr && space->processes == 2,
	       "shared mm: a child that joins leaves the name as it is");
	ann->signal.live = 0;
	ann->task.mm = NULL;
	hook_exit_files(&ann->task);
	ann->pid.task = NULL;
	tap_ok(kunwind_space_find(child->task.mm) == space && space->tgid == KUNWIND_NO_TGID,
	       "shared mm: no mapping is announced for the first process after its end");
	/* the next process with that number */
	max_user_processes = 1;
	ann = start(3, ANN, 0);
	ann->task.mm = child->task.mm;
	tap_ok(registers(ann, ann, 0) == -ENOSPC && space->tgid == KUNWIND_NO_TGID,
	       "shared mm: no mapping is announced for a process whose registration is refused");
	ann = start(4, ANN, 0);
	ann->task.mm = child->task.mm;
	be(child);
	hook_perf_event_fork(&ann->task);
	tap_ok(is(ann, "absent") && space->tgid == KUNWIND_NO_TGID,
	       "shared mm: no sweep waits for the name of a child whose registration is refused");
	end("shared mm");
}

static struct one *other;
static void it_ends(void) { ends(other); }
static void it_execs(void) { executes_as(other, BOB, 0, usual); }

static void test_register(void)
{
	struct one *root, *ann;
	unsigned long long missed;
	u32 maps, ready;

	begin();
	missed = missed_by_limit() + missed_by_memory();
	spin_lock(&kunwind_processes_lock);
	kunwind_process_missed(-ESRCH);
	spin_unlock(&kunwind_processes_lock);
	tap_ok(missed_by_limit() + missed_by_memory() == missed,
	       "register: a process that has ended is not counted as missed");
	root = start(1, 0, ROOT);
	ann = start(2, ANN, 0);
	scan_error = -EINTR;
	tap_ok(registers(root, ann, 0) == -EINTR && is(ann, "absent"),
	       "register: a failed registration leaves no record");
	scan_error = 0;
	registers(root, ann, 0);
	scan_error = -EINTR;
	tap_ok(registers(root, ann, 0) == -EINTR && is(ann, "-"),
	       "register: a failed second registration leaves the first");
	switches(true);
	unregisters(root, ann);
	be(root);
	scan_error = 0;
	kunwind_process_adopt(ann->task.mm, &ann->pid, true);
	scan_error = -EINTR;
	tap_ok(registers(root, ann, 0) == -EINTR && is(ann, "system_wide") && !sees(0, ann),
	       "register: a failed registration leaves the system-wide registration");
	switches(false);
	scan_error = 0;
	registers(root, ann, 0);
	max_processes = 1;
	tap_ok(registers(root, root, 0) == -ENOSPC && is(root, "absent"),
	       "register: max_processes is the limit");
	max_processes = 100;
	be(root);
	tap_ok(kunwind_process_adopt(ann->task.mm, &ann->pid, true) == -ECANCELED && is(ann, "-"),
	       "system_wide: it registers no process after it was switched off");
	switches(true);
	tap_ok(kunwind_process_adopt(ann->task.mm, &ann->pid, false) == -EAGAIN && is(ann, "system_wide"),
	       "system_wide: it can register a process without reading its mappings");
	other = start(6, BOB, 0);
	max_processes = 1;
	missed = missed_by_limit();
	be(root);
	tap_ok(kunwind_process_adopt(other->task.mm, &other->pid, true) == -ENOSPC &&
	       is(other, "absent") && missed_by_limit() == missed + 1,
	       "system_wide: a process over max_processes is not registered, missed_limit counts it");
	max_processes = 100;
	missed = missed_by_memory();
	no_memory = 1;
	tap_ok(kunwind_process_adopt(other->task.mm, &other->pid, true) == -ENOMEM &&
	       is(other, "absent") && missed_by_memory() == missed + 1,
	       "system_wide, no memory for a space: no registration, missed_memory counts it");
	other->task.mm = NULL;
	tap_ok(kunwind_process_adopt(&other->mm[0], &other->pid, true) == -ESRCH && is(other, "absent"),
	       "system_wide: a process that has ended is not registered");
	other->task.mm = &other->mm[0];
	switches(false);
	scan_error = -ESRCH;
	other = start(3, BOB, 0);
	meanwhile = it_ends;
	tap_ok(registers(root, other, 0) == -ESRCH && is(other, "absent"),
	       "register: a process that ends during the call leaves no record");
	other = start(4, BOB, 0);
	meanwhile = it_execs;
	tap_ok(registers(root, other, 0) == -ESRCH && is(other, "absent"),
	       "register: a process that execs during the call is not registered");
	scan_error = 0;
	other = start(5, BOB, 0);
	be(root);
	executes_as(other, BOB, ROOT, secure);
	be(root);
	tap_ok(kunwind_process_register(&other->mm[0], &other->pid, 0, &maps, &ready) == -ESRCH &&
	       is(other,
		  "absent"), "register: a process that has changed its mm before the call is not registered");
	registers(other, other, 0);
	be(root);
	tap_ok(kunwind_process_register(&other->mm[0], &other->pid, KUNWIND_REGISTER_CHILDREN, &maps,
					&ready) == -ESRCH && is(other, "-"),
	       "register: a call with the mm before exec does not change the registration");
	ann->signal.live = 1;
	be(ann);
	hook_exit_files(&ann->task);
	tap_ok(is(ann, "-"), "exit of one of many threads: the process stays registered");
	ann->signal.live = 0;
	be(root);
	hook_exit_files(&ann->task);
	tap_ok(is(ann, "-"), "exit_files() of a failed fork: the process stays registered");
	ends(ann);
	tap_ok(is(ann, "absent") && exited == ann->pid.nr,
	       "exit of the last thread: the registration ends");
	end("register");
}

static unsigned int dumped(u32 dump)
{
	unsigned int bucket = 0, n = 0;
	struct pid *pid;

	while ((pid = kunwind_process_next(&bucket, dump))) {
		n++;
		put_pid(pid);
	}
	return n;
}

/* The last test, because no process can be registered after it. */
static void test_all(void)
{
	struct kunwind_stats stats;
	struct one *root;
	unsigned int i;

	begin();
	root = start(1, 0, ROOT);
	for (i = 2; i < 7; i++)
		registers(root, start(i, ANN, 0), 0);
	kunwind_process_stats(&stats);
	tap_ok(stats.processes == 5, "status: the number of registered processes");
	tap_ok(dumped(1) == 5 && !dumped(1) && dumped(2) == 5, "dump: each process is reported once");
	ends(&all[2]);
	tap_ok(kunwind_process_stop() && registers(root, start(7, ANN, 0), 0) == -ENOSPC,
	       "unload: no more processes are registered");
	tap_ok(is(&all[3], "-") && is(&all[7], "absent"), "unload: registered processes stay until the end");
	kunwind_process_exit();
	tap_ok(is(&all[3], "absent") && !kunwind_process_any(), "unload: the end drops all records");
	end("all");
}

int main(void)
{
	test_children();
	test_registrar();
	test_quota();
	test_known();
	test_lowered();
	test_read();
	test_shared_mm();
	test_register();
	test_all();
	return tap_done();
}
