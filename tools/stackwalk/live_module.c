// SPDX-License-Identifier: MIT
/*
 * live_module.c - read a thread by the kernel module, without stopping it (KUNWIND_IOC_THREAD)
 *
 * Of a thread that sleeps, the module returns all registers, and how often the thread has left a
 * CPU. If both are the same after its stack was copied, it did not run meanwhile.
 * A thread that runs copies its stack itself, before it returns to user mode. That takes as long
 * as other threads have the CPU. So the threads of a process are asked at the same time, by
 * threads of this program.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kunwind.h>

#include "live.h"

#define TRIES		3		/* of a thread that wakes up now and then */
#define PATIENCE_MS	1000
#define MOST_ASKERS	32

static void set_registers(const struct kunwind_thread_stack *from, struct kunwind_registers *regs)
{
	memset(regs, 0, sizeof(*regs));
	memcpy(regs->r, from->regs, sizeof(regs->r));
	regs->fs_base = from->fs_base;
	/* 32-bit code has eight registers */
	regs->valid = (from->state & KUNWIND_THREAD_I386 ? 0xffu : 0xffffu) | 1u << 16;
	regs->flags = from->state & KUNWIND_THREAD_I386 ? KUNWIND_REGISTERS_I386 : 0;
}

static int open_mem(struct live_process *live, const struct live_thread *thread)
{
	struct kunwind_info info;

	if (live->kmod == LIVE_UNKNOWN)
		live->kmod = !kunwind_info(&info) && info.features & KUNWIND_F_THREAD ? LIVE_THERE :
											LIVE_ABSENT;
	return live->kmod == LIVE_THERE ? live_open_file(live, thread->tid, "mem") : -1;
}

static bool take_asleep(struct live_process *live, struct live_thread *thread, int mem)
{
	struct kunwind_thread_stack before, after;
	struct live_stack stack;
	int i;

	for (i = 0; i < TRIES && !kunwind_thread(mem, 0, NULL, 0, &before); i++) {
		set_registers(&before, &stack.regs);
		if (!live_copy_stack(live, thread, &stack))
			return false;
		if (!kunwind_thread(mem, 0, NULL, 0, &after) && after.turns == before.turns &&
		    !memcmp(after.regs, before.regs, sizeof(after.regs))) {
			live_keep_stack(live, thread, &stack, LIVE_ASLEEP);
			return true;
		}
		live_drop_stack(&stack);
	}
	return false;
}

bool live_take_by_module(struct live_process *live, struct live_thread *thread)
{
	const int mem = open_mem(live, thread);
	const bool taken = mem >= 0 && take_asleep(live, thread, mem);

	if (mem >= 0)
		close(mem);
	return taken;
}

/* ------------------------------------------------------------ threads that run */

/* Shared by the threads that ask. */
struct asking {
	struct live_process *live;
	bool (*wanted)(const struct live_thread *thread);
	atomic_size_t next;
	pthread_mutex_t keeps;
};

static void ask_one(struct asking *asking, struct live_thread *thread, uint8_t *buffer)
{
	struct live_process *live = asking->live;
	const int mem = live_open_file(live, thread->tid, "mem");
	struct kunwind_thread_stack of;
	struct live_stack stack = { .nr_copies = 1 };

	if (mem < 0)
		return;
	if (!kunwind_thread(mem, PATIENCE_MS, buffer, KUNWIND_MOST_STACK, &of)) {
		set_registers(&of, &stack.regs);
		stack.copy[0].start = of.stack_start;
		stack.copy[0].len = of.stack_len;
		stack.copy[0].bytes = malloc(of.stack_len + 1UL);
		if (stack.copy[0].bytes)
			memcpy(stack.copy[0].bytes, buffer, of.stack_len);
		pthread_mutex_lock(&asking->keeps);
		if (of.state & KUNWIND_THREAD_ASLEEP)
			take_asleep(live, thread, mem);
		else if (stack.copy[0].bytes && live->copied < LIVE_ALL_STACKS)
			live_keep_stack(live, thread, &stack, LIVE_RUNNING);
		pthread_mutex_unlock(&asking->keeps);
		if (thread->taken != LIVE_RUNNING)
			free(stack.copy[0].bytes);
	}
	close(mem);
}

static void *ask_all(void *data)
{
	struct asking *asking = data;
	struct live_process *live = asking->live;
	uint8_t *buffer = malloc(KUNWIND_MOST_STACK);
	size_t i;

	while (buffer && (i = atomic_fetch_add(&asking->next, 1)) < live->nr_threads)
		if (asking->wanted(&live->thread[i]))
			ask_one(asking, &live->thread[i], buffer);
	free(buffer);
	return NULL;
}

void live_ask(struct live_process *live, bool (*wanted)(const struct live_thread *thread))
{
	struct asking asking = { .live = live, .wanted = wanted };
	pthread_t asker[MOST_ASKERS];
	size_t i, nr = 0, nr_askers = 0;

	if (live->kmod != LIVE_THERE)
		return;
	for (i = 0; i < live->nr_threads; i++)
		nr += wanted(&live->thread[i]);
	pthread_mutex_init(&asking.keeps, NULL);
	while (nr_askers < nr && nr_askers < MOST_ASKERS &&
	       !pthread_create(&asker[nr_askers], NULL, ask_all, &asking))
		nr_askers++;
	while (nr_askers)
		pthread_join(asker[--nr_askers], NULL);
	pthread_mutex_destroy(&asking.keeps);
}
