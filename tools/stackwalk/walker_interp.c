// SPDX-License-Identifier: MIT
/*
 * walker_interp.c - the functions of an interpreter on a thread's stack
 *
 * A module that a walk has met is examined once. If it is CPython, its description is made of its
 * file, and the core's walker finds the frames that belong to the native frames of the eval loop
 * (core/interp). Each function with a line gets a number, and is said once.
 *
 * Limits: NODES nodes and FRAMES frames of a thread, FUNCTIONS functions in all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp_memory.h"
#include "walk/mem.h"
#include "walker.h"

#define NODES		(1u << 20)
#define FRAMES		65536
#define SLOTS		(2 * STACKWALK_FUNCTIONS_MOST)

struct walked_interp {
	struct python python;
	struct kunwind_interp interp;
	uint64_t bias;
};

/* The functions that were said, by id, digest of check words and position. */
static struct known {
	uint64_t id, position;
	uint32_t check, number;		/* number: plus 1; 0: free */
} known[SLOTS];
static uint32_t nr_known;

/* ------------------------------------------------------------ interpreters */

static void examine(struct walked_module *walked)
{
	struct stackwalk_interpreter message = { .type = STACKWALK_INTERPRETER, .module = walked->id };
	struct walked_interp *interp;
	enum python_result result;
	const char *why = "";

	result = python_find(walker_read_file, walked, &message.python, &why);
	if (result == PYTHON_NONE)
		return;
	message.bias = dump_image_bias(&walked->image, walked->walker->dump->module[walked->id].image);
	interp = result == PYTHON_FOUND ? calloc(1, sizeof(*interp)) : NULL;
	if (interp && kunwind_interp_check(&message.python.desc, &interp->interp)) {
		why = "its description contradicts itself";
		free(interp);
		interp = NULL;
	}
	if (interp) {
		interp->python = message.python;
		interp->bias = message.bias;
		walked->interp = interp;
	}
	message.found = !!interp;
	snprintf(message.why, sizeof(message.why), "%s", why);
	walker_say(&message, sizeof(message));
}

/* Returns the interpreter of the first module of the stack that is one, or NULL. */
static const struct walked_interp *find_interp(struct walker *walker, const struct thread_stack *stack)
{
	struct walked_module *walked;
	size_t i;

	for (i = 0; i < stack->nr; i++) {
		walked = stack->native[i].module < walker->dump->nr_modules ?
				 walker->module[stack->native[i].module] : NULL;
		if (!walked || !walked->matched || !walked->parsed)
			continue;
		if (!walked->examined && !walker->dump->i386)
			examine(walked);
		walked->examined = true;
		if (walked->interp)
			return walked->interp;
	}
	return NULL;
}

/* ------------------------------------------------------------ functions */

static size_t read_thread(void *data, uint64_t addr, void *buf, size_t len)
{
	struct walker *walker = data;
	const size_t got = dump_thread_memory(walker->dump, walker->thread, addr, buf, len);

	return got ? got : walker_read_memory(walker, addr, buf, len);
}

static uint32_t slot_of(const struct kunwind_interp_frame *frame)
{
	const uint64_t key = (frame->id ^ frame->position << 20 ^ frame->check) * 0x9e3779b97f4a7c15ULL;

	return (uint32_t)(key >> 40) % SLOTS;
}

/* Returns the number of the frame's function, which is said if it is new. False: there are too many. */
static bool number_of(const struct walked_interp *interp, struct interp_memory *memory,
		      const struct kunwind_interp_frame *frame, uint32_t *number)
{
	static struct stackwalk_function message;
	uint32_t slot = slot_of(frame);

	for (; known[slot].number; slot = (slot + 1) % SLOTS)
		if (known[slot].id == frame->id && known[slot].position == frame->position &&
		    known[slot].check == frame->check) {
			*number = known[slot].number - 1;
			return true;
		}
	if (nr_known == STACKWALK_FUNCTIONS_MOST)
		return false;
	memset(&message, 0, sizeof(message));
	message.type = STACKWALK_FUNCTION;
	python_name(&interp->python, frame->id, frame->position, interp_copy, memory, &message.of);
	walker_say(&message, sizeof(message));
	*number = nr_known;
	known[slot] = (struct known){ frame->id, frame->position, frame->check, ++nr_known };
	return true;
}

/* ------------------------------------------------------------ a stack */

static uint32_t walk(struct walker *walker, const struct walked_interp *interp, struct thread_stack *stack,
		     unsigned long *addresses, u64 *sp)
{
	static struct kunwind_interp_frame frames[FRAMES];
	static uint32_t functions[FRAMES];
	struct interp_memory memory = { read_thread, walker };
	struct kunwind_mem mem = {
		.memory = (void *)&memory, .left = NODES, .fs = walker->thread->regs.fs_base,
	};
	struct kunwind_interp_walk of = {
		.interp = &interp->interp, .bias = interp->bias, .mem = &mem, .addresses = addresses,
		.sp = sp, .nr = (u32)stack->nr, .complete = stack->complete, .frames = frames,
		.capacity = FRAMES,
	};
	enum kunwind_interp_reason reason;
	uint32_t i;

	for (i = 0; i < stack->nr; i++) {
		addresses[i] = stack->native[i].ip;
		sp[i] = stack->native[i].sp;
	}
	reason = kunwind_interp_walk(&of);
	if (reason == KUNWIND_INTERP_NO_LOOP)
		return 0;
	if (!mem.fs)
		return STACKWALK_LACKS_FS;
	for (i = 0; i < of.count && number_of(interp, &memory, &frames[i], &functions[i]); i++)
		;
	stack->inner = frames;
	stack->function = functions;
	stack->nr_inner = i;
	return i < of.count ? KUNWIND_INTERP_FULL : (uint32_t)reason;
}

uint32_t walker_find_interpreted(struct walker *walker, struct thread_stack *stack)
{
	const struct walked_interp *interp = find_interp(walker, stack);
	unsigned long *addresses;
	uint32_t lack = KUNWIND_INTERP_FULL;
	u64 *sp;

	stack->nr_inner = 0;
	if (!interp)
		return 0;
	addresses = malloc((stack->nr + 1) * sizeof(*addresses));
	sp = malloc((stack->nr + 1) * sizeof(*sp));
	if (addresses && sp)
		lack = walk(walker, interp, stack, addresses, sp);
	free(addresses);
	free(sp);
	return lack;
}
