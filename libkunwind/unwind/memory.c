// SPDX-License-Identifier: MIT
/*
 * memory.c - read a word that may not be there, without a fault
 *
 * Memory of this process is copied by process_vm_readv(2) in chunks of 128 bytes, so that
 * one system call serves some frames; each walk keeps two chunks. Code of objects that
 * cannot be unloaded is loaded. If process_vm_readv() is not allowed (seccomp),
 * rt_sigprocmask(2) with an invalid operation says whether the words can be read: it
 * copies its argument before it refuses the operation. The page may go away after that,
 * but not the page of a stack in use.
 *
 * Other memory comes from the caller's function, code also from the object's file.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "internal.h"
#include "syscall.h"

/* Whether the word at @addr can be read. */
static bool readable(u64 addr)
{
	return unwind_syscall(SYS_rt_sigprocmask, -1, addr, 0, sizeof(u64), 0, 0) != -EFAULT;
}

static bool copy_words(u64 addr, u8 *to, size_t len)
{
	u64 word;

	for (; len >= sizeof(word); addr += 8, to += 8, len -= 8) {
		if (!readable(addr))
			return false;
		word = *(const volatile u64 *)addr;
		memcpy(to, &word, sizeof(word));
	}
	if (len && !readable(addr))
		return false;
	for (; len; len--)
		*to++ = *(const volatile u8 *)addr++;
	return true;
}

bool unwind_copy(u64 addr, void *to, size_t len, pid_t *pid)
{
	struct iovec here = { to, len }, there = { (void *)addr, len };
	long got;

	/* Not kept longer than a walk: a child has another one. */
	if (!*pid)
		*pid = unwind_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	got = unwind_syscall(SYS_process_vm_readv, *pid, (long)&here, 1, (long)&there, 1, 0);
	if (got == -EPERM || got == -ENOSYS || got == -EACCES)
		return copy_words(addr, to, len);
	return got == (long)len;
}

/* Reads code in a file, of the process whose memory the caller's function reads. */
static bool read_file(const struct unwind_snapshot *snapshot, u64 addr, u64 *value)
{
	const struct kunwind_range *range = unwind_range_known(&snapshot->ranges, addr);
	const struct unwind_range *info;

	if (!range || addr + sizeof(*value) > range->end)
		return false;
	info = unwind_range_info(snapshot, range);
	return info && info->object && info->object->fd >= 0 &&
	       unwind_syscall(SYS_pread64, info->object->fd, (long)value, sizeof(*value),
			      info->offset + (addr - range->start), 0, 0) == sizeof(*value);
}

/* Loads code that cannot go away. */
static bool read_code(const struct unwind_snapshot *snapshot, u64 addr, u64 *value)
{
	const struct kunwind_range *range = unwind_range_known(&snapshot->ranges, addr);
	const struct unwind_range *info;

	if (!range || addr + sizeof(*value) > range->end || READ_ONCE(range->dead))
		return false;
	info = unwind_range_info(snapshot, range);
	if (!info || !info->object || !info->object->own || info->object->loaded.at)
		return false;
	memcpy(value, (const void *)addr, sizeof(*value));
	return true;
}

static u32 fill(struct unwind_memory *memory, u64 addr, u64 *at, u8 *bytes)
{
	if (memory->read) {
		*at = addr;
		return memory->read(memory->data, addr, bytes, UNWIND_CHUNK);
	}
	*at = addr & -(u64)UNWIND_CHUNK;
	if (addr - *at > UNWIND_CHUNK - sizeof(u64)) {
		*at = addr;
		return unwind_copy(addr, bytes, sizeof(u64), &memory->pid) ? sizeof(u64) : 0;
	}
	return unwind_copy(*at, bytes, UNWIND_CHUNK, &memory->pid) ? UNWIND_CHUNK : 0;
}

bool kunwind_unwind_read(struct kunwind_mem *mem, u64 addr, u64 *value)
{
	struct unwind_memory *memory = mem->memory;
	u32 i, len;
	u64 at;

	for (i = 0; i < ARRAY_SIZE(memory->chunk); i++) {
		at = addr - memory->chunk[i].at;
		if (memory->chunk[i].len >= sizeof(*value) &&
		    at <= memory->chunk[i].len - sizeof(*value)) {
			memcpy(value, memory->chunk[i].bytes + at, sizeof(*value));
			return true;
		}
	}
	/* The upper half is the kernel's. */
	if ((s64)addr < 0 || (s64)(addr + sizeof(*value)) < 0)
		return false;
	if (!memory->read && read_code(memory->snapshot, addr, value))
		return true;
	i = memory->turn ^= 1;
	memory->chunk[i].len = 0;
	len = fill(memory, addr, &at, memory->chunk[i].bytes);
	if (len <= UNWIND_CHUNK && addr - at + sizeof(*value) <= len) {
		memory->chunk[i].at = at;
		memory->chunk[i].len = len;
		memcpy(value, memory->chunk[i].bytes + (addr - at), sizeof(*value));
		return true;
	}
	if (memory->read && read_file(memory->snapshot, addr, value))
		return true;
	if (!unwind_range_known(&memory->snapshot->ranges, addr))
		memory->missed = addr + (memory->read && len < sizeof(*value) ? len : 0);
	return false;
}
