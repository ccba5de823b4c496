// SPDX-License-Identifier: MIT
/*
 * tool.c - functions that kunwind(1) and the programs behind it share
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <kunwind.h>

#include "kunwind_utf8.h"
#include "tool.h"

const char *kunwind_tool_name, *kunwind_tool_arguments;

void kunwind_tool_error(const char *format, ...)
{
	va_list args;
	char *text;

	kunwind_tool_flush();
	fprintf(stderr, "kunwind%s%s: ", kunwind_tool_name ? " " : "",
		kunwind_tool_name ? kunwind_tool_name : "");
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	kunwind_tool_text(stderr, text ? text : "out of memory", "");
	free(text);
	fputc('\n', stderr);
}

const char *kunwind_tool_advice(int error)
{
	switch (error) {
	case -ENODEV:
		return "the module is not loaded: sudo modprobe kunwind (kunwind doctor tells more)";
	case -EACCES:
		if (access(KUNWIND_DEVICE, R_OK) == 0)
			return "it was registered by another user: use sudo";
		return "may not open " KUNWIND_DEVICE ": use sudo, or join the group tracing "
		       "(sudo usermod -aG tracing $USER, then log in again)";
	case -EOPNOTSUPP:
		return "kunwind is switched off (echo Y | sudo tee "
		       "/sys/module/kunwind/parameters/enabled), or a hook that it needs is "
		       "missing (kunwind doctor tells)";
	case -EPERM:
		return "not allowed: use sudo";
	case -ESRCH:
		if (access("/proc/self", F_OK))
			return KUNWIND_NO_PROC;
		return "no such process, or none that you may trace (use sudo), or a kernel thread";
	case -ENOENT:
		return "it is not registered";
	case -EAGAIN:
		return "its memory map stays locked: one of its threads waits for a file system "
		       "or for memory; try again";
	case -ENOSPC:
		return "the module's limit of registered processes is reached";
	case -ENOTTY:
	case -E2BIG:
		return "the module is older than this tool: reload it (sudo rmmod kunwind; "
		       "sudo modprobe kunwind)";
	default:
		return strerror(-error);
	}
}

void kunwind_tool_failure(const char *what, int error)
{
	kunwind_tool_error("%s%s%s", what ? what : "", what ? ": " : "", kunwind_tool_advice(error));
}

int kunwind_tool_parsed(int parsed)
{
	if (parsed > 0)
		return kunwind_tool_finish(TOOL_OK);
	fprintf(stderr, "Try: kunwind %s --help\n", kunwind_tool_name);
	return TOOL_USAGE;
}

int kunwind_tool_usage(int status)
{
	fprintf(stderr, "Usage: kunwind %s %s\nTry: kunwind %s --help\n",
		kunwind_tool_name, kunwind_tool_arguments, kunwind_tool_name);
	return status;
}

int kunwind_tool_children(int argc, char **argv, unsigned int *flags, const struct tool_more *more)
{
	int i;

	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "--"))
			return i + 1;
		if (kunwind_tool_is(argv[i], "--children")) {
			*flags |= KUNWIND_REGISTER_CHILDREN;
		} else if (!strcmp(argv[i], "--no-children")) {
			*flags &= ~KUNWIND_REGISTER_CHILDREN;
		} else if (!strcmp(argv[i], more->letter) || !strcmp(argv[i], more->option)) {
			*more->given = true;
		} else {
			kunwind_tool_error("unknown option %s", argv[i]);
			return -1;
		}
	}
	return i;
}

bool kunwind_tool_is(const char *argument, const char *option)
{
	return !strcmp(argument, option) ||
	       (argument[0] == '-' && argument[1] == option[2] && !argument[2]);
}

bool kunwind_tool_number(const char *text, uint64_t max, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *number <= max;
}

int kunwind_tool_pid(const char *text)
{
	uint64_t pid;

	return kunwind_tool_number(text, INT_MAX, &pid) && pid ? (int)pid : -1;
}

bool kunwind_tool_output(const char **output, const char *name)
{
	if (*output)
		kunwind_tool_error("-o is given twice: leave out %s or %s", *output, name);
	else
		*output = name;
	return *output == name;
}

bool kunwind_tool_is_empty(const char *output)
{
	if (!*output)
		kunwind_tool_error("-o: the name is empty (an unset variable?)");
	return !*output;
}

enum { UNKNOWN = -1 };
static int write_error;		/* errno of the first failed write to stdout; or UNKNOWN; 0: none */

static bool reader_has_gone(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO };

	return poll(&out, 1, 0) > 0 && out.revents & POLLERR;
}

bool kunwind_tool_flush(void)
{
	int error = fflush(stdout) ? errno : 0;

	if (!error && ferror(stdout))	/* a write before this one has failed */
		error = reader_has_gone() ? EPIPE : UNKNOWN;
	if (!write_error)
		write_error = error;
	return !write_error;
}

int kunwind_tool_finish(int status)
{
	if (kunwind_tool_flush())
		return status;
	if (write_error == EPIPE)	/* the reader wants no more */
		return status;
	if (write_error == UNKNOWN)
		kunwind_tool_error("cannot write all of the standard output");
	else
		kunwind_tool_error("cannot write to standard output: %s%s", strerror(write_error),
				   write_error == EBADF ? "; it is closed" :
				   write_error == ENOSPC || write_error == EDQUOT ?
				   "; free some space, or send it to another file system" : "");
	return status ? status : TOOL_FAILED;
}

struct kunwind_colours kunwind_tool_colours(FILE *stream)
{
	const char *term = getenv("TERM"), *no = getenv("NO_COLOR"), *when = getenv("KUNWIND_COLOR");
	bool wanted = isatty(fileno(stream)) && !(no && *no) && term && strcmp(term, "dumb") != 0;

	if (when && strcmp(when, "auto") != 0)
		wanted = !strcmp(when, "always");
	if (!wanted)
		return (struct kunwind_colours){ "", "", "", "", "" };
	return (struct kunwind_colours){ "\033[32m", "\033[1;31m", "\033[2m", "\033[1m", "\033[0m" };
}

/*
 * Whether the text begins with a character that begins a line, or that changes
 * the direction of the text after it, and so its order on the screen: U+061C,
 * U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069 (UAX #9).
 */
static bool is_format(const char *string)
{
	const unsigned char *text = (const unsigned char *)string;

	if (text[0] == 0xd8)
		return text[1] == 0x9c;
	if (text[0] != 0xe2)
		return false;
	if (text[1] == 0x80)
		return text[2] == 0x8e || text[2] == 0x8f || (text[2] >= 0xa8 && text[2] <= 0xae);
	return text[1] == 0x81 && text[2] >= 0xa6 && text[2] <= 0xa9;
}

unsigned int kunwind_tool_text(FILE *out, const char *text, const char *escape)
{
	unsigned int columns = 0, len;

	while (*text) {
		len = is_format(text) ? 0 : kunwind_utf8_length(text);
		if (!len) {
			fprintf(out, "\\x%02x", (unsigned char)*text++);
			columns += 4;
			continue;
		}
		if (strchr(escape, *text)) {
			putc('\\', out);
			columns++;
		}
		fwrite(text, 1, len, out);
		text += len;
		columns++;
	}
	return columns;
}

void kunwind_tool_json_string_to(FILE *out, const char *text)
{
	unsigned int n;

	putc('"', out);
	for (; *text; text += n ? n : 1) {
		unsigned char c = (unsigned char)*text;

		n = kunwind_utf8_length(text);
		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (kunwind_utf8_upper_control((const unsigned char *)text))
			fprintf(out, "\\u%04x", (unsigned char)*++text);
		else if (n)
			fwrite(text, 1, n, out);
		else if (c < 0x80)
			fprintf(out, "\\u%04x", c);
		else
			fputs("\\ufffd", out);
	}
	putc('"', out);
}

void kunwind_tool_json_string(const char *text)
{
	kunwind_tool_json_string_to(stdout, text);
}

bool kunwind_tool_helper(const char *program, char *path, size_t size)
{
	static const char *const place[] = { "../libexec/kunwind/", "" };
	ssize_t n = readlink("/proc/self/exe", path, size - 64);
	char *base;
	size_t i;

	if (n <= 0)
		return false;
	path[n] = '\0';
	base = strrchr(path, '/') + 1;
	for (i = 0; i < 2; i++) {
		strcpy(stpcpy(base, place[i]), program);
		if (!access(path, F_OK))
			return true;
	}
	return false;
}

bool kunwind_tool_packaged(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[n > 0 ? n : 0] = '\0';
	return !strncmp(path, "/usr/", 5) && strncmp(path, "/usr/local/", 11) &&
	       !access("/var/lib/dpkg/info/kunwind.list", F_OK);
}

const char *kunwind_tool_install(const char *package)
{
	static char text[96];

	if (!kunwind_tool_packaged())
		return "sudo make install, in kunwind's source";
	snprintf(text, sizeof(text), "sudo apt install --reinstall %s", package);
	return text;
}

const char *kunwind_tool_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

const char *kunwind_tool_which(const char *command, char *path, size_t size)
{
	const char *at = getenv("PATH");
	struct stat st;
	size_t len;

	for (; at && *at; at += len + (at[len] == ':')) {
		len = strcspn(at, ":");
		snprintf(path, size, "%.*s/%s", len ? (int)len : 1, len ? at : ".", command);
		if (!access(path, X_OK) && !stat(path, &st) && S_ISREG(st.st_mode))
			return path;
	}
	return NULL;
}
