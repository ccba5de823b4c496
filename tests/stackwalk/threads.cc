// SPDX-License-Identifier: MIT
/* threads.cc N - N threads of C++ that wait for a condition variable, for running.py */
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <vector>

static std::mutex mutex;
static std::condition_variable condition;

__attribute__((__noinline__, __noclone__)) static int k_deep(int depth)
{
	if (!depth) {
		std::unique_lock<std::mutex> lock(mutex);

		condition.wait(lock, [] { return false; });
	}
	depth = k_deep(depth - 1);
	__asm__ volatile("" : : : "memory");
	return depth + 1;
}

int main(int argc, char **argv)
{
	std::vector<std::thread> threads;

	for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 1); i++)
		threads.emplace_back([i] { k_deep(i % 7); });
	for (;;)
		pause();
}
