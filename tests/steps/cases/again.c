// SPDX-License-Identifier: MIT
/* again.c - calls save() of again.S, which returns twice; needs no libc */
int save(long *room);
void again(long *room);

static volatile int sink;

static __attribute__((__noinline__)) int leaf(int n)
{
	return n + sink;
}

static __attribute__((__noinline__)) int twice(void)
{
	static long room[4];

	if (!save(room)) {
		sink += leaf(1);
		again(room);
	}
	return leaf(2);
}

int main(void)
{
	return twice() + twice() == 1000;
}
