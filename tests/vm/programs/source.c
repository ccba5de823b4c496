// SPDX-License-Identifier: MIT
/*
 * source.c - the program for musl-gcc: qsort()'s callback waits for input
 */
#include <stdio.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	return getchar() + *(const int *)a - *(const int *)b;
}

int main(void)
{
	int numbers[] = { 3, 1, 2 };

	qsort(numbers, 3, sizeof(*numbers), compare);
	return numbers[0];
}
