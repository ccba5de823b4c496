// SPDX-License-Identifier: MIT
/*
 * expression.c - read the expressions of record --trigger
 *
 *	syscall > DURATION	any system call except those that wait (below)
 *	NAME > DURATION		this system call
 *	signal [SIGNAL]		a signal kills a process
 *	event NAME [if FILTER]	a tracepoint (also tracepoint:NAME), or syscall:NAME at its entry
 *
 * DURATION is a number with the unit us, ms or s. FILTER is in LTTng's language
 * and goes to LTTng as it is.
 *
 * Each expression becomes an LTTng event with a filter. The module computes the
 * events of the first three forms (kmod/trace/slow_syscall.c,
 * kmod/process/fatal_signal.c).
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expression.h"
#include "tool.h"

#define SHORTEST	1000000		/* KUNWIND_SLOW_SYSCALL_NS of the module */
#define LONGEST		(24 * 3600 * UINT64_C(1000000000))

static const struct call {
	int number;
	const char *name;
	bool compat;
} calls[] = {
#define SYSCALL_64(number, name) { number, #name, false },
#define SYSCALL_32(number, name) { number, #name, true },
#include "build/syscalls.h"
};
#define NR_CALLS	(sizeof(calls) / sizeof(calls[0]))

/*
 * Calls that wait for time, for another task or for an event. A program that has
 * nothing to do is in one of them, so a long one is no fault.
 */
static const char *const waits[] = {
	"poll", "ppoll", "ppoll_time64", "select", "_newselect", "pselect6", "pselect6_time64",
	"epoll_wait", "epoll_pwait", "epoll_pwait2", "nanosleep", "clock_nanosleep",
	"clock_nanosleep_time64", "pause", "rt_sigsuspend", "sigsuspend", "rt_sigtimedwait",
	"rt_sigtimedwait_time64", "wait4", "waitid", "waitpid", "futex", "futex_time64",
	"futex_wait", "futex_waitv", "accept", "accept4", "restart_syscall", "io_getevents",
	"io_pgetevents", "io_uring_enter",
};

/* An expression while it is read. */
struct input {
	const char *text, *at;
};

__attribute__((__format__(__printf__, 2, 3)))
static bool wrong(const struct input *input, const char *format, ...)
{
	char what[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	kunwind_tool_error("--trigger \"%s\", column %d: %s", input->text,
			   (int)(input->at - input->text) + 1, what);
	return false;
}

static void skip_blanks(struct input *input)
{
	while (isspace((unsigned char)*input->at))
		input->at++;
}

/* Reads a word of letters, digits and @more. Returns false if there is none. */
static bool read_word(struct input *input, const char *more, char *word, size_t size)
{
	size_t length = 0;

	skip_blanks(input);
	while (isalnum((unsigned char)input->at[length]) ||
	       (input->at[length] && strchr(more, input->at[length])))
		length++;
	if (!length || length >= size)
		return false;
	memcpy(word, input->at, length);
	word[length] = '\0';
	input->at += length;
	return true;
}

static bool read_end(struct input *input)
{
	skip_blanks(input);
	return !*input->at || wrong(input, "the expression should end here");
}

static bool read_duration(struct input *input, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };
	const char *start;
	char unit[8];
	double value;
	char *end;
	size_t i;

	skip_blanks(input);
	start = input->at;
	if (!isdigit((unsigned char)*input->at))
		return wrong(input, "a duration is wanted here, such as 100ms");
	/* strtod() would read 0x10 and 1e3, too */
	value = strtod(input->at, &end);
	input->at += strspn(input->at, "0123456789.");
	if (end > input->at)
		return wrong(input, "a duration has a unit: us, ms or s");
	if (end < input->at) {
		input->at = end;
		return wrong(input, "a number has at most one point");
	}
	if (!read_word(input, "", unit, sizeof(unit)))
		return wrong(input, "a duration has a unit: us, ms or s");
	for (i = 0; i < 3 && strcmp(unit, units[i].name); i++)
		;
	if (i == 3) {
		input->at -= strlen(unit);
		return wrong(input, "\"%s\" is no unit: us, ms or s", unit);
	}
	value *= (double)units[i].ns;
	input->at = value < SHORTEST || value > (double)LONGEST ? start : input->at;
	if (input->at == start)
		return wrong(input, "a duration is from 1ms to 86400s");
	*ns = (uint64_t)value;
	return true;
}

static bool is_wait(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
		if (!strcmp(waits[i], name))
			return true;
	return false;
}

/*
 * Writes a condition for the fields "compat" and "syscall" of the event. @name:
 * NULL for all calls that do not wait. Returns false if no call has that name.
 */
static bool print_calls(FILE *out, const char *name)
{
	bool found = false;
	int compat;
	size_t i;

	for (compat = 0; compat < 2; compat++) {
		fprintf(out, "%s(compat == %d && (%d", compat ? " || " : "", compat, !name);
		for (i = 0; i < NR_CALLS; i++) {
			if (calls[i].compat != compat ||
			    !(name ? !strcmp(calls[i].name, name) : is_wait(calls[i].name)))
				continue;
			found = true;
			fprintf(out, " %s syscall %s %d", name ? "||" : "&&", name ? "==" : "!=",
				calls[i].number);
		}
		fputs("))", out);
	}
	return found;
}

static bool read_syscall(struct expression *expression, struct input *input, const char *name)
{
	const char *start = input->at - strlen(name);
	uint64_t ns = 0;
	size_t size;
	FILE *out;
	bool found;

	skip_blanks(input);
	if (*input->at != '>')
		return wrong(input, "write > and a duration after \"%s\", or signal [NAME], or event NAME",
			     name);
	input->at++;
	if (!read_duration(input, &ns) || !read_end(input))
		return false;
	out = open_memstream(&expression->filter, &size);
	if (!out)
		abort();	/* out of memory */
	fprintf(out, "duration >= %" PRIu64 " && (", ns);
	found = print_calls(out, strcmp(name, "syscall") ? name : NULL);
	fputs(")", out);
	if (fclose(out))
		abort();
	input->at = start;
	if (!found)
		return wrong(input, "no system call \"%s\"", name);
	expression->kind = EXPRESSION_SYSCALL;
	expression->event = strdup("kunwind_slow_syscall");
	return true;
}

static bool read_signal(struct expression *expression, struct input *input)
{
	char word[32];
	const char *name = word, *start;
	int number;

	expression->kind = EXPRESSION_SIGNAL;
	expression->event = strdup("kunwind_fatal_signal");
	skip_blanks(input);
	start = input->at;
	if (!read_word(input, "", word, sizeof(word)))
		return read_end(input);
	if (!strncmp(name, "SIG", 3))
		name += 3;
	for (number = 1; number < NSIG; number++)
		if (sigabbrev_np(number) && !strcmp(sigabbrev_np(number), name))
			break;
	if (number == NSIG) {
		input->at = start;
		return wrong(input, "no signal \"%s\": write a name such as SEGV", word);
	}
	expression->signal = number;
	if (asprintf(&expression->filter, "signal == %d", number) < 0)
		abort();
	return read_end(input);
}

static bool read_event(struct expression *expression, struct input *input)
{
	char name[256], word[8];

	expression->kind = EXPRESSION_EVENT;
	if (!read_word(input, "_*:", name, sizeof(name)))
		return wrong(input, "write the name of a tracepoint after event");
	expression->event = strdup(strncmp(name, "tracepoint:", 11) ? name : name + 11);
	skip_blanks(input);
	if (!*input->at)
		return true;
	if (!read_word(input, "", word, sizeof(word)) || strcmp(word, "if"))
		return wrong(input, "write if and a filter, or nothing, after the event's name");
	skip_blanks(input);
	if (!*input->at)
		return wrong(input, "a filter is wanted here, such as if next_prio < 0");
	expression->filter = strdup(input->at);
	return true;
}

bool expression_read(struct expression *expression, const char *text)
{
	struct input input = { text, text };
	char word[64];

	*expression = (struct expression){ .text = text };
	if (!read_word(&input, "_", word, sizeof(word)))
		return wrong(&input, "write syscall > DURATION, NAME > DURATION, signal, or event NAME");
	if (!strcmp(word, "signal"))
		return read_signal(expression, &input);
	if (!strcmp(word, "event"))
		return read_event(expression, &input);
	return read_syscall(expression, &input, word);
}

void expression_free(struct expression *expression)
{
	free(expression->event);
	free(expression->filter);
	expression->event = expression->filter = NULL;
}

const char *expression_syscall_name(int number, bool compat)
{
	size_t i;

	for (i = 0; i < NR_CALLS; i++)
		if (calls[i].number == number && calls[i].compat == compat)
			return calls[i].name;
	return NULL;
}
