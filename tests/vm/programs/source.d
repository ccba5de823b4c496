// SPDX-License-Identifier: MIT
// source.d - the program for gdc: a delegate, called by a function, waits for input
import core.stdc.stdio : getchar;

int twice(scope int delegate(int) call, int n)
{
	return n ? twice(call, n - 1) + 1 : call(n);
}

int main()
{
	int read;

	return twice((int n) { read = getchar(); return read + n; }, 3) & 1;
}
