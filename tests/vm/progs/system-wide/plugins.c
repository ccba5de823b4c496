// SPDX-License-Identifier: MIT
/*
 * plugins.c - load many plugins, and check the stack of each call
 *
 *	plugins DIRECTORY NUMBER ROUNDS SEED
 *
 * Each round loads, calls and later unloads a random one of
 * DIRECTORY/plugin-0.so to plugin-(NUMBER-1).so. Up to eight are loaded at a
 * time, so other plugins use the same addresses later. All plugins have one
 * function at the same offset, with frames of different sizes. The function
 * calls back, and back() takes the stack by ioctl. All its addresses outside
 * the plugin must be those of the first round. The one in the plugin must be
 * after its call, by the address that the dynamic linker reports. Prints
 * "ROUNDS stacks, N wrong"; the status is 1 if a stack is wrong.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <err.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/own_stack.h"

#define KEPT	8

static __u64 known[64];

/* Two addresses of the stack are the callback's: in ioctl() and in back(). */
#define INNER	2

/* @offset: of the return address in the plugin. */
static bool right(const struct link_map *map, unsigned int count, __u64 offset)
{
	unsigned int i;

	if (stack.reason != KUNWIND_COMPLETE || stack.count != count ||
	    addresses[INNER] != map->l_addr + offset)
		return false;
	for (i = 0; i < count; i++)
		if (i != INNER && addresses[i] != known[i])
			return false;
	return true;
}

static void complain(const char *path, const struct link_map *map)
{
	unsigned int i;

	printf("# %s at %#lx: reason %u:", path, (unsigned long)map->l_addr, stack.reason);
	for (i = 0; i < stack.count; i++)
		printf(" %#llx", addresses[i]);
	putchar('\n');
}

/* The offset after the first indirect call: ff d0 (*%rax) to ff d7 (*%rdi). */
static __u64 behind_call(const unsigned char *function)
{
	unsigned int i;

	for (i = 0; i < 64; i++)
		if (function[i] == 0xff && (function[i + 1] & 0xf8) == 0xd0)
			return i + 2;
	errx(2, "no call in the plugin's function");
}

int main(int argc, char **argv)
{
	unsigned int number, rounds, wrong = 0, count = 0, i;
	void *loaded[KEPT] = { NULL };

	if (argc != 5)
		errx(2, "usage: plugins DIRECTORY NUMBER ROUNDS SEED");
	number = atoi(argv[2]);
	rounds = atoi(argv[3]);
	srand(atoi(argv[4]));
	enroll(0);
	for (i = 0; i < rounds; i++) {
		void **slot = &loaded[rand() % KEPT];
		int (*called)(int (*)(void));
		struct link_map *map;
		char path[512];
		__u64 offset;

		snprintf(path, sizeof(path), "%s/plugin-%u.so", argv[1], rand() % number);
		if (*slot)
			dlclose(*slot);
		*slot = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		if (!*slot || dlinfo(*slot, RTLD_DI_LINKMAP, &map))
			errx(2, "%s: %s", path, dlerror());
		*(void **)&called = dlsym(*slot, "called");
		if (!called)
			errx(2, "%s: %s", path, dlerror());
		offset = (unsigned long)called - map->l_addr +
			 behind_call((const unsigned char *)(unsigned long)called);
		called(back);
		if (!i) {
			count = stack.count;
			memcpy(known, addresses, sizeof(known));
		}
		/* ioctl(), back(), the plugin, main(), two of libc, _start() */
		if ((count < 7 || !right(map, count, offset)) && !wrong++)
			complain(path, map);
	}
	printf("%u stacks, %u wrong\n", rounds, wrong);
	return wrong != 0;
}
