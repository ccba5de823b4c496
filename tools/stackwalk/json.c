// SPDX-License-Identifier: MIT
/*
 * json.c - print the stacks of a dump as one object; kunwind-json(5) describes it
 *
 * The members that minidump stackwalkers have are called as there, and mean the same: the
 * offset of a frame after a call is one less than its return address.
 */
#include <inttypes.h>
#include <string.h>

#include "kunwind_core.h"
#include "report_names.h"
#include "session.h"
#include "tool.h"

static void member(const char *key, const char *text)
{
	printf("\"%s\": ", key);
	if (text)
		kunwind_tool_json_string(text);
	else
		fputs("null", stdout);
}

static void address(const char *key, bool known, uint64_t value)
{
	if (known)
		printf("\"%s\": \"0x%" PRIx64 "\"", key, value);
	else
		printf("\"%s\": null", key);
}

static const char *text_or_null(const char *text)
{
	return *text ? text : NULL;
}

/* ------------------------------------------------------------ modules */

static const char *file_name(const struct session_module *module)
{
	return text_or_null(kunwind_tool_base_name(session_path(module)));
}

static void put_ids(const struct stackwalk_module *module)
{
	/* the bytes of a GUID, in the order in which it is written */
	static const uint8_t order[] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	char id[2 * DUMP_BUILD_ID + 1] = "", debug[34] = "";
	uint32_t i;

	for (i = 0; i < module->build_id_len; i++)
		snprintf(id + 2 * i, 3, "%02x", module->build_id[i]);
	for (i = 0; i < sizeof(order) && module->build_id_len; i++)
		snprintf(debug + 2 * i, 3, "%02X", order[i] < module->build_id_len ?
						   module->build_id[order[i]] : 0);
	if (*debug)
		memcpy(debug + 32, "0", 2);
	member("code_id", text_or_null(id));
	fputs(", ", stdout);
	member("debug_id", text_or_null(debug));
}

static void put_modules(const struct stackwalk_session *session)
{
	uint32_t i;

	fputs("\"modules\": [", stdout);
	for (i = 0; i < session->nr_modules; i++) {
		const struct session_module *module = &session->module[i];

		fputs(i ? ",\n  {" : "\n  {", stdout);
		address("base_addr", true, module->of.image);
		fputs(", ", stdout);
		address("end_addr", true, module->of.end);
		fputs(", ", stdout);
		member("filename", file_name(module));
		fputs(", ", stdout);
		member("path", text_or_null(session_path(module)));
		fputs(", ", stdout);
		put_ids(&module->of);
		fputs(", ", stdout);
		member("package", text_or_null(module->of.package));
		printf(", \"deleted\": %s, \"used\": %s, ", module->of.deleted ? "true" : "false",
		       module->wanted ? "true" : "false");
		member("why", module->wanted && !module->found ? (module->why ? module->why : "?") : NULL);
		fputs(", ", stdout);
		member("interpreter", module->refused);
		putchar('}');
	}
	fputs("]", stdout);
}

/* ------------------------------------------------------------ threads */

static void put_registers(const struct stackwalk_session *session, const struct kunwind_registers *regs)
{
	static const char *const narrow[KUNWIND_NR_REGISTERS] = {
		"eax", "edx", "ecx", "ebx", "esi", "edi", "ebp", "esp", [16] = "eip",
	};
	const char *const *names = session->dump.i386 ? narrow : kunwind_report_register, *comma = "";
	uint32_t i;

	fputs(", \"registers\": {", stdout);
	for (i = 0; i < KUNWIND_NR_REGISTERS; i++) {
		if (!names[i] || !(regs->valid >> i & 1))
			continue;
		fputs(comma, stdout);
		address(names[i], true, regs->r[i]);
		comma = ", ";
	}
	putchar('}');
}

static void put_function(const struct kunwind_function *function)
{
	member("function", function ? function->name : NULL);
	fputs(", ", stdout);
	member("file", function ? function->file : NULL);
	if (function && function->line)
		printf(", \"line\": %u", function->line);
	else
		fputs(", \"line\": null", stdout);
}

static void put_frame(const struct stackwalk_session *session, const struct session_thread *thread,
		      size_t number)
{
	const struct stackwalk_frame *frame = &thread->frame[number];
	const struct session_module *module = session_module(session, frame);
	const bool interpreted = frame->trust == STACKWALK_INTERPRETED;
	const uint64_t instruction = frame->ip - !frame->exact;
	const struct kunwind_function *function;
	struct kunwind_frame named;
	unsigned int i;

	session_name(session, frame, &named);
	function = kunwind_frame_function(&named);
	printf("{\"frame\": %zu, ", number);
	address("offset", true, instruction);
	fputs(", ", stdout);
	address("address", true, frame->ip);
	fputs(", ", stdout);
	member("module", module ? file_name(module) : NULL);
	fputs(", ", stdout);
	address("module_offset", module, module ? instruction - module->of.image : 0);
	fputs(", ", stdout);
	put_function(function);
	fputs(", ", stdout);
	address("function_offset", function && function->name && !interpreted,
		function ? function->offset - !frame->exact : 0);
	fputs(", ", stdout);
	member("trust", interpreted ? "interpreter" : kunwind_report_trust(frame->trust));
	fputs(", ", stdout);
	address("stack_pointer", true, frame->sp);
	printf(", \"missing_symbols\": %s, \"inlines\": [", function && function->name ? "false" : "true");
	for (i = 0; i + 1 < named.nr_functions; i++) {
		fputs(i ? ", {" : "{", stdout);
		put_function(&named.function[i]);
		putchar('}');
	}
	fputs("], ", stdout);
	member("why", named.why);
	if (!number)
		put_registers(session, &thread->of.regs);
	putchar('}');
}

/* What only a process that runs has. */
static void put_live(const struct session_thread *thread)
{
	const char *line = thread->kernel, *comma = "";
	char name[SESSION_KERNEL];

	fputs(", ", stdout);
	member("taken", thread->taken);
	fputs(", \"kernel\": ", stdout);
	fputs(line ? "[" : "null", stdout);
	while (session_next_kernel(&line, name)) {
		fputs(comma, stdout);
		kunwind_tool_json_string(name);
		comma = ", ";
	}
	if (thread->kernel)
		putchar(']');
}

static void put_thread(const struct stackwalk_session *session, const struct session_thread *thread)
{
	size_t i;

	printf("{\"thread_id\": %u, ", thread->of.tid);
	member("thread_name", text_or_null(thread->of.name));
	printf(", \"frame_count\": %zu, ", thread->nr);
	member("reason", session_no_end(session, thread) ? NULL : kunwind_reason_name(thread->reason));
	fputs(", ", stdout);
	address("missing_address", thread->missing, thread->missing);
	fputs(", ", stdout);
	member("interpreter", session_lack(thread));
	if (session->dump.format == DUMP_RUNNING || session->dump.format == DUMP_REPORT) {
		fputs(", ", stdout);
		member("note", thread->note);
	}
	if (session->dump.format == DUMP_RUNNING)
		put_live(thread);
	fputs(", \"frames\": [", stdout);
	for (i = 0; i < thread->nr; i++) {
		fputs(i ? ",\n    " : "\n    ", stdout);
		put_frame(session, thread, i);
	}
	fputs("]}", stdout);
}

/* ------------------------------------------------------------ all */

static void put_crash(const struct stackwalk_session *session)
{
	const struct dump_crash *crash = &session->dump.crash;
	char name[64];

	crash_name(crash, name, sizeof(name));
	fputs("\"crash_info\": {", stdout);
	member("type", crash->signal ? name : NULL);
	fputs(", ", stdout);
	address("address", crash->has_address, crash->address);
	if (crash->has_thread)
		printf(", \"crashing_thread\": %u", crash->thread);
	else
		fputs(", \"crashing_thread\": null", stdout);
	if (crash->signal)
		printf(", \"signal\": %u", crash->signal);
	else
		fputs(", \"signal\": null", stdout);
	if (crash->has_code)
		printf(", \"code\": %d}", crash->code);
	else
		fputs(", \"code\": null}", stdout);
}

void stackwalk_json(const struct stackwalk_session *session)
{
	static const char *const formats[] = { "core", "minidump", "chunk", "process", "report" };
	const struct stackwalk_dump *dump = &session->dump;
	uint32_t i;

	printf("{\"status\": \"OK\", \"format\": \"%s\", ", formats[dump->format % 5]);
	if (dump->pid > 0)
		printf("\"pid\": %d, ", dump->pid);
	else
		fputs("\"pid\": null, ", stdout);
	member("command", text_or_null(dump->command));
	printf(",\n\"system_info\": {\"os\": \"Linux\", \"cpu_arch\": \"%s\"},\n",
	       dump->i386 ? "x86" : "amd64");
	put_crash(session);
	printf(",\n\"truncated\": %s, \"missing_bytes\": %" PRIu64 ",\n", dump->truncated ? "true" : "false",
	       dump->missing);
	if (dump->main_module < session->nr_modules)
		printf("\"main_module\": %u, ", dump->main_module);
	else
		fputs("\"main_module\": null, ", stdout);
	put_modules(session);
	printf(",\n\"thread_count\": %u, \"threads\": [", session->nr_threads);
	for (i = 0; i < session->nr_threads; i++) {
		fputs(i ? ",\n  " : "\n  ", stdout);
		put_thread(session, &session->thread[i]);
	}
	fputs("]}\n", stdout);
}
