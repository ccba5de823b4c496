// SPDX-License-Identifier: MIT
/*
 * sleeper.c - a program that sleeps until it is killed
 */
#include <unistd.h>

int main(void)
{
	for (;;)
		pause();
}
