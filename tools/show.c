// SPDX-License-Identifier: MIT
/*
 * show.c - kunwind show: print the events of traces with named call stacks
 *
 * Memory: trace/reading.c's; nothing grows with the number of events.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kunwind_core.h"
#include "own_events.h"
#include "show_crashes.h"
#include "show_empty.h"
#include "show_field.h"
#include "show_json.h"
#include "tool.h"
#include "trace/history.h"
#include "trace/options.h"
#include "trace/reading.h"
#include "trace/stack.h"
#include "trace/ust.h"

struct show {
	/* all: kunwind's own events, too */
	struct kunwind_options options;
	enum { TEXT, TSV, JSON } format;
	bool symbols, summary;
	bool begun;		/* there was an event */
	uint64_t limit;
	struct kunwind_reading reading;
	struct kunwind_empty empty;
	/* counts */
	uint64_t events, with_stack, frames, named, complete, cut, lost;
	uint64_t with_kernel, kernel_frames, kernel_named;
};

static const char usage[] =
	"Usage: kunwind show [OPTION]... [TRACE]...\n"
	"\n"
	"Prints the events of LTTng traces, each with its call stack: innermost function\n"
	"first, with the object that it is in. Kernel functions come first if the trace has\n"
	"them (kunwind record -k). TRACE is a directory that holds\n"
	"a trace, or one above several; default: the last recording.\n"
	"\n"
	"  -e, --event PATTERN  only system calls and events whose name matches (as file names\n"
	"                       in a shell do)\n"
	"  -p, --pid PID        only events of this process\n"
	"      --tid TID        only events of this thread\n"
	"      --comm PATTERN   only events of threads whose name matches\n"
	"                       Each of these four may be repeated, and takes a list: 1,2\n"
	"      --from TIME      only events from TIME on, and before the other TIME: seconds\n"
	"      --to TIME        from the trace's beginning, or HH:MM:SS as it is printed\n"
	"  -n, --limit N        stop after N events\n"
	"      --summary        only count: events, stacks, frames, share of complete stacks\n"
	"      --own            kunwind's own events (mappings, forks ...) too\n"
	"      --no-symbols     addresses only; reads the trace once\n"
	"      --no-lines       no inlined functions and source lines: less to read\n"
	"      --no-kernel      no kernel stacks\n"
	"      --debug-dir DIR  objects and debug files below DIR too, by build-id; may be repeated\n"
	"      --no-local       only those and debuginfod, not this host's own files\n"
	"  -q, --quiet          no progress on the terminal\n"
	"      --progress       a line on standard error every ten seconds, also in a log\n"
	"  -t, --tsv            tab-separated lines, see below\n"
	"  -j, --json           an object on a line for each event: kunwind-json(5)\n"
	"  -h, --help\n"
	"\n"
	"Names are taken from an object only when its build-id is the one that the trace\n"
	"has; other frames are printed as object+address and say why. Mappings come from\n"
	"the trace's kunwind_* events, else from /proc while the process lives. Debug\n"
	"files are looked for below /usr/lib/debug, and on the debuginfod servers that\n"
	"DEBUGINFOD_URLS names. The stack of the event kunwind_callstack is its own: up to\n"
	"4,096 frames, each with how it was found when that was not by unwind information\n"
	"(kunwind(4)).\n"
	"\n"
	"Lines with --tsv; an unknown value is empty:\n"
	"  event NUMBER NANOSECONDS NAME COMMAND PID TID CPU FIELDS\n"
	"  end NUMBER REASON    (why the stack ended: complete, not_ready ..., see kunwind(3))\n"
	"  kernel NUMBER INDEX ...   (as frame: the kernel's functions, before those of the user)\n"
	"  frame NUMBER INDEX ADDRESS FUNCTION OFFSET OBJECT OBJECT-ADDRESS BUILD-ID WHY-NO-NAME TRUST\n"
	"  source NUMBER INDEX DEPTH FUNCTION FILE LINE   (inlined ones first, depth 0)\n"
	"  summary NAME VALUE\n"
	"\n"
	"Exit status: 0; 1 after an error, or when no event is selected; 2 after wrong usage.\n";

static const char lost[] = "  [the stack is lost: the trace does not define it]";
static const char kernel_lost[] = "  [the kernel stack is lost: the trace does not define it]";

/* Contexts that stand elsewhere. */
static const char *const in_header[] = { "pid", "vpid", "tid", "vtid", "procname",
	"callstack_user", "callstack_kernel", KUNWIND_STACK_ID, KUNWIND_KERNEL_STACK_ID, KUNWIND_UST_CONTEXT,
	KUNWIND_UST_CONTEXT "_tag", KUNWIND_UST_CONTEXT_2, KUNWIND_UST_CONTEXT_2 "_tag", NULL };

/* Fields that are printed as frames: of events with whole stacks, and of others. */
static const char *const in_whole[] = { "base", "shared", "addresses", "trust",
	"callstack_kernel", NULL };
static const char *const in_stack[] = { "callstack_user", "callstack_kernel", NULL };

static const char *const *stack_fields(const bt_event *event)
{
	return kunwind_event_is_whole(event) ? in_whole : in_stack;
}

static void print_fields(const char *before, const bt_event *event)
{
	const bt_field *context = bt_event_borrow_common_context_field_const(event);
	const bt_field *payload = bt_event_borrow_payload_field_const(event);

	if (context && kunwind_field_print_members(stdout, before, context, in_header))
		before = " ";
	if (payload)
		kunwind_field_print_members(stdout, before, payload, stack_fields(event));
}

/* Prints nothing for a negative number, which is an unknown value. */
static void print_number(int64_t number)
{
	if (number >= 0)
		printf("%" PRId64, number);
}

static void print_head_tsv(const struct show *show, const struct kunwind_head *head)
{
	printf("event\t%" PRIu64 "\t", show->events);
	print_number(head->time);
	putchar('\t');
	kunwind_text_print(stdout, head->name);
	putchar('\t');
	kunwind_text_print(stdout, head->comm);
	putchar('\t');
	print_number(head->pid);
	putchar('\t');
	print_number(head->tid);
	putchar('\t');
	print_number(head->cpu);
	putchar('\t');
}

static void print_head(const struct kunwind_head *head)
{
	time_t seconds = (time_t)(head->time / 1000000000);
	char clock[32] = "--:--:--";
	struct tm tm;

	if (head->time >= 0 && localtime_r(&seconds, &tm))
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	printf("%s.%09d ", clock, head->time >= 0 ? (int)(head->time % 1000000000) : 0);
	kunwind_text_print(stdout, head->name);
	if (*head->comm) {
		putchar(' ');
		kunwind_text_print(stdout, head->comm);
	}
	if (head->pid >= 0)
		printf(" %" PRId64, head->pid);
	if (head->tid >= 0)
		printf("/%" PRId64, head->tid);
	if (head->cpu >= 0)
		printf(" cpu %" PRId64, head->cpu);
}

/* @kind: "frame" or "kernel" */
static void print_frame_tsv(const struct show *show, const char *kind, uint64_t index,
			    const struct kunwind_frame *frame, const char *trust)
{
	const struct kunwind_function *function = kunwind_frame_function(frame);
	unsigned int i;

	printf("%s\t%" PRIu64 "\t%" PRIu64 "\t0x%" PRIx64 "\t", kind, show->events, index,
	       frame->address);
	if (function && function->name) {
		kunwind_text_print(stdout, function->name);
		printf("\t0x%" PRIx64 "\t", function->offset);
	} else {
		fputs("\t\t", stdout);
	}
	if (frame->object) {
		kunwind_text_print(stdout, kunwind_object_path(frame->object));
		printf("\t0x%" PRIx64 "\t", frame->object_address);
		kunwind_text_print(stdout, kunwind_object_build_id(frame->object));
		putchar('\t');
	} else {
		fputs("\t\t\t", stdout);
	}
	printf("%s\t%s\n", frame->why ? frame->why : "", trust ? trust : "");
	for (i = 0; i < frame->nr_functions; i++) {
		function = &frame->function[i];
		if (!function->file && !function->inlined)
			continue;
		printf("source\t%" PRIu64 "\t%" PRIu64 "\t%u\t", show->events, index, i);
		kunwind_text_print(stdout, function->name ? function->name : "");
		putchar('\t');
		kunwind_text_print(stdout, function->file ? function->file : "");
		printf(function->line ? "\t%u\n" : "\t\n", function->line);
	}
}

static void print_source(const struct kunwind_function *function)
{
	if (!function->file)
		return;
	fputs(" at ", stdout);
	kunwind_text_print(stdout, function->file);
	if (function->line)
		printf(":%u", function->line);
}

static void print_frame(uint64_t index, const struct kunwind_frame *frame, const char *trust)
{
	const struct kunwind_function *function = kunwind_frame_function(frame);
	unsigned int i;

	/* an inlined function has no address; its line precedes its caller's */
	for (i = 0; i + 1 < frame->nr_functions; i++) {
		printf("      %18s ", "(inlined)");
		kunwind_text_print(stdout, frame->function[i].name ? frame->function[i].name : "?");
		print_source(&frame->function[i]);
		putchar('\n');
	}
	printf("  #%-2" PRIu64 " 0x%016" PRIx64, index, frame->address);
	if (function && function->name) {
		putchar(' ');
		kunwind_text_print(stdout, function->name);
		printf("+0x%" PRIx64, function->offset);
		fputs(" (", stdout);
		kunwind_text_print(stdout, kunwind_object_path(frame->object));
		putchar(')');
		print_source(function);
	} else if (frame->object) {
		putchar(' ');
		kunwind_text_print(stdout, kunwind_object_path(frame->object));
		printf("+0x%" PRIx64 " (%s)", frame->object_address, frame->why);
	} else if (frame->why) {
		printf(" (%s)", frame->why);
	}
	if (trust)
		printf(" [%s]", trust);
	putchar('\n');
}

/* Prints and counts the kernel's frames. */
static void handle_kernel(struct show *show, const struct kunwind_event_stack *stack)
{
	const struct kunwind_frame *frame;
	uint64_t index;

	show->with_kernel += stack->nr_kernel > 0;
	show->kernel_frames += stack->nr_kernel;
	if (stack->kernel_lost && !show->summary && show->format == TEXT)
		puts(kernel_lost);
	for (index = 0; index < stack->nr_kernel; index++) {
		frame = &stack->kernel[index];
		show->kernel_named += frame->nr_functions;
		if (show->format == TSV && !show->summary)
			print_frame_tsv(show, "kernel", index, frame, NULL);
		else if (show->format == TEXT && !show->summary)
			print_frame(index, frame, NULL);
	}
}

/* Prints and counts the stacks of an event. False: out of memory. */
static bool handle_stack(struct show *show, const bt_event *event, const struct kunwind_head *head)
{
	struct kunwind_event_stack stack;
	const struct kunwind_frame *frame;
	const char *trust, *reason;
	uint64_t index;

	if (!kunwind_reading_stack(&show->reading, event, head, &stack))
		return false;
	reason = stack.reason >= 0 ? kunwind_reason_name((enum kunwind_reason)stack.reason) : NULL;
	if (show->format == JSON && !show->summary)
		kunwind_json_stack(&stack, reason);
	handle_kernel(show, &stack);
	if (stack.lost && !show->summary && show->format == TEXT)
		puts(lost);
	if (!stack.nr)
		return true;
	for (index = 0; index < stack.nr; index++) {
		frame = &stack.frame[index];
		show->named += frame->nr_functions && kunwind_frame_function(frame)->name;
		if (show->summary)
			continue;
		trust = stack.trust ? kunwind_trust_name(stack.trust[index]) : NULL;
		if (show->format == TSV)
			print_frame_tsv(show, "frame", index, frame, trust);
		else if (show->format == TEXT)	/* CFI, the usual trust, is not printed */
			print_frame(stack.nr_kernel + index, frame, stack.trust &&
				    stack.trust[index] > KUNWIND_TRUST_CFI ? trust : NULL);
	}
	if (reason && !show->summary && show->format == TSV)
		printf("end\t%" PRIu64 "\t%s\n", show->events, reason);
	else if (stack.reason > KUNWIND_COMPLETE && !show->summary && show->format == TEXT)
		printf("  [the stack ends here: %s]\n", reason);
	show->with_stack++;
	show->frames += stack.nr;
	if (stack.complete)
		show->complete++;
	else if (!stack.trust && stack.nr >= KUNWIND_STACK_LTTNG_MAX)
		show->cut++;
	return true;
}

void kunwind_show_stack(const struct kunwind_event_stack *stack)
{
	uint64_t index;

	for (index = 0; index < stack->nr; index++)	/* CFI, the usual trust, is not printed */
		print_frame(index, &stack->frame[index],
			    stack->trust && stack->trust[index] > KUNWIND_TRUST_CFI ?
			    kunwind_trust_name(stack->trust[index]) : NULL);
	if (stack->lost)
		puts(lost);
	if (stack->reason > KUNWIND_COMPLETE)
		printf("  [the stack ends here: %s]\n",
		       kunwind_reason_name((enum kunwind_reason)stack->reason));
}

/* Called for each event; prints those that the options select. */
static int handle(const bt_event *event, int64_t time, void *data)
{
	struct show *show = data;
	struct kunwind_head head;

	kunwind_reading_head(&show->reading, &head, event, time);
	if (!show->begun) {
		if (!kunwind_filter_begin(&show->options.filter, time))
			return KUNWIND_TRACE_FAIL;
		show->begun = true;
	}
	if (time >= show->options.filter.end) {
		show->empty.filtered = true;
		return KUNWIND_TRACE_STOP;
	}
	if (!kunwind_filter_time(&show->options.filter, time) ||
	    !kunwind_filter_tid(&show->options.filter, &head) ||
	    !kunwind_filter_comm(&show->options.filter, &head)) {
		show->empty.filtered = true;
		return KUNWIND_TRACE_GO_ON;
	}
	if ((!show->options.all && kunwind_history_is_own(head.name)) ||
	    (!show->options.all && !show->options.events.nr && !kunwind_event_is_sample(head.name) &&
	     !kunwind_event_is_blocked(head.name) &&
	     (kunwind_event_is_whole(event) || kunwind_event_is_background(event))) ||
	    !kunwind_numbers_select(&show->options.pids, head.pid) ||
	    !kunwind_options_event(&show->options, head.name)) {
		if (!show->events && !kunwind_event_is_background(event))
			kunwind_empty_note(&show->empty, &show->options, &head);
		return KUNWIND_TRACE_GO_ON;
	}
	show->events++;
	if (!show->summary && show->format == JSON) {
		kunwind_json_event(show->events, &head, event, in_header, stack_fields(event));
	} else if (!show->summary) {
		if (show->format == TSV)
			print_head_tsv(show, &head);
		else
			print_head(&head);
		print_fields(show->format == TSV ? "" : " ", event);
		putchar('\n');
	}
	if (!handle_stack(show, event, &head)) {
		kunwind_tool_error("out of memory");
		return KUNWIND_TRACE_FAIL;
	}
	if (ferror(stdout)) {
		kunwind_tool_flush();	/* notes the error */
		return KUNWIND_TRACE_FAIL;
	}
	return show->events == show->limit ? KUNWIND_TRACE_STOP : KUNWIND_TRACE_GO_ON;
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void print_summary(const struct show *show)
{
	double per_stack = show->with_stack ? (double)show->frames / (double)show->with_stack : 0;

	if (show->format == JSON) {
		printf("{\"events\": %" PRIu64 ", \"with_stack\": %" PRIu64 ", \"frames\": %" PRIu64
		       ", \"with_kernel_stack\": %" PRIu64 ", \"kernel_frames\": %" PRIu64
		       ", \"lost\": %" PRIu64, show->events, show->with_stack, show->frames,
		       show->with_kernel, show->kernel_frames, show->lost);
		if (show->symbols)
			printf(", \"named\": %" PRIu64 ", \"complete\": %" PRIu64
			       ", \"cut_at_128\": %" PRIu64 ", \"kernel_named\": %" PRIu64,
			       show->named, show->complete, show->cut, show->kernel_named);
		puts("}");
		return;
	}
	if (show->format == TSV) {
		printf("summary\tevents\t%" PRIu64 "\nsummary\twith_stack\t%" PRIu64
		       "\nsummary\tframes\t%" PRIu64 "\nsummary\twith_kernel_stack\t%" PRIu64
		       "\nsummary\tkernel_frames\t%" PRIu64 "\nsummary\tlost\t%" PRIu64
		       "\nsummary\tframes_per_stack\t%.2f\n",
		       show->events, show->with_stack, show->frames, show->with_kernel,
		       show->kernel_frames, show->lost, per_stack);
		if (show->symbols)
			printf("summary\tnamed\t%" PRIu64 "\nsummary\tcomplete\t%" PRIu64
			       "\nsummary\tcut_at_128\t%" PRIu64 "\nsummary\tkernel_named\t%" PRIu64 "\n",
			       show->named, show->complete, show->cut, show->kernel_named);
		return;
	}
	printf("events                %" PRIu64 "\n", show->events);
	printf("  with a user stack   %" PRIu64 "\n", show->with_stack);
	if (show->with_kernel)
		printf("  with a kernel stack %" PRIu64 "\n", show->with_kernel);
	printf("  lost by the tracer  %" PRIu64 "\n", show->lost);
	printf("frames per stack      %.2f\n", per_stack);
	if (!show->symbols)
		return;
	printf("frames named          %" PRIu64 " (%.2f %%)\n", show->named,
	       share(show->named, show->frames));
	printf("stacks complete       %" PRIu64 " (%.2f %%)%s\n", show->complete,
	       share(show->complete, show->with_stack),
	       kunwind_reading_has_ends(&show->reading) ? "" :
	       ", by this host's files: the trace has no kunwind_callstack");
	printf("  cut at %d frames   %" PRIu64 "\n", KUNWIND_STACK_LTTNG_MAX, show->cut);
	if (show->with_kernel)
		printf("kernel frames named   %" PRIu64 " (%.2f %%)\n", show->kernel_named,
		       share(show->kernel_named, show->kernel_frames));
}

static bool run(struct show *show, char *const *paths, int nr)
{
	bool ok;

	if (!kunwind_reading_open(&show->reading, paths, nr, show->symbols, &show->options))
		return false;
	show->reading.quiet = show->options.quiet ||
			      (isatty(STDOUT_FILENO) && !show->summary && !show->options.progress);
	ok = kunwind_reading_events(&show->reading, handle, show, &show->lost);
	if (ok && show->summary)
		print_summary(show);
	if (!kunwind_tool_flush())
		return true;	/* kunwind_tool_finish() reports it */
	if (ok && !show->events)
		kunwind_empty_print(&show->empty, &show->options);
	else if (ok && show->events != show->limit)
		kunwind_options_unmatched(&show->options, "");
	if (kunwind_reading_why_no_kernel(&show->reading))
		kunwind_tool_error("kernel functions have no names: %s",
				   kunwind_reading_why_no_kernel(&show->reading));
	if (show->lost && !show->summary)
		kunwind_tool_error("the tracer lost %" PRIu64 " events", show->lost);
	return ok && show->events;
}

/* Returns 0: go on; 1: help was printed; -1: wrong usage, after a message. */
static int parse(struct show *show, int argc, char **argv)
{
	static const struct help_id ids[] = { { "no-symbols", 'N' }, { "own", 'a' }, { "summary", 'S' },
		{ NULL, 0 } };
	int c;

	while ((c = help_option(argc, argv, usage, ids, kunwind_option_ids)) != -1) {
		switch (c) {
		case 'h':
			fputs(usage, stdout);
			return 1;
		case 'j':
			show->format = JSON;
			break;
		case 'n':
			if (!kunwind_tool_number(optarg, UINT64_MAX, &show->limit) || !show->limit) {
				kunwind_tool_error("--limit takes a number from 1 on, not: %s", optarg);
				return -1;
			}
			break;
		case 'N':
			show->symbols = false;
			break;
		case 'S':
			show->summary = true;
			break;
		case 't':
			show->format = TSV;
			break;
		default:
			if (!kunwind_options_take(&show->options, c, optarg))
				return -1;
		}
	}
	return kunwind_options_traces(&show->options, argv + optind, argc - optind) ? 0 : -1;
}

int kunwind_cmd_show(int argc, char **argv)
{
	struct show show = { .symbols = true };
	int parsed;
	bool ok;

	kunwind_options_init(&show.options);
	parsed = parse(&show, argc, argv);
	if (parsed)
		return kunwind_tool_parsed(parsed);
	ok = run(&show, show.options.traces, show.options.nr_traces);
	kunwind_reading_close(&show.reading);
	kunwind_empty_free(&show.empty);
	kunwind_options_exit(&show.options);
	return kunwind_tool_finish(ok ? TOOL_OK : TOOL_FAILED);
}
