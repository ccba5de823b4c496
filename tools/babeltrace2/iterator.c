// SPDX-License-Identifier: MIT
/*
 * iterator.c - the message iterator of filter.kunwind.symbolize
 *
 * If the upstream iterator can seek its beginning, the messages are read twice:
 * first only kunwind's events, which record what was mapped where, because a
 * state dump may come after the first events of a session. In a live trace,
 * these events are learned as they come.
 *
 * Memory: the history of mappings and the symbolizer's cache, both of
 * libkunwind-symbolize, and the copies that meta.c makes.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter.h"
#include "frames.h"
#include "meta.h"
#include "pass.h"
#include "trace/event.h"
#include "trace/history.h"
#include "trace/kernel.h"
#include "trace/stack.h"
#include "trace/whole.h"

struct iterator {
	const struct filter *filter;
	bt_message_iterator *upstream;
	enum { LEARNING, SEEKING, PASSING } state;
	bool learned;			/* all messages are read before the first is passed on */
	/* received and not yet passed on: pending[next] to pending[nr - 1] */
	bt_message_array_const pending;
	uint64_t next, nr;
	struct kunwind_symbolizer *symbolizer;
	struct kunwind_histories *histories;
	struct kunwind_wholes *wholes;
	struct kunwind_kernels *kernels;
	struct meta meta;
	/* last trace of compare_hosts(), and whether it is of this host */
	const bt_trace *trace;
	bool same_host;
	uint64_t address[KUNWIND_STACK_MAX];
	struct kunwind_frame frame[KUNWIND_STACK_MAX];
};

static void drop_pending(struct iterator *it)
{
	while (it->next < it->nr)
		bt_message_put_ref(it->pending[it->next++]);
}

static void free_iterator(struct iterator *it)
{
	if (!it)
		return;
	drop_pending(it);
	bt_message_iterator_put_ref(it->upstream);
	meta_free(&it->meta);
	kunwind_wholes_free(it->wholes);
	kunwind_histories_free(it->histories);
	kunwind_kernels_free(it->kernels);
	kunwind_symbolizer_free(it->symbolizer);
	free(it);
}

bt_message_iterator_class_initialize_method_status
filter_iterator_init(bt_self_message_iterator *self, bt_self_message_iterator_configuration *config,
		     bt_self_component_port_output *port)
{
	bt_self_component *component = bt_self_message_iterator_borrow_component(self);
	struct iterator *it = calloc(1, sizeof(*it));
	bt_bool again = BT_FALSE;

	(void)config, (void)port;
	if (!it)
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	it->filter = bt_self_component_get_data(component);
	it->meta.component = component;
	it->meta.text = it->filter->text;
	it->symbolizer = kunwind_symbolizer_new(&it->filter->options);
	it->histories = it->symbolizer ? kunwind_histories_new(it->symbolizer) : NULL;
	it->wholes = kunwind_wholes_new();
	if (it->symbolizer)	/* the directories of the traces are not known here */
		it->kernels = kunwind_kernels_new(it->symbolizer, NULL, 0, it->filter->live,
						  it->filter->options.kallsyms);
	if (!it->histories || !it->wholes || !it->kernels ||
	    bt_message_iterator_create_from_message_iterator(self, it->filter->input,
							     &it->upstream)) {
		free_iterator(it);
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	if (bt_message_iterator_can_seek_beginning(it->upstream, &again))
		bt_current_thread_clear_error();
	it->state = again ? LEARNING : PASSING;
	it->learned = again;
	bt_self_message_iterator_set_data(self, it);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void filter_iterator_finalize(bt_self_message_iterator *self)
{
	free_iterator(bt_self_message_iterator_get_data(self));
}

/*
 * Stacks are learned in both passes, because the first one may meet a stack before
 * the base that has its outer frames (trace/whole.c). False: out of memory.
 */
static bool learn(struct iterator *it, const bt_message *message)
{
	const bt_event *event;
	const void *trace;

	if (bt_message_get_type(message) != BT_MESSAGE_TYPE_EVENT)
		return true;
	event = bt_message_event_borrow_event_const(message);
	if (!kunwind_event_defines(event))
		return (it->learned && it->state == PASSING) ||
		       kunwind_histories_learn(it->histories, event, kunwind_event_time(message));
	trace = kunwind_histories_of(it->histories, event);
	return trace && kunwind_wholes_learn(it->wholes, trace, event);
}

/*
 * Reads the addresses of a stack to it->address. Returns how many. The process of an event
 * that has its stack by id is that of the stack.
 */
static size_t read_stack(struct iterator *it, const bt_event *event, struct kunwind_head *head,
			 int stack)
{
	const bool is_whole = kunwind_event_is_whole(event);
	const struct kunwind_whole *whole = NULL;
	const void *trace;
	size_t nr;

	if (stack == STACK_USER ? !is_whole && !head->by_id : !head->kernel_stack)
		return kunwind_stack_read(event, stack_names[stack], it->address);
	trace = kunwind_histories_of(it->histories, event);
	if (stack == STACK_KERNEL)
		whole = kunwind_wholes_of_id(it->wholes, trace, head->kernel_stack, -1);
	else if (is_whole)
		whole = kunwind_wholes_find(it->wholes, trace, event);
	else if (head->stack)
		whole = kunwind_wholes_of_id(it->wholes, trace, head->stack, head->tid);
	if (!whole)
		return 0;
	if (!is_whole && stack == STACK_USER && !head->called)
		head->pid = whole->tgid;
	nr = is_whole ? whole->nr : kunwind_whole_before_guess(whole);
	memcpy(it->address, whole->address, nr * sizeof(*whole->address));
	return nr;
}

/* Sets same_host: whether /proc may know processes of this trace. */
static void compare_hosts(struct iterator *it, const bt_trace *trace)
{
	char here[256];

	if (trace == it->trace)
		return;
	it->trace = trace;
	it->same_host = it->filter->live && !gethostname(here, sizeof(here)) &&
			!strcmp(kunwind_trace_environment(trace, "hostname"), here);
}

/* Names the frames of a stack: address[] to frame[]. False: out of memory. */
static bool name_stack(struct iterator *it, const bt_event *event, const struct kunwind_head *head,
		       int stack, size_t nr)
{
	struct kunwind_history *history;

	compare_hosts(it, bt_stream_borrow_trace_const(bt_event_borrow_stream_const(event)));
	if (stack == STACK_USER) {
		history = kunwind_histories_of(it->histories, event);
		if (!history)
			return false;
		return kunwind_history_stack(history, &(struct kunwind_who){
			.pid = (int)head->pid, .own_number = head->own_number, .called = head->called,
			.comm = head->comm,
			.time = head->time, .live = it->same_host }, it->address, nr, it->frame);
	}
	return kunwind_kernels_stack(it->kernels, event, it->address, nr, it->frame);
}

/* Adds the named frames to the copy of an event. False: out of memory. */
static bool add_frames(struct iterator *it, bt_event *to, const bt_event *from, int64_t time)
{
	unsigned int wanted = meta_wanted(&it->meta, bt_event_borrow_class_const(from));
	struct kunwind_head head;
	int stack;

	if (!wanted)
		return true;
	kunwind_head_read(&head, from, time);
	for (stack = 0; stack < NR_STACKS; stack++) {
		size_t nr;

		if (!(wanted & 1u << stack))
			continue;
		nr = read_stack(it, from, &head, stack);
		if ((nr && !name_stack(it, from, &head, stack, nr)) ||
		    !frames_fill(bt_event_borrow_payload_field(to), stack,
				 it->filter->text, it->frame, nr))
			return false;
	}
	return true;
}

/* Returns a new message of the output; NULL: out of memory. */
static bt_message *name_message(struct iterator *it, bt_self_message_iterator *self,
				const bt_message *from)
{
	bt_message *to = pass(&it->meta, self, from);

	if (to && bt_message_get_type(from) == BT_MESSAGE_TYPE_EVENT &&
	    !add_frames(it, bt_message_event_borrow_event(to),
			bt_message_event_borrow_event_const(from), kunwind_event_time(from)))
		BT_MESSAGE_PUT_REF_AND_RESET(to);
	return to;
}

/*
 * Reads all messages once and then seeks the beginning. Returns 0 or a status
 * of the upstream iterator, whose values are the same for all methods. After
 * AGAIN, the next call goes on.
 */
static int learn_all(struct iterator *it)
{
	int status;

	while (it->state == LEARNING) {
		status = bt_message_iterator_next(it->upstream, &it->pending, &it->nr);
		if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END) {
			it->state = SEEKING;
			it->next = it->nr = 0;
			break;
		}
		if (status) {
			it->next = it->nr = 0;
			return status;
		}
		for (it->next = 0; it->next < it->nr; it->next++) {
			if (!learn(it, it->pending[it->next]))
				return BT_MESSAGE_ITERATOR_NEXT_STATUS_MEMORY_ERROR;
			bt_message_put_ref(it->pending[it->next]);
		}
	}
	status = bt_message_iterator_seek_beginning(it->upstream);
	if (!status)
		it->state = PASSING;
	return status;
}

bt_message_iterator_class_next_method_status
filter_iterator_next(bt_self_message_iterator *self, bt_message_array_const messages,
		     uint64_t capacity, uint64_t *count)
{
	struct iterator *it = bt_self_message_iterator_get_data(self);
	int status = it->state == PASSING ? 0 : learn_all(it);

	if (!status && it->next == it->nr) {
		it->next = it->nr = 0;
		status = bt_message_iterator_next(it->upstream, &it->pending, &it->nr);
		if (status)
			it->nr = 0;
	}
	*count = 0;
	while (!status && it->next < it->nr && *count < capacity) {
		const bt_message *from = it->pending[it->next];

		if (learn(it, from) &&
		    (messages[*count] = name_message(it, self, from))) {
			bt_message_put_ref(from);
			it->next++;
			++*count;
		} else {
			status = BT_MESSAGE_ITERATOR_NEXT_STATUS_MEMORY_ERROR;
		}
	}
	if (status) {
		while (*count)
			bt_message_put_ref(messages[--*count]);
	}
	return (bt_message_iterator_class_next_method_status)status;
}
