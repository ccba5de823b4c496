// SPDX-License-Identifier: MIT
/*
 * realigned.c - gcc realigns the stack of aligned() through r10, and its CFI says that
 * rbp is still on the stack after it was popped; the CFA of the caller is in rbp
 */
static volatile int sink;

static __attribute__((__noinline__)) void fill(char *to, int n)
{
	while (n--)
		*(volatile char *)to++ = (char)sink;
}

static __attribute__((__noinline__)) int aligned(int n, int at, int more)
{
	_Alignas(64) char fixed[128];
	char sized[n];

	fill(sized, n);
	fill(fixed, n);
	return sized[at] + fixed[at] + more;
}

static __attribute__((__noinline__)) int caller(int n)
{
	char sized[n];

	fill(sized, n);
	return aligned(n, n - 1, sized[n - 1]) + sized[0];
}

int main(void)
{
	return caller(20) + caller(40);
}
