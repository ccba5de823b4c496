// SPDX-License-Identifier: MIT
/*
 * till.cpp - a program in C++ with tracepoints, for docs/recipes-ust.md
 */
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <vector>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "till.h"

#define noinline	__attribute__((__noinline__))

static noinline int price(const std::string &item)
{
	int cents = 100 * item.size();

	close(open("prices", O_RDONLY));
	lttng_ust_tracepoint(till, price, item.c_str(), cents);
	return cents;
}

struct Cart {
	std::vector<std::string> items;

	noinline int total() const
	{
		int sum = 0;

		for (auto &item : items)
			sum += price(item);
		return sum;
	}
};

static noinline bool sell(const Cart &cart)
{
	return cart.total() > 0;
}

static noinline bool offer(const Cart &cart)
{
	return cart.total() > 1000;
}

int main()
{
	Cart small{{"tea"}}, large{{"tea", "coffee", "cocoa"}};

	return sell(small) && offer(large) && sell(large) ? 0 : 1;
}
