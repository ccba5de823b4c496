// SPDX-License-Identifier: MIT
/*
 * text.c - find addresses of code in the text that other tools print
 *
 * An address is one of these:
 *
 *   0x55d0c1a2b3c4              a word of its own, anywhere in a line; not a part
 *                               of name+0x2d, of a range or of a path
 *       55d0c1a2b3c4            alone in its line, with 8 digits or more
 *       55d0 [unknown] (/bin/a) a frame of perf script that perf cannot name
 *       55d0 0x55d0 ([unknown]) the same of bpftrace, ustack(perf)
 *
 * A stack is a run of indented lines, as bpftrace and perf script print it, with
 * names or addresses. Its first frame in user space is where the program was, and
 * its address is a program counter; that of each further frame is a return
 * address. An address elsewhere is a program counter.
 *
 * A line of perf script that names a sample ("comm 12/13 [000] 5.678901: ...")
 * has its process. Without "-F +pid" it has the thread only.
 */
#include <string.h>

#include "text.h"

#define KERNEL	(1ull << 63)

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int hex_value(char c)
{
	if (is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads hexadecimal digits. Returns how many; 0 also if there are more than 16. */
static size_t read_hex(const char *line, size_t at, size_t length, uint64_t *value)
{
	size_t from = at;

	for (*value = 0; at < length && hex_value(line[at]) >= 0; at++)
		*value = *value << 4 | (uint64_t)hex_value(line[at]);
	return at - from <= 16 ? at - from : 0;
}

static size_t skip_blanks(const char *line, size_t at, size_t length)
{
	while (at < length && is_blank(line[at]))
		at++;
	return at;
}

static size_t skip_word(const char *line, size_t at, size_t length)
{
	while (at < length && !is_blank(line[at]))
		at++;
	return at;
}

static size_t skip_digits(const char *line, size_t at, size_t end)
{
	while (at < end && is_digit(line[at]))
		at++;
	return at;
}

/* Reads "12" or "12/13". Returns the first number; 0: it is another word. */
static int read_pid(const char *line, size_t at, size_t end)
{
	size_t first = skip_digits(line, at, end), i;
	int64_t pid = 0;

	if (first == at || first - at > 9)
		return 0;
	if (first < end && (line[first] != '/' || first + 1 == end ||
			    skip_digits(line, first + 1, end) != end))
		return 0;
	for (i = at; i < first; i++)
		pid = pid * 10 + (line[i] - '0');
	return (int)pid;
}

/* Is the word "5.678901:"? */
static bool is_time(const char *line, size_t at, size_t end)
{
	size_t point = skip_digits(line, at, end);

	return point > at && point < end && line[point] == '.' &&
	       skip_digits(line, point + 1, end) + 1 == end && end > point + 2 && line[end - 1] == ':';
}

/* Is the word a CPU, as "[003]"? */
static bool is_cpu(const char *line, size_t at, size_t end)
{
	return end - at > 2 && line[at] == '[' && skip_digits(line, at + 1, end) == end - 1 &&
	       line[end - 1] == ']';
}

/* Returns the process or thread in a header of perf script; 0: it is no header. */
static int header_pid(const char *line, size_t length)
{
	size_t at = skip_blanks(line, 0, length), end;
	int pid = 0;

	/* the name of the thread, of any words, comes first */
	for (at = skip_word(line, at, length); (at = skip_blanks(line, at, length)) < length; at = end) {
		end = skip_word(line, at, length);
		if (pid && is_time(line, at, end))
			return pid;
		if (!is_cpu(line, at, end))
			pid = read_pid(line, at, end);
	}
	return 0;
}

/* Is the line a number in hexadecimal and nothing else? */
static bool is_alone(const struct text *text, const char *line, size_t at, size_t length,
		     uint64_t *value)
{
	bool marked = length - at > 2 && line[at] == '0' && line[at + 1] == 'x';
	size_t digits = read_hex(line, at + (marked ? 2 : 0), length, value);

	return digits >= (marked || text->in_sample ? 1 : 8) &&
	       skip_blanks(line, at + (marked ? 2 : 0) + digits, length) == length;
}

/*
 * Finds the name of a frame that has none: "[unknown]" or the address again,
 * after an address and before " (object)". Returns where the blank before it is;
 * 0: the line is no such frame. @object: out, where the object begins.
 */
static size_t find_unknown(const char *line, size_t length, size_t *object)
{
	static const char mark[] = "[unknown] (";
	const char *found = memmem(line, length, mark, sizeof(mark) - 1);
	size_t at = found ? (size_t)(found - line) : 0, digits;
	uint64_t first, second;

	if (found && at > 1 && is_blank(line[at - 1]) && hex_value(line[at - 2]) >= 0) {
		*object = at + sizeof(mark) - 1;
		return at - 1;
	}
	at = skip_blanks(line, 0, length);
	digits = read_hex(line, at, length, &first);
	if (!at || !digits || length - at < 2 * digits + 5 || memcmp(line + at + digits, " 0x", 3) ||
	    read_hex(line, at + digits + 3, length, &second) != digits || second != first)
		return 0;
	*object = at + 2 * digits + 5;
	return memcmp(line + *object - 2, " (", 2) ? 0 : at + digits;
}

static bool ends_a_heading(const char *line, size_t length)
{
	while (length && is_blank(line[length - 1]))
		length--;
	return length && strchr(":[{(,;=", line[length - 1]);
}

void text_line(struct text *text, const char *line, size_t length)
{
	size_t at = skip_blanks(line, 0, length), digits, object;
	uint64_t value = 0;
	int pid;

	text->at = 0;
	text->line = TEXT_OTHER;
	text->exact = true;
	pid = header_pid(line, length);
	if (pid) {
		text->pid = pid;
		text->in_sample = true;
	} else if (!at || at == length) {
		text->pid = 0;
		text->in_sample = text->in_stack = false;
	}
	if (at == length)
		return;
	if (is_alone(text, line, at, length, &value)) {
		text->line = TEXT_ALONE;
	} else if (find_unknown(line, length, &object)) {
		text->line = TEXT_UNKNOWN;
	} else if (text->in_sample && at) {
		/* a frame that perf has named; in the kernel if its address is */
		digits = read_hex(line, at, length, &value);
		if (!digits || at + digits == length || !is_blank(line[at + digits]))
			value = 0;
	}
	if (pid || !at || (text->line == TEXT_OTHER && ends_a_heading(line, length))) {
		text->in_stack = false;
		return;
	}
	if (text->line == TEXT_UNKNOWN)
		read_hex(line, at, length, &value);
	text->exact = !text->in_stack || text->line == TEXT_OTHER;
	if (!(value & KERNEL))
		text->in_stack = true;
}

/* May the address from @start to @end be a word of its own? */
static bool is_word(const char *line, size_t start, size_t end, size_t length)
{
	char before = start ? line[start - 1] : ' ', after = end < length ? line[end] : ' ';
	char next = end + 1 < length ? line[end + 1] : ' ';

	if (is_letter(before) || is_digit(before) || (before && strchr("_+-./@", before)))
		return false;
	if (is_letter(after) || is_digit(after) || (after && strchr("_+/@", after)))
		return false;
	return !((after == '.' || after == '-') && (is_letter(next) || is_digit(next)));
}

static bool next_word(struct text *text, const char *line, size_t length, struct text_address *found)
{
	size_t at, digits;

	for (at = text->at; at + 2 < length; at++) {
		if (line[at] != '0' || line[at + 1] != 'x')
			continue;
		digits = read_hex(line, at + 2, length, &found->address);
		if (!digits || !is_word(line, at, at + 2 + digits, length))
			continue;
		found->start = at;
		found->end = text->at = at + 2 + digits;
		return true;
	}
	text->at = length;
	return false;
}

/* Takes "55d0c1a2b3c4 [unknown] (/bin/a)". */
static bool take_unknown(const char *line, size_t length, struct text_address *found)
{
	size_t at = find_unknown(line, length, &found->object), start = at, digits;

	while (start && hex_value(line[start - 1]) >= 0)
		start--;
	digits = read_hex(line, start, length, &found->address);
	while (length && is_blank(line[length - 1]))
		length--;
	if (digits != at - start || (start && !is_blank(line[start - 1])) ||
	    line[length - 1] != ')' || length - 1 < found->object)
		return false;
	found->perf = true;
	found->start = at + 1;
	found->object_end = length - 1;
	found->end = length;
	return true;
}

bool text_next(struct text *text, const char *line, size_t length, struct text_address *found)
{
	size_t at = skip_blanks(line, 0, length);

	*found = (struct text_address){ .exact = text->exact };
	if (text->line == TEXT_OTHER)
		return next_word(text, line, length, found);
	if (text->at)
		return false;
	text->at = length;
	found->frame = at > 0 && !(text->line == TEXT_UNKNOWN && header_pid(line, length));
	if (text->line == TEXT_UNKNOWN)
		return take_unknown(line, length, found);
	found->start = at;
	at += line[at] == '0' && at + 1 < length && line[at + 1] == 'x' ? 2 : 0;
	found->end = at + read_hex(line, at, length, &found->address);
	return true;
}
