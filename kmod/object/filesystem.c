// SPDX-License-Identifier: GPL-2.0-only
/*
 * filesystem.c - file systems with known objects, by device number
 *
 * A table can outlive the file system of its file. The kernel may then give the
 * device number to another file system, whose owner can choose inode numbers,
 * sizes and times. So the key of an object contains the epoch of its device
 * number, which increases when a file system ends.
 *
 * Only device numbers with objects have a record, because any number of others
 * come and go on a machine with containers. A file system cannot end while one
 * of its files is mapped. So an epoch that was read while the caller has the
 * file is still valid at kunwind_filesystem_get(), even if the record was freed
 * in between: a new record begins with that epoch.
 *
 * The record also counts waits for the file system that have timed out since it
 * last answered a read.
 *
 * Lock: filesystems_lock, innermost (docs/locking.md); readers use RCU.
 *
 * Memory: 8 KB, and 48 bytes a device number.
 */
#include <linux/jhash.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "filesystem.h"

#define FILESYSTEM_BUCKETS	1024
#define MAX_FILESYSTEM_STALLS	20	/* waits that timed out for any object on it */

struct filesystem {
	struct hlist_node node;
	u32 dev;
	u32 epoch;
	unsigned int objects;
	u32 stalls;		/* waits that timed out; without a lock */
	struct rcu_head rcu;
};

static struct hlist_head filesystems[FILESYSTEM_BUCKETS];
/*
 * A user can mount thousands of file systems in user namespaces. Without a seed,
 * the user could keep those whose records are all in one bucket.
 */
static u32 filesystem_seed;
static DEFINE_SPINLOCK(filesystems_lock);	/* writes of the hash, epoch and objects */

static struct hlist_head *bucket(u32 dev)
{
	return &filesystems[jhash_1word(dev, filesystem_seed) % FILESYSTEM_BUCKETS];
}

void kunwind_filesystems_init(void)
{
	filesystem_seed = get_random_u32();
}

static struct filesystem *find(u32 dev)
{
	struct filesystem *fs;

	hlist_for_each_entry_rcu(fs, bucket(dev), node, lockdep_is_held(&filesystems_lock))
		if (fs->dev == dev)
			return fs;
	return NULL;
}

u32 kunwind_filesystem_epoch(u32 dev)
{
	const struct filesystem *fs;
	u32 epoch;

	rcu_read_lock();
	fs = find(dev);
	epoch = fs ? READ_ONCE(fs->epoch) : 0;
	rcu_read_unlock();
	return epoch;
}

bool kunwind_filesystem_hangs(u32 dev)
{
	const struct filesystem *fs;
	bool hangs;

	rcu_read_lock();
	fs = find(dev);
	hangs = fs && READ_ONCE(fs->stalls) >= MAX_FILESYSTEM_STALLS;
	rcu_read_unlock();
	return hangs;
}

void kunwind_filesystem_stalled(u32 dev)
{
	struct filesystem *fs;

	rcu_read_lock();
	fs = find(dev);
	/* If two tasks count at a time, one count may be lost: no matter. */
	if (fs && READ_ONCE(fs->stalls) < MAX_FILESYSTEM_STALLS)
		WRITE_ONCE(fs->stalls, READ_ONCE(fs->stalls) + 1);
	rcu_read_unlock();
}

void kunwind_filesystem_answered(u32 dev)
{
	struct filesystem *fs;

	rcu_read_lock();
	fs = find(dev);
	if (fs)
		WRITE_ONCE(fs->stalls, 0);
	rcu_read_unlock();
}

bool kunwind_filesystem_get(u32 dev, u32 epoch)
{
	struct filesystem *fs;

	spin_lock(&filesystems_lock);
	fs = find(dev);
	/*
	 * The record may have been freed and made again, with an older epoch, after
	 * the key was computed. Keep the newer one.
	 */
	if (fs && (s32)(epoch - fs->epoch) > 0)
		WRITE_ONCE(fs->epoch, epoch);
	if (!fs) {
		fs = kzalloc(sizeof(*fs), GFP_ATOMIC | __GFP_NOWARN);
		if (fs) {
			fs->dev = dev;
			fs->epoch = epoch;
			hlist_add_head_rcu(&fs->node, bucket(dev));
		}
	}
	if (fs)
		fs->objects++;
	spin_unlock(&filesystems_lock);
	return fs;
}

void kunwind_filesystem_put(u32 dev)
{
	struct filesystem *fs;

	spin_lock(&filesystems_lock);
	fs = find(dev);
	if (!WARN_ON_ONCE(!fs || !fs->objects) && !--fs->objects) {
		hlist_del_rcu(&fs->node);
		kfree_rcu(fs, rcu);
	}
	spin_unlock(&filesystems_lock);
}

void kunwind_filesystem_ends(u32 dev)
{
	struct filesystem *fs;

	/* Most file systems have no record, and take no lock. */
	rcu_read_lock();
	fs = find(dev);
	rcu_read_unlock();
	if (!fs)
		return;
	spin_lock(&filesystems_lock);
	fs = find(dev);
	if (fs)
		WRITE_ONCE(fs->epoch, fs->epoch + 1);
	spin_unlock(&filesystems_lock);
}
