// SPDX-License-Identifier: MIT
/*
 * text.c - print the stacks of a dump for people
 *
 * The thread that crashed comes first. Threads with the same stack are printed once. Of a
 * stack of more than FIRST + LAST frames, those in the middle are left out unless all are
 * asked for: it is an endless recursion.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kunwind_core.h"
#include "session.h"
#include "tool.h"

#define FIRST	200
#define LAST	50

static void put(const char *text)
{
	kunwind_tool_text(stdout, text, "");
}

static void put_source(const struct kunwind_function *function)
{
	if (!function->file)
		return;
	fputs(" at ", stdout);
	put(function->file);
	if (function->line)
		printf(":%u", function->line);
}

/* A function of an interpreter has no address of its own. */
static void put_interpreted(const struct kunwind_function *function, size_t number, int width, bool lines)
{
	printf("  #%-3zu %*s ", number, width + 2, "");
	put(function->name ? function->name : "?");
	fputs(" (interpreted)", stdout);
	if (lines)
		put_source(function);
	putchar('\n');
}

static void put_frame(const struct stackwalk_session *session, const struct stackwalk_frame *frame,
		      size_t number, bool lines)
{
	static const char *const trusts[KUNWIND_NR_TRUSTS] = {
		[KUNWIND_TRUST_CODE] = "by code",
		[KUNWIND_TRUST_FP] = "a guess: frame pointer",
		[KUNWIND_TRUST_SCAN] = "a guess: scan",
	};
	const struct session_module *module = session_module(session, frame);
	const int width = session->dump.i386 ? 8 : 16;
	const struct kunwind_function *function;
	struct kunwind_frame named;
	unsigned int i;

	session_name(session, frame, &named);
	if (frame->trust == STACKWALK_INTERPRETED) {
		put_interpreted(kunwind_frame_function(&named), number, width, lines);
		return;
	}
	for (i = 0; lines && i + 1 < named.nr_functions; i++) {
		printf("  #%-3zu %*s ", number, width + 2, "");
		put(named.function[i].name ? named.function[i].name : "?");
		fputs(" (inlined)", stdout);
		put_source(&named.function[i]);
		putchar('\n');
	}
	printf("  #%-3zu 0x%0*" PRIx64 " ", number, width, frame->ip);
	function = kunwind_frame_function(&named);
	if (function && function->name) {
		put(function->name);
		printf("+0x%" PRIx64, function->offset);
	} else {
		putchar('?');
	}
	if (module) {
		fputs(" (", stdout);
		put(*session_path(module) ? session_path(module) : "?");
		if (!function || !function->name)
			printf("+0x%" PRIx64, frame->ip - module->of.image);
		putchar(')');
	}
	if (lines && function)
		put_source(function);
	if (trusts[frame->trust % KUNWIND_NR_TRUSTS])
		printf(" [%s]", trusts[frame->trust % KUNWIND_NR_TRUSTS]);
	putchar('\n');
}

static void put_end(const struct stackwalk_session *session, const struct session_thread *thread)
{
	/* the limit on frames that was asked for cuts these, too */
	if (session_lack(thread) && thread->reason != KUNWIND_BUFFER_FULL)
		printf("  Functions of the interpreter are missing: %s%s%s%s.\n", session_lack(thread),
		       thread->note ? " (" : "", thread->note ? thread->note : "", thread->note ? ")" : "");
	if (thread->reason == KUNWIND_COMPLETE)
		return;
	if (!thread->of.known) {
		if (thread->note)
			printf("  Not read: %s.\n", thread->note);
		else
			printf("  The dump has no registers of this thread.\n");
		return;
	}
	if (session_no_end(session, thread)) {
		printf("  The stack is not complete: %s.\n", thread->note);
		return;
	}
	printf("  The stack is not complete: %s", thread->reason == KUNWIND_BUFFER_FULL ?
	       "a limit on frames" : kunwind_reason_name(thread->reason));
	if (thread->missing)
		printf(", memory from 0x%" PRIx64 " on is not in the dump", thread->missing);
	if (thread->note)
		printf(" (%s)", thread->note);
	printf(".\n");
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool same_stack(const struct session_thread *a, const struct session_thread *b)
{
	size_t i;

	if (a->nr != b->nr || a->reason != b->reason || a->lack != b->lack || !same_text(a->note, b->note) ||
	    !same_text(a->kernel, b->kernel))
		return false;
	for (i = 0; i < a->nr; i++)
		if (a->frame[i].ip != b->frame[i].ip || a->frame[i].module != b->frame[i].module)
			return false;
	return true;
}

static bool crashed(const struct stackwalk_session *session, uint32_t number)
{
	return session->dump.crash.has_thread && session->dump.crash.thread == number &&
	       session->dump.crash.signal;
}

static void put_head(const struct stackwalk_session *session, uint32_t number)
{
	const struct session_thread *thread = &session->thread[number];

	printf("Thread %u", thread->of.tid);
	if (*thread->of.name) {
		fputs(" (", stdout);
		put(thread->of.name);
		putchar(')');
	}
	if (crashed(session, number))
		fputs(", crashed", stdout);
	if (thread->taken)
		printf(", %s", thread->taken);
}

static void put_kernel(const struct session_thread *thread)
{
	const char *line = thread->kernel;
	char name[SESSION_KERNEL];

	while (session_next_kernel(&line, name)) {
		fputs("  kernel ", stdout);
		put(name);
		putchar('\n');
	}
}

static void put_thread(const struct stackwalk_session *session, uint32_t number, bool all, bool lines,
		       bool *printed)
{
	const struct session_thread *thread = &session->thread[number];
	uint32_t k;
	size_t i;

	if (printed[number])
		return;
	putchar('\n');
	put_head(session, number);
	for (k = number + 1; k < session->nr_threads && !crashed(session, number); k++) {
		if (printed[k] || crashed(session, k) || !same_stack(thread, &session->thread[k]))
			continue;
		fputs("; ", stdout);
		put_head(session, k);
		printed[k] = true;
	}
	fputs(":\n", stdout);
	printed[number] = true;
	put_kernel(thread);
	for (i = 0; i < thread->nr; i++) {
		if (!all && thread->nr > FIRST + LAST && i == FIRST) {
			printf("  ... %zu frames are left out (--all prints them) ...\n",
			       thread->nr - FIRST - LAST);
			i = thread->nr - LAST;
		}
		put_frame(session, &thread->frame[i], i, lines);
	}
	put_end(session, thread);
}

static void put_crash(const struct stackwalk_session *session)
{
	const struct dump_crash *crash = &session->dump.crash;
	char name[64];

	if (!crash->signal)
		return;
	crash_name(crash, name, sizeof(name));
	printf("Signal: %s", name);
	if (crash->has_address)
		printf(", address 0x%" PRIx64, crash->address);
	putchar('\n');
}

static void put_stopped(const struct stackwalk_session *session)
{
	uint32_t i, nr = 0;

	for (i = 0; i < session->nr_threads; i++)
		nr += session->thread[i].taken && !strcmp(session->thread[i].taken, "stopped");
	if (nr)
		printf("Stopped for a moment by ptrace(2), because they ran, or their registers "
		       "or the interpreter's memory were needed: "
		       "%u of %u threads\n", nr, session->nr_threads);
}

static void put_modules(const struct stackwalk_session *session)
{
	char id[2 * DUMP_BUILD_ID + 1];
	bool first = true;
	uint32_t i, k;

	for (i = 0; i < session->nr_modules; i++) {
		const struct session_module *module = &session->module[i];

		if (!module->wanted || module->found)
			continue;
		if (first)
			fputs("\nFiles that were not found:\n", stdout);
		first = false;
		fputs("  ", stdout);
		put(*session_path(module) ? session_path(module) : "?");
		for (k = 0; k < module->of.build_id_len; k++)
			snprintf(id + 2 * k, 3, "%02x", module->of.build_id[k]);
		if (module->of.build_id_len)
			printf(", build-id %s", id);
		if (*module->of.package) {
			fputs(", package ", stdout);
			put(module->of.package);
		}
		printf(": %s\n", module->why ? module->why : "?");
	}
}

static void put_refused(const struct stackwalk_session *session)
{
	bool first = true;
	uint32_t i;

	for (i = 0; i < session->nr_modules; i++) {
		if (!session->module[i].refused)
			continue;
		if (first)
			fputs("\nInterpreters whose functions are not shown:\n", stdout);
		first = false;
		fputs("  ", stdout);
		put(session_path(&session->module[i]));
		printf(": %s\n", session->module[i].refused);
	}
}

void stackwalk_text(const struct stackwalk_session *session, const char *name, bool all, bool lines)
{
	static const char *const formats[] = { "ELF core", "minidump", "stack", "stacks", "report" };
	bool *printed = calloc(session->nr_threads + 1UL, sizeof(*printed));
	uint32_t i;

	if (!printed) {
		kunwind_tool_error("out of memory");
		return;
	}
	put(name);
	printf(": %s of a %d-bit process", formats[session->dump.format % 5], session->dump.i386 ? 32 : 64);
	if (session->dump.pid > 0 && session->dump.format != DUMP_RUNNING)
		printf(", pid %d", session->dump.pid);
	if (*session->dump.command) {
		fputs(" (", stdout);
		put(session->dump.command);
		putchar(')');
	}
	putchar('\n');
	put_crash(session);
	put_stopped(session);
	if (session->dump.truncated && session->dump.format == DUMP_REPORT)
		printf("The report was cut off: its last line is missing\n");
	else if (session->dump.truncated)
		printf("The file is truncated: %" PRIu64 " bytes of memory are missing\n",
		       session->dump.missing);
	for (i = 0; i < session->nr_threads; i++)
		if (crashed(session, i))
			put_thread(session, i, all, lines, printed);
	for (i = 0; i < session->nr_threads; i++)
		put_thread(session, i, all, lines, printed);
	put_modules(session);
	put_refused(session);
	free(printed);
}
