// SPDX-License-Identifier: MIT
/*
 * ids-test.c - numbers of stacks (libkunwind/ust/stack_ids.c)
 */
#include <pthread.h>

#include "internal.h"
#include "../unit/tap.h"

#define STACKS	3000
#define THREADS	2

static const u64 odd = 0x9e3779b97f4a7c15ULL;

/* Two stacks of one address that have the same hash: the products differ only in their lower half. */
static void collide(void)
{
	u64 inverse = odd, product = 0x123456789abcdef0ULL, address[2];
	u32 i;

	for (i = 0; i < 6; i++)
		inverse *= 2 - odd * inverse;
	for (i = 0; i < 2; i++, product++)
		address[i] = product * inverse * inverse ^ 1;
	i = ust_ids_get(&address[0], 1, KUNWIND_COMPLETE);
	tap_ok(i && ust_ids_get(&address[1], 1, KUNWIND_COMPLETE) != i &&
	       ust_ids_get(&address[0], 1, KUNWIND_COMPLETE) == i,
	       "stacks with the same hash have different numbers");
	tap_ok(ust_ids_get(&address[0], 1, KUNWIND_UNREADABLE) != i,
	       "a stack that ends for another reason is another one");
}

static void fill(u64 *address, u32 n)
{
	u32 i;

	for (i = 0; i < 20; i++)
		address[i] = 0x7f0000000000 + ((u64)n << 8) + i;
}

static u32 ids[THREADS][STACKS], arrived;

static void *add(void *mine)
{
	u64 address[20];
	u32 n, i;

	for (n = 0; n < STACKS; n++) {
		fill(address, n);
		__atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
		/* The others are only waited for so long: they may have no processor. */
		for (i = 0; i < 2000 && READ_ONCE(arrived) < (n + 1) * THREADS; i++)
			__builtin_ia32_pause();
		((u32 *)mine)[n] = ust_ids_get(address, 20, KUNWIND_COMPLETE);
	}
	return NULL;
}

static void together(void)
{
	pthread_t thread[THREADS];
	bool same = true, right = true;
	u64 address[20];
	u32 i, n;

	for (i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, add, ids[i]);
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (n = 0; n < STACKS; n++) {
		fill(address, n);
		for (i = 1; i < THREADS; i++)
			same &= ids[i][n] == ids[0][n];
		right &= ids[0][n] && !memcmp(ust_ids_stack(ids[0][n])->address, address, sizeof(address)) &&
			 ust_ids_stack(ids[0][n])->nr == 20;
	}
	tap_ok(same, "two threads that add the same stacks get the same numbers");
	tap_ok(right, "each number has the addresses of its stack");
}

static void full(void)
{
	u64 address[20];
	u32 n = STACKS;

	do
		fill(address, ++n);
	while (ust_ids_get(address, 20, KUNWIND_COMPLETE) && n < 1000000);
	tap_ok(n > 80000 && n < 1000000, "there is room for more than 80,000 stacks of 20 frames (%u)", n);
	fill(address, 7);
	tap_ok(ust_ids_get(address, 20, KUNWIND_COMPLETE) == ids[0][7],
	       "a known stack is still found when there is no room");
}

int main(void)
{
	if (ust_ids_init())
		return 1;
	collide();
	together();
	full();
	return tap_done();
}
