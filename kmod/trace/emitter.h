/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * emitter.h - memory and probe of the event kunwind_callstack, while it is on
 */
#ifndef _KUNWIND_EMITTER_H
#define _KUNWIND_EMITTER_H

#include <linux/sched.h>
#include <linux/types.h>

#include "../core/kunwind_core.h"
#include "../uapi/kunwind.h"

struct kunwind_stack_ids;
struct pt_regs;

#define KUNWIND_CONTEXTS	4	/* interrupt_context_level(): task, softirq, hardirq, NMI */
#define KUNWIND_MARK_BITS	10

/* Memory for a stack, of one context of one CPU. */
struct kunwind_scratch {
	bool busy;
	u8 trust[KUNWIND_MAX_FRAMES];	/* between two uses: REGISTERS, then only CFI */
	unsigned long addresses[KUNWIND_MAX_FRAMES];
};

/* The registers of a system call, without rax, which its end changes. */
#define KUNWIND_CALL_REGS	20
/* Of one CPU: threads whose stack is known, and sets of notes of walks. */
#define KUNWIND_KNOWN_BITS	4
#define KUNWIND_NOTE_BITS	3
#define KUNWIND_NOTE_WAYS	4

/* An id, and the thread whose stack it is: its start time, number and name. */
struct kunwind_stack_owner {
	u64 id, born;
	u64 comm[TASK_COMM_LEN / sizeof(u64)];
	pid_t tid;
	u32 slot;			/* see kunwind_stack_ids_define() */
};

/* The stack of a thread in one system call (stack_context.c). */
struct kunwind_known_stack {
	u64 call;			/* value of ->call[] then; 0: none is known */
	struct kunwind_stack_owner owner;
	unsigned long regs[KUNWIND_CALL_REGS];
};

/* A walk, and the id that its stack got last. */
struct kunwind_stack_note {
	struct kunwind_stack_owner owner;
	int syscall;
	bool deep;			/* the last walk was too long for a note */
	struct kunwind_replay replay;
};

/* Notes whose walks begin at an rip and rsp with the same hash. */
struct kunwind_note_set {
	u32 key[KUNWIND_NOTE_WAYS];	/* other bits of the hash */
	u32 next;			/* the way that is used again next */
	struct kunwind_stack_note note[KUNWIND_NOTE_WAYS];
};

struct kunwind_emitter {
	/* Places of tasks, by hash of the task; several tasks may share one. */
	u64 mark[1 << KUNWIND_MARK_BITS];	/* see stack_event.c */
	u64 call[1 << KUNWIND_MARK_BITS];	/* number of the task's last system call; 0: none */
	bool probing;				/* each call of sys_enter changes ->call[] */
	struct {
		struct kunwind_scratch *scratch;	/* KUNWIND_CONTEXTS of them */
		struct kunwind_stack_ids *ids;
		struct kunwind_note_set *notes;		/* 1 << KUNWIND_NOTE_BITS of them */
		struct kunwind_known_stack known[1 << KUNWIND_KNOWN_BITS];
	} cpu[];					/* each possible CPU */
};

/* NULL: the event is off. Read with preemption off, in any context. */
extern struct kunwind_emitter __rcu *kunwind_emitter;

/*
 * Sets the probe of sys_enter, which is registered while the event is on. Call
 * it once, in the module's init. The event may be on before that; until then it
 * has memory, and no probe.
 */
void kunwind_emitter_init(void (*probe)(void *data, struct pt_regs *regs, long id));
/*
 * Call it when nothing emits the event any more. On return the probe is not
 * registered, and the memory is freed. May sleep.
 */
void kunwind_emitter_exit(void);

#endif /* _KUNWIND_EMITTER_H */
