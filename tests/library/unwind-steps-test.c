/* SPDX-License-Identifier: MIT */
/*
 * unwind-steps-test.c - how a walk begins, what it hands out of its stretches, and when it walks
 * one again
 *
 * The stretch is the test's: frame n has the address CODE + 16 n, and all that a stretch changes
 * counts the frames, so that a stretch that begins elsewhere has other frames.
 */
#include <unistd.h>

#include "../../libkunwind/unwind/walk.c"
#include "../unit/tap.h"

#define CODE	0x400000ULL
#define READ	((kunwind_read_memory *)0x1234)

static u32 frames;			/* of the stack */
static enum kunwind_reason end;
static u32 stretches, trusted, met, found, changes;
static bool can_meet, others, i386, in_use;
static u64 met_at;
static struct kunwind_analysis_cache *answers;
static struct unwind_walk state;	/* as the last stretch began */
static struct kunwind_unwinder *unwinder;
static struct unwind_snapshot *snapshot;
static struct kunwind_range range[2];	/* two objects: frames 0 to 9, and all others */
static struct kunwind_module module[2];

static struct kunwind_stack_walk memory;
static struct unwind_walk *const walk = (struct unwind_walk *)&memory;
static struct kunwind_stack_frame frame;

static u64 code_of(u32 n) { return CODE + 16 * (u64)n; }
static u8 trust_of(u32 n) { return n % 7 == 3 ? KUNWIND_TRUST_CODE : KUNWIND_TRUST_CFI; }

/* Only the first frame is exact. */
static enum kunwind_reason stretch_of(struct kunwind_walk *core, struct kunwind_stretch *stretch)
{
	const u32 from = core->regs.r[KUNWIND_RBX];
	u32 n;

	stretches++;
	state = *walk;
	answers = core->mem.answers;
	in_use = !unwind_users_none(&unwinder->users);
	core->others = others;
	for (n = 0; n < KUNWIND_STRETCH && from + n < frames; n++) {
		stretch->address[n] = code_of(from + n);
		stretch->sp[n] = 0x1000 + 8 * (from + n);
		stretch->looked_up[n] = code_of(from + n) - !!(from + n);
		if (n && trust_of(from + n) != KUNWIND_TRUST_CFI)
			core->trust[n] = trust_of(from + n);
	}
	core->count = n;
	core->trust[KUNWIND_STRETCH] = trust_of(from + n);
	core->regs.r[KUNWIND_RBX] = from + n;
	core->regs.valid = from + n;
	stretch->addr = code_of(from + n);
	stretch->bp_at = core->lower_cfa = core->lower_ra = core->lower_nr = from + n;
	return from + n < frames ? KUNWIND_BUFFER_FULL : end;
}

enum kunwind_reason unwind_stretch(struct kunwind_walk *core, struct kunwind_stretch *stretch)
{
	i386 = false;
	return stretch_of(core, stretch);
}

enum kunwind_reason unwind_stretch_i386(struct kunwind_walk *core, struct kunwind_stretch *stretch)
{
	i386 = true;
	return stretch_of(core, stretch);
}

/* A look-up finds out that an object is another one, as long as there are changes. */
const struct kunwind_range *kunwind_ranges_find(const struct kunwind_ranges *ranges, u64 addr)
{
	u32 i;

	(void)ranges;
	found++;
	if (changes) {
		changes--;
		unwind_snapshot_changed(snapshot);
	}
	for (i = 0; i < 2; i++)
		if (addr - range[i].start < range[i].end - range[i].start)
			return &range[i];
	return NULL;
}

const struct kunwind_module *unwind_range_module(const struct unwind_snapshot *of,
						 const struct kunwind_range *wanted)
{
	return of == snapshot ? &module[wanted - range] : NULL;
}

void unwind_stack_trust(struct unwind_walk *of) { trusted += of == walk; }

bool unwind_tables_meet(struct kunwind_unwinder *of, u64 addr)
{
	(void)of;
	met++;
	met_at = addr;
	return can_meet;
}

/* users.c, without other threads. */
bool unwind_users_none(struct unwind_users *users) { return !users->locked; }

static void begin_test(u32 nr, enum kunwind_reason reason)
{
	frames = nr;
	end = reason;
	stretches = trusted = met = found = changes = 0;
	can_meet = others = false;
	memset(unwinder, 0, sizeof(*unwinder));
	memset(snapshot, 0, sizeof(*snapshot));
	memset(&memory, 0xa5, sizeof(memory));
	unwinder->snapshot = snapshot;
	snapshot->unwinder = unwinder;
	snapshot->ranges.id = unwinder->ids = 9;
	range[0] = (struct kunwind_range){ .start = CODE - 16, .end = code_of(10) };
	range[1] = (struct kunwind_range){ .start = code_of(10), .end = code_of(100000) };
	module[0] = (struct kunwind_module){ .start = range[0].start, .end = range[0].end };
	module[1] = (struct kunwind_module){ .start = range[1].start, .end = range[1].end };
}

static int begin_regs(u32 valid, u32 flags, kunwind_read_memory *read)
{
	struct kunwind_registers regs = { .valid = valid, .flags = flags, .fs_base = 77 };
	u32 i;

	for (i = 0; i < KUNWIND_NR_REGS; i++)
		regs.r[i] = 0x100000000ULL * (i + 1) + i;
	regs.r[KUNWIND_RBX] = 0;
	regs.r[KUNWIND_RA] = 0x500000000 + CODE;
	return kunwind_walk_begin_regs(&memory, unwinder, &regs, read, &frames);
}

#define ALL	((1U << KUNWIND_NR_REGISTERS) - 1)

/* Of any begin. */
static bool is_fresh(void)
{
	return walk->trust[KUNWIND_STRETCH] == KUNWIND_TRUST_REGISTERS && !walk->at && !walk->count &&
	       !walk->missing && walk->stretch.bp_at == KUNWIND_STRETCH_NO_SLOT && !walk->core.lower_nr &&
	       walk->stretch.after_slot == unwinder->after_slot && walk->core.mem.memory == &walk->memory &&
	       walk->core.mem.space == (u64)unwinder && !walk->core.mem.span && !walk->core.mem.answers &&
	       walk->core.capacity == KUNWIND_STRETCH + 1 && walk->core.budget == BUDGET &&
	       walk->core.addresses == walk->stretch.address && walk->core.trust == walk->trust &&
	       kunwind_walk_reason(&memory) == KUNWIND_BUFFER_FULL && !kunwind_walk_missing(&memory);
}

static void test_regs(void)
{
	const u32 sp = 1 << 7, ip = 1 << 16;
	u32 i, wrong = 0;

	begin_test(1, KUNWIND_COMPLETE);
	tap_ok(begin_regs(ALL & ~sp, 0, READ) == -EINVAL && begin_regs(ALL & ~ip, 0, READ) == -EINVAL &&
	       begin_regs(ALL, 4, READ) == -EINVAL && begin_regs(ALL, 1U << 31, READ) == -EINVAL,
	       "registers: without rsp or rip, or with an unknown flag, no walk begins");
	tap_ok(!begin_regs(sp | ip | 1 << 3 | 1 << 17 | 1U << 31, 0, READ) && is_fresh() &&
	       walk->core.regs.valid == (sp | ip | 1 << 3), "registers: those that are said to be valid are");
	for (i = 0; i < KUNWIND_NR_REGS; i++)
		wrong += i != KUNWIND_RBX && i != KUNWIND_RA &&
			 walk->core.regs.r[i] != 0x100000000ULL * (i + 1) + i;
	tap_ok(!wrong && walk->stretch.addr == 0x500000000 + CODE && !walk->core.i386,
	       "registers: all have their values, rip is looked up");
	tap_ok(walk->memory.read == READ && walk->memory.data == &frames && walk->core.mem.fs == 77 &&
	       !walk->stack_sp,
	       "registers: with the caller's function and segment base, without a trusted stack");
	tap_ok(!walk->core.guess, "registers: without guesses");
	unwinder->flags = KUNWIND_UNWINDER_GUESS;
	begin_regs(ALL, KUNWIND_REGISTERS_CALLED, NULL);
	tap_ok(walk->core.guess, "registers: with guesses");
	tap_ok(walk->stretch.addr == 0x500000000 + CODE - 1 && !walk->memory.read,
	       "registers: after a call, the address before rip is looked up");
	begin_regs(ALL, KUNWIND_REGISTERS_I386, READ);
	for (i = wrong = 0; i < KUNWIND_NR_REGS; i++)
		wrong += walk->core.regs.r[i] >> 32 != 0;
	tap_ok(!wrong && walk->core.i386 && walk->stretch.addr == CODE && is_fresh(),
	       "registers: of 32-bit code, only the lower halves are used");
	kunwind_walk_next(&memory, &frame);
	tap_ok(stretches == 1 && i386, "registers: 32-bit code has its own steps");
}

static void test_own(void)
{
	static ucontext_t context;
	u32 i, wrong = 0;
	static const int order[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
				     REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
				     REG_RIP };

	begin_test(1, KUNWIND_COMPLETE);
	for (i = 0; i < KUNWIND_NR_REGS; i++)
		context.uc_mcontext.gregs[order[i]] = 1000 + i;
	kunwind_walk_begin_ucontext(&memory, unwinder, &context);
	for (i = 0; i < KUNWIND_NR_REGS; i++)
		wrong += walk->core.regs.r[i] != 1000 + i;
	tap_ok(!wrong && walk->core.regs.valid == KUNWIND_ALL_REGS && is_fresh(),
	       "signal: all registers are those of the interrupted code");
	tap_ok(walk->stretch.addr == 1016 && walk->stack_sp == 1007 && !walk->memory.read &&
	       walk->core.mem.fs == (u64)__builtin_thread_pointer(),
	       "signal: rip is looked up, on the thread's own stack");
	kunwind_walk_next(&memory, &frame);
	tap_ok(trusted == 1 && !i386, "signal: the stack is trusted where it can be");

	begin_test(1, KUNWIND_COMPLETE);
	for (i = 0; i < KUNWIND_NR_REGS; i++)
		walk->core.regs.r[i] = 1000 + i;
	unwind_begin_here(&memory, unwinder);
	tap_ok(walk->core.regs.valid == (1 << 3 | 1 << 6 | 1 << 7 | 0xf << 12 | 1 << 16) && is_fresh(),
	       "call: the registers that a function keeps, rsp and rip are valid");
	tap_ok(walk->stretch.addr == 1015 && walk->stack_sp == 1007 &&
	       walk->core.mem.fs == (u64)__builtin_thread_pointer(),
	       "call: the address before rip is looked up");
}

/* Whether the next frame is number @n. */
static bool next_is(u32 n, bool with_module)
{
	return kunwind_walk_next(&memory, &frame) && frame.ip == code_of(n) && frame.sp == 0x1000 + 8 * n &&
	       frame.exact == !n && frame.trust == (n ? trust_of(n) : KUNWIND_TRUST_REGISTERS) &&
	       frame.module == (with_module ? &module[n > 10] : NULL);
}

static void test_frames(void)
{
	static uint64_t addresses[300];
	u32 i, wrong = 0, early = 0;
	size_t nr;

	begin_test(150, KUNWIND_NO_RULE);
	begin_regs(ALL, 0, READ);
	for (i = 0; i < 150; i++) {
		early += kunwind_walk_reason(&memory) != KUNWIND_BUFFER_FULL;
		wrong += !next_is(i, true);
	}
	tap_ok(!wrong && stretches == 3,
	       "frames: each has its address, rsp, trust, module and exactness (%u wrong)",
	       wrong);
	tap_ok(!early && kunwind_walk_reason(&memory) == KUNWIND_NO_RULE &&
	       !kunwind_walk_next(&memory, &frame) && stretches == 3,
	       "frames: the reason is known after the last one");
	tap_ok(in_use && !unwinder->users.locked && !trusted,
	       "frames: the snapshot is in use during a stretch only");
	begin_regs(ALL, 0, READ);
	memset(walk->exact, 1, sizeof(walk->exact));
	nr = kunwind_walk_addresses(&memory, addresses, 5);
	tap_ok(nr == 5 && next_is(5, false) && next_is(6, false),
	       "addresses: frames after them have no module");
	nr += 2 + kunwind_walk_addresses(&memory, addresses + 7, 293);
	for (i = wrong = 0; i < 150; i++)
		wrong += i != 5 && i != 6 && addresses[i] != code_of(i);
	tap_ok(nr == 150 && !wrong && kunwind_walk_reason(&memory) == KUNWIND_NO_RULE,
	       "addresses: all, to the end");
	begin_test(64, KUNWIND_COMPLETE);
	begin_regs(ALL, 0, READ);
	tap_ok(kunwind_walk_addresses(&memory, addresses, 300) == 64 &&
	       kunwind_walk_reason(&memory) == KUNWIND_COMPLETE, "addresses: of a stretch that is just full");
	begin_test(5, KUNWIND_COMPLETE);
	range[0].dead = 1;
	begin_regs(ALL, 0, READ);
	tap_ok(kunwind_walk_next(&memory, &frame) && !frame.module,
	       "frames: one in a dead range has no module");
	begin_test(0, KUNWIND_UNREADABLE);
	begin_regs(ALL, 0, READ);
	tap_ok(!kunwind_walk_next(&memory, &frame) && kunwind_walk_reason(&memory) == KUNWIND_UNREADABLE,
	       "no frame at all");
}

static void test_state(void)
{
	begin_test(150, KUNWIND_COMPLETE);
	begin_regs(ALL, 0, READ);
	walk->memory.chunk[0].len = walk->memory.chunk[1].len = 5;
	walk->memory.missed = walk->memory.pid = 6;
	walk->core.mem.asked = walk->core.others = true;
	kunwind_walk_next(&memory, &frame);
	tap_ok(!state.memory.chunk[0].len && !state.memory.chunk[1].len && !state.memory.missed &&
	       !state.memory.pid && !state.core.mem.asked && !state.core.others,
	       "stretch: nothing that was read before is used");
	tap_ok(state.memory.snapshot == snapshot && state.core.ranges == &snapshot->ranges &&
	       state.core.cache == &unwinder->cache && !state.core.replay,
	       "stretch: it has the snapshot and the cache");
	walk->memory.chunk[0].len = walk->memory.chunk[1].len = 5;
	walk->at = walk->count;
	kunwind_walk_next(&memory, &frame);
	tap_ok(stretches == 2 && !state.memory.chunk[0].len && state.trust[0] == trust_of(64) &&
	       state.trust[1] == KUNWIND_TRUST_CFI && state.trust[63] == KUNWIND_TRUST_CFI &&
	       frame.trust == trust_of(64), "stretch: the next one begins with the trust of the last frame");
}

static void test_answers(void)
{
	begin_test(10, KUNWIND_COMPLETE);
	begin_regs(ALL, 0, READ);
	others = true;
	kunwind_walk_next(&memory, &frame);
	tap_ok(!answers && unwinder->wants_answers && !unwinder->answers_taken,
	       "answers: the first walk only wants them");
	others = false;
	begin_regs(ALL, 0, READ);
	kunwind_walk_next(&memory, &frame);
	tap_ok(answers == &unwinder->answers && !unwinder->answers_taken && !walk->core.mem.answers,
	       "answers: the next one has them, and gives them back");
	unwinder->answers_taken = 1;
	begin_regs(ALL, 0, READ);
	kunwind_walk_next(&memory, &frame);
	tap_ok(!answers && unwinder->answers_taken == 1, "answers: one walk has them at a time");
}

/* Memory that the caller's function has not had. */
static void test_missing(void)
{
	u32 i, wrong = 0;

	begin_test(70, KUNWIND_UNREADABLE);
	begin_regs(ALL, 0, READ);
	for (i = 0; i < 70; i++) {
		wrong += kunwind_walk_missing(&memory) != 0 || !next_is(i, true);
		walk->memory.missed = 0x7777;
	}
	tap_ok(!wrong && kunwind_walk_missing(&memory) == 0x7777, "missing: it is said after the last frame");
	frames = 75;
	end = KUNWIND_COMPLETE;
	for (; i < 75; i++)
		wrong += !next_is(i, true);
	tap_ok(!wrong && stretches == 3 && !kunwind_walk_next(&memory, &frame) && stretches == 3 &&
	       kunwind_walk_reason(&memory) == KUNWIND_COMPLETE && !kunwind_walk_missing(&memory),
	       "missing: the last stretch is walked again, without the frames that were handed out");
	tap_ok(state.core.regs.r[KUNWIND_RBX] == 64 && state.core.regs.valid == 64 &&
	       state.stretch.addr == code_of(64) && state.stretch.bp_at == 64 && state.core.lower_cfa == 64 &&
	       state.core.lower_ra == 64 && state.core.lower_nr == 64 && state.trust[0] == trust_of(64),
	       "missing: it begins with all that it began with before");
	begin_test(70, KUNWIND_UNREADABLE);
	begin_regs(ALL, 0, READ);
	for (i = wrong = 0; i < 70; i++)
		wrong += !next_is(i, true);
	frames = 200;
	for (; i < 200; i++)
		wrong += !next_is(i, true);
	tap_ok(!wrong, "missing: more stretches follow");
	wrong = !!kunwind_walk_next(&memory, &frame);
	i = stretches;
	wrong += kunwind_walk_next(&memory, &frame);
	tap_ok(!wrong && stretches == i + 1 && kunwind_walk_reason(&memory) == KUNWIND_UNREADABLE,
	       "missing: each call tries once");
	begin_test(0, KUNWIND_UNREADABLE);
	begin_regs(ALL, 0, READ);
	wrong = kunwind_walk_next(&memory, &frame);
	frames = 3;
	for (i = 0; i < 3; i++)
		wrong += !next_is(i, true);
	tap_ok(!wrong, "missing: also for the first frame");
	begin_test(5, KUNWIND_UNREADABLE);
	begin_regs(ALL, 0, NULL);
	for (i = 0; kunwind_walk_next(&memory, &frame); i++)
		;
	tap_ok(i == 5 && stretches == 1 && !kunwind_walk_next(&memory, &frame) && stretches == 1,
	       "missing: of this process, nothing is walked again");
	begin_test(5, KUNWIND_NO_RULE);
	begin_regs(ALL, 0, READ);
	while (kunwind_walk_next(&memory, &frame))
		;
	walk->memory.missed = 5;
	tap_ok(stretches == 1 && !kunwind_walk_missing(&memory),
	       "missing: not if the walk ended for another reason");
}

static void test_tables(void)
{
	begin_test(5, KUNWIND_NOT_READY);
	begin_regs(ALL, 0, READ);
	while (kunwind_walk_next(&memory, &frame))
		;
	tap_ok(met == 1 && met_at == code_of(4) - 1 && stretches == 1 &&
	       kunwind_walk_reason(&memory) == KUNWIND_NOT_READY, "tables: that of the last frame is wanted");
	can_meet = true;
	frames = 6;
	end = KUNWIND_COMPLETE;
	tap_ok(next_is(5, true) && !kunwind_walk_next(&memory, &frame) && met == 2 && stretches == 2,
	       "tables: with it, the walk goes on");
	begin_test(0, KUNWIND_NOT_READY);
	begin_regs(ALL, KUNWIND_REGISTERS_CALLED, READ);
	kunwind_walk_next(&memory, &frame);
	tap_ok(met == 1 && met_at == walk->stretch.addr,
	       "tables: of no frame, it is that of the first address");
}

static void test_changes(void)
{
	u32 n;

	for (n = 0; n <= TRIES; n++) {
		begin_test(20, KUNWIND_COMPLETE);
		range[0].end = module[0].end = code_of(20);	/* one look-up */
		snapshot->loose_lo = CODE - 64;
		snapshot->loose_span = 1 << 20;
		begin_regs(ALL, 0, READ);
		changes = n;
		if (n < TRIES)
			tap_ok(next_is(0, true) && stretches == n + 1 && walk->count == 20 &&
			       in_use && !unwinder->users.locked && !state.core.regs.r[KUNWIND_RBX],
			       "changes: after %u, the stretch is walked again %u times", n, n);
		else
			tap_ok(!kunwind_walk_next(&memory, &frame) && stretches == TRIES &&
			       kunwind_walk_reason(&memory) == KUNWIND_NOT_READY &&
			       walk->core.regs.r[KUNWIND_RBX] == 0, "changes: after too many, the walk ends");
	}
	begin_test(20, KUNWIND_UNREADABLE);
	snapshot->loose_lo = CODE - 64;
	snapshot->loose_span = 1 << 20;
	begin_regs(ALL, 0, READ);
	while (kunwind_walk_next(&memory, &frame))
		;
	changes = 1000;
	frames = 30;
	tap_ok(!kunwind_walk_next(&memory, &frame) && kunwind_walk_reason(&memory) == KUNWIND_NOT_READY,
	       "changes: frames that were handed out are not handed out again");
	tap_ok(kunwind_walk_addresses(&memory, (uint64_t[9]){ 0 }, 9) == 0, "changes: nor as addresses");
}

/* Returns how many look-ups the walk has needed besides those of modules. */
static u32 lookups(u64 lo, u64 span, u64 late_lo, u64 late_hi)
{
	uint64_t addresses[100];

	begin_test(20, KUNWIND_COMPLETE);
	snapshot->loose_lo = lo;
	snapshot->loose_span = span;
	unwinder->nr_late = late_hi ? 1 : 0;
	unwinder->late_lo = late_lo;
	unwinder->late_hi = late_hi;
	begin_regs(ALL, 0, READ);
	kunwind_walk_addresses(&memory, addresses, 100);
	return found;
}

static void test_lookups(void)
{
	tap_ok(!lookups(0, 0, 0, 0), "look-ups: none if nothing can be unloaded");
	tap_ok(!lookups(1, CODE - 1, 0, 0) && !lookups(code_of(20), 4096, 0, 0),
	       "look-ups: none of other addresses");
	tap_ok(lookups(CODE, 1, 0, 0) == 1, "look-ups: of the first byte that can be unloaded");
	tap_ok(lookups(code_of(19) - 2, 1, 0, 0) == 0 && lookups(code_of(19) - 2, 2, 0, 0) == 1,
	       "look-ups: and of the last");
	tap_ok(lookups(CODE, 16 * 20, 0, 0) == 2, "look-ups: one for the frames of one object");
	tap_ok(lookups(0, 0, CODE, CODE + 1) == 1 && lookups(0, 0, code_of(15), code_of(17)) == 1 &&
	       lookups(0, 0, code_of(30), code_of(40)) == 0,
	       "look-ups: of objects that were loaded later, too");
}

int main(void)
{
	unwinder = calloc(1, sizeof(*unwinder));
	snapshot = calloc(1, sizeof(*snapshot));
	alarm(60);
	test_regs();
	test_own();
	test_frames();
	test_state();
	test_answers();
	test_missing();
	test_tables();
	test_changes();
	test_lookups();
	free(unwinder);
	free(snapshot);
	return tap_done();
}
