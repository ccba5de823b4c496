// SPDX-License-Identifier: MIT
/* nested.c - gcc's trampolines on the stack; no libc */
static volatile int sink;

static __attribute__((__noinline__)) int apply(int (*fn)(int), int n)
{
	return fn(n) + 1;
}

int main(void)
{
	int base = sink;
	int add(int n)
	{
		return n + base + sink;
	}

	return apply(add, 3) == 77;
}
