// SPDX-License-Identifier: MIT
/* odd-main.c - calls odd.S, which calls back; no libc */
int odd(int (*fn)(void));

static volatile int sink;

static __attribute__((__noinline__)) int leaf(int n)
{
	return n + sink;
}

static __attribute__((__noinline__)) int called(void)
{
	return leaf(3) + 1;
}

static __attribute__((__noinline__)) int outer(int n)
{
	return n ? outer(n - 1) + 1 : odd(called);
}

int main(void)
{
	return outer(3) == 1000;
}
