/* SPDX-License-Identifier: MIT */
/*
 * callstack-scene.h - what callstack.c needs of the kernel; include it after
 * kernel.h, pt-regs.h and core/kunwind_core.h, and before callstack.c
 */
#ifndef _TEST_CALLSTACK_SCENE_H
#define _TEST_CALLSTACK_SCENE_H

#define IS_ENABLED(option)	0
#define DEFINE_PER_CPU(type, name)	__typeof__(type) name
#define alloc_percpu(type)	((type *)kzalloc(sizeof(type), GFP_KERNEL | __GFP_NOWARN))
#define free_percpu(p)		kfree(p)
/* Code runs on CPU 0. What CPU 1 has is set by tests. */
static int cpus = 1;
#define per_cpu_ptr(p, cpu)							\
	({									\
		static __typeof__(*(p)) other_;					\
										\
		(cpu) ? of_other_cpu(p, &other_) : (p);				\
	})
#define of_other_cpu(p, first)	((__typeof__(p))other_cpu(p, first))
static inline void *other_cpu(const void *p, void *first)
{
	static struct { const void *p; void *other; } known[8];
	u32 i;

	for (i = 0; known[i].p && known[i].p != p; i++)
		if (i + 2 == ARRAY_SIZE(known))
			wrong("too many variables");
	if (!known[i].p) {
		known[i].p = p;
		known[i].other = first;
	}
	return known[i].other;
}
#define this_cpu_ptr(p)		on_this_cpu(p)
#define this_cpu_read(x)	(x)
#define this_cpu_write(x, v)	((x) = (v))
#define this_cpu_add(x, n)	((x) += (n))
#define this_cpu_inc(x)		((x)++)
#define this_cpu_cmpxchg(x, old, new)	({ u32 is_ = (x); if (is_ == (old)) (x) = (new); is_; })
#define for_each_possible_cpu(cpu)	for (cpu = 0; cpu < cpus; cpu++)
static bool irqs_off;
#define irqs_disabled()			irqs_off
#define PF_VCPU			0x1
static struct pt_regs user_regs;
#define task_pt_regs(task)	((void)(task), &user_regs)
enum { IN_TASK, IN_SOFTIRQ, IN_HARDIRQ, IN_NMI };
static u8 level;
#define interrupt_context_level()	level

#define _KUNWIND_HOOK_H
static bool hook_missing;
#define kunwind_hook_missing()	hook_missing
#define breakpoint		original_at	/* another name for this file; 0: no breakpoint */

#endif /* _TEST_CALLSTACK_SCENE_H */
