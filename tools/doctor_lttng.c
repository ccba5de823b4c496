// SPDX-License-Identifier: MIT
/*
 * doctor_lttng.c - check what LTTng needs to record call stacks
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "doctor.h"
#include "left_over.h"
#include "tool.h"

/* The command also has DKMS build kunwind's modules that are missing for a kernel. */
static const char *setup(void)
{
	return kunwind_tool_packaged() ? "sudo kunwind-lttng-modules install" :
	       "sudo scripts/setup lttng, in kunwind's source; also after each kernel update";
}

static bool same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	return !stat(a, &sa) && !stat(b, &sb) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

/*
 * Sets @path to kunwind's front end of lttng. "make install" has a link to it beside kunwind. In
 * /usr, the program of this name beside kunwind is LTTng's own.
 */
static bool front_end_path(char *path)
{
	char program[PATH_MAX], beside[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", beside, sizeof(beside) - sizeof("lttng"));

	if (n <= 0 || !kunwind_tool_helper("lttng", program, sizeof(program)) || !realpath(program, path))
		return false;
	beside[n] = '\0';
	strcpy(strrchr(beside, '/') + 1, "lttng");
	if (same_file(beside, path))
		strcpy(path, beside);
	return !access(path, X_OK);
}

static void check_tools(void)
{
	char front[PATH_MAX], first[PATH_MAX], found[PATH_MAX + 256], version[256];
	bool have_front = front_end_path(front);
	bool have_lttng = doctor_command(version, sizeof(version), "lttng", "--version", NULL);

	if (have_lttng)
		doctor_line(DOCTOR_OK, "lttng-tools", version, NULL);
	else
		doctor_line(DOCTOR_FAIL, "lttng-tools", "not installed",
			    "sudo apt install --no-install-recommends lttng-tools");

	if (!have_front)
		doctor_line(DOCTOR_FAIL, "lttng --callstack", "the front end is not installed",
			    "%s", kunwind_tool_install("kunwind"));
	else if (!kunwind_tool_which("lttng", first, sizeof(first)))
		doctor_line(DOCTOR_FAIL, "lttng --callstack", "PATH does not have the front end",
			    "put %.*s into PATH", (int)(strrchr(front, '/') - front), front);
	else if (!same_file(first, front) && kunwind_tool_packaged())
		doctor_line(DOCTOR_NOTE, "lttng --callstack", "lttng is LTTng's own, without --callstack",
			    "alias lttng=%s (kunwind record does not need it)", front);
	else if (!same_file(first, front))
		doctor_line(DOCTOR_FAIL, "lttng --callstack", "PATH leads to another lttng first",
			    "put %.*s before the others in PATH",
			    (int)(strrchr(front, '/') - front), front);
	else {
		snprintf(found, sizeof(found), "front end %s", first);
		doctor_line(DOCTOR_OK, "lttng --callstack", found, NULL);
	}
	if (kunwind_tool_which("babeltrace2", first, sizeof(first)))
		doctor_line(DOCTOR_OK, "babeltrace2", first, NULL);
	else
		doctor_line(DOCTOR_FAIL, "babeltrace2", "not installed", "sudo apt install babeltrace2");
}

int doctor_connect(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, err;

	if (strlen(path) >= sizeof(address.sun_path))
		return ENAMETOOLONG;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	err = fd < 0 ? errno : connect(fd, (struct sockaddr *)&address, sizeof(address)) ? errno : 0;
	if (fd >= 0)
		close(fd);
	return err;
}

static void check_sessiond(void)
{
	int err = doctor_connect(DOCTOR_ROOT_SOCKET);

	if (!err && kunwind_consumer_ended())
		doctor_line(DOCTOR_FAIL, "lttng-sessiond",
			    "its consumer daemon, which writes traces, has ended",
			    KUNWIND_RESTART);
	else if (!err)
		doctor_line(DOCTOR_OK, "lttng-sessiond", "root's is running", NULL);
	else if (err == EACCES || err == EPERM)
		doctor_line(DOCTOR_FAIL, "lttng-sessiond", "root's is running, but not for you",
			    "use sudo, or join the group tracing");
	else if (geteuid() == 0)
		doctor_line(DOCTOR_NOTE, "lttng-sessiond", "not running; lttng create starts one", NULL);
	else
		doctor_line(DOCTOR_FAIL, "lttng-sessiond", "root's is not running",
			    "sudo systemctl start lttng-sessiond, or sudo lttng-sessiond --daemonize");
}

/* Reads the leading "A.B.C" of a version. Missing parts are 0. */
static void parse_version(const char *text, int version[3])
{
	int i;

	for (i = 0; i < 3; i++) {
		char *end;

		version[i] = (int)strtol(text, &end, 10);
		text = *end == '.' ? end + 1 : "";
	}
}

static bool at_least(const int v[3], int a, int b, int c)
{
	if (v[0] != a)
		return v[0] > a;
	return v[1] != b ? v[1] > b : v[2] >= c;
}

/*
 * Returns whether LTTng's modules fit the kernel. Since Linux 6.13, tracepoints
 * of system calls may fault and run with preemption on. LTTng's modules handle
 * this since 2.13.21, 2.14.2 and 2.15.0.
 */
static bool fits(const char *kernel, const char *modules)
{
	int k[3], m[3];

	parse_version(kernel, k);
	parse_version(modules, m);
	if (!at_least(k, 6, 13, 0) || at_least(m, 2, 15, 0))
		return true;
	return m[1] == 14 ? at_least(m, 2, 14, 2) : at_least(m, 2, 13, 21) && m[1] == 13;
}

/* Prints the probes that scripts/setup lttng left out, as ", without A B"; "" for none. */
static void left_out(const char *kernel, char *text, size_t size)
{
	char path[256], names[256];

	snprintf(path, sizeof(path), "/lib/modules/%s/updates/lttng/left-out", kernel);
	doctor_file(path, names, sizeof(names));
	snprintf(text, size, "%s%s", *names ? ", without " : "", names);
}

static void check_modules(const char *kernel)
{
	char version[128], without[272], found[512];
	bool loaded = !access("/sys/module/lttng_tracer", F_OK);

	doctor_file("/sys/module/lttng_tracer/version", version, sizeof(version));
	if (!*version)
		doctor_command(version, sizeof(version), "modinfo", "-k", kernel, "-F", "version",
			       "lttng-tracer", NULL);
	left_out(kernel, without, sizeof(without));
	snprintf(found, sizeof(found), "%s, %s%s", *version ? version : "version unknown",
		 loaded ? "loaded" : "installed", without);
	if (!*version && !loaded)
		doctor_line(DOCTOR_FAIL, "lttng-modules", "none for this kernel", "%s", setup());
	else if (*version && !fits(kernel, version))
		doctor_line(DOCTOR_FAIL, "lttng-modules", found,
			    "kernel %s needs 2.13.21, 2.14.2, 2.15.0 or later", kernel);
	else
		doctor_line(DOCTOR_OK, "lttng-modules", found, NULL);
}

static void check_probe(const char *kernel)
{
	char found[512];

	if (!access("/sys/module/lttng_probe_kunwind", F_OK))
		doctor_line(DOCTOR_OK, "mappings in traces", "lttng-probe-kunwind is loaded", NULL);
	else if (!doctor_command(found, sizeof(found), "modinfo", "-k", kernel, "-n",
				 "lttng-probe-kunwind", NULL))
		doctor_line(DOCTOR_FAIL, "mappings in traces", "lttng-probe-kunwind is not installed",
			    "%s", setup());
	else if (geteuid() == 0)
		doctor_line(DOCTOR_OK, "mappings in traces",
			    "lttng-probe-kunwind is installed; lttng --callstack loads it", NULL);
	else
		doctor_line(DOCTOR_FAIL, "mappings in traces", "lttng-probe-kunwind is not loaded",
			    "sudo modprobe lttng-probe-kunwind, before lttng enable-event --callstack");
}

static void check_sessions(void)
{
	char fix[400];

	if (kunwind_left_over(fix, sizeof(fix)))
		doctor_line(DOCTOR_NOTE, "left-over sessions", "a killed recorder left an LTTng session",
			    "%s (the next kunwind record also ends it)", fix);
	else
		doctor_line(DOCTOR_OK, "left-over sessions", "none", NULL);
}

void doctor_lttng(const char *kernel)
{
	check_tools();
	check_sessiond();
	check_modules(kernel);
	check_probe(kernel);
	check_sessions();
}
