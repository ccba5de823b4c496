// SPDX-License-Identifier: MIT
/*
 * sleeper.c - a program that is there
 */
#include <unistd.h>

int main(void)
{
	for (;;)
		pause();
}
