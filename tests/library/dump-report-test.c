/* SPDX-License-Identifier: MIT */
/*
 * dump-report-test.c - each field of made reports of libkunwind-crash
 */
#include "dump-made.h"

static struct dump_process *open_report(const char *text)
{
	used = 0;
	put(text, strlen(text));
	return open_made();
}

#define HEAD                                        \
	"{\"pid\": 7, \"command\": \"c\", \"crash_info\": " \
	"{\"signal\": 11, \"code\": 1, \"address\": \"0x8\"}}\n"
#define THREAD "{\"thread_id\": 5, \"thread_name\": \"n\"}\n"
#define FRAME(n, offset, address, more)                                           \
	"{\"frame\": " #n ", \"offset\": \"" offset "\", \"address\": \"" address \
	"\", \"stack_pointer\": \"0x700" #n "\"" more "}\n"

static void test_strings(void)
{
	static const struct {
		const char *in, *out;
	} strings[] = {
		{ "a\\\"\\\\\\/\\b\\f\\n\\r\\t", "a\"\\/\b\f\n\r\t" },
		{ "\\u007f\\u0080\\u07ff\\u0800", "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80" },
		{ "\\ud7ff\\ud800\\udfff\\ue000\\uffff",
		  "\xed\x9f\xbf\xef\xbf\xbd\xef\xbf\xbd\xee\x80\x80\xef\xbf\xbf" },
		{ "\\u0000", "?" },
		{ "\xc3\xa9", "\xc3\xa9" },
	};
	struct dump_process *dump;
	char text[512];
	size_t i;

	for (i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
		snprintf(text, sizeof(text),
			 "{\"pid\": 7, \"command\": \"%s\", \"crash_info\": {\"signal\": 11}}\n" THREAD,
			 strings[i].in);
		dump = open_report(text);
		tap_ok(!strcmp(dump->command, strings[i].out), "report: the string %s", strings[i].in);
		dump_free(dump);
	}
}

static void test_report(void)
{
	static const struct {
		const char *why;
		enum dump_why is;
	} whys[] = {
		{ "\"deadline\"", DUMP_WHY_DEADLINE },
		{ "\"crashed\"", DUMP_WHY_CRASHED },
		{ "\"not permitted\"", DUMP_WHY_NOT_PERMITTED },
		{ "\"not stopped\"", DUMP_WHY_NOT_STOPPED },
		{ "\"new\"", DUMP_WHY_CUT },
		{ "null", DUMP_WHY_NONE },
	};
	static const char whole[] = HEAD THREAD
		FRAME(0, "0x1020", "0x1020",
		      ", \"trust\": \"context\", \"path\": \"/bin/b\", \"module_offset\": \"0x20\", "
		      "\"code_id\": \"0a0B\", \"registers\": {\"rax\": \"0x1\", \"rip\": \"0x1020\"}")
		FRAME(1, "0x1fff", "0x2000",
		      ", \"trust\": \"cfi\", \"path\": \"/bin/b\", \"module_offset\": \"0xfff\"")
		FRAME(2, "0x1010", "0x1011",
		      ", \"trust\": \"new\", \"path\": \"/bin/b\", \"module_offset\": \"0x10\"")
		FRAME(3, "0x5000", "0x5001",
		      ", \"trust\": \"frame_pointer\", \"path\": null, \"module_offset\": null")
		"{\"reason\": \"no_rule\", \"missing_address\": \"0x77\", \"why\": null}\n"
		"{\"status\": \"OK\"}\n";
	struct dump_process *dump = open_report(whole);
	const struct dump_thread *thread = dump->thread;
	const struct dump_frame *frame = dump->frame;
	char text[512];
	size_t i;

	tap_ok(dump->pid == 7 && dump->crash.signal == 11 && dump->crash.code == 1 &&
		       dump->crash.address == 8 && dump->crash.has_thread && !dump->crash.thread &&
		       !dump->truncated,
	       "report: the crash");
	tap_ok(dump->nr_threads == 1 && thread->tid == 5 && !strcmp(thread->name, "n") &&
		       thread->nr_frames == 4 && thread->known && thread->regs.valid == (1 | 1 << 16) &&
		       thread->regs.r[16] == 0x1020 && thread->reason == KUNWIND_NO_RULE &&
		       thread->missing == 0x77 && thread->why == DUMP_WHY_NONE,
	       "report: a thread");
	tap_ok(dump->nr_frames == 4 && frame[0].exact && !frame[1].exact && frame[1].ip == 0x2000 &&
		       frame[1].sp == 0x7001 && frame[0].trust == KUNWIND_TRUST_REGISTERS &&
		       frame[1].trust == KUNWIND_TRUST_CFI && frame[2].trust == KUNWIND_TRUST_SCAN &&
		       frame[3].trust == KUNWIND_TRUST_FP,
	       "report: its frames");
	tap_ok(dump->nr_modules == 1 && dump->module->image == 0x1000 && dump->module->end == 0x2000 &&
		       dump->module->build_id_len == 2 && !memcmp(dump->module->build_id, "\x0a\x0b", 2),
	       "report: a module reaches up to its highest frame");
	dump_free(dump);
	for (i = 0; i < sizeof(whys) / sizeof(whys[0]); i++) {
		snprintf(text, sizeof(text), HEAD THREAD "{\"reason\": null, \"why\": %s}\n", whys[i].why);
		dump = open_report(text);
		tap_ok(dump->thread->why == whys[i].is && dump->truncated, "report: why: %s", whys[i].why);
		dump_free(dump);
	}
	dump = open_report(HEAD THREAD FRAME(0, "0x1020", "0x1020", ""));
	tap_ok(dump->thread->why == DUMP_WHY_CUT && dump->thread->reason == KUNWIND_NOT_READY &&
		       dump->truncated,
	       "report: cut off in a stack");
	dump_free(dump);
	used = 0;
	put(HEAD THREAD HEAD, strlen(HEAD THREAD HEAD));
	tap_ok(fails_with("more than one report"), "two reports");
}

int main(void)
{
	test_strings();
	test_report();
	return tap_done();
}
