// SPDX-License-Identifier: MIT
/*
 * whole.c - the stacks of kunwind_callstack in traces: by id, and the latest of
 * each thread; and the kernel stacks of kunwind_kernel_callstack, by id
 *
 * Only some events of a stack hold its addresses; the others have only its id.
 * An event with addresses may lack the outer frames, which are those of another
 * stack, the base (kunwind(4)). Stacks are kept with all their frames, so a
 * base is found at once.
 *
 * LTTng's own context callstack_user does not record why a stack ended. The
 * event kunwind_callstack does: it comes before the event that requested the
 * stack, from the same thread.
 *
 * An id may be defined again, with another stack: then the old one is freed, as soon as
 * it is no thread's latest one.
 */
#include <kunwind/abi.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kunwind_core.h"
#include "event.h"
#include "stack.h"
#include "ust.h"
#include "whole.h"

#define ANY_TID	(-2)			/* a stack of LTTng-UST: any thread of the process may have it */

/* An id, or a thread, and its stack. The members before whole are the key. */
struct node {
	const void *trace;
	enum { ID, TID, OWN_TID } kind;
	uint64_t id, tid;		/* of a thread: the process, the thread */
	struct kunwind_whole *whole;
};

struct kunwind_wholes {
	void *tree;			/* of nodes, for tsearch() */
	bool known;			/* a stack was learned */
	uint64_t address[KUNWIND_STACK_MAX];
	uint8_t trust[KUNWIND_STACK_MAX];
};

static int compare(const void *left, const void *right)
{
	const struct node *a = left, *b = right;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->trace == b->trace ? 0 : a->trace < b->trace ? -1 : 1;
}

struct kunwind_wholes *kunwind_wholes_new(void)
{
	return calloc(1, sizeof(struct kunwind_wholes));
}

static void drop(struct kunwind_whole *whole)
{
	if (whole && !--whole->users)
		free(whole);
}

static void free_node(void *data)
{
	struct node *node = data;

	drop(node->whole);
	free(node);
}

void kunwind_wholes_free(struct kunwind_wholes *wholes)
{
	if (!wholes)
		return;
	tdestroy(wholes->tree, free_node);
	free(wholes);
}

static struct kunwind_whole *find(struct kunwind_wholes *wholes, const struct node *key)
{
	struct node *const *found = tfind(key, &wholes->tree, compare);

	return found ? (*found)->whole : NULL;
}

/* Makes @whole the stack of the key. False: out of memory. */
static bool set(struct kunwind_wholes *wholes, const struct node *key, struct kunwind_whole *whole)
{
	struct node *const *found = tfind(key, &wholes->tree, compare);
	struct node *node = found ? *found : malloc(sizeof(*node));

	if (!node)
		return false;
	if (whole)
		whole->users++;
	if (found) {
		drop(node->whole);
		node->whole = whole;
		return true;
	}
	*node = *key;
	node->whole = whole;
	if (tsearch(node, &wholes->tree, compare))
		return true;
	free_node(node);
	return false;
}

size_t kunwind_whole_before_guess(const struct kunwind_whole *whole)
{
	size_t i;

	for (i = 0; i < whole->nr && !kunwind_trust_is_guess(whole->trust[i]); i++)
		;
	return i;
}

/* False: the event has no id. Then each event holds its stack. */
static bool id_of(const bt_event *event, uint64_t *id)
{
	int64_t value;

	if (!kunwind_field_integer(kunwind_event_field(event, "stack"), &value))
		return false;
	*id = (uint64_t)value;
	return true;
}

/*
 * Adds the frames of the base after the @nr innermost frames, in @wholes. @key:
 * that of the event's own stack. Returns the number of all frames; 0: the trace
 * lacks the base.
 */
static size_t add_shared(struct kunwind_wholes *wholes, const struct node *key,
			 const bt_event *event, size_t nr)
{
	const struct kunwind_whole *whole;
	struct node base = *key;
	int64_t distance, shared;

	if (!kunwind_field_integer(kunwind_event_field(event, "base"), &distance) || !distance)
		return nr;
	base.id += (uint64_t)distance;
	whole = find(wholes, &base);
	if (!whole || !kunwind_field_integer(kunwind_event_field(event, "shared"), &shared) ||
	    shared < 0 || shared > whole->nr || nr + (size_t)shared > KUNWIND_STACK_MAX)
		return 0;
	memcpy(wholes->address + nr, whole->address + whole->nr - shared,
	       (size_t)shared * sizeof(*whole->address));
	memcpy(wholes->trust + nr, whole->trust + whole->nr - shared, (size_t)shared);
	return nr + (size_t)shared;
}

/* A module newer than this program may have other reasons, and a damaged trace any. */
static int reason_of(const bt_event *event)
{
	int64_t reason;

	return kunwind_field_integer(kunwind_event_field(event, "reason"), &reason) && reason >= 0 &&
	       reason < KUNWIND_NR_REASONS ? (int)reason : -1;
}

/* Sets whose stack it is. */
static void read_owner(struct kunwind_whole *whole, const bt_event *event)
{
	const char *comm = kunwind_field_string(kunwind_event_field(event, "comm"));

	/* a kernel stack has no owner: it may be that of several threads */
	whole->tgid = whole->tid = -1;
	kunwind_field_integer(kunwind_event_field(event, "tid"), &whole->tid);
	kunwind_field_integer(kunwind_event_field(event, "tgid"), &whole->tgid);
	snprintf(whole->comm, sizeof(whole->comm), "%s", comm ? comm : "");
}

/* Keeps the first @nr frames of @wholes. @tid: ANY_TID, or 0: what the event says. */
static bool keep(struct kunwind_wholes *wholes, const struct node *key, const bt_event *event, size_t nr,
		 int reason, int64_t tid)
{
	const struct kunwind_whole *old = find(wholes, key);
	struct kunwind_whole *whole;
	bool ok;

	if (old && old->nr == nr && old->reason == reason &&
	    !memcmp(old->address, wholes->address, nr * sizeof(*old->address)) &&
	    !memcmp(old->trust, wholes->trust, nr))
		return true;
	whole = malloc(sizeof(*whole) + nr * (sizeof(*whole->address) + 1));
	if (!whole)
		return false;
	*whole = (struct kunwind_whole){
		.users = 1, .nr = (uint32_t)nr, .reason = reason,
		.trust = (uint8_t *)(whole->address + nr),
	};
	memcpy(whole->address, wholes->address, nr * sizeof(*whole->address));
	memcpy(whole->trust, wholes->trust, nr);
	read_owner(whole, event);
	if (tid == ANY_TID)
		whole->tid = ANY_TID;
	wholes->known |= tid == ANY_TID || kunwind_event_is_whole(event);
	ok = set(wholes, key, whole);
	drop(whole);
	return ok;
}

bool kunwind_wholes_learn(struct kunwind_wholes *wholes, const void *trace, const bt_event *event)
{
	const bool user = kunwind_event_is_whole(event);
	struct node key = { .trace = trace, .kind = ID };
	struct kunwind_ust_value ust;
	size_t nr;
	int reason;

	if (!kunwind_event_defines(event))
		return true;
	if (kunwind_ust_value(event, &ust)) {
		key.id = ust.id;
		nr = kunwind_ust_addresses(&ust, wholes->address, KUNWIND_STACK_MAX, &reason);
		memset(wholes->trust, KUNWIND_TRUST_CFI, nr);
		return !nr || keep(wholes, &key, event, nr, reason, ANY_TID);
	}
	nr = kunwind_stack_read(event, "addresses", wholes->address);
	if (!nr || (user && !kunwind_stack_trust(event, wholes->trust, nr)))
		return true;
	if (!user)
		memset(wholes->trust, KUNWIND_TRUST_CFI, nr);
	id_of(event, &key.id);
	nr = add_shared(wholes, &key, event, nr);
	return !nr || keep(wholes, &key, event, nr, reason_of(event), 0);
}

struct kunwind_whole *kunwind_wholes_find(struct kunwind_wholes *wholes, const void *trace,
						const bt_event *event)
{
	struct node key = { .trace = trace, .kind = ID };

	id_of(event, &key.id);
	return find(wholes, &key);
}

struct kunwind_whole *kunwind_wholes_of_id(struct kunwind_wholes *wholes, const void *trace,
					   uint64_t id, int64_t tid)
{
	struct kunwind_whole *whole = find(wholes, &(struct node){ .trace = trace, .kind = ID, .id = id });

	return whole && (whole->tid == tid || whole->tid == ANY_TID) ? whole : NULL;
}

bool kunwind_wholes_note(struct kunwind_wholes *wholes, const void *trace, const bt_event *event,
			 struct kunwind_whole *whole)
{
	struct node key = { .trace = trace, .kind = TID };
	int64_t tgid, tid;

	if (!kunwind_field_integer(kunwind_event_field(event, "tgid"), &tgid) ||
	    !kunwind_field_integer(kunwind_event_field(event, "tid"), &tid))
		return true;
	key.id = (uint64_t)tgid;
	key.tid = (uint64_t)tid;
	if (!set(wholes, &key, whole))
		return false;
	if (!kunwind_field_integer(kunwind_event_field(event, "vtid"), &tid))
		return true;
	key.kind = OWN_TID;
	key.tid = (uint64_t)tid;
	return set(wholes, &key, whole);
}

const struct kunwind_whole *kunwind_wholes_latest(struct kunwind_wholes *wholes, const void *trace,
						  int64_t pid, int64_t tid, bool own_number)
{
	return find(wholes, &(struct node){ .trace = trace, .kind = own_number ? OWN_TID : TID,
					    .id = (uint64_t)pid, .tid = (uint64_t)tid });
}

bool kunwind_wholes_known(const struct kunwind_wholes *wholes)
{
	return wholes->known;
}
