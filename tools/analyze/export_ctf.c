// SPDX-License-Identifier: MIT
/*
 * export_ctf.c - a copy of the traces, with names, for Trace Compass
 *
 * The copy has each event of the input, in the same stream, with all its fields.
 * Events whose context has a user stack have one more field,
 * callstack_user_frames: the names of the functions, innermost first. Each trace
 * has one more stream, of the events kunwind_frames_push and kunwind_frames_pop
 * (ctf_calls.c): a thread is in the functions of its stack from the entry of a
 * system call to its exit, and while it is off the CPU. What it did between two
 * of them is not known.
 *
 * A call that does not end in the trace has no pop. If only its end is missing,
 * it lasts until the thread's next event.
 *
 * sink.ctf.fs of babeltrace2 writes the copy while the traces are read (copy.h).
 * Memory does not grow with the number of events.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze.h"
#include "ctf_calls.h"
#include "dir.h"
#include "outdir.h"
#include "tool.h"
#include "babeltrace2/frames.h"
#include "babeltrace2/pass.h"
#include "trace/reading.h"

/* The functions of a thread in the copy. */
struct stack {
	uint32_t process;	/* string, as in the pushes */
	uint32_t nr;		/* of functions */
	uint32_t off;		/* the innermost ones, since "off CPU" in a system call */
};

/* A change of a stack that the event just read causes. */
struct change {
	struct sample sample;
	bool ends;
};

struct ctf_state {
	struct samples *samples;
	struct kunwind_copy copy;
	struct meta meta;
	struct ctf_calls calls;
	struct stack *stack;		/* of each thread */
	uint32_t nr_stacks;
	struct change *change;		/* in the order to be made */
	size_t nr_changes, cap_changes;
	const char **name;		/* of functions; for push() and add_frames() */
	uint32_t cap_names;
};

/* ------------------------------------------------------------ stacks */

static void add_change(struct ctf_state *state, const struct sample *sample, bool ends)
{
	if (!sample_is_slice(sample))
		return;
	if (state->nr_changes == state->cap_changes) {
		state->cap_changes = state->cap_changes * 2 + 16;
		state->change = needed(realloc(state->change,
					       state->cap_changes * sizeof(*state->change)));
	}
	state->change[state->nr_changes++] = (struct change){ *sample, ends };
}

static void begin(const struct sample *sample, const bt_event *event, void *data)
{
	(void)event;
	add_change(data, sample, false);
}

static void end(const struct sample *sample, const bt_event *event, void *data)
{
	if (event)
		add_change(data, sample, true);
}

static struct stack *stack_of(struct ctf_state *state, uint32_t thread)
{
	uint32_t old = state->nr_stacks;

	if (thread >= old) {
		state->nr_stacks = thread * 2 + 64;
		state->stack = needed(realloc(state->stack,
					      state->nr_stacks * sizeof(*state->stack)));
		memset(state->stack + old, 0, (state->nr_stacks - old) * sizeof(*state->stack));
	}
	return &state->stack[thread];
}

/* Returns a name for the process of a sample. */
static uint32_t process_name(struct ctf_state *state, const struct sample *sample)
{
	struct calls *calls = &state->samples->calls;
	const struct sample_thread *thread = &state->samples->thread[sample->thread];
	char text[300];

	if (thread->pid < 0)
		return sample->comm;
	snprintf(text, sizeof(text), "%.250s (%lld)", calls->string[sample->comm],
		 (long long)thread->pid);
	return calls_string(calls, text);
}

/* Returns the name of a sample's innermost function. */
static const char *what_name(struct ctf_state *state, const struct sample *sample, bool in_call)
{
	struct calls *calls = &state->samples->calls;
	char text[300];

	if (in_call)
		return calls_text(calls, "off CPU");
	snprintf(text, sizeof(text),
		 sample->kind == SAMPLE_SYSCALL ? "%.250s (system call)" : "off CPU (%.250s)",
		 calls->string[sample->what]);
	return calls_text(calls, text);
}

/* Makes room for @nr names in state->name. */
static void make_room(struct ctf_state *state, uint32_t nr)
{
	if (nr <= state->cap_names)
		return;
	state->cap_names = nr * 2;
	state->name = needed(realloc(state->name, state->cap_names * sizeof(*state->name)));
}

/*
 * Sets state->name to the functions of a sample, outermost first. Returns how many.
 * @in_call: a time off the CPU in a system call, which has the functions of the user
 * already.
 */
static uint32_t collect_names(struct ctf_state *state, const struct sample *sample, bool in_call)
{
	const struct calls *calls = &state->samples->calls;
	uint32_t node, nr = 1, i;

	for (node = calls->node[sample->node].parent; node != CALLS_ROOT;
	     node = calls->node[node].parent) {
		if (in_call ? !calls_frame(calls, node)->kernel :
			      calls_frame(calls, node)->kind == FRAME_PROCESS)
			break;
		nr++;
	}
	make_room(state, nr);
	state->name[nr - 1] = what_name(state, sample, in_call);
	i = nr - 1;
	for (node = calls->node[sample->node].parent; i; node = calls->node[node].parent)
		state->name[--i] = calls_name(calls, node);
	return nr;
}

static struct ctf_calls_thread describe(const struct ctf_state *state, uint32_t number,
					const struct stack *stack)
{
	const struct sample_thread *thread = &state->samples->thread[number];

	return (struct ctf_calls_thread){ state->samples->calls.string[stack->process], thread->pid,
					  thread->tid };
}

static bool push(struct ctf_state *state, bt_self_message_iterator *self, const bt_message *message,
		 const struct sample *sample)
{
	struct stack *stack = stack_of(state, sample->thread);
	struct ctf_calls_thread thread;
	uint32_t at, some, nr;

	if (!stack->nr)
		stack->process = process_name(state, sample);
	nr = collect_names(state, sample, stack->nr);
	stack->off = stack->nr ? nr : 0;
	thread = describe(state, sample->thread, stack);
	for (at = 0; at < nr; at += some) {
		some = nr - at < CTF_CALLS_FRAMES ? nr - at : CTF_CALLS_FRAMES;
		if (!ctf_calls_push(&state->calls, self, message, &thread, state->name + at, some))
			return false;
	}
	stack->nr += nr;
	return true;
}

static bool pop(struct ctf_state *state, bt_self_message_iterator *self, const bt_message *message,
		const struct sample *sample)
{
	struct stack *stack = stack_of(state, sample->thread);
	struct ctf_calls_thread thread = describe(state, sample->thread, stack);
	uint32_t nr = stack->off ? stack->off : stack->nr, some;

	stack->off = 0;
	for (; nr; nr -= some) {
		some = nr < CTF_CALLS_FRAMES || nr == stack->nr ? nr : CTF_CALLS_FRAMES;
		stack->nr -= some;
		if (!ctf_calls_pop(&state->calls, self, message, &thread, some, stack->nr))
			return false;
	}
	return true;
}

static bool make_changes(struct ctf_state *state, bt_self_message_iterator *self,
			 const bt_message *message)
{
	bool ok = true;
	size_t i;

	for (i = 0; ok && i < state->nr_changes; i++)
		ok = (state->change[i].ends ? pop : push)(state, self, message,
							  &state->change[i].sample);
	state->nr_changes = 0;
	return ok;
}

/* ------------------------------------------------------------ the copy */

/* Sets the field for the names of an event's stack. False: out of memory. */
static bool add_frames(struct ctf_state *state, bt_event *to, const bt_event *from, int64_t time)
{
	struct kunwind_reading *reading = state->samples->reading;
	const struct calls *calls = &state->samples->calls;
	struct kunwind_event_stack stack;
	struct kunwind_head head;
	uint32_t node = CALLS_ROOT, nr = 0;

	if (!meta_wanted(&state->meta, bt_event_borrow_class_const(from)))
		return true;
	kunwind_reading_head(reading, &head, from, time);
	if (!kunwind_reading_stack(reading, from, &head, &stack))
		return false;
	stack.nr_kernel = 0;
	if (kunwind_reading_tells(reading, &stack))
		node = samples_functions(state->samples, &stack, CALLS_ROOT);
	for (; node != CALLS_ROOT; node = calls->node[node].parent) {
		make_room(state, nr + 1);
		state->name[nr++] = calls_name(calls, node);
	}
	return frames_fill_text(bt_event_borrow_payload_field(to), STACK_USER, state->name, nr);
}

static bool copy_event(struct ctf_state *state, bt_self_message_iterator *self,
		       const bt_message *message)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);
	bt_message *made;

	if (ctf_calls_is_own(kunwind_event_name(event))) {
		kunwind_tool_error("kunwind export ctf has written this trace: export its original");
		return false;
	}
	made = pass(&state->meta, self, message);
	if (made && !add_frames(state, bt_message_event_borrow_event(made), event,
				kunwind_event_time(message)))
		BT_MESSAGE_PUT_REF_AND_RESET(made);
	return kunwind_copy_add(&state->copy, made) && make_changes(state, self, message);
}

static bool copy_message(struct kunwind_copy *copy, bt_self_message_iterator *self,
			 const bt_message *message, void *data)
{
	struct ctf_state *state = data;

	if (!message)
		return ctf_calls_end(&state->calls, self);
	if (bt_message_get_type(message) == BT_MESSAGE_TYPE_EVENT)
		return copy_event(state, self, message);
	return kunwind_copy_add(copy, pass(&state->meta, self, message));
}

static void begin_copy(bt_self_component *component, void *data)
{
	struct ctf_state *state = data;

	state->meta.component = component;
}

static void end_copy(void *data)
{
	struct ctf_state *state = data;

	ctf_calls_free(&state->calls);
	meta_free(&state->meta);
}

/*
 * sink.ctf.fs puts a "_" before all names. Readers ignore it, except Trace
 * Compass, which then does not find the processor of a packet. This removes the
 * "_" of "_cpu_id".
 */
static bool name_processor(int fd)
{
	static const char wrong[] = " _cpu_id;";
	struct stat st;
	size_t size;
	char *text, *at;

	if (fstat(fd, &st) || !st.st_size)
		return true;
	size = (size_t)st.st_size;
	text = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (text == MAP_FAILED)
		return false;
	for (at = text; (at = memmem(at, size - (size_t)(at - text), wrong, sizeof(wrong) - 1)); )
		at[1] = ' ';
	munmap(text, size);
	return true;
}

/* Changes the metadata in a directory, and in those below it. False: errno. */
static bool name_in(int dir, const char *name, void *data)
{
	const bool metadata = !strcmp(name, "metadata");
	int fd = metadata ? kunwind_dir_file(dir, name, true) : kunwind_dir_at(dir, name);
	bool ok;

	if (fd < 0)
		return !metadata;
	ok = metadata ? name_processor(fd) : kunwind_dir_each(fd, name_in, data);
	close(fd);
	return ok;
}

/* Returns whether all metadata could be changed; else false after a message. */
static bool name_processors(const struct outdir *out)
{
	if (kunwind_dir_each(out->in, name_in, NULL))
		return true;
	kunwind_tool_error("%s: %s", out->path, strerror(errno));
	return false;
}

static void on_write_error(int number)
{
	(void)number;		/* the file is too large: writing returns an error */
}

static void handle_write_errors(void)
{
	struct sigaction action = { .sa_handler = on_write_error, .sa_flags = SA_RESTART }, old;

	if (!sigaction(SIGXFSZ, NULL, &old) && old.sa_handler != SIG_IGN)
		sigaction(SIGXFSZ, &action, NULL);
}

int export_ctf(struct samples *samples, char *const *paths, int nr_paths, const char *path)
{
	static const struct samples_calls calls = { begin, end };
	struct ctf_state state = { .samples = samples };
	static struct outdir out;
	bool ok;

	if (!outdir_open(&out, path))
		return TOOL_FAILED;
	handle_write_errors();
	state.copy = (struct kunwind_copy){
		.directory = out.inside, .begin = begin_copy, .pass = copy_message,
		.end = end_copy, .data = &state,
	};
	state.meta.text = true;
	state.meta.user_only = true;
	state.meta.mark = KUNWIND_COPY_MARK;
	state.calls.copy = &state.copy;
	state.calls.meta = &state.meta;
	samples->copy = &state.copy;
	ok = outdir_spares(&out, paths, nr_paths) &&
	     samples_read(samples, paths, nr_paths, &calls, &state) && analyze_remarks(samples) &&
	     name_processors(&out);
	ok = outdir_close(&out, ok);
	free(state.stack);
	free(state.change);
	free(state.name);
	return ok ? TOOL_OK : TOOL_FAILED;
}
