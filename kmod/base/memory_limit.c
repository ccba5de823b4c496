// SPDX-License-Identifier: GPL-2.0-only
/*
 * memory_limit.c - limit the memory of tables and mappings, in all and for each
 * user
 *
 * One sum stays within max_table_mb: the tables; the memory that running builds
 * may need, estimated from the size of the section before they begin; and the
 * lists of mappings with the names of their files. All of these count with the
 * bytes that the allocator gives, which may be twice those that were asked for
 * (kunwind_memory_alloc(); tables: kunwind_alloc_size()). Not counted: some 300 bytes
 * for a process and 2 KB for an object, because their numbers have limits of
 * their own: max_processes (by default 10 MB in all), and max_objects (32 MB;
 * object_cache.c says which objects it bounds).
 *
 * Of this sum, a user without CAP_SYS_ADMIN may have max_user_table_mb. quota.c
 * says which user is charged. Charging takes no lock and does not sleep. If it
 * fails, kunwind_memory_make_room() calls object_cache.c to free idle objects.
 */
#include <linux/atomic.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "../compat/mm.h"
#include "memory_limit.h"
#include "param.h"

static unsigned int max_table_mb = 512;
KUNWIND_PARAM_UINT(max_table_mb, max_table_mb);
MODULE_PARM_DESC(max_table_mb,
		 "most memory for all unwind tables and lists of mappings, MiB (default 512)");

static unsigned int max_user_table_mb = 128;
KUNWIND_PARAM_UINT(max_user_table_mb, max_user_table_mb);
MODULE_PARM_DESC(max_user_table_mb,
		 "of this, most for one user without CAP_SYS_ADMIN, MiB (default 128)");

static atomic64_t used;
static atomic64_t refusals;
static int (*reclaim)(struct kunwind_quota *quota, size_t bytes);

int kunwind_memory_charge(struct kunwind_quota *quota, size_t bytes)
{
	u64 limit = kunwind_quota_part(quota, (u64)READ_ONCE(max_table_mb) << 20);
	u64 share = (u64)READ_ONCE(max_user_table_mb) << 20;

	/*
	 * Added first, so that two callers cannot both get the last bytes. The
	 * share comes before the sum: for a charge that the share refuses, no
	 * other user's idle objects are freed.
	 */
	if (kunwind_quota_add_bytes(quota, bytes) > share) {
		kunwind_quota_remove_bytes(quota, bytes);
		return -EDQUOT;
	}
	if (atomic64_add_return(bytes, &used) > limit) {
		kunwind_memory_uncharge(quota, bytes);
		return -ENOSPC;
	}
	return 0;
}

void kunwind_memory_uncharge(struct kunwind_quota *quota, size_t bytes)
{
	WARN_ON_ONCE(atomic64_sub_return(bytes, &used) < 0);
	kunwind_quota_remove_bytes(quota, bytes);
}

int kunwind_memory_make_room(struct kunwind_quota *quota, size_t bytes)
{
	int err = kunwind_memory_charge(quota, bytes);

	return err ? reclaim(quota, bytes) : 0;
}

void *kunwind_memory_alloc(struct kunwind_quota *quota, size_t size, gfp_t gfp, size_t *charged)
{
	const size_t most = kunwind_kmalloc_size(size);
	int err;
	void *p;

	if (gfpflags_allow_blocking(gfp))
		err = kunwind_memory_make_room(quota, most);
	else
		err = kunwind_memory_charge(quota, most);
	if (err) {
		kunwind_memory_refused();
		return NULL;
	}
	/* kvmalloc() may only be called where it may sleep. */
	if (gfpflags_allow_blocking(gfp))
		p = kvzalloc(size, gfp | __GFP_NOWARN);
	else
		p = kzalloc(size, gfp | __GFP_NOWARN);
	*charged = !p ? 0 : is_vmalloc_addr(p) ? PAGE_ALIGN(size) : most;
	kunwind_memory_uncharge(quota, most - *charged);
	return p;
}

void kunwind_memory_free(struct kunwind_quota *quota, void *p, size_t charged)
{
	kvfree(p);
	kunwind_memory_uncharge(quota, charged);
}

void kunwind_memory_set_reclaim(int (*function)(struct kunwind_quota *quota, size_t bytes))
{
	reclaim = function;
}

void kunwind_memory_refused(void)
{
	atomic64_inc(&refusals);
}

void kunwind_memory_show(struct seq_file *m)
{
	seq_printf(m, "stat\tmemory_bytes\t%llu\n", atomic64_read(&used));
	seq_printf(m, "stat\tmemory_refused\t%llu\n", atomic64_read(&refusals));
	kunwind_quota_show(m);
}

void kunwind_memory_show_params(struct seq_file *m)
{
	seq_printf(m, "param\tmax_table_mb\t%u\n", READ_ONCE(max_table_mb));
	seq_printf(m, "param\tmax_user_table_mb\t%u\n", READ_ONCE(max_user_table_mb));
}
