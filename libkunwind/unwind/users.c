// SPDX-License-Identifier: MIT
/*
 * users.c - count the walks that use a snapshot; see users.h
 */
#include <sys/syscall.h>

#include "syscall.h"
#include "users.h"

/* linux/membarrier.h, which musl-gcc does not find. */
#define MEMBARRIER_CMD_PRIVATE_EXPEDITED		(1 << 3)
#define MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED	(1 << 4)

static bool membarrier(int command)
{
	return !unwind_syscall(SYS_membarrier, command, 0, 0, 0, 0, 0);
}

void unwind_users_init(struct unwind_users *users)
{
	users->barrier = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) &&
			 membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

bool unwind_users_none(struct unwind_users *users)
{
	u32 i;

	if (users->barrier && !membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED))
		return false;
	if (__atomic_load_n(&users->locked, __ATOMIC_SEQ_CST))
		return false;
	for (i = 0; i < ARRAY_SIZE(users->user); i++)
		if (READ_ONCE(users->user[i].count))
			return false;
	return true;
}

void unwind_users_forget(struct unwind_users *users)
{
	u32 i;

	users->locked = 0;
	for (i = 0; i < ARRAY_SIZE(users->user); i++)
		users->user[i].count = 0;
	/* The registration for membarrier() is of the address space. */
	unwind_users_init(users);
}
