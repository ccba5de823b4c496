/* SPDX-License-Identifier: MIT */
/*
 * param-test.c - parameters of the modules: who may set them, which values are
 * refused, and that a refused value changes nothing
 */
#include "kernel.h"
#include "tap.h"

/* ------------------------------------------------------ more of the kernel */

#define CAP_SYS_MODULE			16
#define KERNEL_PARAM_OPS_FL_NOARG	1
enum module_state { MODULE_STATE_LIVE, MODULE_STATE_COMING, MODULE_STATE_GOING };
struct module { enum module_state state; };
static int param_get_uint(char *to, const struct kernel_param *param)
{
	return sprintf(to, "%u\n", *(unsigned int *)param->arg);
}
static int param_get_bool(char *to, const struct kernel_param *param)
{
	return sprintf(to, "%c\n", *(bool *)param->arg ? 'Y' : 'N');
}

static u64 caps;			/* of the writer, in the initial user namespace */
static bool capable(int cap) { return cap_raised(caps, cap); }

#include "../../kmod/base/param.c"
#include "../../kmod/sample/frequency.c"

/* --------------------------------------------------------------- the scene */

#define ADMIN	(1ULL << CAP_SYS_ADMIN)
#define LOADER	(1ULL << CAP_SYS_MODULE)

static struct module module;
static unsigned int number;
static bool flag;
static char word[16];
static unsigned int calls;

static int word_set(const char *text)
{
	calls++;
	if (strlen(text) >= sizeof(word))
		return -EINVAL;
	strcpy(word, text);
	return 0;
}
static int word_get(char *to) { return sprintf(to, "%s\n", word); }

static const struct kunwind_param of_word = { .set = word_set, .get = word_get };
static const struct kunwind_param read_only = { .get = word_get };
static const struct kernel_param number_param = { &module, &number };
static const struct kernel_param flag_param = { &module, &flag };
static const struct kernel_param word_param = { &module, (void *)&of_word };
static const struct kernel_param read_only_param = { &module, (void *)&read_only };

static void reset(void)
{
	number = 7;
	flag = true;
	strcpy(word, "old");
	calls = 0;
}

static bool unchanged(void)
{
	return number == 7 && flag && !strcmp(word, "old");
}

/* Returns whether each kind of parameter returns @err for a valid value, and keeps its own. */
static bool all_refused(int err)
{
	reset();
	return kunwind_param_uint_ops.set("8", &number_param) == err &&
	       kunwind_param_bool_ops.set("N", &flag_param) == err &&
	       kunwind_param_ops.set("new", &word_param) == err && !calls && unchanged();
}

static bool all_set(void)
{
	reset();
	return !kunwind_param_uint_ops.set("8", &number_param) && number == 8 &&
	       !kunwind_param_bool_ops.set("N", &flag_param) && !flag &&
	       !kunwind_param_ops.set("new", &word_param) && !strcmp(word, "new");
}

static void test_rights(void)
{
	module.state = MODULE_STATE_LIVE;
	caps = ~ADMIN;
	tap_ok(all_refused(-EPERM), "live: every capability except CAP_SYS_ADMIN is not enough");
	caps = ADMIN;
	tap_ok(all_set(), "live: CAP_SYS_ADMIN is enough");
	module.state = MODULE_STATE_COMING;
	tap_ok(all_refused(-EPERM), "loading: CAP_SYS_ADMIN is not enough");
	caps = LOADER;
	tap_ok(all_set(), "loading: CAP_SYS_MODULE is enough");
	module.state = MODULE_STATE_GOING;
	tap_ok(all_refused(-EPERM), "unloading: CAP_SYS_MODULE is not enough");
	caps = ADMIN;
	tap_ok(all_set(), "unloading: CAP_SYS_ADMIN is enough");

	caps = ~0ULL;
	reset();
	module.state = MODULE_STATE_COMING;
	tap_ok(kunwind_param_ops.set("new", &read_only_param) == -EPERM && unchanged(),
	       "read-only: no value is accepted when the module is loaded");
	module.state = MODULE_STATE_LIVE;
	tap_ok(kunwind_param_ops.set("new", &read_only_param) == -EPERM && unchanged(),
	       "read-only: no value is accepted later");
	tap_ok(kunwind_param_ops.get(word, &read_only_param) == 4 && !strcmp(word, "old\n"),
	       "read-only: the value can be read");
}

static void test_values(void)
{
	static const struct { const char *text; int err; } refused[] = {
		{ "", -EINVAL }, { "\n", -EINVAL }, { "-1", -EINVAL }, { "x", -EINVAL }, { "8x", -EINVAL },
		{ "4294967296", -ERANGE }, { "99999999999999999999999", -ERANGE },
	};
	unsigned int i, bad = 0;

	caps = ADMIN;
	module.state = MODULE_STATE_LIVE;
	reset();
	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		bad += kunwind_param_uint_ops.set(refused[i].text, &number_param) != refused[i].err ||
		       number != 7;
	tap_ok(!bad, "number: empty, negative, huge and other texts are refused, and the value stays");
	bad = kunwind_param_uint_ops.set("0\n", &number_param) || number;
	bad += kunwind_param_uint_ops.set("4294967295", &number_param) || number != 4294967295U;
	bad += kunwind_param_uint_ops.set("0x10", &number_param) || number != 16;
	tap_ok(!bad, "number: the smallest and the largest value are accepted, and hexadecimal ones");

	reset();
	bad = kunwind_param_bool_ops.set("", &flag_param) != -EINVAL || !flag;
	flag = false;
	bad += kunwind_param_bool_ops.set("x", &flag_param) != -EINVAL || flag;
	tap_ok(!bad, "flag: other texts than yes and no are refused, and the value stays");
	tap_ok(!kunwind_param_bool_ops.set("Y", &flag_param) && flag, "flag: Y is accepted");
	flag = false;
	tap_ok(!kunwind_param_bool_ops.set(NULL, &flag_param) && flag && kunwind_param_bool_ops.flags,
	       "flag: the name alone sets it");
	reset();
	tap_ok(kunwind_param_ops.set("longer than there is room", &word_param) == -EINVAL && unchanged(),
	       "own setter: its error is returned");
}

static void test_frequency(void)
{
	static const char *const refused[] = { "0", "10001", "-1", "4294967297", "4294967295", "", "x" };
	unsigned int i, bad = 0;
	char text[PAGE_SIZE];

	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		bad += !hz_set(refused[i]) || kunwind_sample_hz() != 997;
	tap_ok(!bad, "sample_frequency: 997 stays after refused values");
	tap_ok(!hz_set("1") && kunwind_sample_hz() == 1 && !hz_set("10000") && kunwind_sample_hz() == 10000,
	       "sample_frequency: 1 and 10000 are accepted");
	tap_ok(hz_get(text) == 6 && !strcmp(text, "10000\n"), "sample_frequency: the value can be read");
}

int main(void)
{
	test_rights();
	test_values();
	test_frequency();
	return tap_done();
}
