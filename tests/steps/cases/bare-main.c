// SPDX-License-Identifier: MIT
/*
 * bare-main.c - calls bare.S, directly and through pointers, and is called by
 * it; no libc
 */
typedef int bare_fn(int (*fn)(void));

bare_fn bare_pointer, bare_leaf, bare_push, bare_frame, bare_push_ret, bare_many, bare_saves,
	bare_resume, bare_kept, bare_kept_inside, bare_kept_push, bare_held;

static bare_fn *const all[] = { bare_pointer, bare_push, bare_frame, bare_push_ret, bare_many,
				bare_saves, bare_resume, bare_kept, bare_kept_inside,
				bare_kept_push, bare_held };

static volatile int sink;

static __attribute__((__noinline__)) int leaf(int n)
{
	return n + sink;
}

static __attribute__((__noinline__)) int called(void)
{
	return leaf(3) + 1;
}

static __attribute__((__noinline__)) int by_pointer(bare_fn *const *fn)
{
	return (*fn)(called) + 1;
}

int main(void)
{
	unsigned int i;
	int sum = 0;

	sum += bare_pointer(called) + bare_leaf(called) + bare_push(called) + bare_frame(called) +
	       bare_push_ret(called) + bare_many(called) + bare_saves(called) + bare_resume(called) +
	       bare_kept(called) + bare_kept_inside(called) + bare_kept_push(called) +
	       bare_held(called);
	for (i = 0; i < sizeof(all) / sizeof(*all); i++)
		sum += by_pointer(&all[i]);
	return sum == 1000;
}
