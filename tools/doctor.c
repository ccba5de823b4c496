// SPDX-License-Identifier: MIT
/*
 * doctor.c - kunwind doctor: check each requirement, and print how to meet it
 *
 * It reads /proc, /sys, the module's status and modinfo, and changes nothing. A
 * requirement without which kunwind still works, with limits, gives a note and
 * does not count as a failure.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <kunwind.h>

#include "doctor.h"
#include "report.h"
#include "tool.h"

/* id(1) and getent(1) know the groups: kunwind is linked statically, without NSS. */
static bool in_group(const char *name)
{
	char text[4096], *at = text, *group;

	doctor_command(text, sizeof(text), "id", "-nG", NULL);
	while ((group = strsep(&at, " "))) {
		if (!strcmp(group, name))
			return true;
	}
	return false;
}

static void check_rights(void)
{
	char name[256], group[256];

	if (!doctor_command(name, sizeof(name), "id", "-nu", NULL))
		strcpy(name, "$USER");
	if (geteuid() == 0)
		doctor_line(DOCTOR_OK, "rights", "root", NULL);
	else if (in_group("tracing"))
		doctor_line(DOCTOR_OK, "rights", "member of the group tracing", NULL);
	else if (!doctor_command(group, sizeof(group), "getent", "group", "tracing", NULL))
		doctor_line(DOCTOR_FAIL, "rights", "not root, and there is no group tracing",
			    "sudo groupadd -r tracing; sudo usermod -aG tracing %s; log in again", name);
	else
		doctor_line(DOCTOR_FAIL, "rights", "neither root nor a member of the group tracing",
			    "sudo usermod -aG tracing %s, then log in again", name);
}

/* Returns why the kernel takes only signed modules; NULL if it takes others. */
static const char *signatures_wanted(void)
{
	char text[256];

	doctor_file("/sys/module/module/parameters/sig_enforce", text, sizeof(text));
	if (text[0] == 'Y')
		return "module.sig_enforce is on";
	doctor_file("/sys/kernel/security/lockdown", text, sizeof(text));
	if (strstr(text, "[integrity]") || strstr(text, "[confidentiality]"))
		return "the kernel is locked down (Secure Boot)";
	return NULL;
}

static void check_signature(const char *kernel, bool loaded)
{
	const char *why = signatures_wanted();
	char signer[256];

	if (!why) {
		doctor_line(DOCTOR_OK, "signature", "the kernel takes unsigned modules", NULL);
		return;
	}
	doctor_command(signer, sizeof(signer), "modinfo", "-k", kernel, "-F", "signer", "kunwind", NULL);
	if (loaded)
		doctor_line(DOCTOR_OK, "signature", "the kernel accepted the module's", NULL);
	else if (*signer)
		doctor_line(DOCTOR_NOTE, "signature", why,
			    "if modprobe says \"Key was rejected\": sudo mokutil --import "
			    "/var/lib/dkms/mok.pub, reboot, confirm");
	else
		doctor_line(DOCTOR_FAIL, "signature", "the module is not signed, and the kernel wants that",
			    "have DKMS sign it: sudo mokutil --import /var/lib/dkms/mok.pub, reboot, "
			    "confirm, %s", kunwind_tool_install("kunwind-dkms"));
}

/* Without the kernel's headers, DKMS builds nothing; Debian's archive drops old ones. */
static void no_module(const char *kernel)
{
	char path[256], package[256], text[16384];

	snprintf(path, sizeof(path), "/lib/modules/%s/build/Makefile", kernel);
	snprintf(package, sizeof(package), "linux-headers-%s", kernel);
	if (!access(path, F_OK))
		doctor_line(DOCTOR_FAIL, "module installed", "no kunwind.ko for this kernel",
			    "%s (then see: dkms status)", kunwind_tool_install("kunwind-dkms"));
	else if (!doctor_command(text, sizeof(text), "apt-cache", "--version", NULL) ||
		 doctor_command(text, sizeof(text), "apt-cache", "show", package, NULL))
		doctor_line(DOCTOR_FAIL, "module installed", "no kunwind.ko for this kernel",
			    "sudo apt install dkms %s; %s", package, kunwind_tool_install("kunwind-dkms"));
	else
		doctor_line(DOCTOR_FAIL, "module installed", "no kunwind.ko for this kernel",
			    "boot the newest kernel: the archive has no %s (or run apt update)", package);
}

/* Returns whether the module is loaded. */
static bool check_module(const char *kernel)
{
	bool loaded = !access("/sys/module/kunwind", F_OK);
	char found[512];

	if (doctor_command(found, sizeof(found), "modinfo", "-k", kernel, "-n", "kunwind", NULL))
		doctor_line(DOCTOR_OK, "module installed", found, NULL);
	else if (loaded)
		doctor_line(DOCTOR_NOTE, "module installed", "no, it was loaded by hand",
			    "%s", kunwind_tool_install("kunwind-dkms"));
	else
		no_module(kernel);
	check_signature(kernel, loaded);
	if (loaded)
		doctor_line(DOCTOR_OK, "module loaded", "yes", NULL);
	else
		doctor_line(DOCTOR_FAIL, "module loaded", "no", "sudo modprobe kunwind");
	return loaded;
}

static void check_device(bool loaded)
{
	struct kunwind_info info;
	char found[128];
	int err = kunwind_info(&info);

	if (err == -EACCES) {
		doctor_line(DOCTOR_FAIL, "device", KUNWIND_DEVICE " may not be opened",
			    geteuid() && in_group("tracing") ?
			    "sudo udevadm trigger /sys/class/misc/kunwind (the rule 60-kunwind.rules "
			    "gives it to the group tracing)" :
			    "use sudo, or join the group tracing");
	} else if (err == -ENODEV) {
		doctor_line(DOCTOR_FAIL, "device", "there is no " KUNWIND_DEVICE,
			    loaded ? "sudo udevadm trigger /sys/class/misc/kunwind" :
			    "sudo modprobe kunwind");
	} else if (err && err != -EOPNOTSUPP) {
		doctor_line(DOCTOR_FAIL, "device", strerror(-err),
			    "sudo rmmod kunwind; sudo modprobe kunwind");
	} else {
		doctor_line(DOCTOR_OK, "device", KUNWIND_DEVICE, NULL);
	}
	if (err)
		return;
	snprintf(found, sizeof(found), "the module's is %u, this tool's is %d",
		 info.abi_version, KUNWIND_ABI_VERSION);
	doctor_line(info.abi_version == KUNWIND_ABI_VERSION ? DOCTOR_OK : DOCTOR_FAIL, "ABI version", found,
		    info.abi_version == KUNWIND_ABI_VERSION ? NULL :
		    "%s; then sudo rmmod kunwind; sudo modprobe kunwind",
		    kunwind_tool_install("kunwind-dkms"));
}

/* @serves: the requirement; @needed: a hook that is not on is a failure. */
static void check_hook(const struct kunwind_report *report, const char *hook, const char *serves,
		       bool needed)
{
	const char *state = kunwind_report_value(report, "hook", hook, 2);
	const char *reason = kunwind_report_value(report, "hook", hook, 3);
	char found[256];

	if (state && !strcmp(state, "on")) {
		snprintf(found, sizeof(found), "%s is served", hook);
		doctor_line(DOCTOR_OK, serves, found, NULL);
		return;
	}
	snprintf(found, sizeof(found), "%s is %s%s%s", hook, state ? state : "not hooked",
		 reason && *reason ? ": " : "", reason ? reason : "");
	doctor_line(needed ? DOCTOR_FAIL : DOCTOR_NOTE, serves, found,
		    "unload the livepatch or kprobe on it (see /sys/kernel/livepatch, "
		    "/sys/kernel/tracing/enabled_functions), then reload kunwind");
}

/*
 * Reports the first required hook that is not on. All hooks are required except
 * the optional ones; without a required hook, the module registers nothing.
 */
static void check_required_hooks(const struct kunwind_report *report)
{
	static const char *const optional[] = {
		"stack_trace_save_user", "perf_callchain_user", "unwind_user",
	};
	char found[256];
	size_t i, j;

	for (i = 0; i < report->nr; i++) {
		const struct kunwind_report_line *line = &report->line[i];

		if (line->nr < 3 || strcmp(line->field[0], "hook") || !strcmp(line->field[2], "on"))
			continue;
		for (j = 0; j < sizeof(optional) / sizeof(*optional); j++)
			if (!strcmp(line->field[1], optional[j]))
				break;
		if (j < sizeof(optional) / sizeof(*optional))
			continue;
		snprintf(found, sizeof(found), "%s is %s%s%s", line->field[1], line->field[2],
			 line->nr > 3 && *line->field[3] ? ": " : "",
			 line->nr > 3 ? line->field[3] : "");
		doctor_line(DOCTOR_FAIL, "required hooks", found,
			    "remove what holds the function (see "
			    "/sys/kernel/tracing/enabled_functions), then reload kunwind");
		return;
	}
	doctor_line(DOCTOR_OK, "required hooks", "all are on", NULL);
}

static void check_state(void)
{
	struct kunwind_report report;
	const char *enabled;
	char text[16];

	doctor_file("/proc/sys/kernel/ftrace_enabled", text, sizeof(text));
	if (!*text)
		doctor_line(DOCTOR_FAIL, "ftrace", "this kernel has none (CONFIG_FUNCTION_TRACER)",
			    "boot a distribution kernel");
	else if (text[0] == '0')
		doctor_line(DOCTOR_FAIL, "ftrace", "kernel.ftrace_enabled is 0",
			    "sudo sysctl kernel.ftrace_enabled=1, then reload kunwind");
	else
		doctor_line(DOCTOR_OK, "ftrace", "kernel.ftrace_enabled is 1", NULL);

	if (kunwind_report_read(&report))
		return;		/* check_device() has printed why */
	enabled = kunwind_report_value(&report, "param", "enabled", 2);
	if (enabled && (enabled[0] == 'N' || enabled[0] == '0'))
		doctor_line(DOCTOR_FAIL, "kill switch", "kunwind is switched off",
			    "echo Y | sudo tee /sys/module/kunwind/parameters/enabled");
	else
		doctor_line(DOCTOR_OK, "kill switch", "kunwind is enabled", NULL);
	check_required_hooks(&report);
	check_hook(&report, "stack_trace_save_user", "stacks for LTTng", true);
	check_hook(&report, "perf_callchain_user", "stacks for perf", false);
	/* older kernels have no such function */
	if (kunwind_report_value(&report, "hook", "unwind_user", 2))
		check_hook(&report, "unwind_user", "perf's deferred stacks", false);
	kunwind_report_free(&report);
}

int kunwind_cmd_doctor(int argc, char **argv)
{
	enum doctor_format format = DOCTOR_TEXT;
	struct utsname name;
	bool loaded;
	int i;

	for (i = 1; i < argc; i++) {
		if (kunwind_tool_is(argv[i], "--tsv")) {
			format = DOCTOR_TSV;
		} else if (kunwind_tool_is(argv[i], "--json")) {
			format = DOCTOR_JSON;
		} else {
			kunwind_tool_error("unknown argument %s", argv[i]);
			return kunwind_tool_usage(TOOL_USAGE);
		}
	}
	doctor_begin(format);
	uname(&name);
	if (access("/proc/self", F_OK))
		doctor_line(DOCTOR_FAIL, "/proc", "not mounted, so other lines may be wrong",
			    "mount -t proc proc /proc");
	check_rights();
	loaded = check_module(name.release);
	check_device(loaded);
	check_state();
	doctor_lttng(name.release);
	doctor_ust();
	return doctor_end() ? TOOL_FAILED : TOOL_OK;
}
