// SPDX-License-Identifier: MIT
/*
 * columns.c - times and shares in the columns of tables
 */
#include <stddef.h>
#include <stdio.h>

#include "columns.h"

void columns_time(int64_t ns)
{
	static const struct {
		const char *unit;
		double ns;
	} scale[] = { { "s ", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "ns", 1 } };
	size_t i = 0;

	if (!ns) {
		printf("%10s", "-");
		return;
	}
	while (i < 3 && (double)ns < scale[i].ns)
		i++;
	printf("%*.*f %s", 7, scale[i].ns > 1 ? 3 : 0, (double)ns / scale[i].ns, scale[i].unit);
}

double columns_share(int64_t part, int64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}
