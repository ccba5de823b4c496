// SPDX-License-Identifier: MIT
/*
 * line.c - write a JSON object as one line; see line.h
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

#include "kunwind_utf8.h"
#include "line.h"
#include "../unwind/syscall.h"

#define LONGEST_STRING	1400		/* written bytes: two of them, and registers, fit */
#define GRACE		50000000	/* ns after the deadline, for the last lines */

static void put(struct crash_line *line, char c)
{
	if (line->len < sizeof(line->text) - 2)
		line->text[line->len++] = c;
}

static void put_text(struct crash_line *line, const char *text)
{
	while (*text)
		put(line, *text++);
}

static void put_hex(struct crash_line *line, u64 value, u32 digits)
{
	while (digits--)
		put(line, "0123456789abcdef"[value >> 4 * digits & 15]);
}

static void put_key(struct crash_line *line, const char *key)
{
	if (line->text[line->len - 1] != '{')
		put_text(line, ", ");
	put(line, '"');
	put_text(line, key);
	put_text(line, "\": ");
}

/* As kunwind's tools write strings. */
static void put_string(struct crash_line *line, const char *text)
{
	const u32 end = line->len + LONGEST_STRING;
	u32 n;

	put(line, '"');
	for (; *text && line->len < end; text += n ?: 1) {
		n = kunwind_utf8_length(text);
		if (*text == '"' || *text == '\\') {
			put(line, '\\');
			put(line, *text);
		} else if (kunwind_utf8_upper_control((const u8 *)text)) {
			put_text(line, "\\u00");
			put_hex(line, (u8)text[1], 2);
			n = 2;
		} else if (n) {
			u32 i;

			for (i = 0; i < n; i++)
				put(line, text[i]);
		} else if ((u8)*text < 0x80) {
			put_text(line, "\\u00");
			put_hex(line, (u8)*text, 2);
		} else {
			put_text(line, "\\ufffd");
		}
	}
	put(line, '"');
}

void crash_line_begin(struct crash_line *line)
{
	line->text[0] = '{';
	line->len = 1;
}

void crash_line_open(struct crash_line *line, const char *key)
{
	put_key(line, key);
	put(line, '{');
}

void crash_line_close(struct crash_line *line)
{
	put(line, '}');
}

void crash_line_null(struct crash_line *line, const char *key)
{
	put_key(line, key);
	put_text(line, "null");
}

void crash_line_string(struct crash_line *line, const char *key, const char *value)
{
	put_key(line, key);
	if (value)
		put_string(line, value);
	else
		put_text(line, "null");
}

char *crash_digits(char *end, u64 value)
{
	*--end = 0;
	do
		*--end = (char)('0' + value % 10);
	while (value /= 10);
	return end;
}

void crash_line_number(struct crash_line *line, const char *key, s64 value)
{
	const u64 rest = value < 0 ? -(u64)value : (u64)value;
	char digits[CRASH_DIGITS];

	put_key(line, key);
	if (value < 0)
		put(line, '-');
	put_text(line, crash_digits(digits + sizeof(digits), rest));
}

void crash_line_address(struct crash_line *line, const char *key, u64 value)
{
	put_key(line, key);
	put_text(line, "\"0x");
	put_hex(line, value, value ? (67 - (u32)__builtin_clzll(value)) / 4 : 1);
	put(line, '"');
}

void crash_line_bytes(struct crash_line *line, const char *key, const u8 *bytes, u32 nr)
{
	put_key(line, key);
	if (!nr) {
		put_text(line, "null");
		return;
	}
	put(line, '"');
	while (nr--)
		put_hex(line, *bytes++, 2);
	put(line, '"');
}

u64 crash_clock(void)
{
	struct timespec now;

	if (unwind_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, 0, 0, 0))
		return 0;
	return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

void crash_sleep(long ns)
{
	const struct timespec some = { .tv_nsec = ns };

	unwind_syscall(SYS_nanosleep, (long)&some, 0, 0, 0, 0, 0);
}

bool crash_output_ended(const struct crash_output *output)
{
	return output->broken || crash_clock() >= output->end;
}

/* Waits until the descriptor takes bytes. False: the deadline is over. */
static bool wait_for(const struct crash_output *output)
{
	struct pollfd ready = { .fd = output->fd, .events = POLLOUT };
	u64 now;
	long got;

	do {
		now = crash_clock();
		now = max(now, output->end) - now + GRACE;
		got = unwind_syscall(SYS_poll, (long)&ready, 1, (long)(now / 1000000), 0, 0, 0);
	} while (got == -EINTR);
	return got;
}

/* The signal of a write without a reader is blocked, and would end the process later. */
static void drop_sigpipe(void)
{
	const u64 mask = 1ULL << (SIGPIPE - 1);
	const struct timespec now = { 0 };

	unwind_syscall(SYS_rt_sigtimedwait, (long)&mask, 0, (long)&now, sizeof(mask), 0, 0);
}

void crash_line_write(struct crash_line *line, struct crash_output *output)
{
	const char *at = line->text;
	u32 tries = 100;
	long done;

	line->text[line->len++] = '}';
	line->text[line->len++] = '\n';
	while (line->len && !output->broken) {
		if (!tries-- || !wait_for(output)) {
			output->broken = true;
			return;
		}
		done = unwind_syscall(SYS_write, output->fd, (long)at, line->len, 0, 0, 0);
		if (done > 0) {
			at += done;
			line->len -= (u32)done;
		} else if (done == -EPIPE) {
			drop_sigpipe();
			output->broken = true;
		} else if (done != -EAGAIN && done != -EINTR) {
			output->broken = true;
		}
	}
}
