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
	int decimals = 0;
	double value;
	size_t i = 0;

	if (!ns) {
		printf("%10s", "-");
		return;
	}
	while (i < 3 && (double)ns < scale[i].ns)
		i++;
	value = (double)ns / scale[i].ns;
	/* as many as fit into 7 columns; 999.9996 ms becomes 1000.00 ms */
	if (scale[i].ns > 1)
		decimals = value < 999.9995 ? 3 : value < 9999.995 ? 2 : value < 99999.95 ? 1 : 0;
	printf("%7.*f %s", decimals, value, scale[i].unit);
}

double columns_share(int64_t part, int64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}
