/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * shrinker.h - differences of shrinkers between 6.1 and 7.2
 */
#ifndef _KUNWIND_COMPAT_SHRINKER_H
#define _KUNWIND_COMPAT_SHRINKER_H

#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/version.h>

typedef unsigned long kunwind_shrink_fn(struct shrinker *shrinker, struct shrink_control *sc);

/* Since 6.7 the kernel allocates shrinkers. Drop this part when 6.1 goes. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
static inline struct shrinker *kunwind_shrinker_register(const char *name, kunwind_shrink_fn *count,
							 kunwind_shrink_fn *scan)
{
	struct shrinker *shrinker = kzalloc(sizeof(*shrinker), GFP_KERNEL);

	if (!shrinker)
		return NULL;
	shrinker->count_objects = count;
	shrinker->scan_objects = scan;
	shrinker->seeks = DEFAULT_SEEKS;
	if (register_shrinker(shrinker, "%s", name)) {
		kfree(shrinker);
		return NULL;
	}
	return shrinker;
}

static inline void kunwind_shrinker_unregister(struct shrinker *shrinker)
{
	unregister_shrinker(shrinker);
	kfree(shrinker);
}
#else
static inline struct shrinker *kunwind_shrinker_register(const char *name, kunwind_shrink_fn *count,
							 kunwind_shrink_fn *scan)
{
	struct shrinker *shrinker = shrinker_alloc(0, "%s", name);

	if (!shrinker)
		return NULL;
	shrinker->count_objects = count;
	shrinker->scan_objects = scan;
	shrinker_register(shrinker);
	return shrinker;
}

static inline void kunwind_shrinker_unregister(struct shrinker *shrinker)
{
	shrinker_free(shrinker);
}
#endif

#endif /* _KUNWIND_COMPAT_SHRINKER_H */
