// SPDX-License-Identifier: MIT
/*
 * exact-test.c - which function a frame has: that at its address, or that of the call
 * before its address
 *
 * The object has functions without a gap: the byte before "second" is of "first".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

enum { PID = 7, NR_KERNEL = 40 };
#define BIAS 0x10000000

static int count, failed;
static char dir[] = "/tmp/kunwind-exact-XXXXXX";
static char path[64];
static ino_t inode;
static uint64_t first, second, trampoline;

static void check(bool good, const char *name)
{
	printf("%sok %d - exact: %s\n", good ? "" : "not ", ++count, name);
	failed += !good;
}

static bool make_object(void)
{
	char command[800];
	struct stat st;
	FILE *f;

	snprintf(path, sizeof(path), "%s/object.so", dir);
	snprintf(command, sizeof(command),
		 "cd %s && cat >a.s <<'END'\n"
		 ".globl first, second, trampoline\n"
		 ".type first, @function\n.type second, @function\n.type trampoline, @function\n"
		 ".balign 16\nfirst: .fill 16, 1, 0x90\n.size first, 16\n"
		 "second: .fill 16, 1, 0x90\n.size second, 16\n"
		 "trampoline: .cfi_startproc\n.cfi_signal_frame\nmov $15, %%rax\nsyscall\n.cfi_endproc\n"
		 ".size trampoline, . - trampoline\n"
		 "END\n"
		 "gcc -shared -nostdlib -Wl,--build-id=none a.s -o object.so && nm object.so |\n"
		 "awk '{ at[$3] = $1 }\n"
		 "END { print at[\"first\"], at[\"second\"], at[\"trampoline\"] }'", dir);
	f = popen(command, "r");
	if (!f || fscanf(f, "%lx %lx %lx", &first, &second, &trampoline) != 3 || pclose(f) ||
	    stat(path, &st))
		return false;
	inode = st.st_ino;
	return true;
}

static bool is(const struct kunwind_frame *frame, const char *name)
{
	const struct kunwind_function *function = kunwind_frame_function(frame);

	if (function && function->name && !strcmp(function->name, name))
		return true;
	printf("# %s: got %s\n", name, function && function->name ? function->name : frame->why);
	return false;
}

/* The answer for the start of "second". */
static bool second_is(struct kunwind_symbolizer *symbolizer, bool exact)
{
	struct kunwind_frame frame;

	kunwind_resolve(kunwind_symbolizer_object(symbolizer, path, "", inode), second, exact, &frame);
	return is(&frame, exact ? "second" : "first");
}

static void test_cache(struct kunwind_symbolizer *symbolizer)
{
	check(second_is(symbolizer, true) && second_is(symbolizer, false) && second_is(symbolizer, true),
	      "a return address has the function of the call, also if the address was asked for before");
	kunwind_cache_clear(symbolizer->cache);
	check(second_is(symbolizer, false) && second_is(symbolizer, true),
	      "an address has its own function, also if it was a return address before");
}

/* A history in which [start, end) of the object is mapped. */
static struct kunwind_history *mapped(struct kunwind_symbolizer *symbolizer, uint64_t start, uint64_t end)
{
	struct kunwind_history *history = kunwind_history_new(symbolizer);

	kunwind_history_map(history, 1, &(struct kunwind_mapping){
		.pid = PID, .start = BIAS + start, .end = BIAS + end, .bias = BIAS, .inode = inode,
		.path = path, .build_id = "" });
	return history;
}

static void test_stacks(struct kunwind_symbolizer *symbolizer)
{
	const uint64_t stack[] = { BIAS + first + 4, BIAS + trampoline, BIAS + second, BIAS + second };
	const struct kunwind_who who = { .pid = PID, .time = 10 };
	struct kunwind_history *history = mapped(symbolizer, first, trampoline + 16);
	struct kunwind_frame frame[4];

	kunwind_history_stack(history, &who, stack, 4, frame);
	check(frame[1].trampoline && is(&frame[1], "trampoline"),
	      "a handler returns to the trampoline's first byte");
	check(is(&frame[2], "second"), "the frame after a trampoline was interrupted: its address is exact");
	check(is(&frame[3], "first"), "the frame after that one has called");
	kunwind_history_free(history);

	history = mapped(symbolizer, trampoline, trampoline + 16);
	kunwind_history_stack(history, &who, stack, 4, frame);
	check(is(&frame[1], "trampoline"), "a trampoline at the first byte of a mapping is in that mapping");
	check(frame[2].why && !strcmp(frame[2].why, "no mapping known"), "what is in no mapping is nowhere");
	kunwind_history_free(history);
}

/* Code in no mapping, of a process that has a list of functions. */
static void test_list(void)
{
	struct kunwind_symbolizer *symbolizer = kunwind_symbolizer_new(&(struct kunwind_symbolizer_options){
		.size = sizeof(struct kunwind_symbolizer_options), .perf_map_dir = dir });
	const uint64_t stack[] = { 0x5008, 0x9008 };
	const struct kunwind_who who = { .pid = PID, .time = 10 };
	struct kunwind_history *history = mapped(symbolizer, first, trampoline + 16);
	struct kunwind_frame frame[2];
	char list[80];
	FILE *f;

	snprintf(list, sizeof(list), "%s/perf-%d.map", dir, PID);
	f = fopen(list, "w");
	fprintf(f, "5000 100 compiled\n");
	fclose(f);
	kunwind_history_stack(history, &who, stack, 2, frame);
	check(is(&frame[0], "compiled"), "code in no mapping has its name from the list");
	check(!frame[1].object && !frame[1].nr_functions && frame[1].why && frame[1].address == 0x9008,
	      "code that is not in the list has no object");
	kunwind_history_free(history);
	kunwind_symbolizer_free(symbolizer);
}

/* Kernel stacks of growing length. */
static void test_kernel(struct kunwind_symbolizer *symbolizer)
{
	struct kunwind_kernel *kernel = kunwind_kernel_new(symbolizer,
		strdup("1000 t one\n2000 t two\n3000 t three\t[module]\n"));
	struct kunwind_frame frame[NR_KERNEL];
	uint64_t stack[NR_KERNEL];
	bool good = true;
	size_t nr, i;

	for (i = 0; i < NR_KERNEL; i++)
		stack[i] = i % 2 ? 0x2004 : 0x1004;
	for (nr = 1; nr <= NR_KERNEL; nr++) {
		good &= kunwind_kernel_stack(kernel, stack, nr, frame);
		for (i = 0; i < nr; i++)
			good &= is(&frame[i], i % 2 ? "two" : "one");
	}
	check(good, "kernel stacks, each longer than the one before");
	stack[0] = stack[1] = 0x2000;
	kunwind_kernel_stack(kernel, stack, 2, frame);
	check(is(&frame[0], "two") && is(&frame[1], "one"),
	      "kernel: the first address is exact, the others are return addresses");
	kunwind_kernel_free(kernel);
}

int main(void)
{
	struct kunwind_symbolizer *symbolizer = kunwind_symbolizer_new(NULL);
	char command[64];

	if (!mkdtemp(dir))
		return 1;
	if (make_object()) {
		test_cache(symbolizer);
		test_stacks(symbolizer);
		test_list();
	} else {
		check(false, "gcc and nm make the object of the test");
	}
	test_kernel(symbolizer);
	kunwind_symbolizer_free(symbolizer);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	if (system(command))
		return 1;
	printf("1..%d\n", count);
	return failed != 0;
}
