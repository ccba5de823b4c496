// SPDX-License-Identifier: MIT
/*
 * register.c - set up, and register the context with LTTng-UST
 *
 * All that an event needs is made here. liblttng-ust.so.1 is not linked: a program that does not
 * use it shall not start its threads.
 */
#include <dlfcn.h>
#include <errno.h>

#include "internal.h"

struct kunwind_unwinder *ust_unwinder;

/* NULL: liblttng-ust.so.1 is not loaded. */
static ust_register_fn *find_register(void)
{
	void *library = dlopen("liblttng-ust.so.1", RTLD_LAZY | RTLD_NOLOAD);
	ust_register_fn *found = NULL;

	if (library)
		*(void **)&found = dlsym(library, "lttng_ust_context_provider_register");
	return found;
}

UST_EXPORT int kunwind_ust_register(void)
{
	static u32 begun;
	ust_register_fn *register_provider = find_register();
	u32 none = 0;
	int ret;

	if (!register_provider)
		return -ENOSYS;
	if (!__atomic_compare_exchange_n(&begun, &none, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return -EALREADY;
	ret = ust_ids_init() ?: ust_defined_init();
	if (ret)
		return ret;
	ust_unwinder = kunwind_unwinder_new(0, 0);
	if (!ust_unwinder)
		return -ENOMEM;
	return register_provider(&ust_provider) ? 0 : -EEXIST;
}

UST_EXPORT int kunwind_ust_refresh(void)
{
	return ust_unwinder ? kunwind_unwinder_refresh(ust_unwinder) : -EINVAL;
}
