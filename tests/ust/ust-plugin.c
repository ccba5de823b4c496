// SPDX-License-Identifier: MIT
/*
 * ust-plugin.c - a shared object that ust-program loads and unloads; SIZE is that of its frame
 */
#include <stdint.h>

void plugin(void (*back)(uint64_t), uint64_t serial, void (*note)(void *ra, int on));
void plugin(void (*back)(uint64_t), uint64_t serial, void (*note)(void *ra, int on))
{
	volatile char room[SIZE];

	room[0] = 1;
	note(__builtin_return_address(0), room[0]);
	back(serial);
	note(__builtin_return_address(0), room[0] - 1);
}
