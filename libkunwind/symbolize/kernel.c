// SPDX-License-Identifier: MIT
/*
 * kernel.c - names for kernel stacks, from the symbols of the kernel and its modules
 *
 * The symbols are a text in the format of /proc/kallsyms. Their addresses are
 * of one boot, because the kernel and its modules are at other addresses in
 * each boot. The object of a frame is "[kernel]" or "[module]".
 *
 * Frames belong to their kernel, not to the symbolizer's cache: names are part of
 * the text, and a binary search finds them.
 */
#include <stdlib.h>

#include "internal.h"

struct kunwind_kernel {
	struct kunwind_symbolizer *symbolizer;
	struct kunwind_symbolizer_object *object;
	struct kunwind_list *list;		/* NULL: there are no symbols */
	struct kunwind_function *function;	/* of the frames that were named last */
	size_t cap;
};

struct kunwind_kernel *kunwind_kernel_new(struct kunwind_symbolizer *symbolizer, char *text)
{
	struct kunwind_kernel *kernel = calloc(1, sizeof(*kernel));
	const char *path = symbolizer->options.kallsyms;

	if (!kernel) {
		free(text);
		return NULL;
	}
	kernel->symbolizer = symbolizer;
	kernel->list = text ? kunwind_list_parse(text, false) :
			      kunwind_list_read(path ? path : "/proc/kallsyms", false);
	kernel->object = kunwind_symbolizer_object(symbolizer, "[kernel]", "", 0);
	if (!kernel->object) {
		kunwind_kernel_free(kernel);
		return NULL;
	}
	return kernel;
}

void kunwind_kernel_free(struct kunwind_kernel *kernel)
{
	if (!kernel)
		return;
	kunwind_list_free(kernel->list);
	free(kernel->function);
	free(kernel);
}

bool kunwind_kernel_has_symbols(const struct kunwind_kernel *kernel)
{
	return kernel->list;
}

/* Sets the function, and the object if it is a module. False: out of memory. */
static bool name(struct kunwind_kernel *kernel, bool exact, struct kunwind_function *function,
		 struct kunwind_frame *frame)
{
	uint64_t at = exact ? frame->address : frame->address - 1, start;
	const char *module, *symbol = kunwind_list_find(kernel->list, at, &start, &module);

	if (!symbol) {
		frame->why = "no symbol";
		return true;
	}
	*function = (struct kunwind_function){ .name = symbol, .offset = frame->address - start };
	frame->function = function;
	frame->nr_functions = 1;
	if (*module)
		frame->object = kunwind_symbolizer_object(kernel->symbolizer, module, "", 0);
	return frame->object;
}

bool kunwind_kernel_stack(struct kunwind_kernel *kernel, const uint64_t *address, size_t nr,
			  struct kunwind_frame *frames)
{
	size_t i;

	if (nr > kernel->cap) {
		free(kernel->function);
		kernel->function = calloc(nr, sizeof(*kernel->function));
		kernel->cap = kernel->function ? nr : 0;
		if (!kernel->function)
			return false;
	}
	for (i = 0; i < nr; i++) {
		frames[i] = (struct kunwind_frame){
			.address = address[i],
			.object_address = address[i],
			.object = kernel->object,
		};
		if (!kernel->list)
			frames[i].why = "no kernel symbols";
		else if (!name(kernel, !i, &kernel->function[i], &frames[i]))
			return false;
	}
	return true;
}

bool kunwind_symbolizer_kernel(struct kunwind_symbolizer *symbolizer, const uint64_t *address,
			       size_t nr, struct kunwind_frame *frames)
{
	if (!symbolizer->kernel)
		symbolizer->kernel = kunwind_kernel_new(symbolizer, NULL);
	return symbolizer->kernel && kunwind_kernel_stack(symbolizer->kernel, address, nr, frames);
}
