// SPDX-License-Identifier: MIT
/*
 * switch-main.c - calls on a stack below the one in use, and from there on one
 * above; no libc
 */
#define SIZE	65536

int on_stack(void *top, int (*fn)(void));

static char stacks[3 * SIZE] __attribute__((__aligned__(16)));
static volatile int sink;

static __attribute__((__noinline__)) int leaf(int n)
{
	return n + sink;
}

static __attribute__((__noinline__)) int inner(void)
{
	return leaf(1) + leaf(2);
}

static __attribute__((__noinline__)) int up(void)
{
	return on_stack(stacks + 3 * SIZE - 16, inner) + 1;
}

static __attribute__((__noinline__)) int down(void)
{
	return on_stack(stacks + SIZE, up) + 1;
}

int main(void)
{
	return down() + on_stack(stacks + 3 * SIZE, inner) == 1000;
}
