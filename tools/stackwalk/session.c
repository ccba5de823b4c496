// SPDX-License-Identifier: MIT
/*
 * session.c - start the walker, give it files, and keep its stacks; see session.h
 *
 * The dump is not read here. Paths of modules come from the dump: libkunwind-symbolize opens
 * them in a process of its own, and takes only files with the right build-id. For a module
 * without a build-id, it sends the file of that path, and the walker compares the headers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "lend.h"
#include "session.h"
#include "tool.h"
#include "wire.h"

#define PROGRAM		"/proc/self/exe"	/* this program has the walker, too */
#define LIMIT_MS	8000			/* of processor time, between two packets */

union packet {
	uint32_t type;
	struct stackwalk_error error;
	struct stackwalk_dump dump;
	struct stackwalk_module module;
	struct stackwalk_thread thread;
	struct stackwalk_frames frames;
	struct stackwalk_end end;
	struct stackwalk_want want;
	struct stackwalk_met met;
	struct stackwalk_interpreter interpreter;
	struct stackwalk_function function;
};

struct conversation {
	struct stackwalk_session *session;
	const struct session_options *options;
	const char *name;
	struct kunwind_child child;
	bool in_thread, done;
	union packet packet;
	size_t len;
};

static bool bad(const struct conversation *conversation, const char *what)
{
	kunwind_tool_error("%s: %s", conversation->name, what);
	return false;
}

static bool no_memory(void)
{
	kunwind_tool_error("out of memory");
	return false;
}

static void hex(const uint8_t *id, uint32_t len, char *text)
{
	uint32_t i;

	*text = 0;
	for (i = 0; i < len && i < DUMP_BUILD_ID; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
}

/* Makes the object of the module. False: out of memory. */
static bool make_object(struct stackwalk_session *session, struct session_module *module)
{
	char id[2 * DUMP_BUILD_ID + 1];

	if (module->object)
		return true;
	/* found by its path: its inode stands for the build-id */
	hex(module->of.build_id, module->inode ? 0 : module->of.build_id_len, id);
	module->object = kunwind_symbolizer_object(session->symbolizer,
						   module->path ? module->path : module->of.path, id,
						   module->inode);
	return module->object;
}

/* Sends the file of the module's object, if it has the module's build-id. */
static bool lend_object(struct conversation *conversation, struct session_module *module,
			const struct wire_request *message)
{
	return make_object(conversation->session, module) &&
	       kunwind_object_lend(module->object, conversation->child.socket, message, &module->why);
}

/* Sends the file that was given for the module. */
static bool lend_given(struct conversation *conversation, struct session_module *module,
		       const struct wire_request *message)
{
	const char *const *file = module->of.build_id_len ? conversation->options->files : NULL;

	for (; file && *file; file++) {
		module->path = *file;
		module->object = NULL;
		if (lend_object(conversation, module, message))
			return true;
	}
	module->path = NULL;
	module->object = NULL;
	return false;
}

/* Sends the file at the path, below the directories first. */
static bool lend_path(struct conversation *conversation, struct session_module *module,
		      const struct wire_request *message)
{
	const struct kunwind_symbolizer_options *options = &conversation->options->symbols;
	struct kunwind_symbolizer *symbolizer = conversation->session->symbolizer;
	const char *const *dir;
	char path[2 * DUMP_PATH];
	uint64_t inode;

	module->why = "no such file";
	if (*module->of.path != '/')
		return false;
	if (!module->of.has_header && !module->of.build_id_len) {
		module->why = "its build-id is not in the dump";
		return false;
	}
	for (dir = options->debug_dirs; dir && *dir; dir++)
		if (snprintf(path, sizeof(path), "%s%s", *dir, module->of.path) < (int)sizeof(path) &&
		    kunwind_path_lend(symbolizer, path, conversation->child.socket, message, &inode,
				      &module->why))
			return true;
	return !(options->flags & KUNWIND_NO_LOCAL) &&
	       kunwind_path_lend(symbolizer, module->of.path, conversation->child.socket, message,
				 &module->inode, &module->why);
}

/* In a minidump, 16 bytes may be a hash of the code. */
static bool may_lack_build_id(const struct stackwalk_session *session, const struct session_module *module)
{
	return !module->of.build_id_len || (session->dump.format == DUMP_MINIDUMP &&
					    module->of.build_id_len == DUMP_TEXT_HASH);
}

static bool answer_want(struct conversation *conversation)
{
	struct stackwalk_session *session = conversation->session;
	const uint32_t id = conversation->packet.want.id;
	struct wire_request message = { .type = STACKWALK_FILE, .id = id, .flags = STACKWALK_PROVED };
	struct session_module *module;

	if (id >= session->nr_modules)
		return bad(conversation, "the walker contradicts itself");
	module = &session->module[id];
	module->wanted = true;
	module->found = lend_given(conversation, module, &message) ||
			(module->of.build_id_len && lend_object(conversation, module, &message));
	if (!module->found && may_lack_build_id(session, module)) {
		message.flags = STACKWALK_PATH;
		module->object = NULL;
		module->found = lend_path(conversation, module, &message);
	}
	if (module->found)
		return true;
	message.flags = STACKWALK_NONE;
	return wire_send(conversation->child.socket, &message, sizeof(message), NULL, 0) ||
	       bad(conversation, "the walker has ended");
}

static bool take_dump(struct conversation *conversation)
{
	struct stackwalk_session *session = conversation->session;
	const struct stackwalk_dump *dump = &conversation->packet.dump;

	if (session->module || dump->nr_modules > DUMP_MOST_MODULES || dump->nr_threads > DUMP_MOST_THREADS)
		return bad(conversation, "the walker contradicts itself");
	session->dump = *dump;
	session->dump.command[DUMP_NAME - 1] = 0;
	if (session->dump.crash.thread >= dump->nr_threads)
		session->dump.crash.has_thread = false;
	session->module = calloc(dump->nr_modules + 1UL, sizeof(*session->module));
	session->thread = calloc(dump->nr_threads + 1UL, sizeof(*session->thread));
	return (session->module && session->thread) || no_memory();
}

static bool take_module(struct conversation *conversation)
{
	struct stackwalk_session *session = conversation->session;
	struct stackwalk_module *module = &conversation->packet.module;

	if (session->nr_modules >= session->dump.nr_modules || module->build_id_len > DUMP_BUILD_ID)
		return bad(conversation, "the walker contradicts itself");
	module->path[DUMP_PATH - 1] = 0;
	module->package[DUMP_PACKAGE] = 0;
	session->module[session->nr_modules++].of = *module;
	return true;
}

static bool take_thread(struct conversation *conversation)
{
	struct stackwalk_session *session = conversation->session;
	struct session_thread *thread;

	if (conversation->in_thread || session->nr_threads >= session->dump.nr_threads)
		return bad(conversation, "the walker contradicts itself");
	conversation->in_thread = true;
	thread = &session->thread[session->nr_threads++];
	thread->of = conversation->packet.thread;
	thread->of.name[DUMP_NAME - 1] = 0;
	return true;
}

static bool take_frames(struct conversation *conversation)
{
	const struct stackwalk_frames *frames = &conversation->packet.frames;
	struct stackwalk_session *session = conversation->session;
	struct session_thread *thread = &session->thread[session->nr_threads - 1];
	struct stackwalk_frame *more;
	size_t room;

	if (!conversation->in_thread || frames->nr > STACKWALK_FRAMES_MOST ||
	    conversation->len != offsetof(struct stackwalk_frames, frame) + frames->nr * sizeof(*more))
		return bad(conversation, "the walker contradicts itself");
	if (thread->nr + frames->nr > thread->room) {
		room = 2 * thread->room + frames->nr;
		more = realloc(thread->frame, room * sizeof(*more));
		if (!more)
			return no_memory();
		thread->frame = more;
		thread->room = room;
	}
	memcpy(thread->frame + thread->nr, frames->frame, frames->nr * sizeof(*more));
	thread->nr += frames->nr;
	return true;
}

static bool take_end(struct conversation *conversation)
{
	static const char *const whys[DUMP_NR_WHY] = {
		[DUMP_WHY_CUT] = "the report was cut off", [DUMP_WHY_DEADLINE] = "no time was left",
		[DUMP_WHY_CRASHED] = "the report crashed in this stack",
		[DUMP_WHY_NOT_PERMITTED] = "it could not be traced",
		[DUMP_WHY_NOT_STOPPED] = "it did not stop in time",
	};
	struct stackwalk_session *session = conversation->session;
	struct session_thread *thread = &session->thread[session->nr_threads - 1];
	const struct stackwalk_end *end = &conversation->packet.end;

	if (!conversation->in_thread || end->reason >= KUNWIND_NR_REASONS || end->why >= DUMP_NR_WHY ||
	    end->interpreter >= STACKWALK_NR_LACKS)
		return bad(conversation, "the walker contradicts itself");
	thread->note = whys[end->why];
	thread->lack = end->interpreter;
	conversation->in_thread = false;
	thread->reason = (enum kunwind_reason)end->reason;
	thread->missing = end->missing;
	return true;
}

static bool take_met(struct conversation *conversation)
{
	const struct stackwalk_met *met = &conversation->packet.met;
	struct stackwalk_session *session = conversation->session;
	struct session_module *module;

	if (met->id >= session->nr_modules)
		return bad(conversation, "the walker contradicts itself");
	module = &session->module[met->id];
	module->of.bias = met->bias;
	module->of.biased = true;
	if (module->found && !met->matched) {
		module->found = false;
		module->inode = 0;
		module->object = NULL;
		module->why = "another file is there now";
	}
	return true;
}

static bool take_interpreter(struct conversation *conversation)
{
	struct stackwalk_interpreter *from = &conversation->packet.interpreter;
	struct stackwalk_session *session = conversation->session;
	struct session_interp interp = { .found = true, .bias = from->bias };

	from->why[sizeof(from->why) - 1] = 0;
	if (from->module >= session->nr_modules || session->module[from->module].refused ||
	    (from->found && kunwind_interp_check(&from->python.desc, &interp.interp)))
		return bad(conversation, "the walker contradicts itself");
	if (!from->found) {
		session->module[from->module].refused = strdup(from->why);
		return session->module[from->module].refused || no_memory();
	}
	if (!session->interp.found)
		session->interp = interp;
	return true;
}

static bool take_function(struct conversation *conversation)
{
	struct python_frame *from = &conversation->packet.function.of;
	struct stackwalk_session *session = conversation->session;
	struct session_function *more;
	uint32_t room;

	if (session->nr_functions >= STACKWALK_FUNCTIONS_MOST)
		return bad(conversation, "the walker contradicts itself");
	if (session->nr_functions == session->room_functions) {
		room = 2 * session->room_functions + 64;
		more = realloc(session->function, room * sizeof(*more));
		if (!more)
			return no_memory();
		session->function = more;
		session->room_functions = room;
	}
	from->name[sizeof(from->name) - 1] = from->file[sizeof(from->file) - 1] = 0;
	more = &session->function[session->nr_functions++];
	*more = (struct session_function){ strdup(from->name), strdup(from->file), from->line };
	return (more->name && more->file) || no_memory();
}

static bool take_packet(struct conversation *conversation)
{
	const union packet *packet = &conversation->packet;
	static const struct {
		size_t size;		/* 0: take_frames() checks it */
		bool (*take)(struct conversation *conversation);
	} kinds[] = {
		[STACKWALK_DUMP] = { sizeof(packet->dump), take_dump },
		[STACKWALK_MODULE] = { sizeof(packet->module), take_module },
		[STACKWALK_THREAD] = { sizeof(packet->thread), take_thread },
		[STACKWALK_FRAMES] = { 0, take_frames },
		[STACKWALK_END] = { sizeof(packet->end), take_end },
		[STACKWALK_WANT] = { sizeof(packet->want), answer_want },
		[STACKWALK_MET] = { sizeof(packet->met), take_met },
		[STACKWALK_INTERPRETER] = { sizeof(packet->interpreter), take_interpreter },
		[STACKWALK_FUNCTION] = { sizeof(packet->function), take_function },
	};

	if (packet->type == STACKWALK_ERROR && conversation->len == sizeof(packet->error)) {
		conversation->packet.error.text[sizeof(packet->error.text) - 1] = 0;
		return bad(conversation, packet->error.text);
	}
	if (packet->type == STACKWALK_DONE) {
		conversation->done = !conversation->in_thread;
		return conversation->done || bad(conversation, "the walker contradicts itself");
	}
	if (packet->type >= sizeof(kinds) / sizeof(kinds[0]) || !kinds[packet->type].take ||
	    (kinds[packet->type].size && kinds[packet->type].size != conversation->len) ||
	    (packet->type != STACKWALK_DUMP && !conversation->session->module))
		return bad(conversation, "the walker contradicts itself");
	return kinds[packet->type].take(conversation);
}

static bool converse(struct conversation *conversation)
{
	ssize_t got;

	while (!conversation->done) {
		if (kunwind_child_wait(&conversation->child, LIMIT_MS) != KUNWIND_WAITED)
			return bad(conversation, "to read this file took too long");
		got = wire_receive(conversation->child.socket, &conversation->packet,
				   sizeof(conversation->packet), NULL);
		if (got < (ssize_t)sizeof(uint32_t))
			return bad(conversation,
				   "the walker died of this file, or reached its limit on time or memory");
		conversation->len = (size_t)got;
		if (!take_packet(conversation))
			return false;
	}
	return true;
}

bool session_walk(struct stackwalk_session *session, const struct session_options *options, int fd,
		  const char *name)
{
	static struct conversation conversation;
	const struct kunwind_program program = { .given = PROGRAM };
	const struct wire_request start = { .type = STACKWALK_START, .id = options->most,
					    .flags = options->guess ? STACKWALK_GUESS : 0 };
	char *args[] = { (char *)"kunwind-stackwalk", (char *)"--walker", NULL };
	bool ok;

	memset(session, 0, sizeof(*session));
	conversation = (struct conversation){ .session = session, .options = options, .name = name };
	session->symbolizer = kunwind_symbolizer_new(&options->symbols);
	if (!session->symbolizer)
		return no_memory();
	if (!kunwind_child_start(&conversation.child, &program, args)) {
		kunwind_tool_error("cannot start the walker: %s", strerror(errno));
		return false;
	}
	ok = (wire_send(conversation.child.socket, &start, sizeof(start), &fd, 1) ||
	      bad(&conversation, "the walker does not start")) && converse(&conversation);
	kunwind_child_stop(&conversation.child);
	return ok;
}

void session_free(struct stackwalk_session *session)
{
	uint32_t i;

	for (i = 0; i < session->nr_threads; i++)
		free(session->thread[i].frame);
	for (i = 0; i < session->nr_modules; i++)
		free(session->module[i].refused);
	for (i = 0; i < session->nr_functions; i++) {
		free(session->function[i].name);
		free(session->function[i].file);
	}
	free(session->function);
	free(session->thread);
	free(session->module);
	if (session->symbolizer)
		kunwind_symbolizer_free(session->symbolizer);
}

const struct session_module *session_module(const struct stackwalk_session *session,
					    const struct stackwalk_frame *frame)
{
	return frame->trust != STACKWALK_INTERPRETED && frame->module < session->nr_modules ?
		       &session->module[frame->module] : NULL;
}

const char *session_path(const struct session_module *module)
{
	return *module->of.path || !module->path ? module->of.path : module->path;
}

const char *session_lack(const struct session_thread *thread)
{
	static const char *const lacks[STACKWALK_NR_LACKS] = {
		[KUNWIND_INTERP_NO_STATE] = "the interpreter does not know the thread",
		[KUNWIND_INTERP_UNSETTLED_CODE] = "a call is just being made",
		[KUNWIND_INTERP_BAD_KEY] = "its thread-specific data has too many keys",
		[KUNWIND_INTERP_UNREADABLE] = "memory of the interpreter is not there",
		[KUNWIND_INTERP_SPOILT] = "its list of calls is damaged",
		[KUNWIND_INTERP_TORN] = "its list of calls is just being changed",
		[KUNWIND_INTERP_BUDGET] = "its list of calls is too long",
		[KUNWIND_INTERP_FULL] = "there are too many",
		[KUNWIND_INTERP_NATIVE] = "the native frames that run them are not known",
		[STACKWALK_LACKS_FS] = "fs_base is not known",
	};

	return thread->lack < STACKWALK_NR_LACKS ? lacks[thread->lack] : NULL;
}

/* Names a function of an interpreter. */
static void name_function(const struct stackwalk_session *session, const struct stackwalk_frame *frame,
			  struct kunwind_frame *named)
{
	static struct kunwind_function function;
	const struct session_function *from = frame->module < session->nr_functions ?
					      &session->function[frame->module] : NULL;

	function = (struct kunwind_function){ 0 };
	named->function = &function;
	named->nr_functions = 1;
	if (!from)
		return;
	function.name = *from->name ? from->name : NULL;
	function.file = *from->file ? from->file : NULL;
	function.line = from->line;
}

void session_name(const struct stackwalk_session *session, const struct stackwalk_frame *frame,
		  struct kunwind_frame *named)
{
	struct session_module *module = (struct session_module *)session_module(session, frame);
	uint64_t address;

	*named = (struct kunwind_frame){ .address = frame->ip };
	if (frame->trust == STACKWALK_INTERPRETED) {
		name_function(session, frame, named);
		return;
	}
	if (!module || !*session_path(module)) {
		named->why = module ? "the name of its file is not known" : "no code of a file";
		return;
	}
	if (!make_object((struct stackwalk_session *)session, module)) {
		named->why = "out of memory";
		return;
	}
	if (module->of.biased)
		address = frame->ip - module->of.bias;
	else if (!kunwind_object_address(module->object, frame->ip - module->of.image, &address)) {
		named->why = kunwind_object_why(module->object);
		return;
	}
	kunwind_object_resolve(module->object, address, frame->exact, named);
	named->address = frame->ip;
}

/* A line is "[<0>] do_poll+0x1b2/0x4c0". */
bool session_next_kernel(const char **text, char name[SESSION_KERNEL])
{
	const char *line = *text;
	bool found = false;

	while (!found && line && *line) {
		found = sscanf(line, "[<%*[^]]] %127[^/\n]", name) == 1;
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	*text = line;
	return found;
}
