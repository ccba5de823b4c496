// SPDX-License-Identifier: MIT
/*
 * abi.c - compare ust_abi.h with LTTng-UST's own header; only compiled
 */
#include <lttng/ust-events.h>
#include <lttng/ust-ringbuffer-context.h>

#include "ust_abi.h"

#define SAME(mine, field, theirs, its)									\
	_Static_assert(offsetof(struct mine, field) == offsetof(struct theirs, its) &&			\
		       sizeof(((struct mine *)0)->field) == sizeof(((struct theirs *)0)->its), #field)

SAME(ust_probe, size, lttng_ust_probe_ctx, struct_size);
SAME(ust_probe, ip, lttng_ust_probe_ctx, ip);
/* the padding that provider.c uses */
_Static_assert(sizeof(struct ust_probe) == sizeof(struct lttng_ust_probe_ctx), "ust_probe");
SAME(ust_output, client, lttng_ust_ring_buffer_ctx, client_priv);
SAME(ust_output, payload, lttng_ust_ring_buffer_ctx, data_size);
SAME(ust_output, probe, lttng_ust_ring_buffer_ctx, probe_ctx);
SAME(ust_output, private, lttng_ust_ring_buffer_ctx, priv);
SAME(ust_channel, parent, lttng_ust_channel_buffer, parent);
SAME(ust_channel, ops, lttng_ust_channel_buffer, ops);
SAME(ust_output_ops, reserve, lttng_ust_channel_buffer_ops, event_reserve);
SAME(ust_output_ops, commit, lttng_ust_channel_buffer_ops, event_commit);
SAME(ust_output_ops, write, lttng_ust_channel_buffer_ops, event_write);
