// SPDX-License-Identifier: MIT
/*
 * walker.c - the process that reads the dump and walks its stacks, in a sandbox
 *
 * It can compute, read the dump, and answer (symbolize/helper_sandbox.c). It asks its parent
 * for the files of the modules that its walks meet, and for no others. A file that is not
 * known by a build-id must have the same ELF headers as the dump, or the same code. Without a
 * file, what the dump has of a module's memory takes its place: gcore can write all of it.
 *
 * Limits: MEMORY_MB of address space, SECONDS of processor time, MOST_FRAMES frames in all.
 * A stack that returns to a frame it has had ends with cfa_stuck.
 */
#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "helper.h"
#include "walker.h"
#include "wire.h"

#define MEMORY_MB	768
#define TABLES		(384UL << 20)	/* bytes */
#define SECONDS		8
#define MOST_FRAMES	1000000
#define MOST_FILES	900		/* open at a time: the sandbox allows 1,024 */
#define HEADERS		4096		/* bytes that must be the same without a build-id */
#define WHOLE		(64u << 10)	/* a module of this size that the dump has whole needs no file */

void walker_say(const void *message, size_t size)
{
	/* the parent has gone */
	if (!wire_send(WIRE_SOCKET, message, size, NULL, 0))
		_exit(1);
}

static int fail(const char *text)
{
	struct stackwalk_error error = { .type = STACKWALK_ERROR };

	snprintf(error.text, sizeof(error.text), "%s", text);
	walker_say(&error, sizeof(error));
	return 1;
}

/* ------------------------------------------------------------ files of modules */

static bool same_headers(const struct dump_process *dump, const struct dump_module *module, int fd)
{
	uint8_t there[HEADERS], here[HEADERS];
	size_t len = dump_memory(dump, module->image, there, sizeof(there));

	return module->has_header && len >= sizeof(Elf64_Ehdr) &&
	       pread(fd, here, len, 0) == (ssize_t)len && !memcmp(here, there, len);
}

static size_t read_descriptor(void *data, uint64_t offset, void *buf, size_t len)
{
	ssize_t got = (int64_t)offset < 0 ? -1 : pread(*(int *)data, buf, len, (off_t)offset);

	return got < 0 ? 0 : (size_t)got;
}

static bool same_text(const struct dump_process *dump, const struct dump_module *module, int fd)
{
	uint8_t hash[DUMP_TEXT_HASH];

	return dump->format == DUMP_MINIDUMP && module->build_id_len == sizeof(hash) &&
	       dump_text_hash(read_descriptor, &fd, hash) && !memcmp(hash, module->build_id, sizeof(hash));
}

/* Whether the dump has all of the module, as it has the vDSO. */
static bool is_whole(const struct dump_process *dump, const struct dump_module *module)
{
	const uint64_t size = module->end - module->start;
	bool whole = false;
	uint8_t *bytes;

	if (size > WHOLE)
		return false;
	bytes = malloc(size + 1);
	if (bytes)
		whole = dump_memory(dump, module->start, bytes, size) == size;
	free(bytes);
	return whole;
}

static int ask_file(struct walker *walker, uint32_t id)
{
	const struct stackwalk_want want = { STACKWALK_WANT, id };
	const struct dump_module *module = &walker->dump->module[id];
	struct wire_request answer;
	int fds[WIRE_FDS];

	if (walker->nr_files >= MOST_FILES)
		return -1;
	walker_say(&want, sizeof(want));
	if (wire_receive(WIRE_SOCKET, &answer, sizeof(answer), fds) != sizeof(answer) ||
	    answer.type != STACKWALK_FILE || answer.id != id)
		_exit(1);
	if (fds[1] >= 0)
		close(fds[1]);
	if (fds[0] >= 0 && answer.flags != STACKWALK_PROVED && !same_headers(walker->dump, module, fds[0]) &&
	    !same_text(walker->dump, module, fds[0])) {
		close(fds[0]);
		return -1;
	}
	walker->nr_files += fds[0] >= 0;
	return fds[0];
}

size_t walker_read_file(void *data, uint64_t offset, void *buf, size_t len)
{
	return read_descriptor(&((struct walked_module *)data)->fd, offset, buf, len);
}

static size_t read_header(void *data, uint64_t offset, void *buf, size_t len)
{
	const struct walked_module *walked = data;

	return dump_memory(walked->walker->dump, walked->walker->dump->module[walked->id].image + offset,
			   buf, len);
}

/* Section headers are not in memory, except by chance: the numbers of them become 0. */
static void hide_sections(const struct walked_module *walked, uint64_t offset, uint8_t *bytes, size_t len)
{
	const uint64_t shoff = walked->image.wide ? 40 : 32, shnum = walked->image.wide ? 60 : 48;
	size_t i;

	for (i = 0; i < len && offset + i < sizeof(Elf64_Ehdr); i++)
		if (offset + i - shoff < (walked->image.wide ? 8 : 4) || offset + i - shnum < 4)
			bytes[i] = 0;
}

static size_t read_memory_of(const struct walked_module *walked, uint64_t offset, void *buf, size_t len)
{
	const struct dump_process *dump = walked->walker->dump;
	const struct dump_module *module = &dump->module[walked->id];
	const struct dump_load *load = dump_image_at_offset(&walked->image, offset);
	uint64_t left;

	if (!load || !module->biased)
		return 0;
	left = load->filesz - (offset - load->offset);
	len = dump_memory(dump, module->bias + load->vaddr + (offset - load->offset), buf,
			  len < left ? len : (size_t)left);
	hide_sections(walked, offset, buf, len);
	return len;
}

/* Returns the module with its file, for which it asks once. NULL: out of memory. */
static struct walked_module *meet(struct walker *walker, uint32_t id)
{
	const struct dump_module *module = &walker->dump->module[id];
	struct walked_module *walked = walker->module[id];

	if (!walked) {
		walked = calloc(1, sizeof(*walked));
		if (!walked)
			return NULL;
		walked->fd = -1;
		walked->walker = walker;
		walked->id = id;
		walker->module[id] = walked;
	}
	if (walked->tried)
		return walked;
	walked->tried = true;
	if (!is_whole(walker->dump, module))
		walked->fd = ask_file(walker, id);
	walked->matched = walked->fd >= 0;
	walked->parsed = dump_image_parse(walked->matched ? walker_read_file : read_header, walked,
					  &walked->image);
	return walked;
}

/* For kunwind_unwinder_map_image(). */
static size_t read_image(void *data, uint64_t offset, void *buf, size_t len)
{
	struct walked_module *walked = data;

	if (!meet(walked->walker, walked->id))
		return 0;
	return walked->matched ? walker_read_file(walked, offset, buf, len) :
	       walked->parsed ? read_memory_of(walked, offset, buf, len) : 0;
}

/* Code and constants are not in the dump of most processes, because they are in the file. */
static size_t read_constant(struct walker *walker, uint64_t addr, void *buf, size_t len)
{
	const uint32_t id = dump_find_module(walker->dump, addr);
	const struct walked_module *walked;
	const struct dump_load *load;
	uint64_t vaddr, left;

	if (id == DUMP_NO_MODULE)
		return 0;
	walked = meet(walker, id);
	if (!walked || !walked->matched || !walked->parsed)
		return 0;
	vaddr = addr - dump_image_bias(&walked->image, walker->dump->module[walked->id].image);
	load = dump_image_at_vaddr(&walked->image, vaddr);
	if (!load || load->flags & PF_W)
		return 0;
	left = load->filesz - (vaddr - load->vaddr);
	return walker_read_file((void *)walked, load->offset + (vaddr - load->vaddr), buf,
				len < left ? len : (size_t)left);
}

/* For the walks. */
size_t walker_read_memory(void *data, uint64_t addr, void *buf, size_t len)
{
	struct walker *walker = data;
	size_t got = dump_memory(walker->dump, addr, buf, len);

	return got ? got : read_constant(walker, addr, buf, len);
}

/* ------------------------------------------------------------ walks */

static bool add_mapping(struct walker *walker, const struct dump_mapping *mapping)
{
	const struct dump_module *module;
	struct walked_module *walked;
	struct kunwind_image image;

	if (mapping->module == DUMP_NO_MODULE)
		return !kunwind_unwinder_map(walker->unwinder, mapping->start, mapping->end, 0, NULL);
	module = &walker->dump->module[mapping->module];
	walked = walker->module[mapping->module];
	if (!walked) {
		walked = calloc(1, sizeof(*walked));
		if (!walked)
			return false;
		*walked = (struct walked_module){ .fd = -1, .walker = walker, .id = mapping->module };
		walker->module[mapping->module] = walked;
	}
	image = (struct kunwind_image){ .at = module->image, .read = read_image, .data = walked };
	return !kunwind_unwinder_map_image(walker->unwinder, mapping->start, mapping->end, &image);
}

static bool make_unwinder(struct walker *walker, bool guess)
{
	const struct dump_process *dump = walker->dump;
	uint32_t i;

	walker->module = calloc(dump->nr_modules + 1, sizeof(struct walked_module *));
	walker->unwinder = kunwind_unwinder_new(KUNWIND_UNWINDER_OTHER | (guess ? KUNWIND_UNWINDER_GUESS : 0),
						TABLES);
	if (!walker->module || !walker->unwinder)
		return false;
	for (i = 0; i < dump->nr_mappings; i++)
		if (!add_mapping(walker, &dump->mapping[i]))
			return false;
	kunwind_unwinder_start(walker->unwinder, dump->auxv.entry, dump->auxv.base, dump->start_sp);
	return !kunwind_unwinder_refresh(walker->unwinder);
}

static void send_frames(struct stackwalk_frames *frames)
{
	if (frames->nr)
		walker_say(frames, offsetof(struct stackwalk_frames, frame) +
					   frames->nr * sizeof(frames->frame[0]));
	frames->nr = 0;
}

static void send_frame(struct stackwalk_frames *frames, const struct stackwalk_frame *frame)
{
	frames->frame[frames->nr++] = *frame;
	if (frames->nr == STACKWALK_FRAMES_MOST)
		send_frames(frames);
}

/* Finds a frame that comes again (Brent): a power of two of frames after it was kept. */
struct cycle {
	uint64_t ip, sp, nr, next;
};

static bool comes_again(struct cycle *cycle, const struct kunwind_stack_frame *frame)
{
	if (cycle->nr && frame->ip == cycle->ip && frame->sp == cycle->sp)
		return true;
	if (cycle->nr++ >= cycle->next) {
		cycle->next = 2 * cycle->nr;
		cycle->ip = frame->ip;
		cycle->sp = frame->sp;
	}
	return false;
}

/* A walk of a thread, and what was found. */
struct thread_walk {
	struct kunwind_stack_walk walk;
	struct thread_stack stack;
	struct stackwalk_end end;
	struct cycle cycle;
};

/* False: out of memory. */
static bool add_frame(struct walker *walker, struct thread_stack *stack,
		      const struct kunwind_stack_frame *frame)
{
	const struct dump_mapping *mapping = dump_find_mapping(walker->dump, frame->ip - !frame->exact);
	struct stackwalk_frame *more;

	if (stack->nr == stack->room) {
		more = realloc(stack->native, (2 * stack->room + 64) * sizeof(*more));
		if (!more)
			return false;
		stack->native = more;
		stack->room = 2 * stack->room + 64;
	}
	stack->native[stack->nr++] = (struct stackwalk_frame){
		.ip = frame->ip, .sp = frame->sp, .trust = frame->trust, .exact = frame->exact,
		.module = mapping ? mapping->module : DUMP_NO_MODULE,
	};
	walker->frames++;
	return true;
}

/* @trust: of the first frame. */
static void walk_from(struct walker *walker, struct thread_walk *of, const struct kunwind_registers *regs,
		      uint8_t trust)
{
	struct kunwind_stack_frame frame;

	of->end.reason = KUNWIND_REG_UNKNOWN;
	if (kunwind_walk_begin_regs(&of->walk, walker->unwinder, regs, walker_read_memory, walker))
		return;
	while ((!walker->most || of->stack.nr < walker->most) && walker->frames < MOST_FRAMES) {
		if (!kunwind_walk_next(&of->walk, &frame)) {
			of->end.reason = kunwind_walk_reason(&of->walk);
			of->end.missing = kunwind_walk_missing(&of->walk);
			return;
		}
		of->end.reason = KUNWIND_CFA_STUCK;
		if (comes_again(&of->cycle, &frame))
			return;
		if (trust)
			frame.trust = trust;
		trust = 0;
		if (!add_frame(walker, &of->stack, &frame))
			break;
	}
	of->end.reason = KUNWIND_BUFFER_FULL;
}

/* Whether an indirect call of 32-bit code ends at the end of seven bytes, or a direct one. */
static bool ends_with_call(const uint8_t code[7])
{
	uint32_t len;

	if (code[2] == 0xe8)
		return true;
	for (len = 2; len <= 7; len++) {
		const uint8_t *at = code + 7 - len;
		const uint32_t mod = at[1] >> 6, rm = at[1] & 7, has_sib = mod != 3 && rm == 4;
		const uint32_t disp = mod == 1 ? 1 : mod == 2 || (!mod && rm == 5) ? 4 : 0;

		if (at[0] == 0xff && (at[1] >> 3 & 7) == 2 && len == 2 + has_sib + disp)
			return true;
	}
	return false;
}

/*
 * A call through a pointer that leads nowhere has pushed its return address: the walk goes on
 * there. (The walk of 64-bit code does this itself.)
 */
static void walk_from_caller(struct walker *walker, struct thread_walk *of, const struct dump_thread *thread)
{
	struct kunwind_registers regs = thread->regs;
	uint64_t caller;
	uint8_t code[7];

	if (!walker->dump->i386 || of->stack.nr != 1 || of->end.reason != KUNWIND_NO_OBJECT ||
	    dump_find_mapping(walker->dump, regs.r[16]) || !dump_word(walker->dump, regs.r[7], &caller) ||
	    !dump_find_mapping(walker->dump, caller - 1) ||
	    walker_read_memory(walker, caller - sizeof(code), code, sizeof(code)) != sizeof(code) ||
	    !ends_with_call(code))
		return;
	regs.r[16] = caller;
	regs.r[7] += 4;
	regs.flags |= KUNWIND_REGISTERS_CALLED;
	walk_from(walker, of, &regs, KUNWIND_TRUST_CODE);
}

/* Sends the frames; those of an interpreter before the native frame that runs them. */
static void send_stack(struct walker *walker, const struct thread_stack *stack, struct stackwalk_end *end)
{
	static struct stackwalk_frames frames = { .type = STACKWALK_FRAMES };
	uint64_t left = walker->most ? walker->most : UINT64_MAX;
	uint32_t inner = 0;
	size_t i;

	for (i = 0; i < stack->nr && left; i++) {
		for (; inner < stack->nr_inner && stack->inner[inner].native == i && left; inner++, left--) {
			const struct stackwalk_frame frame = {
				.ip = stack->inner[inner].id, .sp = stack->native[i].sp, .exact = true,
				.trust = STACKWALK_INTERPRETED, .module = stack->function[inner],
			};

			send_frame(&frames, &frame);
			walker->frames++;
		}
		if (!left)
			break;
		send_frame(&frames, &stack->native[i]);
		left--;
	}
	send_frames(&frames);
	if (i < stack->nr)
		end->reason = KUNWIND_BUFFER_FULL;
}

static void walk_thread(struct walker *walker, const struct dump_thread *thread)
{
	static struct thread_walk of;

	of.end = (struct stackwalk_end){ .type = STACKWALK_END, .reason = KUNWIND_REG_UNKNOWN };
	of.cycle = (struct cycle){ 0 };
	of.stack.nr = of.stack.nr_inner = 0;
	walker->thread = thread;
	if (thread->known) {
		walk_from(walker, &of, &thread->regs, 0);
		walk_from_caller(walker, &of, thread);
		of.stack.complete = of.end.reason == KUNWIND_COMPLETE;
		of.end.interpreter = walker_find_interpreted(walker, &of.stack);
	}
	send_stack(walker, &of.stack, &of.end);
	walker_say(&of.end, sizeof(of.end));
}

/* The frames of a report. */
static void send_thread(struct walker *walker, const struct dump_thread *thread)
{
	const struct dump_process *dump = walker->dump;
	static struct stackwalk_frames frames = { .type = STACKWALK_FRAMES };
	struct stackwalk_end end = { .type = STACKWALK_END, .reason = thread->reason,
				     .missing = thread->missing, .why = thread->why };
	uint32_t i;

	for (i = 0; i < thread->nr_frames; i++) {
		const struct dump_frame *from = &dump->frame[thread->first_frame + i];

		if (walker->most && i == walker->most) {
			end.reason = KUNWIND_BUFFER_FULL;
			break;
		}
		frames.frame[frames.nr++] = (struct stackwalk_frame){
			.ip = from->ip, .sp = from->sp, .trust = from->trust, .exact = from->exact,
			.module = dump_find_module(dump, from->ip - !from->exact),
		};
		if (frames.nr == STACKWALK_FRAMES_MOST)
			send_frames(&frames);
	}
	send_frames(&frames);
	walker_say(&end, sizeof(end));
}

/* Lets the parent find the files of all modules, for the names: a report has only those of its frames. */
static void want_all(struct walker *walker)
{
	uint32_t i;
	int fd;

	for (i = 0; i < walker->dump->nr_modules; i++) {
		fd = ask_file(walker, i);
		if (fd >= 0)
			close(fd);
		walker->nr_files = 0;
	}
}

/* ------------------------------------------------------------ what the dump says */

static void send_dump(const struct dump_process *dump)
{
	struct stackwalk_dump message = {
		.type = STACKWALK_DUMP, .format = dump->format, .i386 = dump->i386,
		.truncated = dump->truncated, .missing = dump->missing, .pid = dump->pid,
		.nr_modules = dump->nr_modules, .nr_threads = dump->nr_threads, .crash = dump->crash,
	};
	const struct dump_mapping *mapping;
	uint32_t i;

	memcpy(message.command, dump->command, sizeof(message.command));
	mapping = dump->auxv.entry ? dump_find_mapping(dump, dump->auxv.entry) : NULL;
	message.main_module = mapping ? mapping->module : DUMP_NO_MODULE;
	walker_say(&message, sizeof(message));
	for (i = 0; i < dump->nr_modules; i++) {
		const struct dump_module *module = &dump->module[i];
		static struct stackwalk_module one;

		memset(&one, 0, sizeof(one));
		one = (struct stackwalk_module){
			.type = STACKWALK_MODULE, .id = i, .start = module->start, .end = module->end,
			.image = module->image, .bias = module->bias, .biased = module->biased,
			.has_header = module->has_header, .deleted = module->deleted,
			.build_id_len = module->build_id_len,
		};
		memcpy(one.build_id, module->build_id, sizeof(one.build_id));
		snprintf(one.path, sizeof(one.path), "%s", module->path);
		snprintf(one.package, sizeof(one.package), "%s", module->package ? module->package : "");
		walker_say(&one, sizeof(one));
	}
}

/* Says of each module that a walk has met where it is, and whether its file was the right one. */
static void send_met(const struct walker *walker)
{
	uint32_t i;

	for (i = 0; i < walker->dump->nr_modules; i++) {
		const struct walked_module *walked = walker->module[i];
		struct stackwalk_met met = { .type = STACKWALK_MET, .id = i };

		if (!walked || !walked->tried || !walked->parsed)
			continue;
		met.matched = walked->matched;
		met.bias = dump_image_bias(&walked->image, walker->dump->module[i].image);
		walker_say(&met, sizeof(met));
	}
}

static int serve(int fd, const struct wire_request *start)
{
	const uint32_t done = STACKWALK_DONE;
	struct walker walker = { .most = start->id };
	uint32_t i;

	walker.dump = dump_open(fd);
	if (!walker.dump)
		return fail("out of memory");
	if (*walker.dump->error)
		return fail(walker.dump->error);
	if (!make_unwinder(&walker, start->flags & STACKWALK_GUESS))
		return fail("out of memory, or its mappings contradict each other");
	send_dump(walker.dump);
	for (i = 0; i < walker.dump->nr_threads; i++) {
		const struct dump_thread *thread = &walker.dump->thread[i];
		struct stackwalk_thread message = { .type = STACKWALK_THREAD, .tid = thread->tid,
						    .known = thread->known, .regs = thread->regs };

		memcpy(message.name, thread->name, sizeof(message.name));
		walker_say(&message, sizeof(message));
		if (walker.dump->format == DUMP_REPORT)
			send_thread(&walker, thread);
		else
			walk_thread(&walker, thread);
	}
	if (walker.dump->format == DUMP_REPORT)
		want_all(&walker);
	send_met(&walker);
	walker_say(&done, sizeof(done));
	return 0;
}

int stackwalk_serve(void)
{
	const struct itimerval limit = { .it_value.tv_sec = SECONDS };
	const char *failed = kunwind_sandbox_enter(MEMORY_MB);
	struct wire_request request;
	int fds[WIRE_FDS];

	if (failed) {
		fprintf(stderr, "kunwind stackwalk: cannot set %s\n", failed);
		return 1;
	}
	signal(SIGINT, SIG_IGN);
	setitimer(ITIMER_PROF, &limit, NULL);
	if (wire_receive(WIRE_SOCKET, &request, sizeof(request), fds) != sizeof(request) ||
	    request.type != STACKWALK_START || fds[0] < 0)
		return 1;
	return serve(fds[0], &request);
}
