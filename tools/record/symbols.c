// SPDX-License-Identifier: MIT
/*
 * symbols.c - save the symbols of the running kernel with a trace
 *
 * This is done when the recording has ended, so that modules that it loaded are
 * there, too. Only root sees the kernel's addresses, so the file has the mode of
 * LTTng's own files.
 *
 * Cost: 0.5 MB of disk space for the 54,000 functions of Debian 12, and one read of /proc/kallsyms.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>

#include "dir.h"
#include "symbols.h"
#include "tool.h"
#include "trace/kallsyms.h"

/* Returns whether a line of /proc/kallsyms names code: T, t, W or w. */
static bool is_code(const char *line, bool *known)
{
	const size_t digits = strspn(line, "0123456789abcdef");

	*known = *known || strspn(line, "0") < digits;
	return digits && line[digits] == ' ' && line[digits + 1] && strchr("TtWw", line[digits + 1]);
}

/*
 * Copies the lines that name code. @known: out, whether any address is not zero.
 * Returns false if writing failed.
 */
static bool copy(FILE *from, gzFile to, bool *known)
{
	char line[1024];	/* a name has at most 512 bytes */

	*known = false;
	while (fgets(line, sizeof(line), from)) {
		if (is_code(line, known) && gzputs(to, line) < 0)
			return false;
	}
	return true;
}

/* Returns what is wrong; NULL: nothing. */
static const char *save(int dir)
{
	FILE *from = fopen("/proc/kallsyms", "re");
	int fd = from ? kunwind_dir_create(dir, KALLSYMS_NAME, 0660) : -1;
	gzFile to = fd >= 0 ? gzdopen(fd, "w") : NULL;
	const char *wrong = NULL;
	char boot[BOOT_ID];
	struct utsname name;
	bool known = false;

	if (!to || uname(&name) || !boot_own_id(boot))
		wrong = strerror(errno);
	else if (gzprintf(to, KALLSYMS_HEAD, name.release, boot) <= 0 || !copy(from, to, &known))
		wrong = "writing failed: is the disk full?";
	else if (!known)
		wrong = "/proc/kallsyms hides the kernel's addresses from this user: record as root, "
			"or read the trace as root before the next boot";
	if (to && gzclose(to) != Z_OK && !wrong)
		wrong = "writing failed: is the disk full?";
	if (fd >= 0 && !to)
		close(fd);
	if (from)
		fclose(from);
	if (fd >= 0 && wrong)
		unlinkat(dir, KALLSYMS_NAME, 0);
	return wrong;
}

void symbols_save(int dir, const char *path)
{
	const char *wrong = save(dir);

	if (wrong)
		kunwind_tool_error("%s/" KALLSYMS_NAME ": not written, so kernel functions may have no "
				   "names: %s", path, wrong);
}

void symbols_remove(int dir)
{
	unlinkat(dir, KALLSYMS_NAME, 0);
}
