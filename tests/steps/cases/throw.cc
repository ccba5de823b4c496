// SPDX-License-Identifier: MIT
/*
 * throw.cc - C++: exceptions through frames with and without cleanup, virtual
 * calls, a vector
 */
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

struct shape {
	virtual ~shape() {}
	virtual int area(int n) const = 0;
};

struct square : shape {
	int area(int n) const override
	{
		if (n > 3)
			throw std::runtime_error("too large " + std::to_string(n));
		return n * n;
	}
};

struct guard {
	std::string name;
	~guard() { std::fflush(stdout); }
};

static __attribute__((__noinline__)) int measure(const shape &s, int n)
{
	guard g{"a name that is longer than what fits"};
	return s.area(n) + (int)g.name.size();
}

int main()
{
	std::vector<int> all;
	square s;

	for (int i = 0; i < 6; i++) {
		try {
			all.push_back(measure(s, i));
		} catch (const std::exception &e) {
			std::printf("%s\n", e.what());
		}
	}
	std::printf("%zu\n", all.size());
	return 0;
}
