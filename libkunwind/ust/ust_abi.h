/* SPDX-License-Identifier: MIT */
/*
 * ust_abi.h - what an application context has to know of liblttng-ust.so.1
 *
 * LTTng-UST 2.13 to 2.16 export lttng_ust_context_provider_register() for its Java agents, and
 * install no header that declares it. The structures are its ABI: fields are only added at their
 * ends. tests/ust compares those that <lttng/ust-events.h> has.
 */
#ifndef _UST_ABI_H
#define _UST_ABI_H

#include "kunwind_base.h"

/* lttng_ust_probe_ctx: a local variable of the tracepoint, so each event has its own. */
struct ust_probe {
	u32 size;
	u32 unused;			/* padding, which LTTng-UST does not initialize */
	void *ip;			/* where the tracepoint returns to, by default */
};

/* lttng_ust_ring_buffer_ctx */
struct ust_output {
	u32 size;
	void *client;
	size_t payload;			/* bytes of the event's own fields */
	int align;
	struct ust_probe *probe;
	void *private;
};

/* lttng_ust_channel_buffer_ops */
struct ust_output_ops {
	u32 size;
	void *private;
	int (*reserve)(struct ust_output *output);
	void (*commit)(struct ust_output *output);
	void (*write)(struct ust_output *output, const void *from, size_t len, size_t align);
};

/* lttng_ust_channel_buffer */
struct ust_channel {
	u32 size;
	void *parent, *private;
	const struct ust_output_ops *ops;
};

/* lttng_ust_app_context: one for each channel with the context. calloc() makes it. */
struct ust_context {
	u32 size;
	u32 unused;			/* padding: 0 until defined.c sets it */
	void *field;
	const char *name;
};

/* lttng_ust_ctx_value */
struct ust_value {
	u32 type;			/* UST_... */
	u64 value;
};

/* Types of a value, in the event by one byte in front of it. */
#define UST_NONE	0
#define UST_U64		8
#define UST_STRING	11

/*
 * lttng_ust_context_provider. For each event that may be recorded, LTTng-UST calls size(),
 * reserves that many bytes, and then calls record(), which must write as many. If there is no
 * room, it does not call record(). A signal handler may have events of its own in between.
 */
struct ust_provider {
	u32 size_of_this;
	const char *name;
	size_t (*size)(void *context, struct ust_probe *probe, size_t offset);
	void (*record)(void *context, struct ust_probe *probe, struct ust_output *output,
		       struct ust_channel *channel);
	void (*value)(void *context, struct ust_probe *probe, struct ust_value *value);
	void *private;
};

typedef void *ust_register_fn(struct ust_provider *provider);

#endif /* _UST_ABI_H */
