// SPDX-License-Identifier: MIT
/*
 * cpus.c - what each processor does: since when its thread runs, and which
 * interrupt it is in
 *
 * Hard interrupts nest; softirqs do not. A softirq belongs to the thread if
 * that thread raised it outside of a hard interrupt, and kept the CPU until the
 * softirq ran. A sched_switch ends all interrupts, because none can be switched
 * away from. So if the tracer lost an exit, this misleads only until the next
 * switch. On PREEMPT_RT, handlers and softirqs run in threads of the kernel,
 * which are the wakers then.
 *
 * Memory: some 150 bytes for each processor; with keep_runs, 16 for each sched_switch,
 * twice that after the array has grown.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpus.h"
#include "interrupt_events.h"

/* linux/interrupt.h */
static const char *const softirqs[CPU_SOFTIRQS] = {
	"high-priority tasklet", "timer", "network send", "network receive", "block", "irq_poll",
	"tasklet", "scheduler", "hrtimer", "RCU",
};

void cpus_free(struct cpus *cpus)
{
	uint32_t i;

	for (i = 0; i < cpus->nr; i++)
		free(cpus->cpu[i].run);
	free(cpus->cpu);
}

void cpus_keep_runs(struct cpus *cpus, struct calls *calls)
{
	cpus->keep_runs = true;
	cpus->idle = calls_string(calls, "[idle]");
}

struct cpu *cpus_of(struct cpus *cpus, const void *trace, int64_t number)
{
	struct cpu *cpu;
	uint32_t i;

	if (number < 0)
		return NULL;
	/* events of one processor often follow each other */
	for (i = 0; i < cpus->nr; i++) {
		cpu = &cpus->cpu[(cpus->last + i) % cpus->nr];
		if (cpu->trace == trace && cpu->number == number) {
			cpus->last = (uint32_t)(cpu - cpus->cpu);
			return cpu;
		}
	}
	if (cpus->nr == cpus->cap) {
		cpus->cap = cpus->cap ? cpus->cap * 2 : 16;
		cpus->cpu = needed(realloc(cpus->cpu, cpus->cap * sizeof(*cpus->cpu)));
	}
	cpus->last = cpus->nr;
	cpu = &cpus->cpu[cpus->nr++];
	*cpu = (struct cpu){ .trace = trace, .number = number, .since = -1, .tid = -1, .softirq = -1 };
	return cpu;
}

/* Returns what follows @prefix in @text; NULL if @text begins otherwise. */
static const char *after(const char *text, const char *prefix)
{
	size_t size = strlen(prefix);

	return strncmp(text, prefix, size) ? NULL : text + size;
}

static void enter(struct cpu *cpu, struct calls *calls, const char *name)
{
	if (cpu->depth < CPU_DEPTH)
		cpu->interrupt[cpu->depth] = calls_string(calls, name);
	cpu->depth++;
}

static void leave(struct cpu *cpu)
{
	if (cpu->depth)
		cpu->depth--;
}

static void handler(struct cpu *cpu, struct calls *calls, const char *what, const bt_event *event)
{
	const char *device = kunwind_field_string(kunwind_event_field(event, "name"));
	char name[128];

	if (strcmp(what, "entry")) {
		leave(cpu);
		return;
	}
	snprintf(name, sizeof(name), "interrupt: %.100s", device && *device ? device : "device");
	enter(cpu, calls, name);
}

static void softirq(struct cpu *cpu, const char *what, const bt_event *event)
{
	int64_t number;

	if (!kunwind_field_integer(kunwind_event_field(event, "vec"), &number) || number < 0 ||
	    number >= CPU_SOFTIRQS)
		return;
	if (!strcmp(what, "raise")) {
		if (!cpu->raised[number])
			cpu->by_thread[number] = !cpu->depth && cpu->softirq < 0;
		cpu->raised[number] = true;
	} else if (!strcmp(what, "entry")) {
		cpu->softirq = (int)number;
		cpu->raised[number] = false;
	} else {
		cpu->softirq = -1;
		/* if it is raised again by now, its own work did so, not the thread */
	}
}

/* @what: "local_timer_entry" and the like */
static void vector(struct cpu *cpu, struct calls *calls, const char *what)
{
	const char *end = strrchr(what, '_');
	char name[128];

	if (!end)
		return;
	if (strcmp(end, "_entry")) {
		leave(cpu);
		return;
	}
	if (after(what, "local_timer"))
		snprintf(name, sizeof(name), "interrupt: timer");
	else if (after(what, "call_function"))
		snprintf(name, sizeof(name), "interrupt: call from another CPU");
	else
		snprintf(name, sizeof(name), "interrupt: %.*s", (int)(end - what), what);
	enter(cpu, calls, name);
}

void cpus_interrupt(struct cpus *cpus, struct calls *calls, const void *trace,
		    const struct kunwind_head *head, const bt_event *event)
{
	const char *in_handler = after(head->name, INTERRUPT_HANDLER);
	const char *in_softirq = after(head->name, INTERRUPT_SOFT);
	const char *in_vector = after(head->name, INTERRUPT_VECTOR);
	struct cpu *cpu;

	if (!in_handler && !in_softirq && !in_vector)
		return;
	cpu = cpus_of(cpus, trace, head->cpu);
	if (!cpu)
		return;
	cpus->interrupts = true;
	if (in_handler)
		handler(cpu, calls, in_handler, event);
	else if (in_softirq)
		softirq(cpu, in_softirq, event);
	else
		vector(cpu, calls, in_vector);
}

static void add_run(struct cpus *cpus, struct cpu *cpu, struct calls *calls, int64_t begin, int64_t tid,
		    const char *comm)
{
	cpu->run = grown(cpu->run, cpu->nr_runs, &cpu->cap_runs, sizeof(*cpu->run));
	cpu->run[cpu->nr_runs++] = (struct sums_time){
		.begin = begin, .key = tid ? calls_string(calls, comm ? comm : "") : cpus->idle,
	};
}

void cpus_switched(struct cpus *cpus, struct cpu *cpu, struct calls *calls, const bt_event *event,
		   int64_t time, int64_t begin)
{
	int64_t previous = -1;

	cpu->since = time;
	cpu->tid = -1;
	cpu->depth = 0;
	cpu->softirq = -1;
	memset(cpu->by_thread, 0, sizeof(cpu->by_thread));
	kunwind_field_integer(kunwind_event_field(event, "next_tid"), &cpu->tid);
	if (!cpus->keep_runs)
		return;
	if (!cpu->nr_runs) {
		kunwind_field_integer(kunwind_event_field(event, "prev_tid"), &previous);
		add_run(cpus, cpu, calls, begin, previous,
			kunwind_field_string(kunwind_event_field(event, "prev_comm")));
	}
	add_run(cpus, cpu, calls, time, cpu->tid,
		kunwind_field_string(kunwind_event_field(event, "next_comm")));
}

uint32_t cpu_in_interrupt(const struct cpu *cpu, struct calls *calls)
{
	char name[64];

	if (cpu->depth)
		return cpu->interrupt[(cpu->depth < CPU_DEPTH ? cpu->depth : CPU_DEPTH) - 1];
	if (cpu->softirq < 0 || cpu->by_thread[cpu->softirq])
		return 0;
	snprintf(name, sizeof(name), "softirq: %s", softirqs[cpu->softirq]);
	return calls_string(calls, name);
}
