// SPDX-License-Identifier: MIT
/*
 * moved-main.c - calls moved.S, directly and through pointers, and is called by it; no libc
 */
typedef int moved_fn(int (*fn)(void));

moved_fn moved_push, moved_sub, moved_copy, moved_back, moved_twice, moved_word, moved_frame, moved_loop;

static moved_fn *const all[] = { moved_push, moved_sub, moved_copy, moved_back, moved_twice,
				 moved_word, moved_frame, moved_loop };

static volatile int sink;

static __attribute__((__noinline__)) int leaf(int n)
{
	return n + sink;
}

static __attribute__((__noinline__)) int called(void)
{
	return leaf(3) + 1;
}

static __attribute__((__noinline__)) int by_pointer(moved_fn *const *fn)
{
	return (*fn)(called) + 1;
}

/* Words on the stack, which moved_up() removes. */
static __attribute__((__noinline__)) int with_words(void)
{
	int result;

	__asm__ volatile("sub $128, %%rsp\n\t"
			 ".cfi_adjust_cfa_offset 128\n\t"
			 "push $0\n\t"
			 ".cfi_adjust_cfa_offset 8\n\t"
			 "push %1\n\t"
			 ".cfi_adjust_cfa_offset 8\n\t"
			 "call moved_up\n\t"
			 ".cfi_adjust_cfa_offset -16\n\t"
			 "add $128, %%rsp\n\t"
			 ".cfi_adjust_cfa_offset -128"
			 : "=a"(result) : "r"(called)
			 : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
	return result + 1;
}

static __attribute__((__noinline__)) int directly(void)
{
	return moved_push(called) + moved_sub(called) + moved_copy(called) + moved_back(called) +
	       moved_twice(called) + moved_word(called) + moved_frame(called) + moved_loop(called) +
	       with_words();
}

int main(void)
{
	unsigned int i;
	int sum = directly();

	for (i = 0; i < sizeof(all) / sizeof(*all); i++)
		sum += by_pointer(&all[i]);
	return sum == 1000;
}
