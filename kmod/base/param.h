/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * param.h - parameters of kunwind's modules
 *
 * Every parameter is defined by one of these macros, never by module_param().
 * The file of a parameter has the mode 0644 and belongs to user 0, who may have
 * no capability, or may be root of a user namespace. Therefore a setter refuses
 * (EPERM) each writer without CAP_SYS_ADMIN in the initial user namespace.
 * tests/build/check-params checks that no parameter has another setter.
 *
 * The kernel does not give the open file to a setter. So the writer is checked,
 * not the opener, as for a sysctl.
 */
#ifndef _KUNWIND_PARAM_H
#define _KUNWIND_PARAM_H

#include <linux/moduleparam.h>

/* Reads and writes a parameter that is more than a word. */
struct kunwind_param {
	/* NULL: read-only, also when the module is loaded. */
	int (*set)(const char *text);
	int (*get)(char *to);		/* returns the number of bytes */
};

extern const struct kernel_param_ops kunwind_param_uint_ops;
extern const struct kernel_param_ops kunwind_param_bool_ops;
extern const struct kernel_param_ops kunwind_param_ops;

/* Defines the parameter @name. Its value is @variable, an unsigned int. */
#define KUNWIND_PARAM_UINT(name, variable)					\
	param_check_uint(name, &(variable));					\
	module_param_cb(name, &kunwind_param_uint_ops, &(variable), 0644)

/* The same for a bool. */
#define KUNWIND_PARAM_BOOL(name, variable)					\
	param_check_bool(name, &(variable));					\
	module_param_cb(name, &kunwind_param_bool_ops, &(variable), 0644)

/* Defines the parameter @name with functions for struct kunwind_param. */
#define KUNWIND_PARAM(name, setter, getter)					\
	static const struct kunwind_param param_##name = { .set = setter, .get = getter }; \
	module_param_cb(name, &kunwind_param_ops, (void *)&param_##name, 0644)

/* Defines a parameter that nobody can set. */
#define KUNWIND_PARAM_READ_ONLY(name, getter)					\
	static const struct kunwind_param param_##name = { .get = getter };	\
	module_param_cb(name, &kunwind_param_ops, (void *)&param_##name, 0444)

#endif /* _KUNWIND_PARAM_H */
