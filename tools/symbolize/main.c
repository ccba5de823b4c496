// SPDX-License-Identifier: MIT
/*
 * main.c - kunwind-symbolize, the program behind "kunwind symbolize": a filter
 * that names the addresses in other tools' text
 *
 * Output is complete whenever the program waits for input, so it may stand in a
 * pipe after a tool that runs. Lines of LONGEST bytes or more are copied.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "names.h"
#include "show_json.h"
#include "text.h"
#include "tool.h"
#include "trace/options.h"

#define LONGEST	(1u << 20)

struct symbolize {
	struct kunwind_options options;
	struct names_options source;
	enum { BY_STACK, ALL_EXACT, ALL_RETURN } kind;
	bool objects, lines, inlined, why, json;
	struct names *names;
	struct text text;
	bool in_long_line;
	uint64_t line, found, named;
};

static const char usage[] =
	"Usage: kunwind symbolize [OPTION]... [TRACE]...\n"
	"       kunwind symbolize [OPTION]... -p PID\n"
	"       kunwind symbolize [OPTION]... -m FILE\n"
	"\n"
	"Copies standard input to standard output, with names for addresses of code: the\n"
	"output of bpftrace and perf script, or any lines with addresses. The processes of\n"
	"TRACE (default: the last recording) may have ended.\n"
	"\n"
	"  -p, --pid PID        the running process PID; with TRACE: only that of the trace\n"
	"  -m, --maps FILE      a process whose /proc/PID/maps was saved in FILE\n"
	"      --at TIME        mappings at this time of the trace: a clock time as kunwind\n"
	"                       show prints it, seconds from the trace's beginning, or\n"
	"                       19 digits of nanoseconds since 1970 (default: the latest\n"
	"                       code at each address)\n"
	"      --exact          each address is a program counter\n"
	"      --return         each address is a return address, and belongs to the call\n"
	"                       before it (default: the stack decides, see below)\n"
	"      --objects        add the object: name+0x2d (/usr/lib/libc.so.6)\n"
	"  -l, --lines          add source lines\n"
	"  -i, --inlined        print inlined functions on lines of their own\n"
	"      --why            add why an address has no name\n"
	"  -j, --json           an object on a line for each address: kunwind-json(5)\n"
	"      --debug-dir DIR  objects and debug files below DIR, too; may be repeated\n"
	"      --no-local       with TRACE: only those and debuginfod, not this host's own\n"
	"                       files\n"
	"  -h, --help\n"
	"\n"
	"An address is a word 0x..., or a line with only a hexadecimal number of 8 digits\n"
	"or more, or a frame that perf script or ustack(perf) cannot name. Code without a name\n"
	"becomes object+0xADDRESS, as eu-addr2line -e OBJECT takes it. All other text stays.\n"
	"In a stack (indented lines), the first address is a program counter, and all others\n"
	"are return addresses. The headers of perf script say which process is meant.\n"
	"Without them and --pid, all processes of TRACE with code at an address must have\n"
	"the same code there.\n"
	"\n"
	"Exit status: 0; 1 after an error, or if no address has a name; 2 after wrong usage.\n";

static void put(const char *text)
{
	kunwind_tool_text(stdout, text, "");
}

static void put_line(const struct symbolize *symbolize, const struct kunwind_function *function)
{
	if (!symbolize->lines || !function->file)
		return;
	fputs(" at ", stdout);
	put(function->file);
	if (function->line)
		printf(":%u", function->line);
}

/* Prints inlined functions, each on a line that begins as the frame's does. */
static void put_inlined(const struct symbolize *symbolize, const struct kunwind_frame *frame,
			const char *line, size_t start)
{
	unsigned int i;

	for (i = 0; i + 1 < frame->nr_functions; i++) {
		fwrite(line, 1, start, stdout);
		put(frame->function[i].name ? frame->function[i].name : "?");
		fputs(" (inlined)", stdout);
		put_line(symbolize, &frame->function[i]);
		putchar('\n');
	}
}

static bool is_path(const struct text_address *found, const char *line)
{
	return found->object_end > found->object && line[found->object] == '/';
}

static void put_object(const struct symbolize *symbolize, const struct kunwind_frame *frame,
		       const struct text_address *found, const char *line)
{
	/* what perf knows stays, except that the file was deleted */
	bool known = found->perf && is_path(found, line);

	if (!found->perf && !symbolize->objects)
		return;
	fputs(" (", stdout);
	if (known)
		fwrite(line + found->object, 1, found->object_end - found->object, stdout);
	else
		put(kunwind_object_path(frame->object));
	putchar(')');
}

/* Prints what stands for an address. */
static void put_name(const struct symbolize *symbolize, const struct kunwind_frame *frame,
		     const struct text_address *found, const char *line)
{
	const struct kunwind_function *function = kunwind_frame_function(frame);
	bool named = function && function->name;

	if (symbolize->inlined && found->frame)
		put_inlined(symbolize, frame, line, found->start);
	if (found->frame)
		fwrite(line, 1, found->start, stdout);
	if (named) {
		put(function->name);
		printf("+0x%" PRIx64, function->offset);
		put_object(symbolize, frame, found, line);
	} else if (frame->object && !found->perf) {
		put(kunwind_tool_base_name(kunwind_object_path(frame->object)));
		printf("+0x%" PRIx64, frame->object_address);
	} else if (frame->object) {
		fputs("[unknown]", stdout);
		put_object(symbolize, frame, found, line);
	} else {
		fwrite(line + found->start, 1, found->end - found->start, stdout);
	}
	if (function)
		put_line(symbolize, function);
	if (symbolize->why && !named && frame->why)
		printf(" [%s]", frame->why);
}

/* The object that perf knows, without " (deleted)". */
static void ask_object(const struct text_address *found, const char *line,
		       struct question *question)
{
	static const char deleted[] = " (deleted)";
	const size_t tail = sizeof(deleted) - 1;

	if (!found->perf || !is_path(found, line))
		return;
	question->object = line + found->object;
	question->length = found->object_end - found->object;
	if (question->length > tail &&
	    !memcmp(question->object + question->length - tail, deleted, tail))
		question->length -= tail;
}

static void put_json(const struct symbolize *symbolize, const struct kunwind_frame *frame, int pid)
{
	printf("{\"line\": %" PRIu64 ", \"pid\": ", symbolize->line);
	if (pid)
		printf("%d, \"frame\": ", pid);
	else
		fputs("null, \"frame\": ", stdout);
	kunwind_json_frame(frame, false, NULL);
	puts("}");
}

/* Prints a line, whose newline is not part of it. */
static void take_line(struct symbolize *symbolize, const char *line, size_t length)
{
	struct text *text = &symbolize->text;
	struct text_address found;
	struct question question;
	struct kunwind_frame frame;
	size_t at = 0;
	int pid;

	symbolize->line++;
	/* the rest of a long line is not a line */
	text_line(text, line, symbolize->in_long_line ? 0 : length);
	while (!symbolize->in_long_line && text_next(text, line, length, &found)) {
		if (symbolize->kind != BY_STACK)
			found.exact = symbolize->kind == ALL_EXACT;
		question = (struct question){ .address = found.address, .pid = text->pid,
					      .exact = found.exact };
		ask_object(&found, line, &question);
		pid = names_find(symbolize->names, &question, &frame);
		symbolize->found++;
		symbolize->named += frame.object != NULL;
		/* a signal interrupted the next frame, which did not call */
		if (found.frame && frame.trampoline)
			text->in_stack = false;
		if (symbolize->json) {
			put_json(symbolize, &frame, pid);
			continue;
		}
		if (!found.frame)
			fwrite(line + at, 1, found.start - at, stdout);
		put_name(symbolize, &frame, &found, line);
		at = found.end;
	}
	if (!symbolize->json)
		fwrite(line + at, 1, length - at, stdout);
	symbolize->in_long_line = false;
}

/* Takes the whole lines in a buffer. Returns how many bytes these are. */
static size_t take_lines(struct symbolize *symbolize, const char *buffer, size_t length)
{
	const char *newline;
	size_t at = 0;

	while ((newline = memchr(buffer + at, '\n', length - at))) {
		take_line(symbolize, buffer + at, (size_t)(newline - buffer) - at);
		if (!symbolize->json)
			putchar('\n');
		at = (size_t)(newline - buffer) + 1;
	}
	return at;
}

static bool copy(struct symbolize *symbolize)
{
	char *buffer = malloc(LONGEST);
	size_t length = 0, taken;
	ssize_t n = 1;

	while (buffer && n > 0 && kunwind_tool_flush()) {
		n = read(STDIN_FILENO, buffer + length, LONGEST - length);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			length += (size_t)n;
		taken = take_lines(symbolize, buffer, length);
		length -= taken;
		memmove(buffer, buffer + taken, length);
		if (length == LONGEST) {
			if (!symbolize->json)
				fwrite(buffer, 1, length, stdout);
			symbolize->in_long_line = true;
			length = 0;
		}
	}
	if (!buffer)
		kunwind_tool_error("out of memory");
	else if (n < 0)
		kunwind_tool_error("standard input: %s", strerror(errno));
	else if (length)
		take_line(symbolize, buffer, length);
	free(buffer);
	return buffer && n >= 0;
}

/* Returns 0: go on; 1: help was printed; -1: wrong usage, after a message. */
static int parse(struct symbolize *symbolize, int argc, char **argv)
{
	enum { AT = 256, EXACT, RETURN, OBJECTS, WHY };
	static const struct help_id ids[] = { { "at", AT }, { "exact", EXACT }, { "objects", OBJECTS },
		{ "return", RETURN }, { "why", WHY }, { NULL, 0 } };
	struct names_options *source = &symbolize->source;
	int c;

	while ((c = help_option(argc, argv, usage, ids, kunwind_option_ids)) != -1) {
		switch (c) {
		case 'h':
			fputs(usage, stdout);
			return 1;
		case 'i':
			symbolize->inlined = true;
			break;
		case 'j':
			symbolize->json = true;
			break;
		case 'l':
			symbolize->lines = true;
			break;
		case 'm':
			source->maps = optarg;
			break;
		case 'p':
			source->pid = kunwind_tool_pid(optarg);
			if (source->pid < 0) {
				kunwind_tool_error("not a PID: %s", optarg);
				return -1;
			}
			break;
		case WHY:
			symbolize->why = true;
			break;
		case AT:
			source->at = optarg;
			break;
		case EXACT:
			symbolize->kind = ALL_EXACT;
			break;
		case RETURN:
			symbolize->kind = ALL_RETURN;
			break;
		case OBJECTS:
			symbolize->objects = true;
			break;
		default:
			if (!kunwind_options_take(&symbolize->options, c, optarg))
				return -1;
		}
	}
	if ((optind < argc || (!source->pid && !source->maps)) &&
	    !kunwind_options_traces(&symbolize->options, argv + optind, argc - optind))
		return -1;
	source->traces = symbolize->options.traces;
	source->nr_traces = symbolize->options.nr_traces;
	if (source->maps && (source->nr_traces || source->pid))
		kunwind_tool_error("--maps FILE stands alone: no TRACE, no --pid");
	else if (source->at && !source->nr_traces)
		kunwind_tool_error("--at is a time of a TRACE");
	else if (symbolize->options.symbols.flags & KUNWIND_NO_LOCAL && !source->nr_traces)
		kunwind_tool_error("--no-local needs a TRACE, which has build-ids; without one, names come "
				   "from this host's files");
	else
		return 0;
	return -1;
}

int main(int argc, char **argv)
{
	struct symbolize symbolize = { .kind = BY_STACK };
	int parsed;
	bool ok;

	kunwind_tool_name = "symbolize";
	kunwind_options_init(&symbolize.options);
	parsed = parse(&symbolize, argc, argv);
	if (parsed)
		return kunwind_tool_parsed(parsed);
	/* before another file gets the number 0 */
	if (fcntl(STDIN_FILENO, F_GETFD) < 0) {
		kunwind_tool_error("standard input: %s", strerror(errno));
		return TOOL_FAILED;
	}
	/* ^C ends the tool that writes the input, which then prints its results */
	signal(SIGINT, SIG_IGN);
	symbolize.source.symbols = symbolize.options.symbols;
	if (!symbolize.lines && !symbolize.inlined && !symbolize.json)
		symbolize.source.symbols.flags |= KUNWIND_NO_DWARF;
	symbolize.names = names_new(&symbolize.source);
	ok = symbolize.names && copy(&symbolize);
	if (ok && symbolize.found && !symbolize.named) {
		kunwind_tool_error("none of the %" PRIu64 " addresses is of known code (--why says why)",
				   symbolize.found);
		ok = false;
	}
	if (symbolize.names)
		names_free(symbolize.names);
	kunwind_options_exit(&symbolize.options);
	return kunwind_tool_finish(ok ? TOOL_OK : TOOL_FAILED);
}
