// SPDX-License-Identifier: MIT
/*
 * report.c - count verdicts by class, and print them
 *
 * Prints tab-separated lines:
 *	steps  PROGRAM  STEPS  POSITIONS  RIGHT  EXPLAINED  WRONG  FALSE  SHORTER  OPEN
 *	sample  PROGRAM  WHO  POSITIONS  RIGHT  SHORTER  WRONG	WHO: core, libdw, libunwind
 *	trust  PROGRAM  TRUST  COUNT	of first wrong addresses
 *	method  PROGRAM  METHOD  STEPS	without CFI, in all walks
 *	class  PROGRAM  COUNT  VERDICT  REASON  FUNCTION+OFFSET  OBJECT  LIBDW  LIBUNWIND  SAMPLED
 * REASON of "wrong" is the trust of the first wrong address. LIBDW and
 * LIBUNWIND are right/shorter/wrong: their results at the positions of the
 * class that they walked. SAMPLED: how many positions of the class are in the
 * sample.
 */
#include <err.h>

#include "report.h"

#define ASK_ALWAYS	8		/* first positions of each class that all three walk */
#define MOST_CLASSES	65536
#define MOST_EXPLAINED	8		/* frames before the wrong one that are looked up */

struct report_class {
	u64 culprit, count, sampled;
	enum verdict verdict;
	const char *reason;
	bool explained;
	u64 libdw[3], libunwind[3];
	char name[400];
};

static struct {
	char object[128], function[128];
} explained[256];
static u32 nr_explained;

void report_read_explained(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[1024];

	if (!file)
		err(2, "%s", path);
	while (nr_explained < ARRAY_SIZE(explained) && fgets(line, sizeof(line), file))
		if (*line != '#' && sscanf(line, "%127[^\t]\t%127[^\t]\t",
					   explained[nr_explained].object,
					   explained[nr_explained].function) == 2)
			nr_explained++;
	fclose(file);
}

/* @name: from others_name(). */
static bool is_explained(const char *name)
{
	const char *object = strchr(name, '\t'), *plus = strchr(name, '+'), *base;
	u32 i;

	if (!object || !plus || plus > object)
		return false;
	base = strrchr(object, '/');
	base = base ? base + 1 : object + 1;
	for (i = 0; i < nr_explained; i++)
		if ((*explained[i].object == '*' || !strcmp(explained[i].object, base)) &&
		    strlen(explained[i].function) == (size_t)(plus - name) &&
		    !strncmp(explained[i].function, name, plus - name))
			return true;
	return false;
}

/*
 * Whether the list has one of the last functions before the first wrong
 * address.
 */
static bool any_explained(struct target *target, const struct verdict_stack *stack, u32 at)
{
	char name[400];
	u32 i;

	for (i = 0; i < at && i < MOST_EXPLAINED; i++) {
		others_name(target, stack->address[at - 1 - i] - (at - 1 - i != 0), name,
			    sizeof(name));
		if (is_explained(name))
			return true;
	}
	return false;
}

static struct report_class *class_of(struct report *report, struct target *target,
				     enum verdict verdict, u64 culprit, const char *reason,
				     bool is_listed)
{
	struct report_class *class;
	u32 i;

	for (i = 0; i < report->nr_classes; i++) {
		class = &report->classes[i];
		if (class->culprit == culprit && class->verdict == verdict &&
		    class->reason == reason && class->explained == is_listed)
			return class;
	}
	if (report->nr_classes == MOST_CLASSES)
		return &report->classes[0];
	if (report->nr_classes % 256 == 0)
		report->classes = realloc(report->classes,
					  (report->nr_classes + 256) * sizeof(*class));
	class = &report->classes[report->nr_classes++];
	*class = (struct report_class){ .culprit = culprit, .verdict = verdict, .reason = reason,
					.explained = is_listed };
	others_name(target, culprit, class->name, sizeof(class->name));
	return class;
}

/* 0: right, 1: shorter, 2: wrong. */
static u32 grade(enum verdict verdict)
{
	return verdict == VERDICT_WRONG ? 2 : verdict == VERDICT_SHORTER || verdict == VERDICT_FALSE;
}

static void show(struct target *target, const char *who, const struct verdict_stack *stack)
{
	char name[400];
	u32 i;

	for (i = 0; i < stack->nr && i < 40; i++) {
		others_name(target, stack->address[i] - !!i, name, sizeof(name));
		fprintf(stderr, "  %s %2u %s %016llx %s\n", who, i,
			*who == 'o' ? kunwind_trust_name(stack->trust[i]) : "",
			(unsigned long long)stack->address[i], name);
	}
	if (*who == 'o')
		fprintf(stderr, "  %s %s\n", who, stack->reason);
}

static void count(struct report *report, const struct report_class *class, enum verdict verdict,
		  u8 trust)
{
	if (class && class->explained && !class->libdw[0]) {
		report->explained++;
		return;
	}
	report->verdict[verdict]++;
	if (verdict == VERDICT_WRONG)
		report->trust[trust]++;
}

static bool first_of_function(const struct report *report, const struct report_class *class)
{
	const size_t length = strcspn(class->name, "+");
	const struct report_class *other;

	for (other = report->classes; other < class; other++)
		if (other->verdict == class->verdict && !strncmp(other->name, class->name, length + 1))
			return false;
	return true;
}

void report_add(struct report *report, struct target *target, const struct shadow_thread *thread,
		pid_t tid, const struct kunwind_regs *regs, const struct verdict_stack *ours,
		bool sample)
{
	static struct verdict_stack theirs, unwind, truth;
	const u64 ip = regs->r[KUNWIND_RA], sp = regs->r[KUNWIND_RSP];
	struct memory *memory = target->memory;
	struct report_class *class = NULL;
	u32 at, where, dw, unw, had = 0;
	enum verdict verdict;

	verdict = verdict_of(ours, thread, memory, ip, sp, &at);
	report->positions++;
	if (verdict != VERDICT_RIGHT) {
		const char *reason = ours->reason;

		if (verdict == VERDICT_WRONG)
			reason = kunwind_trust_name(ours->trust[at]);
		/* A return address minus one is in the call instruction. */
		class = class_of(report, target, verdict,
				 ours->address[at ? at - 1 : 0] - (at > 1), reason,
				 verdict >= VERDICT_FALSE && any_explained(target, ours, at));
		class->count++;
	}
	if (!sample && (!class || class->count > ASK_ALWAYS)) {
		count(report, class, verdict, ours->trust[at]);
		return;
	}
	theirs.nr = others_libdw(target, tid, regs, theirs.address, VERDICT_MOST);
	dw = grade(verdict_of(&theirs, thread, memory, ip, sp, &where));
	unwind.nr = others_libunwind(target, tid, unwind.address, VERDICT_MOST);
	unw = grade(verdict_of(&unwind, thread, memory, ip, sp, &where));
	if (sample) {
		report->sampled++;
		report->ours[grade(verdict)]++;
		report->libdw[dw]++;
		report->libunwind[unw]++;
	}
	if (class) {
		class->libdw[dw]++;
		class->libunwind[unw]++;
		class->sampled += sample;
	}
	count(report, class, verdict, ours->trust[at]);
	if (class && class->count == 1 && report->stacks &&
	    (report->stacks > 1000 || first_of_function(report, class))) {
		report->stacks--;
		fprintf(stderr, "%s at %u, reason %s: %s\n", verdict_names[verdict], at,
			class->reason, class->name);
		truth.nr = shadow_truth(thread, memory, ip, sp, 0, truth.address, VERDICT_MOST, &had);
		show(target, "truth", &truth);
		show(target, "ours ", ours);
		show(target, "libdw", &theirs);
		show(target, "unwind", &unwind);
	}
}

static int by_count(const void *a, const void *b)
{
	const struct report_class *x = a, *y = b;

	if (x->verdict != y->verdict)
		return y->verdict - x->verdict;
	return (y->count > x->count) - (y->count < x->count);
}

static void print_name(const struct report *report, FILE *to, const char *kind)
{
	fprintf(to, "%s\t%s%s", kind, report->program, report->suffix);
}

static void print_number(FILE *to, u64 number)
{
	fprintf(to, "\t%llu", (unsigned long long)number);
}

static void print_sample(const struct report *report, FILE *to, const char *who, const u64 *grades)
{
	u32 i;

	print_name(report, to, "sample");
	fprintf(to, "\t%s", who);
	print_number(to, report->sampled);
	for (i = 0; i < 3; i++)
		print_number(to, grades[i]);
	fputc('\n', to);
}

/* A line for each count that is not 0. */
static void print_counts(const struct report *report, FILE *to, const char *what,
			 const u64 *counts, u32 nr, const char *(*name)(unsigned int))
{
	u32 i;

	for (i = 0; i < nr; i++) {
		if (!counts[i])
			continue;
		print_name(report, to, what);
		fprintf(to, "\t%s", name(i));
		print_number(to, counts[i]);
		fputc('\n', to);
	}
}

static void print_grades(FILE *to, const u64 *grades)
{
	fprintf(to, "\t%llu/%llu/%llu", (unsigned long long)grades[0],
		(unsigned long long)grades[1], (unsigned long long)grades[2]);
}

static void print_class(const struct report *report, FILE *to, const struct report_class *class)
{
	print_name(report, to, "class");
	print_number(to, class->count);
	fprintf(to, "\t%s\t%s\t%s", class->explained && !class->libdw[0] ?
		"explained" : verdict_names[class->verdict], class->reason, class->name);
	print_grades(to, class->libdw);
	print_grades(to, class->libunwind);
	print_number(to, class->sampled);
	fputc('\n', to);
}

void report_methods(struct report *report, const struct kunwind_walk *walk)
{
	u32 i;

	for (i = 0; walk->others && i < KUNWIND_NR_METHODS; i++)
		report->method[i] += walk->found[i];
}

void report_print(const struct report *report, FILE *to)
{
	u32 i;

	print_name(report, to, "steps");
	print_number(to, report->steps);
	print_number(to, report->positions);
	print_number(to, report->verdict[VERDICT_RIGHT]);
	print_number(to, report->explained);
	print_number(to, report->verdict[VERDICT_WRONG]);
	print_number(to, report->verdict[VERDICT_FALSE]);
	print_number(to, report->verdict[VERDICT_SHORTER]);
	print_number(to, report->verdict[VERDICT_OPEN]);
	fputc('\n', to);
	print_sample(report, to, "core", report->ours);
	print_sample(report, to, "libdw", report->libdw);
	print_sample(report, to, "libunwind", report->libunwind);
	print_counts(report, to, "trust", report->trust, KUNWIND_NR_TRUSTS, kunwind_trust_name);
	print_counts(report, to, "method", report->method, KUNWIND_NR_METHODS, kunwind_method_name);
	qsort(report->classes, report->nr_classes, sizeof(*report->classes), by_count);
	for (i = 0; i < report->nr_classes; i++)
		print_class(report, to, &report->classes[i]);
}
