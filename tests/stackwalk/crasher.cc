// SPDX-License-Identifier: MIT
// crasher.cc - the same in C++: an exception that nobody catches, a virtual call, a destructor
#include <cstdlib>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

static const char *mode;
volatile int k_sink;
static int *volatile null_pointer;

#define FRAME __attribute__((__noinline__, __noclone__))

struct k_base {
	virtual FRAME int k_call(int a) = 0;
	virtual ~k_base() {}
};

struct k_derived : k_base {
	FRAME int k_call(int a) override
	{
		if (!strcmp(mode, "throw"))
			throw std::runtime_error("not caught");
		if (!strcmp(mode, "at"))
			return std::vector<int>(3).at(7);
		k_sink = *null_pointer + a;
		return k_sink;
	}
	~k_derived() override {}
};

struct k_holder {
	FRAME ~k_holder()
	{
		k_sink = *null_pointer;
		k_sink++;
	}
};

FRAME int k_scope(int a)
{
	std::string text(mode);
	k_holder holder;

	if (!strcmp(mode, "destructor"))
		throw std::logic_error(text);
	return a + (int)text.size();
}

FRAME int k_try(int a)
{
	try {
		return k_scope(a);
	} catch (const std::logic_error &e) {
		return k_sink;
	}
}

FRAME int k_apply(const std::function<int(int)> &f, int a)
{
	int result = f(a);

	k_sink = result;
	return result;
}

int main(int argc, char **argv)
{
	mode = argc > 1 ? argv[1] : "null";
	if (!strcmp(mode, "destructor"))
		return k_try(argc) + k_sink;
	k_base *object = new k_derived;
	return k_apply([&](int a) { return object->k_call(a) + 1; }, argc) + k_sink;
}
