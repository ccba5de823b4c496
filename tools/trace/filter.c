// SPDX-License-Identifier: MIT
/*
 * filter.c - which part of a trace counts: a window of time, threads, durations
 *
 * Times are integers, so limits are exact to the nanosecond.
 */
#include <string.h>
#include <time.h>

#include "filter.h"
#include "tool.h"

#define SECOND	INT64_C(1000000000)
#define HOUR	(3600 * SECOND)

void kunwind_filter_init(struct kunwind_filter *filter)
{
	*filter = (struct kunwind_filter){
		.shortest = -1, .longest = -1, .begin = INT64_MIN, .end = INT64_MAX,
	};
}

void kunwind_filter_exit(struct kunwind_filter *filter)
{
	kunwind_numbers_free(&filter->tids);
	kunwind_patterns_free(&filter->comms);
}

/*
 * Reads a decimal number of units with @unit nanoseconds each: digits, and a
 * fraction that is a whole number of nanoseconds. Returns the text after it, or
 * NULL if there is no such number.
 */
static const char *read_decimal(const char *text, int64_t unit, int64_t *ns)
{
	int64_t value = 0;

	if (*text < '0' || *text > '9')
		return NULL;
	for (; *text >= '0' && *text <= '9'; text++) {
		if (value > INT64_MAX / unit / 100)
			return NULL;
		value = value * 10 + (*text - '0');
	}
	*ns = value * unit;
	if (*text != '.' || text[1] < '0' || text[1] > '9')
		return text;
	for (text++; *text >= '0' && *text <= '9'; text++) {
		unit /= 10;
		if (!unit && *text != '0')
			return NULL;
		*ns += (*text - '0') * unit;
	}
	return text;
}

/* Reads two digits below @limit, and @after. Returns the text after them, or NULL. */
static const char *read_part(const char *text, int limit, char after, int64_t *value)
{
	if (!text || text[0] < '0' || text[0] > '9' || text[1] < '0' || text[1] > '9' ||
	    text[2] != after)
		return NULL;
	*value = (text[0] - '0') * 10 + (text[1] - '0');
	return *value < limit ? text + 3 : NULL;
}

bool kunwind_when_read(const char *text, struct kunwind_when *when)
{
	int64_t hour, minute;
	const char *rest;

	if (!strchr(text, ':')) {
		when->kind = WHEN_SECONDS;
		rest = read_decimal(text, SECOND, &when->ns);
		return rest && !*rest;
	}
	when->kind = WHEN_CLOCK;
	rest = read_part(read_part(text, 24, ':', &hour), 60, ':', &minute);
	rest = rest ? read_decimal(rest, SECOND, &when->ns) : NULL;
	if (!rest || *rest || when->ns >= 60 * SECOND)
		return false;
	when->ns += hour * HOUR + minute * 60 * SECOND;
	return true;
}

/* Reads a number with a unit. Returns the text after it, or NULL. */
static const char *read_duration(const char *text, int64_t *ns)
{
	static const struct {
		const char *name;
		int64_t ns;
	} units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", SECOND } };
	const char *unit = text + strspn(text, "0123456789.");
	size_t i, length;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		length = strlen(units[i].name);
		if (!strncmp(unit, units[i].name, length))
			return read_decimal(text, units[i].ns, ns) == unit ? unit + length : NULL;
	}
	return NULL;
}

static bool read_durations(const char *text, struct kunwind_filter *filter)
{
	text = read_duration(text, &filter->shortest);
	if (!text || !*text)
		return text;
	text = strncmp(text, "..", 2) ? NULL : read_duration(text + 2, &filter->longest);
	return text && !*text && filter->shortest <= filter->longest;
}

static bool take_when(const char *option, const char *value, struct kunwind_when *when)
{
	if (kunwind_when_read(value, when))
		return true;
	kunwind_tool_error("%s takes seconds from the trace's beginning (1.5) or a clock time "
			   "(08:30:00.5), not: %s", option, value);
	return false;
}

bool kunwind_filter_take(struct kunwind_filter *filter, int c, const char *value)
{
	switch (c) {
	case FILTER_FROM:
		if (!take_when("--from", value, &filter->from))
			return false;
		break;
	case FILTER_TO:
		if (!take_when("--to", value, &filter->to))
			return false;
		break;
	case FILTER_TID:
		return kunwind_numbers_add(&filter->tids, "--tid", "thread", value);
	case FILTER_COMM:
		return kunwind_patterns_add(&filter->comms, "--comm", value);
	case FILTER_DURATION:
		filter->longest = -1;
		if (read_durations(value, filter))
			return true;
		kunwind_tool_error("--duration takes MIN or MIN..MAX with units, such as 10ms or "
				   "1us..2.5ms, not: %s", value);
		return false;
	default:
		return false;
	}
	/* a clock time may be of the next day */
	if (filter->from.kind == WHEN_SECONDS && filter->to.kind == WHEN_SECONDS &&
	    filter->from.ns >= filter->to.ns) {
		kunwind_tool_error("--from must be before --to, not: %s", value);
		return false;
	}
	return true;
}

/* Returns a local time with or without daylight saving time; -1: there is no such time. */
static int64_t local_time(struct tm tm, int dst)
{
	time_t seconds;

	tm.tm_isdst = dst;
	seconds = mktime(&tm);
	return dst < 0 || tm.tm_isdst == dst ? (int64_t)seconds * SECOND : -1;
}

/*
 * Returns the clock time @when of the day @tm. When daylight saving time ends, an hour
 * occurs twice: then the time is the first one that is not before @begin.
 */
static int64_t clock_time(struct tm tm, const struct kunwind_when *when, int64_t begin)
{
	int64_t time, other;

	tm.tm_hour = (int)(when->ns / HOUR);
	tm.tm_min = (int)(when->ns / (60 * SECOND) % 60);
	tm.tm_sec = (int)(when->ns / SECOND % 60);
	time = local_time(tm, tm.tm_isdst);
	other = local_time(tm, !tm.tm_isdst);
	if (time < 0 || (time < begin - begin % SECOND && other > time))
		time = other;
	if (time < 0)		/* the clock passes over it */
		time = local_time(tm, -1);
	return time + when->ns % SECOND;
}

int64_t kunwind_when_resolve(const struct kunwind_when *when, int64_t begin, int64_t otherwise)
{
	time_t seconds = (time_t)(begin / SECOND);
	struct tm tm;
	int64_t time;

	if (when->kind == WHEN_SECONDS)
		return begin + when->ns;
	if (when->kind == WHEN_NONE || !localtime_r(&seconds, &tm))
		return otherwise;
	time = clock_time(tm, when, begin);
	if (time >= begin - HOUR)
		return time;
	tm.tm_mday++;
	return clock_time(tm, when, begin);
}

bool kunwind_filter_begin(struct kunwind_filter *filter, int64_t time)
{
	filter->begin = kunwind_when_resolve(&filter->from, time, INT64_MIN);
	filter->end = kunwind_when_resolve(&filter->to, time, INT64_MAX);
	if (filter->begin < filter->end)
		return true;
	kunwind_tool_error("--from must be before --to");
	return false;
}

int64_t kunwind_filter_clamp(const struct kunwind_filter *filter, int64_t time)
{
	return time < filter->begin ? filter->begin : time > filter->end ? filter->end : time;
}

bool kunwind_filter_tid(const struct kunwind_filter *filter, const struct kunwind_head *head)
{
	return kunwind_numbers_select(&filter->tids, head->tid);
}

bool kunwind_filter_comm(struct kunwind_filter *filter, const struct kunwind_head *head)
{
	return kunwind_patterns_select(&filter->comms, head->comm);
}

bool kunwind_filter_duration(const struct kunwind_filter *filter, int64_t ns)
{
	return ns >= filter->shortest && (filter->longest < 0 || ns <= filter->longest);
}
