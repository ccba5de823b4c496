// SPDX-License-Identifier: MIT
/*
 * called.c - one function that calls back, in a frame of FRAME bytes
 *
 * The frame is filled with an address inside the function. A walk with a table
 * for another frame size takes it for a return address, and the stack has the
 * function twice.
 */
int called(int (*back)(void));
/* hidden: the address needs no relocation, so the page works at any address */
extern __typeof__(called) here __attribute__((alias("called"), visibility("hidden")));

int called(int (*back)(void))
{
	volatile unsigned long frame[FRAME / sizeof(long)];
	unsigned int i;

	for (i = 0; i < FRAME / sizeof(long); i++)
		frame[i] = (unsigned long)here + 1;
	return back() + (int)frame[0];
}
