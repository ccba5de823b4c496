// SPDX-License-Identifier: MIT
/*
 * report.c - the lines of a report
 *
 *	{"pid": ..., "crash_info": {...}}			the process and its signal
 *	{"thread_id": ..., "thread_name": ...}			for each thread (threads.c): its name,
 *	{"frame": 0, "offset": ..., ..., "registers": {...}}	its frames,
 *	{"frame_count": ..., "reason": ...}			and why they end
 *	{"status": "OK", "thread_count": ..., "why": ...}	the end
 *
 * The members have the names of kunwind-json(5). Each piece runs by crash_guard(): if memory that it
 * needs was overwritten, the piece ends, and the report goes on.
 */
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "kunwind_core.h"
#include "kunwind_user_regs.h"
#include "report.h"
#include "report_names.h"
#include "../unwind/syscall.h"

size_t crash_report_size(void)
{
	return sizeof(struct crash_report);
}

static const char *signal_name(int signal)
{
	static const struct {
		int signal;
		const char *name;
	} names[] = {
		{ SIGSEGV, "SIGSEGV" }, { SIGBUS, "SIGBUS" }, { SIGILL, "SIGILL" }, { SIGFPE, "SIGFPE" },
		{ SIGABRT, "SIGABRT" }, { SIGTRAP, "SIGTRAP" }, { SIGSYS, "SIGSYS" },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].signal == signal)
			return names[i].name;
	return NULL;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* ------------------------------------------------------------ process */

/* "SIGSEGV / SEGV_MAPERR" */
static void put_type(struct crash_line *line, const siginfo_t *info, int signal)
{
	const char *code = kunwind_signal_code((u32)signal, info->si_code);
	char type[64], *at = type;

	at = stpcpy(at, signal_name(signal));
	if (code)
		stpcpy(stpcpy(at, " / "), code);
	crash_line_string(line, "type", type);
}

static void write_process(void *data)
{
	struct crash_report *report = data;
	const struct crash_event *event = report->event;
	const siginfo_t *info = event->info;
	struct crash_line *line = &report->line;

	crash_line_begin(line);
	crash_line_number(line, "pid", event->pid);
	crash_line_string(line, "command", crash_state.command);
	crash_line_open(line, "system_info");
	crash_line_string(line, "os", "Linux");
	crash_line_string(line, "cpu_arch", "amd64");
	crash_line_close(line);
	crash_line_open(line, "crash_info");
	put_type(line, info, event->signal);
	if (kunwind_signal_has_address((u32)event->signal, info->si_code))
		crash_line_address(line, "address", (u64)info->si_addr);
	else
		crash_line_null(line, "address");
	crash_line_number(line, "crashing_thread", 0);
	crash_line_number(line, "signal", event->signal);
	crash_line_number(line, "code", info->si_code);
	crash_line_close(line);
	crash_line_write(line, &report->output);
}

/* ------------------------------------------------------------ threads */

static void put_registers(struct crash_line *line, const struct kunwind_registers *regs)
{
	u32 i;

	crash_line_open(line, "registers");
	for (i = 0; i < KUNWIND_NR_REGISTERS; i++)
		crash_line_address(line, kunwind_report_register[i], regs->r[i]);
	crash_line_close(line);
}

static void put_frame(struct crash_line *line, const struct kunwind_stack_frame *frame)
{
	const u64 instruction = frame->ip - !frame->exact;
	const struct kunwind_module *module = frame->module;
	const char *path = module ? module->path : NULL;

	crash_line_address(line, "offset", instruction);
	crash_line_address(line, "address", frame->ip);
	crash_line_string(line, "module", path ? base_name(path) : NULL);
	if (module && module->image)
		crash_line_address(line, "module_offset", instruction - module->image);
	else
		crash_line_null(line, "module_offset");
	crash_line_string(line, "trust", kunwind_report_trust(frame->trust));
	crash_line_address(line, "stack_pointer", frame->sp);
	crash_line_string(line, "path", path);
	crash_line_bytes(line, "code_id", module ? module->build_id : NULL,
			 module ? module->build_id_len : 0);
}

void crash_report_thread(struct crash_report *report, pid_t tid, const char *name)
{
	report->open = true;
	report->nr_threads++;
	report->nr_frames = 0;
	crash_line_begin(&report->line);
	crash_line_number(&report->line, "thread_id", tid);
	crash_line_string(&report->line, "thread_name", *name ? name : NULL);
	crash_line_write(&report->line, &report->output);
}

/* The last line of a thread. */
static void write_reason(struct crash_report *report, const char *reason, u64 missing, const char *why)
{
	struct crash_line *line = &report->line;

	crash_line_begin(line);
	crash_line_number(line, "frame_count", report->nr_frames);
	crash_line_string(line, "reason", reason);
	if (missing)
		crash_line_address(line, "missing_address", missing);
	else
		crash_line_null(line, "missing_address");
	crash_line_string(line, "why", why);
	crash_line_write(line, &report->output);
	report->open = false;
}

void crash_report_frames(struct crash_report *report, const struct kunwind_registers *regs)
{
	struct crash_line *line = &report->line;
	struct kunwind_stack_frame frame;
	bool late = false;

	while (report->nr_frames < crash_state.most_frames && !(late = crash_output_ended(&report->output)) &&
	       kunwind_walk_next(&report->walk, &frame)) {
		crash_line_begin(line);
		crash_line_number(line, "frame", report->nr_frames);
		put_frame(line, &frame);
		if (!report->nr_frames)
			put_registers(line, regs);
		crash_line_write(line, &report->output);
		report->nr_frames++;
	}
	write_reason(report, kunwind_reason_name(kunwind_walk_reason(&report->walk)),
		     kunwind_walk_missing(&report->walk), late ? "deadline" : NULL);
}

void crash_report_no_frames(struct crash_report *report, const char *why)
{
	write_reason(report, NULL, 0, why);
}

/* The thread that has crashed. */
static void write_crashed(void *data)
{
	struct crash_report *report = data;
	const struct crash_event *event = report->event;
	struct kunwind_registers regs;
	char name[17] = "";

	kunwind_regs_of_ucontext(regs.r, event->context);
	unwind_syscall(SYS_prctl, PR_GET_NAME, (long)name, 0, 0, 0, 0);
	crash_report_thread(report, event->tid, name);
	kunwind_walk_begin_ucontext(&report->walk, crash_state.unwinder, event->context);
	crash_report_frames(report, &regs);
}

/* ------------------------------------------------------------ all */

/* "%p" is the process id. */
static int open_path(pid_t pid)
{
	const char *from = crash_state.path;
	char path[CRASH_PATH + 32], digits[CRASH_DIGITS], *to = path;

	while (*from && to < path + CRASH_PATH) {
		if (from[0] == '%' && from[1] == 'p') {
			to = stpcpy(to, crash_digits(digits + sizeof(digits), (u64)pid));
			from += 2;
		} else {
			*to++ = *from++;
		}
	}
	*to = 0;
	return (int)unwind_syscall(SYS_openat, AT_FDCWD, (long)path,
				   O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK |
				   O_NOFOLLOW, 0600, 0, 0);
}

static void open_output(void *data)
{
	struct crash_report *report = data;

	if (!crash_receiver_start(report))
		report->output.fd = *crash_state.path ? open_path(report->event->pid) : crash_state.fd;
	report->output.broken = report->output.fd < 0;
	report->output.end = crash_clock() + crash_state.deadline_ms * 1000000ULL;
}

static void write_end(void *data)
{
	struct crash_report *report = data;

	crash_line_begin(&report->line);
	crash_line_string(&report->line, "status", "OK");
	crash_line_number(&report->line, "thread_count", report->nr_threads);
	crash_line_string(&report->line, "why", report->why);
	crash_line_write(&report->line, &report->output);
}

void crash_report_write(const struct crash_event *event)
{
	struct crash_report *report = crash_state.report;

	report->event = event;
	report->nr_threads = 0;
	report->why = NULL;
	if (!crash_guard(open_output, report) || report->output.broken)
		return;
	crash_guard(write_process, report);
	if (!crash_guard(write_crashed, report))
		crash_report_no_frames(report, "crashed");
	if (!crash_state.alone)
		crash_threads_write(report);
	crash_guard(write_end, report);
	if (*crash_state.path || report->receiver)
		unwind_syscall(SYS_close, report->output.fd, 0, 0, 0, 0, 0);
	crash_receiver_wait(report);
}
