// SPDX-License-Identifier: MIT
/*
 * kernel.c - names for the kernel stacks of traces
 *
 * In each boot, the kernel and its modules are at other addresses (KASLR). LTTng
 * writes the boot id as the uuid of the trace's clock. Symbols are used only if
 * they are of this boot: those of the file that "kunwind record --kernel" saves
 * with the trace, or, on the same host before the next boot, /proc/kallsyms.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "kallsyms.h"
#include "kernel.h"
#include "protocol.h"

/* The kernel of one boot. */
struct boot {
	char id[BOOT_ID];		/* "": the trace does not record it */
	struct kunwind_kernel *kernel;	/* NULL: no symbols */
	const char *why, *advice;	/* why not; of a frame, and for a message */
};

struct kunwind_kernels {
	struct kunwind_symbolizer *symbolizer;
	char *const *dirs;
	int nr_dirs;
	bool local;
	const char *forced;
	bool searched;			/* for files */
	struct kallsyms_files files;
	struct boot *boot;
	size_t nr;
	const char *advice;
};

struct kunwind_kernels *kunwind_kernels_new(struct kunwind_symbolizer *symbolizer, char *const *dirs,
					    int nr_dirs, bool local, const char *forced)
{
	struct kunwind_kernels *kernels = calloc(1, sizeof(*kernels));

	if (!kernels)
		return NULL;
	kernels->symbolizer = symbolizer;
	kernels->dirs = dirs;
	kernels->nr_dirs = nr_dirs;
	kernels->local = local;
	kernels->forced = forced;
	return kernels;
}

void kunwind_kernels_free(struct kunwind_kernels *kernels)
{
	size_t i;

	if (!kernels)
		return;
	for (i = 0; i < kernels->nr; i++)
		kunwind_kernel_free(kernels->boot[i].kernel);
	free(kernels->boot);
	kallsyms_files_free(&kernels->files);
	free(kernels);
}

/* Writes the boot id of the event's trace; "" if it has none. */
static void boot_of(const bt_event *event, char id[BOOT_ID])
{
	static const int dash_after[] = { 4, 6, 8, 10 };
	const bt_clock_class *clock = bt_stream_class_borrow_default_clock_class_const(
		bt_stream_borrow_class_const(bt_event_borrow_stream_const(event)));
	bt_uuid uuid = NULL;
	int i, d = 0;

	*id = '\0';
	if (!clock)
		return;
#if MIP_MOST >= 1
	if (bt_clock_class_get_graph_mip_version(clock)) {
		const char *uid = bt_clock_class_get_uid(clock);

		for (i = 0; uid && uid[i] && i < BOOT_ID - 1; i++)
			id[i] = (char)tolower((unsigned char)uid[i]);
		id[i] = '\0';
		return;
	}
#endif
	uuid = bt_clock_class_get_uuid(clock);
	for (i = 0; uuid && i < 16; i++) {
		if (d < 4 && i == dash_after[d]) {
			*id++ = '-';
			d++;
		}
		*id++ = "0123456789abcdef"[uuid[i] >> 4];
		*id++ = "0123456789abcdef"[uuid[i] & 15];
	}
	*id = '\0';
}

/* Sets boot->kernel to the symbols in @text, or in /proc/kallsyms. False: out of memory. */
static bool use(struct kunwind_kernels *kernels, struct boot *boot, char *text)
{
	boot->kernel = kunwind_kernel_new(kernels->symbolizer, text);
	if (!boot->kernel)
		return false;
	if (!kunwind_kernel_has_symbols(boot->kernel)) {
		kunwind_kernel_free(boot->kernel);
		boot->kernel = NULL;
	}
	return true;
}

/* Sets boot->kernel to the symbols of a file. False: out of memory. */
static bool use_file(struct kunwind_kernels *kernels, struct boot *boot,
		     const struct kunwind_believed *file)
{
	char *text = kallsyms_read(kernels->symbolizer, file);

	if (text && !use(kernels, boot, text))
		return false;
	if (!boot->kernel) {
		boot->why = "the file of kernel symbols is damaged";
		boot->advice = "the file " KALLSYMS_NAME " of the trace is damaged or not readable";
	}
	return true;
}

/* Finds the symbols of a boot. False: out of memory. */
static bool find(struct kunwind_kernels *kernels, struct boot *boot)
{
	char id[BOOT_ID];
	struct kunwind_believed file = { .path = kernels->forced, .given = true };
	bool other = false, foreign, any_foreign = false;
	size_t i;

	if (kernels->forced)
		return use_file(kernels, boot, &file);
	if (!*boot->id) {
		boot->why = "the trace does not record its boot";
		boot->advice = "the trace does not record of which boot it is (uuid of its clock)";
		return true;
	}
	if (!kernels->searched && !kallsyms_find(&kernels->files, kernels->dirs, kernels->nr_dirs))
		return false;
	kernels->searched = true;
	for (i = 0; i < kernels->files.nr && !boot->kernel; i++) {
		file = (struct kunwind_believed){ .path = kernels->files.path[i],
						  .owner = kernels->files.owner };
		if (!kallsyms_boot(kernels->symbolizer, &file, id, &foreign))
			any_foreign |= foreign;
		else if (strcmp(id, boot->id))
			other = true;
		else if (!use_file(kernels, boot, &file))
			return false;
	}
	if (boot->kernel || boot->why)
		return true;
	if (any_foreign && (!boot_own_id(id) || strcmp(id, boot->id))) {
		boot->why = "the file of kernel symbols belongs to another user";
		boot->advice = "the file " KALLSYMS_NAME " belongs to another user than root, you and "
			"the owner of the trace";
	} else if (!boot_own_id(id) || strcmp(id, boot->id)) {
		boot->why = other ? "kernel symbols are of another boot" :
				    "kernel of another host or boot";
		boot->advice = other ? "the file " KALLSYMS_NAME " is of another boot than the trace" :
			"the trace is of another host or boot, and has no file " KALLSYMS_NAME
			": record it with kunwind record --kernel, as root";
	} else if (!kernels->local) {
		boot->why = "no kernel symbols in the trace";
		boot->advice = "the trace has no file " KALLSYMS_NAME
			", and --no-local forbids /proc/kallsyms";
	} else if (!use(kernels, boot, NULL)) {
		return false;
	} else if (!boot->kernel) {
		boot->why = "kernel symbols are hidden";
		boot->advice = "/proc/kallsyms hides addresses from this user: run this command as root";
	}
	return true;
}

/* Returns the boot of an event; NULL: out of memory. */
static const struct boot *get_boot(struct kunwind_kernels *kernels, const bt_event *event)
{
	struct boot *boot, new = { 0 };
	size_t i;

	boot_of(event, new.id);
	for (i = 0; i < kernels->nr; i++) {
		if (!strcmp(kernels->boot[i].id, new.id))
			return &kernels->boot[i];
	}
	boot = reallocarray(kernels->boot, kernels->nr + 1, sizeof(*boot));
	if (!boot)
		return NULL;
	kernels->boot = boot;
	boot += kernels->nr;
	*boot = new;
	if (!find(kernels, boot))
		return NULL;
	kernels->nr++;
	if (boot->advice && !kernels->advice)
		kernels->advice = boot->advice;
	return boot;
}

bool kunwind_kernels_stack(struct kunwind_kernels *kernels, const bt_event *event,
			   const uint64_t *address, size_t nr, struct kunwind_frame *frames)
{
	const struct boot *boot = get_boot(kernels, event);
	const struct kunwind_symbolizer_object *object;
	size_t i;

	if (!boot)
		return false;
	if (boot->kernel)
		return kunwind_kernel_stack(boot->kernel, address, nr, frames);
	object = kunwind_symbolizer_object(kernels->symbolizer, "[kernel]", "", 0);
	for (i = 0; i < nr; i++)
		frames[i] = (struct kunwind_frame){ .address = address[i], .object = object,
						    .object_address = address[i], .why = boot->why };
	return object;
}

const char *kunwind_kernels_why(const struct kunwind_kernels *kernels)
{
	return kernels->advice;
}

/* Returns whether the function is the tracer's, or calls it at a tracepoint. */
static bool is_tracer(const struct kunwind_frame *frame)
{
	/* of LTTng's probes, kunwind, perf, ftrace and BPF */
	static const char *const prefix[] = { "lttng_", "kunwind_", "__event_probe__", "__traceiter_",
		"__bpf_trace_", "perf_trace_", "trace_event_raw_event_" };
	const struct kunwind_function *function = kunwind_frame_function(frame);
	const char *object = frame->object ? kunwind_object_path(frame->object) : "";
	size_t i;

	if (!strncmp(object, "[lttng_", 7) || !strcmp(object, "[kunwind]") ||
	    !strcmp(object, "[__builtin__ftrace]"))
		return true;
	for (i = 0; function && function->name && i < sizeof(prefix) / sizeof(prefix[0]); i++) {
		if (!strncmp(function->name, prefix[i], strlen(prefix[i])))
			return true;
	}
	return false;
}

size_t kunwind_kernel_tracer(const struct kunwind_frame *frames, size_t nr)
{
	size_t i;

	for (i = 0; i < nr && is_tracer(&frames[i]); i++)
		;
	return i;
}
