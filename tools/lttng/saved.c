// SPDX-License-Identifier: MIT
/*
 * saved.c - find out which kernel channels a session has, whether a channel has the
 * contexts that stacks need (those of --callstack, except for procname), and which
 * events are enabled
 *
 * No format of "lttng list" shows contexts. "lttng save" writes them: it saves
 * the configuration of a session as XML, here into a temporary directory that
 * is removed afterwards. There is no XML parser: the few elements are found by
 * their tags, because libxml2 writes these elements without attributes and
 * without blanks around the text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dir.h"
#include "options.h"
#include "real.h"
#include "saved.h"

/* Returns the address after the first @text in [at, end), or NULL. */
static const char *find(const char *at, const char *end, const char *text)
{
	const char *found = memmem(at, (size_t)(end - at), text, strlen(text));

	return found ? found + strlen(text) : NULL;
}

/* Returns where the first @tag in [at, end) begins; @end if there is none. */
static const char *up_to(const char *at, const char *end, const char *tag)
{
	const char *found = find(at, end, tag);

	return found ? found - strlen(tag) : end;
}

/*
 * Finds a channel of a domain: "KERNEL" or "UST". Returns the first address inside its element and sets
 * @channel_end; NULL: there is none.
 */
static const char *find_channel(const char *text, const char *type, const char *channel,
				const char **channel_end)
{
	const char *end = text + strlen(text), *domain = text, *domain_end, *at, *name;
	size_t len = strlen(channel);
	char wanted[32];

	snprintf(wanted, sizeof(wanted), "<type>%s</type>", type);
	while ((domain = find(domain, end, "<domain>"))) {
		domain_end = up_to(domain, end, "</domain>");
		/* Events have types, too; the domain's precedes its channels */
		at = up_to(domain, domain_end, "<channels>");
		if (!find(domain, at, wanted))
			continue;
		while ((at = find(at, domain_end, "<channel>"))) {
			*channel_end = up_to(at, domain_end, "</channel>");
			name = find(at, *channel_end, "<name>");
			if (name && (size_t)(*channel_end - name) > len &&
			    !strncmp(name, channel, len) && !strncmp(name + len, "</name>", 7))
				return at;
		}
	}
	return NULL;
}

bool saved_channel(const char *text, const char *channel)
{
	const char *end;

	return text && find_channel(text, "KERNEL", channel, &end);
}

bool saved_contexts(const char *text, const char *channel, bool userspace)
{
	const char *end, *at = text ? find_channel(text, userspace ? "UST" : "KERNEL", channel, &end) : NULL;
	const char *contexts = at ? find(at, end, "<contexts>") : NULL;

	if (!contexts)
		return false;
	end = up_to(contexts, end, "</contexts>");
	return find(contexts, end, userspace ? "<provider_name>kunwind</provider_name>" :
					       "<type>CALLSTACK_USER</type>") &&
	       find(contexts, end, "<type>VPID</type>") &&
	       find(contexts, end, "<type>VTID</type>");
}

bool saved_event(const char *text, const char *channel, const char *event)
{
	const char *end, *at = text ? find_channel(text, "KERNEL", channel, &end) : NULL, *next;
	char name[256];

	snprintf(name, sizeof(name), "<name>%s</name>", event);
	for (at = at ? find(at, end, "<event>") : NULL; at; at = find(next, end, "<event>")) {
		next = up_to(at, end, "</event>");
		if (find(at, next, name))
			return find(at, next, "<enabled>true</enabled>");
	}
	return false;
}

/*
 * Copies the name of the current session: the line "session=NAME" of .lttngrc
 * in $LTTNG_HOME or $HOME. Returns false if there is none.
 */
static bool current_session(char *name, size_t size)
{
	const char *home = getenv("LTTNG_HOME");
	char path[4096], line[512];
	bool found = false;
	FILE *file;

	if (!home)
		home = getenv("HOME");
	snprintf(path, sizeof(path), "%s/.lttngrc", home ? home : "");
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "session=", 8)) {
			snprintf(name, size, "%s", line + 8);
			found = *name;
		}
	}
	fclose(file);
	return found;
}

/* Returns the text of a file, which the caller frees; NULL on any error. */
static char *read_file(int dir, const char *name)
{
	int fd = kunwind_dir_file(dir, name, false);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	char *text = NULL;
	size_t size = 0;

	if (!file)
		return NULL;
	if (getdelim(&text, &size, '\0', file) < 0) {
		free(text);
		text = NULL;
	}
	fclose(file);
	return text;
}

char *saved_session(struct options_general *general, const char *session)
{
	struct kunwind_dir_temporary dir;
	char name[300], option[PATH_MAX + 32], current[512];
	char **args = general->argv + general->nr, *text = NULL;

	if (!session) {
		if (!current_session(current, sizeof(current)))
			return NULL;
		session = current;
	}
	if (!kunwind_dir_temporary_make(&dir, "kunwind-lttng-"))
		return NULL;
	snprintf(option, sizeof(option), "--output-path=%s", dir.path);
	*args++ = (char *)"save";
	*args++ = option;
	*args++ = (char *)"--";
	*args++ = (char *)session;
	*args = NULL;
	snprintf(name, sizeof(name), "%.255s.lttng", session);
	if (!real_run(general->argv, REAL_HIDDEN, NULL, 0))
		text = read_file(dir.fd, name);
	kunwind_dir_temporary_remove(&dir);
	return text;
}
