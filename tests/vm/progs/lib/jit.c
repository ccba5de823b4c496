// SPDX-License-Identifier: MIT
/*
 * jit.c - a small JIT that adds unwind information for its code
 *
 * Its stacks must equal libgcc's (jit.h), and must not if no information was
 * added.
 *
 * Prints "ok - WHAT" or "not ok - WHAT".
 *   jit stacks|life|errors|mutants|exec|limit
 */
#define _GNU_SOURCE
#include "jit.h"

/* Without it a walk takes the first word that looks like a return address. */
static void unknown(struct unit *unit, const char *what)
{
	look_through(&look, &unit, 1);
	verdict(!equal(&look), "%s: no unwind information is used", what);
	if (equal(&look))
		show(&look);
}

static void give(const struct unit *unit, const char *what)
{
	unsigned int build_error = 99;
	int ret = hand_in(unit, &build_error);

	verdict(ret == (int)unit->nr && !build_error, "%s: unwind information of %u functions is added", what,
		unit->nr);
	if (ret != (int)unit->nr)
		printf("# %d, build error %u\n", ret, build_error);
}

#define MANY	200

static void stacks(void)
{
	static struct unit *units[MANY];
	unsigned int i, good = 0;
	int fd = memfd_create("jit", 0);

	for (i = 0; i < MANY; i++) {
		units[i] = make(i % 7 + 1, NULL, -1);
		__register_frame(units[i]->eh);
	}
	kunwind_register_self(0);
	unknown(units[0], "nothing added");
	give(units[0], "one function");
	same(units, 1, "one function");
	give(units[6], "seven functions");
	same(units + 6, 1, "seven nested functions");
	for (i = 1; i < MANY; i++)
		good += i == 6 || hand_in(units[i], NULL) == (int)units[i]->nr;
	verdict(good == MANY - 1, "unwind information of %u more units is added", good);
	same(units, 60, "sixty nested units");
	same(units + MANY - 60, 60, "sixty other nested units");
	verdict(!kunwind_jit_unregister(units[6]->code, units[6]->len),
		"unwind information of one unit is removed");
	unknown(units[6], "unit whose unwind information was removed");
	same(units, 6, "units beside the removed one");
	if (fd >= 0 && !ftruncate(fd, PAGE)) {
		struct unit *shared = make(5, NULL, fd);

		__register_frame(shared->eh);
		give(shared, "code in a memfd");
		same(&shared, 1, "code in a memfd");
	}
}

/* In a child. The parent prints only after the child has ended. */
static void in_child(struct unit *unit)
{
	pid_t child = fork();

	if (!child) {
		same(&unit, 1, "a forked child");
		verdict(!kunwind_jit_unregister(unit->code, unit->len),
			"a forked child removes unwind information");
		unknown(unit, "a forked child that removed it");
		exit(0);
	}
	waitpid(child, NULL, 0);
	same(&unit, 1, "parent of a child that removed its unwind information");
}

static void life(void)
{
	const size_t size = 16 * PAGE;
	uint8_t *arena = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct unit *first, *second, *third;

	kunwind_register_self(KUNWIND_REGISTER_CHILDREN);
	/* neighbours in one mapping */
	first = make(3, arena + 4 * PAGE, -1);
	second = make(4, arena + 5 * PAGE, -1);
	__register_frame(first->eh);
	__register_frame(second->eh);
	give(first, "first unit");
	give(second, "second unit, in the same mapping");
	third = make(2, arena + 6 * PAGE, -1);
	__register_frame(third->eh);
	give(third, "third unit, made later beside them");
	same((struct unit *[]){ first, second, third }, 3, "three neighbouring units");
	in_child(second);

	mprotect(second->code, PAGE, PROT_READ | PROT_WRITE);
	mprotect(second->code, PAGE, PROT_READ | PROT_EXEC);
	unknown(second, "unit whose protection changed");
	same((struct unit *[]){ first, third }, 2, "neighbours of a unit whose protection changed");
	/* mprotect() of one byte changes the whole page. */
	verdict(kunwind_jit_register(second->code + FUNCTION, second->len - FUNCTION, second->eh,
				     second->eh_len, NULL) == (int)second->nr - 1,
		"unwind information of a unit's functions except the first is added");
	mprotect(second->code, 1, PROT_READ | PROT_WRITE);
	mprotect(second->code, 1, PROT_READ | PROT_EXEC);
	verdict(kunwind_jit_unregister(second->code + FUNCTION, second->len - FUNCTION) == -ENOENT,
		"mprotect() of one byte: no unwind information of the page is left");
	give(second, "second unit, again");
	same((struct unit *[]){ first, second, third }, 3, "three neighbouring units, added again");

	/* other code at the same address, with other frames */
	munmap(third->code, PAGE);
	__deregister_frame(third->eh);
	variety = 3;
	third = make(1, third->code, -1);
	__register_frame(third->eh);
	unknown(third, "other code at an address that was unmapped");
	verdict(kunwind_jit_unregister(third->code, 2 * FUNCTION) == -ENOENT,
		"unmapped code: its unwind information is removed");
	same((struct unit *[]){ first, second }, 2, "neighbours of unmapped code");

	mremap(second->code, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, first->code);
	verdict(kunwind_jit_unregister(first->code, first->len) == -ENOENT,
		"code moved over other code: the other code's unwind information is removed");
	verdict(!kunwind_unregister_self() && !kunwind_register_self(0),
		"the process is unregistered and registered again");
	verdict(kunwind_jit_unregister(second->code, second->len) == -ENOENT,
		"unwind information ends with the registration");
}

static void refused(struct unit *unit, size_t at, const char *hex, unsigned int wanted,
		    const char *what)
{
	uint8_t *copy = malloc(unit->eh_len);
	unsigned int build_error = 99;
	int ret;

	memcpy(copy, unit->eh, unit->eh_len);
	bytes(copy + at, hex);
	ret = kunwind_jit_register(unit->code, unit->len, copy, unit->eh_len, &build_error);
	verdict(ret == -ENOEXEC && build_error == wanted, "refused: %s", what);
	if (ret != -ENOEXEC || build_error != wanted)
		printf("# %d, build error %u, wanted %u\n", ret, build_error, wanted);
	if (ret >= 0)
		kunwind_jit_unregister(unit->code, unit->len);
	free(copy);
}

static void error(int got, int wanted, const char *what)
{
	verdict(got == wanted, "error: %s", what);
	if (got != wanted)
		printf("# %d, wanted %d\n", got, wanted);
}

static void errors(void)
{
	struct unit *unit = make(4, NULL, -1);
	uint8_t *plain = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct kunwind_jit jit = { .size = sizeof(jit), .flags = 1 };
	const size_t fde = 24;		/* offset of the first FDE */
	int fd = open(KUNWIND_DEVICE, O_RDWR | O_CLOEXEC);

	error(hand_in(unit, NULL), -ENOENT, "the process is not registered");
	kunwind_register_self(0);
	error(kunwind_jit_register(unit->code, 0, unit->eh, unit->eh_len, NULL), -EINVAL,
	      "no code");
	error(kunwind_jit_register(unit->code, unit->len, unit->eh, 0, NULL), -EINVAL,
	      "no .eh_frame");
	error(kunwind_jit_register(unit->code, ~0UL, unit->eh, unit->eh_len, NULL), -EINVAL,
	      "code beyond all addresses");
	error(kunwind_jit_register((void *)(1UL << 63), 64, unit->eh, unit->eh_len, NULL), -EINVAL,
	      "the kernel's code");
	error(kunwind_jit_register(unit->code, unit->len, (void *)64, unit->eh_len, NULL), -EFAULT,
	      ".eh_frame that is not mapped");
	error(kunwind_jit_register(unit->code, unit->len, unit->eh, 1UL << 40, NULL), -ENOSPC,
	      ".eh_frame that is too long");
	error(hand_in(unit, NULL), 4, "none: four functions are added");
	error(hand_in(unit, NULL), -EEXIST, "the same code again");
	error(kunwind_jit_unregister(unit->code, unit->len - FUNCTION), -ENOENT,
	      "removing a part at the start");
	error(kunwind_jit_unregister(unit->code + FUNCTION, unit->len - FUNCTION), -ENOENT,
	      "removing a part at the end");
	error(kunwind_jit_unregister(unit->code, unit->len), 0, "none: the unit is removed");
	error(kunwind_jit_unregister(unit->code, unit->len), -ENOENT, "removing a unit twice");

	/* other places for the same code */
	emit_fde(unit->eh + fde, unit->eh, plain, 0);
	error(kunwind_jit_register(plain, FUNCTION, unit->eh, fde + 48, NULL), -EFAULT,
	      "memory that is not executable");
	mprotect(plain, PAGE, PROT_READ | PROT_EXEC);
	error(kunwind_jit_register(plain, 4 * PAGE, unit->eh, fde + 48, NULL), -EFAULT,
	      "code beyond its mapping");
	emit_fde(unit->eh + fde, unit->eh, (void *)(uintptr_t)errors, 0);
	error(kunwind_jit_register((void *)(uintptr_t)errors, FUNCTION, unit->eh, fde + 48, NULL),
	      -EEXIST, "code of a file");
	error(kunwind_jit_register(unit->code, unit->len, unit->eh, unit->eh_len, NULL), 3,
	      "none: a function outside the range is left out");
	kunwind_jit_unregister(unit->code, unit->len);
	emit_fde(unit->eh + fde, unit->eh, unit->code, 0);

	refused(unit, 8, "07", KUNWIND_E_VERSION, "a CIE's version");
	refused(unit, fde, "ff ff ff 00", KUNWIND_E_TRUNCATED, "a record longer than the section");
	refused(unit, fde + 4, "fc 00 00 00", KUNWIND_E_CIE, "a CIE before the section");
	refused(unit, fde + 16, "00 02 00 00", KUNWIND_E_RANGE, "a function that reaches beyond the code");
	refused(unit, fde + 26, "3e", KUNWIND_E_OPCODE, "an unknown instruction");
	refused(unit, fde + 26, "0b", KUNWIND_E_STATE_STACK, "a restored state that was not remembered");

	error(ioctl(fd, KUNWIND_IOC_JIT_ADD, &jit) ? -errno : 0, -EINVAL, "adding with an unknown flag");
	jit = (struct kunwind_jit){ .size = 8 };
	error(ioctl(fd, KUNWIND_IOC_JIT_ADD, &jit) ? -errno : 0, -EINVAL, "adding with a short structure");
	error(ioctl(fd, KUNWIND_IOC_JIT_ADD, NULL) ? -errno : 0, -EFAULT, "adding without a structure");
	jit = (struct kunwind_jit){ .size = sizeof(jit), .start = (uintptr_t)unit->code,
				    .len = unit->len, .eh_frame = 1 };
	error(ioctl(fd, KUNWIND_IOC_JIT_REMOVE, &jit) ? -errno : 0, -EINVAL,
	      "removing with an .eh_frame");
}

/*
 * Each copy of a good .eh_frame with some wrong bytes must be accepted, or
 * refused with a reason. If it is accepted, a stack through the code ends with
 * a reason.
 */
static void mutants(unsigned int rounds)
{
	struct unit *unit = make(6, NULL, -1);
	uint8_t *copy = malloc(unit->eh_len);
	unsigned int round, i, build_error, taken = 0, refused = 0, wrong = 0, whole = 0;

	srand(1);
	kunwind_register_self(0);
	for (round = 0; round < rounds; round++) {
		int ret;

		memcpy(copy, unit->eh, unit->eh_len);
		for (i = 0; i <= (unsigned int)rand() % 4; i++)
			copy[(unsigned int)rand() % unit->eh_len] =
				rand() % 2 ? (uint8_t)rand() : "\0\1\x7f\x80\xff\x0c\x10\x16"[rand() % 8];
		build_error = 99;
		ret = kunwind_jit_register(unit->code, unit->len, copy, unit->eh_len, &build_error);
		if (ret < 0) {
			refused++;
			wrong += ret != -ENOEXEC || !build_error || build_error >= KUNWIND_NR_BUILD_ERRORS;
			continue;
		}
		taken++;
		look_through(&look, &unit, 1);
		whole += look.reason == KUNWIND_COMPLETE;
		wrong += look.nr_ours < 1 || look.reason >= KUNWIND_NR_REASONS ||
			 kunwind_jit_unregister(unit->code, unit->len);
	}
	verdict(!wrong && taken > rounds / 20 && refused > rounds / 20,
		"%u .eh_frames with wrong bytes: %u refused, %u accepted, %u stacks still complete",
		rounds, refused, taken, whole);
	if (wrong)
		printf("# %u wrong\n", wrong);
}

/* Adds unwind information. After exec another program tries to remove it. */
static void exec_before(char **argv)
{
	struct unit *unit = make(4, (void *)0x200000000, -1);

	kunwind_register_self(KUNWIND_REGISTER_CHILDREN);
	give(unit, "before exec");
	execl(argv[0], argv[0], "exec-after", NULL);
}

static void exec_after(void)
{
	struct unit *unit = make(4, (void *)0x200000000, -1);

	verdict(kunwind_jit_unregister(unit->code, unit->len) == -ENOENT, "exec removes unwind information");
	give(unit, "after exec");
}

/* Adds units until a limit is reached, removes them, and adds one again. */
static void until_limit(void)
{
	struct unit *unit;
	static struct unit *units[20000];
	unsigned int nr, i, lost = 0;
	int ret = 0;

	kunwind_register_self(0);
	for (nr = 0; nr < 20000; nr++) {
		unit = make(60, NULL, -1);
		ret = hand_in(unit, NULL);
		if (ret < 0)
			break;
		units[nr] = unit;
	}
	verdict(nr > 10 && (ret == -ENOSPC || ret == -ENOMEM), "a limit is reached after %u units",
		nr);
	for (i = 0; i < nr; i++)
		lost += kunwind_jit_unregister(units[i]->code, units[i]->len) != 0;
	verdict(!lost, "all units below the limit can be removed");
	if (lost)
		printf("# %u of %u cannot\n", lost, nr);
	/* memory is free when no walk can read the tables any more */
	for (i = 0; i < 500 && (ret = hand_in(unit, NULL)) < 0; i++)
		usleep(10000);
	verdict(ret == (int)unit->nr, "after the removal a unit can be added again");
	if (ret < 0)
		printf("# %d\n", ret);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "stacks"))
		stacks();
	else if (!strcmp(what, "life"))
		life();
	else if (!strcmp(what, "errors"))
		errors();
	else if (!strcmp(what, "mutants"))
		mutants(3000);
	else if (!strcmp(what, "exec"))
		exec_before(argv);
	else if (!strcmp(what, "exec-after"))
		exec_after();
	else if (!strcmp(what, "limit"))
		until_limit();
	else
		return 2;
	return 0;
}
