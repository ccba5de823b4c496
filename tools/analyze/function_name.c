// SPDX-License-Identifier: MIT
/*
 * function_name.c - which functions the user means by a name
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "function_name.h"
#include "near.h"
#include "tool.h"

/* Returns the length of "operator" and its symbol at the start of @name; 0: there is none. */
static size_t operator_length(const char *name)
{
	const size_t word = strlen("operator");

	if (strncmp(name, "operator", word))
		return 0;
	if (!strncmp(name + word, "()", 2))
		return word + 2;
	return strchr("<>-+*/%^&|~!=,", name[word]) ? word + strspn(name + word, "<>-+*/%^&|~!=,") : 0;
}

/* Returns what follows the bracket at the start of @name and all in it. */
static const char *after_bracket(const char *name)
{
	int depth = 0;

	do {
		depth += *name == '<' || *name == '(' ? 1 : *name == '>' || *name == ')' ? -1 : 0;
		name += *name == '-' && name[1] == '>' ? 2 : 1;
	} while (depth && *name);
	return name;
}

/*
 * Returns a name without parameters, arguments of templates and what follows the parameters. The caller
 * frees it. "<T as Trait>" of Rust, "{lambda()#1}" and "(anonymous namespace)" are parts of names.
 */
static char *plain_name(const char *name)
{
	char *plain = needed(malloc(strlen(name) + 1)), *to = plain;
	const char *from = name, *end;
	size_t length;

	while (*from) {
		const bool begins = from == name || (from - name >= 2 && from[-1] == ':');

		/* "{lambda()#1}" */
		length = *from == '{' ? strcspn(from, "}") : operator_length(from);
		if (length) {
			to = mempcpy(to, from, length);
			from += length;
			continue;
		}
		if (*from == ' ' && !strncmp(from, " [clone", 7))
			break;
		if (*from != '<' && *from != '(') {
			*to++ = *from++;
			continue;
		}
		end = after_bracket(from);
		if (begins && (*from == '(' || from == name))
			to = mempcpy(to, from, (size_t)(end - from));
		else if (*from == '(' && strncmp(end, "::", 2))
			break;		/* the parameters */
		from = end;
	}
	if (to - plain > 2 && to[-1] == ':')
		to -= 2;	/* Rust: "align_of::<f64>" */
	else if (to > plain && to[-1] == ' ')
		to--;		/* "operator< <int>" */
	*to = '\0';
	return plain;
}

static bool ends_with(const char *name, const char *pattern)
{
	const size_t length = strlen(name), end = strlen(pattern);

	return length > end + 2 && !strcmp(name + length - end, pattern) &&
	       !strncmp(name + length - end - 2, "::", 2);
}

/* The part after the last "::" that is in no bracket. */
static const char *last_part(const char *plain)
{
	const char *last = plain, *at;

	for (at = plain; *at; at = *at == '<' || *at == '(' ? after_bracket(at) : at + 1) {
		if (!strncmp(at, "::", 2))
			last = at + 2;
	}
	return last;
}

bool *function_name_matches(const struct calls *calls, const char *pattern)
{
	bool *matches = needed(calloc(calls->nr_frames + 1, sizeof(*matches))), found = false, exact;
	char **plain = needed(calloc(calls->nr_frames + 1, sizeof(*plain))), text[128];
	struct near near = { .wanted = pattern };
	uint32_t i;

	for (i = 0; i < calls->nr_frames; i++) {
		const char *name = calls->string[calls->frame[i].name];

		if (calls->frame[i].kind != FRAME_FUNCTION)
			continue;
		plain[i] = plain_name(name);
		/* "[libm.so.6]" is a name, too */
		matches[i] = !strcmp(pattern, name) || !fnmatch(pattern, name, 0) ||
			     !strcmp(pattern, plain[i]);
		found |= matches[i];
	}
	exact = found;
	for (i = 0; !exact && i < calls->nr_frames; i++) {
		if (!plain[i])
			continue;
		matches[i] = ends_with(plain[i], pattern);
		found |= matches[i];
		near_try(&near, plain[i]);
		near_try(&near, last_part(plain[i]));
	}
	if (!found) {
		kunwind_tool_error("no function on the stacks matches \"%s\"%s", pattern,
				   near_text(&near, text, sizeof(text)));
		free(matches);
	}
	for (i = 0; i < calls->nr_frames; i++)
		free(plain[i]);
	free(plain);
	return found ? matches : NULL;
}
