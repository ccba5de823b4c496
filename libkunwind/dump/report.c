// SPDX-License-Identifier: MIT
/*
 * report.c - a report of libkunwind-crash: the frames that a crashing process has found
 *
 * The lines are those of kunwind_crash_init(3): objects, each on one line. Nothing is walked: the frames
 * are taken as they are, and their modules are those that the frames name. Lines that are no object
 * are left out, because a descriptor may have the output of the program, too.
 *
 * A report that was cut off has no last line, and perhaps no end of its last thread.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <kunwind.h>

#include "dump.h"
#include "report_names.h"

#define MOST_FIELDS	96		/* of a line */
#define MOST_DEPTH	4
#define KEY		64		/* bytes */

/* A member of a line's object, also of one inside: "crash_info.signal". */
struct report_field {
	char key[KEY];
	const char *value;		/* of a string or a number; NULL: null, or something else */
};

struct report_line {
	struct report_field field[MOST_FIELDS];
	uint32_t nr;
};

struct report_parser {
	struct dump_process *dump;
	struct report_line line;
	bool begun, in_thread, ended;
};

/* ------------------------------------------------------------ JSON */

static char *skip_blanks(char *at)
{
	return at + strspn(at, " \t\r");
}

/* Writes the character as UTF-8; a half of a surrogate pair as U+FFFD. Returns what follows it. */
static char *put_character(char *to, uint32_t c)
{
	if (c >= 0xd800 && c < 0xe000)
		c = 0xfffd;
	if (c < 0x80) {
		*to++ = (char)(c ? c : '?');
	} else if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
		*to++ = (char)(0x80 | (c & 0x3f));
	} else {
		*to++ = (char)(0xe0 | c >> 12);
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
		*to++ = (char)(0x80 | (c & 0x3f));
	}
	return to;
}

/* Decodes a string where it is: it gets no longer. Returns what follows it; NULL: it is none. */
static char *take_string(char *at, char **text)
{
	static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
	char *to = at + 1, digits[5] = "";
	const char *escape;
	char *end;

	if (*at++ != '"')
		return NULL;
	*text = to;
	for (; *at && *at != '"'; at++) {
		if (*at != '\\') {
			*to++ = *at;
			continue;
		}
		escape = *++at ? strchr(from, *at) : NULL;
		if (escape) {
			*to++ = into[escape - from];
		} else if (*at == 'u') {
			snprintf(digits, sizeof(digits), "%.4s", at + 1);
			to = put_character(to, (uint32_t)strtoul(digits, &end, 16));
			if (end != digits + 4)
				return NULL;
			at += 4;
		} else {
			return NULL;
		}
	}
	if (!*at)
		return NULL;
	*to = 0;
	return at + 1;
}

static char *take_members(struct report_line *line, char *at, const char *prefix, unsigned int depth);

/* Takes a value. Returns what follows it; NULL: it is none, or is not supported. */
static char *take_value(struct report_line *line, char *at, const char *key, unsigned int depth)
{
	struct report_field *field = &line->field[line->nr];
	char *end, *text;
	size_t len;

	if (*at == '{')
		return depth < MOST_DEPTH ? take_members(line, at, key, depth + 1) : NULL;
	if (line->nr == MOST_FIELDS)
		return NULL;
	if (*at == '"') {
		end = take_string(at, &text);
		if (!end)
			return NULL;
		field->value = text;
	} else {
		len = strspn(at, "-+.0123456789abcdefghijklmnopqrstuvwxyzE");
		end = at + len;
		if (!len)
			return NULL;
		/* the byte before the value is a blank or a colon, which is not needed any more */
		memmove(at - 1, at, len);
		at[len - 1] = 0;
		field->value = strcmp(at - 1, "null") ? at - 1 : NULL;
	}
	snprintf(field->key, sizeof(field->key), "%s", key);
	line->nr++;
	return end;
}

static char *take_members(struct report_line *line, char *at, const char *prefix, unsigned int depth)
{
	char key[KEY], *name;

	at = skip_blanks(at + 1);
	if (*at == '}')
		return at + 1;
	for (;;) {
		at = take_string(at, &name);
		if (!at)
			return NULL;
		if (snprintf(key, sizeof(key), "%s%s%s", prefix, *prefix ? "." : "", name) >=
		    (int)sizeof(key))
			return NULL;
		at = skip_blanks(at);
		if (*at != ':')
			return NULL;
		at = take_value(line, skip_blanks(at + 1), key, depth);
		if (!at)
			return NULL;
		at = skip_blanks(at);
		if (*at == '}')
			return at + 1;
		if (*at != ',')
			return NULL;
		at = skip_blanks(at + 1);
	}
}

static bool parse(struct report_line *line, char *text)
{
	char *end;

	line->nr = 0;
	text = skip_blanks(text);
	end = *text == '{' ? take_members(line, text, "", 0) : NULL;
	return end && !*skip_blanks(end);
}

static const struct report_field *find(const struct report_line *line, const char *key)
{
	uint32_t i;

	for (i = 0; i < line->nr; i++)
		if (!strcmp(line->field[i].key, key))
			return &line->field[i];
	return NULL;
}

static const char *text_of(const struct report_line *line, const char *key)
{
	const struct report_field *field = find(line, key);

	return field ? field->value : NULL;
}

/* Numbers are decimal, addresses are strings with 0x. */
static bool number_of(const struct report_line *line, const char *key, uint64_t *number)
{
	const char *text = text_of(line, key);
	char *end;

	if (!text)
		return false;
	*number = text[0] == '0' && text[1] == 'x' ? strtoull(text, &end, 16) :
						     (uint64_t)strtoll(text, &end, 10);
	return end != text && !*end;
}

/* ------------------------------------------------------------ lines */

static void copy_name(char to[DUMP_NAME], const char *name)
{
	snprintf(to, DUMP_NAME, "%s", name ? name : "");
}

static bool take_process(struct report_parser *report)
{
	struct dump_process *dump = report->dump;
	const struct report_line *line = &report->line;
	uint64_t number = 0;

	if (report->begun)
		return dump_fail(dump, "it has more than one report: give one of them");
	report->begun = true;
	if (number_of(line, "pid", &number))
		dump->pid = (int32_t)number;
	copy_name(dump->command, text_of(line, "command"));
	if (number_of(line, "crash_info.signal", &number))
		dump->crash.signal = (uint32_t)number;
	dump->crash.has_code = number_of(line, "crash_info.code", &number);
	dump->crash.code = dump->crash.has_code ? (int32_t)number : 0;
	dump->crash.has_address = number_of(line, "crash_info.address", &dump->crash.address);
	dump->crash.has_thread = true;		/* the first one */
	return true;
}

static bool take_thread(struct report_parser *report)
{
	struct dump_thread *thread = dump_add_thread(report->dump);
	uint64_t tid = 0;

	if (!thread)
		return false;
	number_of(&report->line, "thread_id", &tid);
	thread->tid = (uint32_t)tid;
	copy_name(thread->name, text_of(&report->line, "thread_name"));
	thread->first_frame = report->dump->nr_frames;
	thread->reason = KUNWIND_NOT_READY;
	thread->why = DUMP_WHY_CUT;
	report->in_thread = true;
	return true;
}

static void take_registers(const struct report_line *line, struct kunwind_registers *regs)
{
	char key[KEY];
	uint32_t i;

	for (i = 0; i < KUNWIND_NR_REGISTERS; i++) {
		snprintf(key, sizeof(key), "registers.%s", kunwind_report_register[i]);
		if (number_of(line, key, &regs->r[i]))
			regs->valid |= 1u << i;
	}
}

static uint8_t trust_of(const char *name)
{
	uint32_t trust;

	for (trust = 0; name && trust < KUNWIND_NR_TRUSTS; trust++)
		if (!strcmp(kunwind_report_trust(trust), name))
			return (uint8_t)trust;
	return KUNWIND_TRUST_SCAN;
}

static void set_build_id(struct dump_module *module, const char *id)
{
	char pair[3] = "", *end;

	for (; id && id[0] && id[1] && module->build_id_len < DUMP_BUILD_ID; id += 2) {
		pair[0] = id[0];
		pair[1] = id[1];
		module->build_id[module->build_id_len++] = (uint8_t)strtoul(pair, &end, 16);
		if (end != pair + 2) {
			module->build_id_len = 0;
			return;
		}
	}
}

/* Finds or adds the module that the frame names. False: after dump_fail(). */
static bool take_module(struct report_parser *report, uint64_t instruction)
{
	const struct report_line *line = &report->line;
	const char *path = text_of(line, "path");
	struct dump_process *dump = report->dump;
	struct dump_module *module;
	uint64_t offset;
	uint32_t i;

	if (!number_of(line, "module_offset", &offset) || offset > instruction)
		return true;
	for (i = dump->nr_modules; i && dump->module[i - 1].image != instruction - offset; i--)
		;
	if (!i) {
		module = dump_add_module(dump, path ? path : "");
		if (!module)
			return false;
		module->start = module->image = instruction - offset;
		set_build_id(module, text_of(line, "code_id"));
	} else {
		module = &dump->module[i - 1];
	}
	if (instruction >= module->end)
		module->end = instruction + 1;
	return true;
}

static bool take_frame(struct report_parser *report)
{
	const struct report_line *line = &report->line;
	struct dump_process *dump = report->dump;
	struct dump_thread *thread = &dump->thread[dump->nr_threads - 1];
	struct dump_frame *frame;
	uint64_t instruction;

	/* a line that is damaged */
	if (!report->in_thread || !number_of(line, "offset", &instruction))
		return true;
	frame = dump_add_frame(dump);
	if (!frame)
		return false;
	if (!number_of(line, "address", &frame->ip))
		frame->ip = instruction;
	frame->exact = frame->ip == instruction;
	number_of(line, "stack_pointer", &frame->sp);
	frame->trust = trust_of(text_of(line, "trust"));
	if (!thread->nr_frames++)
		take_registers(line, &thread->regs);
	thread->known = true;
	return take_module(report, instruction);
}

static enum dump_why why_of(const char *why)
{
	static const char *const names[] = {
		[DUMP_WHY_DEADLINE] = "deadline", [DUMP_WHY_CRASHED] = "crashed",
		[DUMP_WHY_NOT_PERMITTED] = "not permitted", [DUMP_WHY_NOT_STOPPED] = "not stopped",
	};
	uint32_t i;

	for (i = 0; why && i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i] && !strcmp(names[i], why))
			return (enum dump_why)i;
	return why ? DUMP_WHY_CUT : DUMP_WHY_NONE;
}

static void take_end(struct report_parser *report)
{
	struct dump_process *dump = report->dump;
	struct dump_thread *thread = &dump->thread[dump->nr_threads - 1];
	const char *reason = text_of(&report->line, "reason");
	uint32_t i;

	if (!report->in_thread)
		return;
	report->in_thread = false;
	for (i = 0; reason && i < KUNWIND_NR_REASONS; i++)
		if (!strcmp(kunwind_reason_name(i), reason))
			thread->reason = (enum kunwind_reason)i;
	number_of(&report->line, "missing_address", &thread->missing);
	thread->why = why_of(text_of(&report->line, "why"));
}

static bool take_line(struct report_parser *report, char *text)
{
	struct report_line *line = &report->line;

	if (!parse(line, text))
		return true;
	if (find(line, "crash_info.signal"))
		return take_process(report);
	if (find(line, "thread_id"))
		return take_thread(report);
	if (find(line, "frame"))
		return take_frame(report);
	if (find(line, "reason"))
		take_end(report);
	report->ended |= find(line, "status") != NULL;
	return true;
}

bool dump_read_report(struct dump_process *dump)
{
	char *text = dump_read_text(dump), *rest = text, *line;
	static struct report_parser report;
	bool ok = text;

	report = (struct report_parser){ .dump = dump };
	while (ok && (line = strsep(&rest, "\n")))
		ok = take_line(&report, line);
	free(text);
	dump->truncated = !report.ended;
	return ok && (report.begun || dump_fail(dump, "it is no report of libkunwind-crash"));
}
