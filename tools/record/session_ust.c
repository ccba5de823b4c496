// SPDX-License-Identifier: MIT
/*
 * session_ust.c - the part of a session that has events of LTTng-UST
 *
 * Its channels are in another domain of the same session, so that events of the kernel and of
 * programs are in one trace. The stack is an application context, which a program has if
 * libkunwind-ust-preload.so is loaded (kunwind_ust_register(3)). What programs have loaded is in
 * a channel of its own, so that no other events fill its buffers: without it, frames have no names.
 *
 * Buffers are shared memory, for each user whose programs have LTTng-UST and for each processor.
 * All of it is allocated when the first program of the user starts.
 */
#include <lttng/lttng.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "session_ust.h"
#include "tool.h"

#define CHANNEL		"events"
#define LOADED_CHANNEL	"loaded"
/* A string with the 1,024 addresses of the deepest stack has 14 KB. */
#define LEAST_BUFFER	65536
#define BEGINS		"lttng_ust_statedump:start"
#define SHARED_MEMORY	"/dev/shm"

static bool add_context(struct session *session, struct lttng_event_context *context,
			const char *channel)
{
	return session_add_context(session->ust, context, channel, "user-space context");
}

static uint64_t at_least(uint64_t buffer)
{
	return buffer > LEAST_BUFFER ? buffer : LEAST_BUFFER;
}

/* Makes a channel with the contexts that say which thread has the event. */
static bool add_channel(struct session *session, struct lttng_domain *domain, const char *name,
			uint64_t buffer)
{
	static const int types[] = { LTTNG_EVENT_CONTEXT_VPID, LTTNG_EVENT_CONTEXT_VTID,
		LTTNG_EVENT_CONTEXT_PROCNAME };
	bool ok = session_channel(session, session->ust, domain, name, buffer);
	size_t i;

	for (i = 0; ok && i < sizeof(types) / sizeof(types[0]); i++) {
		struct lttng_event_context context = { .ctx = (enum lttng_event_context_type)types[i] };

		ok = add_context(session, &context, name);
	}
	return ok;
}

static bool enable(struct session *session, const char *name, const char *channel, const char *filter)
{
	return session_enable(session->ust, LTTNG_EVENT_TRACEPOINT, name, channel, filter);
}

/*
 * Checks that there is room for the buffers of one user. LTTng's consumer daemon reports it to
 * nobody if there is none, and the trace has no events.
 */
static bool has_room(uint64_t buffers)
{
	const uint64_t needed = buffers * SESSION_BUFFERS * (uint64_t)sysconf(_SC_NPROCESSORS_CONF);
	struct statvfs fs;
	uint64_t room;

	if (statvfs(SHARED_MEMORY, &fs))
		return true;
	room = (uint64_t)fs.f_bavail * fs.f_frsize;
	/* a file system without a limit has none free */
	if (room >= needed || !fs.f_blocks)
		return true;
	kunwind_tool_error("buffers of user-space events need %llu KB of " SHARED_MEMORY " for each user, "
			   "and %llu KB are free: use a smaller --buffer, or remove what else is there",
			   (unsigned long long)needed >> 10, (unsigned long long)room >> 10);
	return false;
}

bool session_ust_begin(struct session *session, uint64_t buffer, const char *filter)
{
	struct lttng_domain domain = { .type = LTTNG_DOMAIN_UST, .buf_type = LTTNG_BUFFER_PER_UID };
	struct lttng_event_context stack = { .ctx = LTTNG_EVENT_CONTEXT_APP_CONTEXT };
	const uint64_t events = at_least(buffer / 4), loaded = at_least(buffer / 16);

	if (!has_room(events + loaded))
		return false;
	stack.u.app_ctx.provider_name = (char *)"kunwind";
	stack.u.app_ctx.ctx_name = (char *)"stack";
	session->ust = lttng_create_handle(session->name, &domain);
	if (!session->ust)
		return session_failure("session", LTTNG_ERR_NOMEM);
	/*
	 * libbabeltrace2 cannot read a channel that has contexts and no event, and each user whose
	 * programs have LTTng-UST has a file of each channel: one event of all programs.
	 */
	return add_channel(session, &domain, LOADED_CHANNEL, loaded) &&
	       enable(session, "lttng_ust_statedump:*", LOADED_CHANNEL, filter) &&
	       enable(session, "lttng_ust_lib:*", LOADED_CHANNEL, filter) &&
	       enable(session, BEGINS, LOADED_CHANNEL, NULL) &&
	       add_channel(session, &domain, CHANNEL, events) &&
	       add_context(session, &stack, CHANNEL) &&
	       enable(session, BEGINS, CHANNEL, NULL);
}

bool session_ust_event(struct session *session, const char *name, const char *filter)
{
	return enable(session, name, CHANNEL, filter);
}
