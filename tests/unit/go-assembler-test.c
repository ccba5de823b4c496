/* SPDX-License-Identifier: MIT */
/*
 * go-assembler-test.c - rows of Go's functions that are written in assembler, in
 * made tables
 */
#include "go-scene.h"

/* Functions that write rsp. The code is what Go 1.19 and 1.22 have, shortened. */
static const struct function switches[] = {
	{ "_rt0_amd64_linux", .flags = 4, .list = { 0, 5 } },
	/*
	 * sub $24,%rsp; mov %rbp,16(%rsp); lea 16(%rsp),%rbp; mov %rsp,%r12 (14); je;
	 * mov 56(%rdx),%rsp (19); nop; and $~15,%rsp; call *%rax (28); mov %r12,%rsp (30);
	 * mov 16(%rsp),%rbp; add $24,%rsp; ret (42); syscall (43), where je leads; jmp
	 */
	{ "runtime.nanotime1", .flags = 6,
	  .code = "4883ec1848896c2410488d6c24104989e47404488b623890"
		  "4883e4f0ffd04c89e4488b6c24104883c418c30f05ebe3",
	  .list = { 0, 4, 24, 38, 0, 1, 24, 4 } },
	/* mov 8(%rsp),%rdi; syscall (5); mov %rsi,%rsp (7); call *%r12; jmp */
	{ "runtime.clone", .flags = 6, .code = "488b7c24080f054889f441ffd4ebf8", .list = { 0, 15 } },
	/* mov %rax,%rdx; jne +5; jmp; (10) mov 56(%r14),%rsp; push %rax (15); call; pop */
	{ "runtime.mcall", .id = 11, .flags = 6,
	  .code = "4889c27505e900000000498b66385041ffd458", .list = { 0, 15, 8, 3, 0, 1 } },
	/* mov 56(%rbx),%rsp; mov (%rbx),%rbx; jmp *%rbx */
	{ "gogo", .flags = 6, .code = "488b6338488b1bffe3", .list = { 0, 9 } },
	/* push %rbp; mov %rsp,%rbp (4); and $~15,%rsp; call *%rax; mov %rbp,%rsp; pop %rbp (14); ret */
	{ "runtime.sigfwd", .flags = 6, .code = "554889e54883e4f0ffd04889ec5dc3",
	  .list = { 0, 1, 8, 13, 0, 1 } },
	/* je +3; mov %rsp,%rbp; mov %rsi,%rsp; call *%rax: the branch skips the save */
	{ "runtime.skips", .flags = 6, .code = "74034889e54889f4ffd0", .list = { 0, 10 } },
	/* mov %rsp,%rbp; mov %rsi,%rsp; mov %rsi,%rbp (6..9): the register is lost */
	{ "runtime.loses", .flags = 6, .code = "4889e54889f44889f590", .list = { 0, 10 } },
	/* mov %rsp,%rdx; mov %rsi,%rsp: a callee may change rdx */
	{ "runtime.scratch", .flags = 6, .code = "4889e24889f4ffd0", .list = { 0, 8 } },
	/* an instruction that is not known */
	{ "runtime.unknown", .flags = 6, .code = "90900f04", .list = { 0, 20 } },
	{ "runtime.sigreturn__sigaction", .flags = 6, .list = { 0, 10 } },
	{ "crosscall2", .flags = 4, .list = { 0, 10 } },
	/* mov %rsp,%rbx; and $~15,%rsp; call *%rax: libc's table does not follow rbx */
	{ "runtime.callCgoMmap", .flags = 6, .code = "4889e34883e4f0ffd0", .list = { 0, 9 } },
	/* mov %rsp,%rdx; sub $32,%rsp; and $~15,%rsp; call *%rax: the list lacks the sub */
	{ "runtime.asmcgocall_no_g", .flags = 6, .code = "4889e24883ec204883e4f0ffd0",
	  .list = { 0, 13 } },
	/* push %rbp; mov %rsp,%rbp; nop; pop %rbp; ret: written as data, so the list lacks it */
	{ "main.data", .flags = 4, .code = "554889e5905dc3", .list = { 0, 7 } },
	/* mov %rsp,%r12; mov %rsi,%rsp; xchg %rax,%r12 */
	{ "runtime.swaps", .flags = 6, .code = "4989e44889f4499490", .list = { 0, 9 } },
	/* mov %rsp,%r12; mov %rsi,%rsp; pop %r12 */
	{ "runtime.pops", .flags = 6, .code = "4989e44889f4415c90", .list = { 0, 9 } },
	/* the list moves, the code does not */
	{ "main.lies", .flags = 4, .code = "90909090", .list = { 0, 2, 8, 2 } },
	/* rorx to r13d, to r12d; then rorx to esp */
	{ "main.rotates", .flags = 4, .code = "c4637bf0ea19c4637bf0e00dc4e37bf0e00d90", .list = { 0, 19 } },
	/* mov %rbx,%rsp; call *%rdi (3); mov g,%rax (5); ...; mov 56(%rax),%rsp; ret (38) */
	{ "runtime.systemstack", .id = 7, .flags = 6,
	  .code = "4889dcffd764488b0425f8ffffff488b5830488b83c0000000"
		  "6448890425f8ffffff488b6038c3", .list = { 0, 40 } },
	/* mov g,%rbx; mov 48(%rbx),%rbx; mov %rbp,104(%rsi); mov 56(%rbx),%rsp; call (21); call; ret */
	{ "runtime.morestack", .id = 5, .flags = 6,
	  .code = "64488b1c25f8ffffff488b5b3048896e68488b6338e800000000e800000000c3",
	  .list = { 0, 32 } },
	/* the same code does not return to another stack by itself */
	{ "runtime.other", .flags = 6,
	  .code = "64488b1c25f8ffffff488b5b3048896e68488b6338e800000000e800000000c3",
	  .list = { 0, 32 } },
};

static const struct expected switched[] = {
	SAME(1, 0, "rsp+8"), SAME(1, 4, "rsp+32 unknown"), SAME(1, 9, "rsp+32 unknown"),
	SAME(1, 14, "rsp+32 unknown"), SAME(1, 17, "rsp+32 unknown"), SAME(1, 19, "rsp+32 unknown"),
	SAME(1, 23, "r12+32 unknown"), SAME(1, 28, "r12+32 unknown"), SAME(1, 30, "r12+32 unknown"),
	SAME(1, 33, "rsp+32 unknown"), SAME(1, 42, "rsp+8"), SAME(1, 43, "r12+32 unknown"),
	SAME(1, 45, "r12+32 unknown"),
	SAME(2, 0, "rsp+8"), SAME(2, 5, "rsp+8"), SAME(2, 7, "none"), SAME(2, 10, "end"), SAME(2, 13, "end"),
	SAME(3, 0, "rsp+8"), SAME(3, 10, "rsp+8"), SAME(3, 14, "end"), SAME(3, 15, "end"), SAME(3, 18, "end"),
	SAME(4, 0, "rsp+8"), SAME(4, 4, "none"), SAME(4, 7, "none"),
	SAME(5, 1, "rsp+16 unknown"), SAME(5, 4, "rsp+16 unknown"), SAME(5, 8, "rbp+16 unknown"),
	SAME(5, 13, "rsp+16 unknown"), SAME(5, 14, "rsp+8"),
	SAME(6, 0, "rsp+8"), SAME(6, 5, "rsp+8"), SAME(6, 8, "none"),
	SAME(7, 3, "rsp+8"), SAME(7, 6, "rbp+8 unknown"), SAME(7, 9, "none"),
	SAME(8, 3, "rsp+8"), SAME(8, 6, "none"),
	SAME(9, 0, "rsp+8"), SAME(9, 1, "rsp+8"), SAME(9, 2, "none"), SAME(9, 4, "none"),
	SAME(10, 0, "none"), SAME(11, 0, "none"), SAME(12, 3, "rsp+8"), SAME(12, 8, "none"),
	SAME(13, 3, "rsp+8"), SAME(13, 7, "none"), SAME(13, 11, "none"),
	SAME(14, 0, "rsp+8"), SAME(14, 1, "none"), SAME(14, 6, "none"),
	SAME(15, 6, "r12+8 unknown"), SAME(15, 8, "none"),
	SAME(16, 6, "r12+8 unknown"), SAME(16, 8, "none"),
	SAME(17, 0, "rsp+8"), SAME(17, 1, "rsp+8"), SAME(17, 2, "none"), SAME(17, 3, "none"),
	SAME(18, 6, "rsp+8"), SAME(18, 12, "rsp+8"), SAME(18, 18, "none"),
	SAME(19, 0, "rsp+8"), SAME(19, 3, "full"), SAME(19, 4, "full"), SAME(19, 5, "full"),
	SAME(19, 37, "full"), SAME(19, 38, "none"), SAME(19, 39, "none"),
	SAME(20, 0, "rsp+8"), SAME(20, 20, "rsp+8"), SAME(20, 21, "full"), SAME(20, 25, "full"),
	SAME(20, 26, "none"), SAME(20, 30, "none"), SAME(20, 31, "none"),
	SAME(21, 20, "rsp+8"), SAME(21, 21, "none"), SAME(21, 25, "none"), SAME(21, 30, "none"),
};

static void test_switches(void)
{
	const int nr = sizeof(switches) / sizeof(switches[0]);
	struct kunwind_table *table = NULL;
	static struct file f;
	unsigned int i;

	make(&f, magics[2], switches, nr, TEXT);
	tap_ok(!build(&f, &table), "functions that write rsp: a table is built");
	if (!table)
		return;
	for (i = 0; i < sizeof(switched) / sizeof(switched[0]); i++) {
		const struct expected *e = &switched[i];
		const char *is = words_of(kunwind_table_lookup(table, TEXT + e->function * STEP + e->at));

		tap_ok(!strcmp(is, e->newer), "%s+%d: %s", switches[e->function].name, e->at, e->newer);
		if (strcmp(is, e->newer))
			printf("# it is %s\n", is);
	}
	kunwind_table_free(table);
}

/* C calls runtime.rt0_go in a program whose entry point is not Go's. */
static void test_called_by_c(void)
{
	static const struct function functions[] = {
		{ "_rt0_amd64_linux", .flags = 4, .list = { 0, 5 } },
		/* sub $40,%rsp; and; push %rax (8); pop %rax; jmp; nop; add $40,%rsp (13); ret; nop */
		{ "runtime.rt0_go", .id = 14, .flags = 5,
		  .code = "4883ec284883e4f05058eb00904883c428c390", .list = { 0, 9, 8, 1, 0, 9 } },
		/* sub $32,%rsp: the alignment takes 8 more */
		{ "runtime.rt0_go", .id = 14, .flags = 5, .code = "4883ec204883e4f090", .list = { 0, 9 } },
		/* C does not call this one */
		{ "main.other", .id = 14, .flags = 4, .code = "4883ec284883e4f090", .list = { 0, 9 } },
	};
	static const struct {
		int function, at;
		const char *c, *go;
	} want[] = {
		{ 1, 0, "rsp+8", "end" }, { 1, 4, "rsp+48 unknown", "end" },
		{ 1, 8, "rsp+48 unknown", "end" },
		{ 1, 9, "rsp+56 unknown", "end" }, { 1, 12, "rsp+48 unknown", "end" },
		{ 1, 17, "rsp+8", "end" }, { 1, 18, "none", "end" },
		{ 2, 4, "rsp+40 unknown", "end" }, { 2, 8, "rsp+48 unknown", "end" },
		{ 3, 3, "rsp+8", "rsp+8" }, { 3, 4, "none", "none" },
	};
	static struct file f;
	unsigned int m, i, c;

	for (m = 0; m < 4; m++) {
		for (c = 0; c < 2; c++) {
			struct kunwind_table *table = NULL;

			make(&f, magics[m], functions, 4, TEXT);
			f.elf.entry = c ? 0 : TEXT;
			tap_ok(!build(&f, &table), "runtime.rt0_go: a table is built");
			for (i = 0; table && i < sizeof(want) / sizeof(want[0]); i++) {
				const char *expect = c ? want[i].c : want[i].go;
				const char *is;

				is = words_of(kunwind_table_lookup(table, TEXT + want[i].function * STEP +
								  want[i].at));
				tap_ok(!strcmp(is, expect), "magic %x: runtime.rt0_go, %s, %d+%d: %s",
				   magics[m], c ? "called by C" : "the start", want[i].function,
				   want[i].at, expect);
				if (strcmp(is, expect))
					printf("# it is %s\n", is);
			}
			kunwind_table_free(table);
		}
	}
}

int main(void)
{
	test_switches();
	test_called_by_c();
	return tap_done();
}
