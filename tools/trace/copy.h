/* SPDX-License-Identifier: MIT */
/*
 * copy.h - write a changed copy of traces as CTF while they are read
 */
#ifndef KUNWIND_TRACE_COPY_H
#define KUNWIND_TRACE_COPY_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Entry in the environment of a trace that "kunwind export ctf" has written. */
#define KUNWIND_COPY_MARK	"kunwind_export_ctf_copy"

struct kunwind_copy {
	const char *directory;		/* where the copy goes; must not exist */
	/* Called before the first pass(), and after the last one. */
	void (*begin)(bt_self_component *component, void *data);
	void (*end)(void *data);
	/*
	 * Calls kunwind_copy_add() for each message that the copy has in place
	 * of @message; NULL: the traces end. Messages of the input come in order
	 * of time. False: stop, after a message on stderr.
	 */
	bool (*pass)(struct kunwind_copy *copy, bt_self_message_iterator *self,
		     const bt_message *message, void *data);
	void *data;
	/* private to copy.c and trace.c */
	bool (*read)(void *trace, const bt_message *message);	/* before pass() */
	void *trace;
	bool single, ended, failed;	/* single: there is only one trace */
	bt_self_component_port_input *input;
	bt_message_iterator *upstream;
	/* made and not yet passed on: out[next] to out[nr - 1] */
	const bt_message **out;
	size_t next, nr, cap;
};

/* Takes the reference of @message. NULL, or no memory: false, after a message. */
bool kunwind_copy_add(struct kunwind_copy *copy, bt_message *message);

/*
 * Returns the parameters of sink.ctf.fs, which the caller frees; NULL: out of
 * memory. @version: of CTF, 1 or 2; ignored if libbabeltrace2 writes only 1.
 */
bt_value *kunwind_copy_params(const struct kunwind_copy *copy, int version);

/*
 * Adds the components that write the copy, and connects them to the port. False:
 * an error of libbabeltrace2.
 */
bool kunwind_copy_connect(struct kunwind_copy *copy, bt_graph *graph, const bt_port_output *port,
			  const bt_component_class_sink *sink_class, const bt_value *params);

/*
 * Returns whether the thread has an error of libbabeltrace2. If a stream stops
 * inside an event, ctf.fs of libbabeltrace2 2.0 leaves one although it reports
 * messages or the stream's end. The next call that makes an object would abort.
 */
bool kunwind_error_left(void);

#endif /* KUNWIND_TRACE_COPY_H */
