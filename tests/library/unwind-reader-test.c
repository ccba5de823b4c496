// SPDX-License-Identifier: MIT
/*
 * unwind-reader-test.c - walks with given registers and a function that reads memory: of another
 * process, of a copied chunk of a stack that grows on demand, of a 32-bit process; with random
 * registers and memory
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unwind-stack.h"

static struct kunwind_stack_walk walk;
static pid_t child;

static size_t read_child(void *data, uint64_t addr, void *buf, size_t len)
{
	struct iovec here = { buf, len }, there = { (void *)addr, len };
	ssize_t got = process_vm_readv(child, &here, 1, &there, 1, 0);

	(void)data;
	return got < 0 ? 0 : got;
}

/* Adds the executable mappings of the child. */
static struct kunwind_unwinder *unwinder_of_child(void)
{
	struct kunwind_unwinder *unwinder = kunwind_unwinder_new(KUNWIND_UNWINDER_OTHER, 0);
	char path[64], line[4500], mode[5], name[4097];
	unsigned long start, end, offset;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", child);
	maps = fopen(path, "r");
	while (unwinder && maps && fgets(line, sizeof(line), maps)) {
		*name = 0;
		if (sscanf(line, "%lx-%lx %4s %lx %*s %*s %4096[^\n]", &start, &end, mode, &offset,
			   name) >= 4 &&
		    mode[2] == 'x' && (long)start > 0)
			kunwind_unwinder_map(unwinder, start, end, offset, *name == '/' ? name : NULL);
	}
	if (maps)
		fclose(maps);
	kunwind_unwinder_refresh(unwinder);
	return unwinder;
}

static void registers_of_child(struct kunwind_registers *regs)
{
	struct user_regs_struct user;

	ptrace(PTRACE_GETREGS, child, NULL, &user);
	*regs = (struct kunwind_registers){
		.r = { user.rax, user.rdx, user.rcx, user.rbx, user.rsi, user.rdi, user.rbp, user.rsp,
		       user.r8, user.r9, user.r10, user.r11, user.r12, user.r13, user.r14, user.r15,
		       user.rip },
		.valid = (1U << KUNWIND_NR_REGISTERS) - 1, .fs_base = user.fs_base,
	};
}

static void stop(void)
{
	raise(SIGSTOP);
}

/* The same without a frame of libc. */
static void stop_here(void)
{
	long pid, done;

	__asm__ __volatile__("syscall" : "=a"(pid) : "0"(SYS_getpid) : "rcx", "r11", "memory");
	__asm__ __volatile__("syscall" : "=a"(done) : "0"(SYS_kill), "D"(pid), "S"(SIGSTOP)
			     : "rcx", "r11", "memory");
}

/* Starts @program, or this one, which calls @last in deeper(), and waits until it has stopped itself. */
static bool start(const char *program, int depth, void (*last)(void))
{
	int status;

	child = fork();
	if (!child) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		if (program)
			execl(program, program, NULL);
		else
			deeper(depth, last);
		_exit(1);
	}
	waitpid(child, &status, 0);
	if (program && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP) {	/* the exec */
		ptrace(PTRACE_CONT, child, NULL, NULL);
		waitpid(child, &status, 0);
	}
	return WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP;
}

static void finish(void)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* The child has noted its return addresses. Returns the frame after raise() and stop(). */
static int take_truth(int nr)
{
	int from = 0;

	read_child(NULL, (uint64_t)stack_true, stack_true, sizeof(stack_true));
	read_child(NULL, (uint64_t)&stack_depth, &stack_depth, sizeof(stack_depth));
	while (from < nr && stack_seen[from] != stack_true[stack_depth - 1])
		from++;
	return from;
}

struct chunk {
	uint64_t at, len;
	unsigned char bytes[1 << 18];
};

static size_t read_chunk(void *data, uint64_t addr, void *buf, size_t len)
{
	const struct chunk *chunk = data;

	if (addr < chunk->at || addr - chunk->at >= chunk->len)
		return 0;
	if (len > chunk->len - (addr - chunk->at))
		len = chunk->len - (addr - chunk->at);
	memcpy(buf, chunk->bytes + (addr - chunk->at), len);
	return len;
}

static void test_chunk(struct kunwind_unwinder *unwinder, const struct kunwind_registers *regs,
		       const uint64_t *all, int nr)
{
	static struct chunk chunk;
	struct kunwind_stack_frame frame;
	uint64_t missing, last_missing = 0;
	int n = 0, same = 0, more = 0, grows = 0;

	chunk.at = regs->r[7];
	chunk.len = read_child(NULL, chunk.at, chunk.bytes, 200);
	kunwind_walk_begin_regs(&walk, unwinder, regs, read_chunk, &chunk);
	for (;;) {
		while (kunwind_walk_next(&walk, &frame)) {
			same += n < nr && frame.ip == all[n];
			n++;
		}
		missing = kunwind_walk_missing(&walk);
		if (!missing || more > 1000)
			break;
		more++;
		grows += missing >= chunk.at + chunk.len - 8 && missing >= last_missing;
		last_missing = missing;
		chunk.len += read_child(NULL, chunk.at + chunk.len, chunk.bytes + chunk.len, 96);
	}
	tap_ok(n == nr && same == nr && kunwind_walk_reason(&walk) == KUNWIND_COMPLETE,
	       "a chunk that grows: the same frames (%d of %d, reason %d)", same, nr,
	       kunwind_walk_reason(&walk));
	tap_ok(more > 20 && grows == more,
	       "the walk says each time from where on it needs more (%d times)", more);
	chunk.len = 200;
	kunwind_walk_begin_regs(&walk, unwinder, regs, read_chunk, &chunk);
	n = stack_walk(&walk);
	tap_ok(n > 1 && n < nr && kunwind_walk_reason(&walk) == KUNWIND_UNREADABLE &&
	       !kunwind_walk_next(&walk, &frame) && kunwind_walk_reason(&walk) == KUNWIND_UNREADABLE,
	       "a chunk that does not grow: the first frames, and unreadable");
}

static void test_process(void)
{
	struct kunwind_unwinder *unwinder;
	struct kunwind_registers regs;
	static uint64_t all[STACK_MOST];
	int nr, from;

	if (!tap_ok(start(NULL, 100, stop), "a child stops"))
		return;
	unwinder = unwinder_of_child();
	registers_of_child(&regs);
	tap_ok(!kunwind_walk_begin_regs(&walk, unwinder, &regs, read_child, NULL),
	       "a walk of another process begins");
	nr = stack_walk(&walk);
	from = take_truth(nr);
	tap_ok(stack_right(nr, from, 100) && kunwind_walk_reason(&walk) == KUNWIND_COMPLETE,
	       "its frames are the true ones, to the end (%d frames, reason %d)", nr,
	       kunwind_walk_reason(&walk));
	memcpy(all, stack_seen, sizeof(all));
	test_chunk(unwinder, &regs, all, nr);

	regs.valid &= ~(1U << 7);
	tap_ok(kunwind_walk_begin_regs(&walk, unwinder, &regs, read_child, NULL) == -EINVAL,
	       "without a stack pointer, no walk begins");
	regs.valid |= 1U << 7;
	regs.flags = 1U << 31;
	tap_ok(kunwind_walk_begin_regs(&walk, unwinder, &regs, read_child, NULL) == -EINVAL,
	       "with an unknown flag, no walk begins");
	regs.flags = KUNWIND_REGISTERS_CALLED;
	regs.r[16] = all[5];
	kunwind_walk_begin_regs(&walk, unwinder, &regs, read_child, NULL);
	{
		struct kunwind_stack_frame frame;

		tap_ok(kunwind_walk_next(&walk, &frame) && frame.ip == all[5] && !frame.exact,
		       "rip that follows a call is no exact frame");
	}
	stack_depth = 0;
	finish();
	kunwind_unwinder_free(unwinder);
}

/* A file that is read when a walk meets its code, and how often it was asked for. */
struct image_file {
	int fd, reads;
};

static size_t read_image(void *data, uint64_t offset, void *buf, size_t len)
{
	struct image_file *file = data;
	ssize_t got = pread(file->fd, buf, len, offset);

	file->reads++;
	return got < 0 ? 0 : got;
}

static size_t read_nothing(void *data, uint64_t offset, void *buf, size_t len)
{
	(void)data;
	(void)offset;
	(void)buf;
	(void)len;
	return 0;
}

#define IMAGES	64
static struct image_file files[IMAGES];
static uint64_t image_at[IMAGES];
static int nr_files;

/* The same as unwinder_of_child(), by functions that read the files. */
static struct kunwind_unwinder *unwinder_by_images(kunwind_read_memory *read)
{
	struct kunwind_unwinder *unwinder = kunwind_unwinder_new(KUNWIND_UNWINDER_OTHER, 0);
	char path[64], line[4500], mode[5], name[4097], last[4097] = "";
	unsigned long start, end, offset;
	struct kunwind_image image;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", child);
	maps = fopen(path, "r");
	while (maps && nr_files < IMAGES && fgets(line, sizeof(line), maps)) {
		*name = 0;
		if (sscanf(line, "%lx-%lx %4s %lx %*s %*s %4096[^\n]", &start, &end, mode, &offset,
			   name) < 4 || *name != '/')
			continue;
		if (strcmp(name, last)) {
			files[nr_files].fd = open(name, O_RDONLY);
			image_at[nr_files++] = start - offset;
			strcpy(last, name);
		}
		image = (struct kunwind_image){ .at = image_at[nr_files - 1], .path = name, .read = read,
						.data = &files[nr_files - 1] };
		if (mode[2] == 'x')
			kunwind_unwinder_map_image(unwinder, start, end, &image);
	}
	if (maps)
		fclose(maps);
	kunwind_unwinder_refresh(unwinder);
	return unwinder;
}

static void close_images(struct kunwind_unwinder *unwinder)
{
	while (nr_files)
		close(files[--nr_files].fd);
	kunwind_unwinder_free(unwinder);
}

static void test_images(void)
{
	struct kunwind_image image = { .at = 4096, .read = NULL };
	struct kunwind_unwinder *unwinder;
	struct kunwind_stack_frame frame;
	struct kunwind_registers regs;
	static uint64_t all[STACK_MOST];
	int nr, from, i, early = 0, biased = 0;

	if (!tap_ok(start(NULL, 100, stop), "a child stops"))
		return;
	registers_of_child(&regs);
	unwinder = unwinder_by_images(read_image);
	for (i = 0; i < nr_files; i++)
		early += files[i].reads;
	tap_ok(nr_files > 1 && !early, "no file is read before a walk (%d files)", nr_files);
	kunwind_walk_begin_regs(&walk, unwinder, &regs, read_child, NULL);
	nr = stack_walk(&walk);
	memcpy(all, stack_seen, sizeof(all));
	from = take_truth(nr);
	tap_ok(stack_right(nr, from, 100) && kunwind_walk_reason(&walk) == KUNWIND_COMPLETE,
	       "files that functions read: the true frames, to the end (%d frames, reason %d)", nr,
	       kunwind_walk_reason(&walk));
	kunwind_walk_begin_regs(&walk, unwinder, &regs, read_child, NULL);
	while (kunwind_walk_next(&walk, &frame))
		biased += frame.module && frame.module->path && frame.module->build_id_len &&
			  frame.module->bias <= frame.module->start &&
			  frame.module->image && frame.module->image <= frame.module->start;
	tap_ok(biased == nr, "each frame has its module, with bias and build-id (%d of %d)", biased, nr);
	kunwind_unwinder_refresh(unwinder);
	for (i = early = 0; i < nr_files; i++)
		early += files[i].reads;
	kunwind_walk_begin_regs(&walk, unwinder, &regs, read_child, NULL);
	/* Without the table, the code would give the same frames. */
	for (i = 0; i < nr && kunwind_walk_next(&walk, &frame) && frame.ip == all[i] &&
		    frame.trust <= KUNWIND_TRUST_CFI; i++)
		;
	for (from = 0; from < nr_files; from++)
		early -= files[from].reads;
	tap_ok(i == nr && !early, "after a refresh, the tables are kept: no file is read again");
	tap_ok(kunwind_unwinder_map_image(unwinder, 0, 1, &image) == -EINVAL,
	       "without a function that reads, no image is taken");
	close_images(unwinder);

	unwinder = unwinder_by_images(read_nothing);
	kunwind_walk_begin_regs(&walk, unwinder, &regs, read_child, NULL);
	nr = stack_walk(&walk);
	tap_ok(nr >= 1 && kunwind_walk_reason(&walk) != KUNWIND_NOT_READY &&
	       kunwind_walk_reason(&walk) != KUNWIND_COMPLETE && !kunwind_walk_next(&walk, &frame),
	       "files that cannot be read: the walk ends (%d frames, reason %d)", nr,
	       kunwind_walk_reason(&walk));
	close_images(unwinder);
	unwinder = kunwind_unwinder_new(0, 0);
	image.read = read_image;
	tap_ok(kunwind_unwinder_map_image(unwinder, 4096, 8192, &image) == -EINVAL &&
	       kunwind_unwinder_start(unwinder, 1, 1, 1) == -EINVAL,
	       "an unwinder of this process takes no image and no start");
	kunwind_unwinder_free(unwinder);
	stack_depth = 0;
	finish();
}

/* libc's file is first met by a frame above main(), which may be the last of a stretch. */
static void test_image_depths(void)
{
	struct kunwind_unwinder *unwinder;
	struct kunwind_registers regs;
	int depth, nr, tried = 0, complete = 0;

	for (depth = 50; depth < 120; depth++) {
		if (!start(NULL, depth, stop_here))
			continue;
		tried++;
		registers_of_child(&regs);
		unwinder = unwinder_by_images(read_image);
		kunwind_walk_begin_regs(&walk, unwinder, &regs, read_child, NULL);
		nr = stack_walk(&walk);
		complete += nr > depth && kunwind_walk_reason(&walk) == KUNWIND_COMPLETE;
		close_images(unwinder);
		finish();
	}
	tap_ok(tried == 70 && complete == tried,
	       "a file is read for the frame at any depth (%d of %d complete)", complete, tried);
}

static void test_i386(void)
{
	struct kunwind_unwinder *unwinder;
	struct kunwind_registers regs;
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	struct kunwind_stack_frame frame;
	uint32_t truth[64];
	int nr = 0, right = 0, count;
	uint64_t sp = 0;
	bool rising = true;

	path[len] = 0;
	strcpy(strrchr(path, '/') + 1, "unwind-i386");
	if (access(path, X_OK) || !start(path, 0, NULL)) {
		tap_count++;
		printf("ok %d - 32-bit code # SKIP no 32-bit program can be built or run\n", tap_count);
		return;
	}
	unwinder = unwinder_of_child();
	registers_of_child(&regs);
	regs.flags = KUNWIND_REGISTERS_I386;
	count = (uint32_t)regs.r[5];
	read_child(NULL, (uint32_t)regs.r[4], truth, sizeof(truth));
	kunwind_walk_begin_regs(&walk, unwinder, &regs, read_child, NULL);
	while (kunwind_walk_next(&walk, &frame)) {
		right += nr && nr <= count && frame.ip == truth[count - nr];
		rising &= frame.sp > sp && frame.exact == !nr;
		sp = frame.sp;
		nr++;
	}
	tap_ok(count == 21 && nr == count + 1 && right == count &&
	       kunwind_walk_reason(&walk) == KUNWIND_COMPLETE,
	       "a 32-bit stack has its frames, to the end (%d, %d of %d right, reason %d)", nr, right, count,
	       kunwind_walk_reason(&walk));
	tap_ok(rising, "its stack pointers rise, and only the first frame is exact");
	finish();
	kunwind_unwinder_free(unwinder);
}

/* Memory of random words, half of which are addresses of code or of the memory. */
static uint64_t state = 0x2545f4914f6cdd1dULL;

static uint64_t any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static uint64_t any_word(void)
{
	switch (any() % 4) {
	case 0:
		return (uint64_t)stack_walk + any() % 4096;
	case 1:
		return (uint64_t)raise + any() % 65536;
	case 2:
		return 0x7fff00000000 + any() % 8192;
	default:
		return any() >> any() % 64;
	}
}

static size_t read_any(void *data, uint64_t addr, void *buf, size_t len)
{
	uint64_t word = any_word();

	(void)data;
	if (any() % 16 == 0)
		return 0;
	(void)addr;
	memset(buf, 0, len);
	memcpy(buf, &word, len < 8 ? len : 8);
	return any() % 16 ? len : any() % (len + 1);
}

/* @read: or NULL, for this process's own memory. */
static void test_hostile(unsigned int flags, kunwind_read_memory *read, const char *name)
{
	struct kunwind_unwinder *unwinder = kunwind_unwinder_new(flags, 0);
	struct kunwind_stack_frame frame;
	unsigned long frames = 0;
	int i, n, reg, strange = 0;

	for (i = 0; i < 20000; i++) {
		struct kunwind_registers regs = { .valid = any() | 1 << 7 | 1 << 16, .fs_base = any_word() };

		for (reg = 0; reg < KUNWIND_NR_REGISTERS; reg++)
			regs.r[reg] = any_word();
		regs.flags = any() % 4;
		kunwind_walk_begin_regs(&walk, unwinder, &regs, read, NULL);
		for (n = 0; n < 300 && kunwind_walk_next(&walk, &frame); n++)
			strange += frame.trust >= KUNWIND_NR_TRUSTS || frame.exact > 1;
		frames += n;
		strange += kunwind_walk_reason(&walk) >= KUNWIND_NR_REASONS;
	}
	tap_ok(!strange && frames >= 20000, "%s: random registers and memory do no harm (%lu frames)",
	       name, frames);
	kunwind_unwinder_free(unwinder);
}

static size_t used(void)
{
	const struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* Bytes of an unwinder that has libc's file by six names. */
static size_t used_with(size_t memory)
{
	struct kunwind_unwinder *unwinder;
	const size_t before = used();
	char path[PATH_MAX];
	size_t bytes, i;
	Dl_info libc;

	if (!dladdr((void *)getauxval, &libc) || *libc.dli_fname != '/')
		return 0;
	unwinder = kunwind_unwinder_new(KUNWIND_UNWINDER_OTHER, memory);
	for (i = 0; i < 6; i++) {
		snprintf(path, sizeof(path), "%.*s%s", (int)i, "//////", libc.dli_fname);
		if (kunwind_unwinder_map(unwinder, (i + 1) << 24, ((i + 1) << 24) + 4096, 0, path))
			abort();
	}
	if (kunwind_unwinder_refresh(unwinder))
		abort();
	bytes = used() - before;
	kunwind_unwinder_free(unwinder);
	return bytes;
}

/* One table has room in the limit, and not all of them together. */
static void test_memory(void)
{
	const size_t none = used_with(1), limit = 256 << 10;
	const size_t all = used_with(0) - none, some = used_with(limit) - none;

	tap_ok(all > limit && some > 0 && some <= limit, "the limit on memory is one on all tables together: "
	       "%zu bytes of %zu, at most %zu", some, all, limit);
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	test_process();
	test_images();
	test_image_depths();
	test_i386();
	test_memory();
	test_hostile(0, read_any, "single FDEs");
	test_hostile(KUNWIND_UNWINDER_TABLES | KUNWIND_UNWINDER_GUESS, read_any, "tables, with guesses");
	test_hostile(KUNWIND_UNWINDER_GUESS, NULL, "own memory");
	return tap_done();
}
