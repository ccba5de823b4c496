/* SPDX-License-Identifier: MIT */
/*
 * exec-test.c - what exec does to a registration: rights, space, and the user
 * to whom it is charged
 */
#include "process-scene.h"

static struct one *executing, *admin;
static void is_unregistered(void)
{
	struct task_struct *before = current;

	unregisters(admin, executing);
	current = before;
}

static void gets_children(void)
{
	struct task_struct *before = current;

	be(admin);
	spin_lock(&kunwind_processes_lock);
	kunwind_process_claim(kunwind_process_find(&executing->pid), BY_HAND, KUNWIND_REGISTER_CHILDREN,
			      &kunwind_process_find(&executing->pid)->registrar);
	spin_unlock(&kunwind_processes_lock);
	current = before;
}

static void is_registered_again(void)
{
	struct task_struct *before = current;

	registers(admin, executing, 0);
	current = before;
}

static void loses_children(void)
{
	kunwind_process_whole_system(false);
	kunwind_process_ended(kunwind_process_disown());
}

/* The registration changes between kunwind_exec and the fresh space. */
static void test_meanwhile(void)
{
	unsigned int taken;

	begin();
	admin = start(1, 0, ROOT);
	executing = start(2, ANN, 0);
	registers(admin, executing, 0);
	executes_as(executing, ANN, 0, usual);
	tap_ok(executed == executing->pid.nr && !spaced_at_exec,
	       "exec: kunwind_exec comes before the new mm has a space that names its mappings");
	at_exec = gets_children;
	executes_as(executing, ANN, 0, usual);
	tap_ok(is(executing, "children") && kunwind_space_find(executing->task.mm)->children == 1,
	       "exec: children that are registered meanwhile count in the fresh space");
	at_exec = is_registered_again;
	executes_as(executing, ANN, 0, usual);
	tap_ok(is(executing, "children") && kunwind_space_find(executing->task.mm)->processes == 1 &&
	       kunwind_space_find(executing->task.mm)->tgid == executing->pid.nr,
	       "exec: a process that is registered again meanwhile names the mappings of its space");
	at_exec = is_unregistered;
	executes_as(executing, ANN, 0, usual);
	tap_ok(is(executing, "absent") && !kunwind_space_find(executing->task.mm) &&
	       exited == executing->pid.nr,
	       "exec: a process that is unregistered meanwhile gets no space");
	registers(admin, executing, 0);
	switches(true);
	be(admin);
	kunwind_process_adopt(executing->task.mm, &executing->pid, true);
	at_exec = loses_children;
	executes_as(executing, ANN, 0, usual);
	tap_ok(is(executing, "-") && !kunwind_space_find(executing->task.mm)->children,
	       "exec: system_wide that is switched off meanwhile does not count in the fresh space");
	unregisters(admin, executing);
	registers(admin, admin, 0);
	taken = kunwind_processes_lock.taken;
	executes_as(executing, ANN, 0, secure);
	tap_ok(kunwind_processes_lock.taken == taken,
	       "exec of a process that is not registered: waits for no lock");
	end("exec, meanwhile");
}

static void test_exec(void)
{
	struct one *root, *ann, *helper;
	unsigned long long missed;

	begin();
	root = start(1, 0, ROOT);
	ann = start(2, ANN, 0);
	registers(ann, ann, KUNWIND_REGISTER_CHILDREN);
	executes_as(ann, ANN, 0, usual);
	tap_ok(is(ann, "children") && kunwind_space_find(ann->task.mm) && executed == ann->pid.nr,
	       "exec: the registration stays, with a space for the new mm");
	tap_ok(follower == &ann->task && follow_why == READ_EXEC &&
	       kunwind_space_find(ann->task.mm)->fresh,
	       "exec: the task reads its mappings before its first instruction");
	no_follow = true;
	executes_as(ann, ANN, 0, usual);
	tap_ok(is(ann, "children") && !kunwind_space_find(ann->task.mm)->fresh,
	       "exec: if the task cannot be asked to read its mappings, its space is not fresh");
	no_follow = false;
	missed = missed_by_memory();
	no_memory = 1;
	executes_as(ann, ANN, 0, usual);
	tap_ok(is(ann, "children") && !kunwind_space_find(ann->task.mm) &&
	       missed_by_memory() == missed + 1,
	       "exec: no memory for a space: the record stays, missed_memory counts it");
	tap_ok(!registers(ann, ann, 0) && is(ann, "children") &&
	       kunwind_space_find(ann->task.mm)->children == 1,
	       "register: a record without a space gets one, which fork copies");
	executes_as(ann, ANN, ROOT, secure);
	tap_ok(is(ann, "absent") && !by_hand_of(ANN),
	       "exec of a set-user-ID program: a user's registration ends");
	ann = start(3, ANN, 0);
	registers(ann, ann, 0);
	executes_as(ann, ANN, 0, unreadable);
	tap_ok(is(ann, "absent"),
	       "exec of a file that its user may not read: a user's registration ends");
	ann = start(4, ANN, 0);
	registers(root, ann, 0);
	executes_as(ann, ANN, ROOT, secure);
	tap_ok(is(ann, "-"), "exec of a set-user-ID program: a registration by CAP_SYS_PTRACE stays");
	unregisters(root, ann);
	registers(start(10, 0, 1ULL << CAP_SYS_PTRACE), ann, 0);
	executes_as(ann, ANN, ROOT, secure);
	tap_ok(is(ann, "-"), "exec of a set-user-ID program: CAP_SYS_PTRACE alone is enough");
	unregisters(root, ann);
	registers(start(10, 0, 1ULL << CAP_SYS_ADMIN), ann, 0);
	executes_as(ann, ANN, ROOT, secure);
	tap_ok(is(ann, "absent"),
	       "exec of a set-user-ID program: CAP_SYS_ADMIN is no right to trace such programs");

	helper = start(5, 0, ROOT);
	helper->task.mm = NULL;
	executes_as(helper, 0, ROOT, usual);
	tap_ok(is(helper, "absent"), "exec of a kernel thread's helper: not registered");
	switches(true);
	helper = start(6, 0, ROOT);
	helper->task.mm = NULL;
	executes_as(helper, 0, ROOT, usual);
	tap_ok(is(helper, "system_wide") && kunwind_space_find(helper->task.mm),
	       "exec under system_wide: a program that a kernel thread starts is registered");
	max_processes = 1;
	missed = missed_by_limit();
	helper = start(9, 0, ROOT);
	helper->task.mm = NULL;
	executes_as(helper, 0, ROOT, usual);
	tap_ok(is(helper, "absent") && missed_by_limit() == missed + 1,
	       "exec under system_wide: beyond max_processes, missed_limit counts the program");
	max_processes = 100;
	ann = forks(start(7, ANN, 0), 8);
	registers(ann, ann, 0);
	executes_as(ann, ANN, ROOT, secure);
	tap_ok(is(ann, "system_wide") && !sees(ANN, ann),
	       "exec of a set-user-ID program under system_wide: only system_wide's registration stays");
	end("exec");
}

/* su, sshd, cron: fork as one user, exec as another. */
static void test_exec_charged(void)
{
	struct one *root, *child;
	unsigned long long missed;
	unsigned int i;

	begin();
	root = start(1, 0, ROOT);
	switches(true);
	child = forks(root, 2);
	tap_ok(is(child, "system_wide") && !shares_of(0),
	       "system_wide: root's processes are in no user's share");
	executes_as(child, ANN, 0, usual);
	tap_ok(is(child, "system_wide") && shares_of(ANN) == 1,
	       "exec as a user: the record is in that user's share");
	executes_as(child, ANN, 0, usual);
	tap_ok(shares_of(ANN) == 1, "exec as the same user: the record counts once");
	executes_as(child, BOB, 0, usual);
	tap_ok(is(child, "system_wide") && shares_of(BOB) == 1,
	       "exec as another user: the record is in the new user's share");
	tap_ok(!shares_of(ANN), "exec as another user: the record has left the first user's share");
	executes_as(child, BOB, ROOT, secure);
	tap_ok(shares_of(BOB) == 1,
	       "exec of a set-user-ID program: the record stays in the real user's share");
	executes_as(child, 0, ROOT, usual);
	tap_ok(is(child, "system_wide") && !shares_of(BOB), "exec as root: the record is in no user's share");

	/* Ann has 4 records, root 1, 5 are free; one more leaves only 4. */
	max_processes = 10;
	for (i = 3; i < 14; i++)
		executes_as(forks(root, i), ANN, 0, usual);
	missed = missed_by_limit();
	tap_ok(shares_of(ANN) == 4,
	       "exec as a user: the user has at most as many records as are free: %u",
	       shares_of(ANN));
	child = forks(root, 20);
	tap_ok(is(child, "system_wide"), "system_wide: root's child has a record");
	executed = 0;
	executes_as(child, ANN, 0, usual);
	tap_ok(!executed && exited == child->pid.nr,
	       "exec as a user whose share is full: kunwind_exit, and no kunwind_exec after it");
	tap_ok(is(child, "absent") && missed_by_limit() == missed + 1,
	       "exec as a user whose share is full: system_wide's registration ends, missed_limit counts it");
	child = forks(root, 21);
	registers(root, child, 0);
	executes_as(child, ANN, 0, usual);
	tap_ok(is(child, "-") && sees(0, child),
	       "exec as a user whose share is full: a registration by hand stays");
	max_processes = 100;
	executes_as(forks(root, 22), BOB, 0, usual);
	child = forks(root, 23);
	executes_as(child, ANN, 0, usual);
	registers(root, child, 0);
	i = shares_of(ANN);
	max_processes = 1;
	executes_as(child, BOB, 0, usual);
	tap_ok(is(child, "-") && shares_of(ANN) == i - 1 && shares_of(BOB) == 1,
	       "exec as a user whose share is full: the record leaves the former user's share once");
	end("exec as another user");
}

int main(void)
{
	test_meanwhile();
	test_exec();
	test_exec_charged();
	return tap_done();
}
