// SPDX-License-Identifier: GPL-2.0-only
/*
 * param.c - set and read the parameters of kunwind's modules
 *
 * Who may set a parameter: see may_set(). A refused value changes nothing.
 *
 * The kernel calls these functions in process context, under its lock of the
 * module's parameters.
 */
#include <linux/capability.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/kstrtox.h>
#include <linux/module.h>

#include "param.h"

/*
 * While the module is loaded, its loader sets the parameters, and needs
 * CAP_SYS_MODULE for that. The files of the parameters exist before the module
 * is live, so this is checked, too.
 */
static int may_set(const struct kernel_param *param)
{
	const bool loading = READ_ONCE(param->mod->state) == MODULE_STATE_COMING;

	return capable(loading ? CAP_SYS_MODULE : CAP_SYS_ADMIN) ? 0 : -EPERM;
}

static int set_uint(const char *text, const struct kernel_param *param)
{
	unsigned int value;
	int err = may_set(param);

	if (!err)
		err = kstrtouint(text, 0, &value);
	if (!err)
		WRITE_ONCE(*(unsigned int *)param->arg, value);
	return err;
}

/* @text: NULL if the loader gives only the name; the value is then true */
static int set_bool(const char *text, const struct kernel_param *param)
{
	bool value = true;
	int err = may_set(param);

	if (!err && text)
		err = kstrtobool(text, &value);
	if (!err)
		WRITE_ONCE(*(bool *)param->arg, value);
	return err;
}

static int set(const char *text, const struct kernel_param *param)
{
	const struct kunwind_param *calls = param->arg;
	int err = calls->set ? may_set(param) : -EPERM;

	return err ? err : calls->set(text);
}

static int get(char *to, const struct kernel_param *param)
{
	const struct kunwind_param *calls = param->arg;

	return calls->get(to);
}

const struct kernel_param_ops kunwind_param_uint_ops = { .set = set_uint, .get = param_get_uint };
const struct kernel_param_ops kunwind_param_bool_ops = {
	.flags = KERNEL_PARAM_OPS_FL_NOARG, .set = set_bool, .get = param_get_bool,
};
const struct kernel_param_ops kunwind_param_ops = { .set = set, .get = get };
EXPORT_SYMBOL_GPL(kunwind_param_ops);
