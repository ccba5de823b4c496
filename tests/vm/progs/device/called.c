// SPDX-License-Identifier: MIT
/*
 * called.c - one function that calls back, in a frame of FRAME bytes
 */
int called(int (*back)(void));

int called(int (*back)(void))
{
	volatile char frame[FRAME];

	frame[0] = 1;
	return back() + frame[0];
}
