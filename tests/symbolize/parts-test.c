// SPDX-License-Identifier: MIT
/*
 * parts-test.c - test parts of libkunwind-symbolize: lists of symbols, the
 * cache of answers, objects, options, checks of the helper's answers
 *
 * If argv[0] is the name of the helper, this program is a helper that sends
 * wrong lengths.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "internal.h"
#include "wire.h"

#define NSEC	1000000000LL

static int count, failed;

static void check(bool good, const char *name)
{
	printf("%sok %d - parts: %s\n", good ? "" : "not ", ++count, name);
	failed += !good;
}

/* Returns a list of the symbols in @text; NULL: @text is not a list. */
static struct kunwind_list *list_of(const char *text, bool sizes)
{
	char path[] = "/tmp/kunwind-list-XXXXXX";
	int fd = mkstemp(path);
	struct kunwind_list *list;

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	close(fd);
	list = kunwind_list_read(path, sizes);
	unlink(path);
	return list;
}

static bool name_is(const struct kunwind_list *list, uint64_t addr, const char *want,
		    uint64_t want_start)
{
	uint64_t start = 0;
	const char *module, *got = list ? kunwind_list_find(list, addr, &start, &module) : NULL;

	if (got && want && !strcmp(got, want) && start == want_start)
		return true;
	if (!got && !want)
		return true;
	printf("# %#llx: %s from %#llx on\n", (unsigned long long)addr, got ? got : "no name",
	       (unsigned long long)start);
	return false;
}

static bool module_is(const struct kunwind_list *list, uint64_t addr, const char *want)
{
	const char *module;
	uint64_t start;

	return kunwind_list_find(list, addr, &start, &module) && !strcmp(module, want);
}

static void test_perf_map(void)
{
	struct kunwind_list *list = list_of("2000 10 second\n1000 20 first one\n3000 8 old\n3000 8 new\n"
					    "zzz\n5000 0 empty\n3000 8 newest\n", true);

	check(name_is(list, 0x1000, "first one", 0x1000) && name_is(list, 0x101f, "first one", 0x1000),
	      "perf map: a function name may contain a blank");
	check(name_is(list, 0x1020, NULL, 0) && name_is(list, 0xfff, NULL, 0),
	      "perf map: the byte before a function and the byte after it have no name");
	check(name_is(list, 0x2008, "second", 0x2000), "perf map: a line out of order is used");
	check(name_is(list, 0x3004, "newest", 0x3000),
	      "perf map: of several lines for one address, the last is used");
	check(name_is(list, 0x5000, NULL, 0), "perf map: a function of size 0 has no address");
	kunwind_list_free(list);
}

static void test_overlaps(void)
{
	static const char text[] = "1000 100 outer\n1020 10 inner\n1040 20 inner2\n1048 4 innermost\n"
				   "2000 40 old\n2040 40 old2\n2020 40 new\n3010 10 below\n3000 40 above\n"
				   "fffffffffffffff0 20 wraps\nfffffffffffffff0 8 top\n";
	static const struct {
		uint64_t addr;
		const char *name;
		uint64_t start;
	} want[] = {
		{ 0x101f, "outer", 0x1000 }, { 0x1020, "inner", 0x1020 }, { 0x1030, "outer", 0x1000 },
		{ 0x1047, "inner2", 0x1040 }, { 0x104b, "innermost", 0x1048 }, { 0x104c, "inner2", 0x1040 },
		{ 0x1060, "outer", 0x1000 }, { 0x10ff, "outer", 0x1000 }, { 0x1100, NULL, 0 },
		{ 0x201f, "old", 0x2000 }, { 0x2020, "new", 0x2020 }, { 0x2040, "new", 0x2020 },
		{ 0x205f, "new", 0x2020 }, { 0x2060, "old2", 0x2040 }, { 0x207f, "old2", 0x2040 },
		{ 0x2080, NULL, 0 }, { 0x300f, "above", 0x3000 }, { 0x3010, "above", 0x3000 },
		{ 0x3020, "above", 0x3000 }, { 0xfffffffffffffff7, "top", 0xfffffffffffffff0 },
		{ 0xfffffffffffffff8, NULL, 0 },
	};
	struct kunwind_list *list = list_of(text, true);
	bool good = true;
	size_t i;

	for (i = 0; i < sizeof(want) / sizeof(*want); i++)
		good &= name_is(list, want[i].addr, want[i].name, want[i].start);
	check(good, "perf map: an address has the name of the last line that holds the address");
	kunwind_list_free(list);
}

/* Writes a perf map with one function, last modified @seconds after 1970. */
static void write_map(const char *path, const char *name, int64_t seconds)
{
	const struct timespec times[2] = { { .tv_sec = seconds }, { .tv_sec = seconds } };
	FILE *file = fopen(path, "w");

	if (!file || fprintf(file, "1000 100 %s\n", name) < 0 || fclose(file) ||
	    utimensat(AT_FDCWD, path, times, 0))
		abort();
}

/* Returns the name of 0x1010 in the process at that time; "": no name. */
static const char *jit_name(struct kunwind_history *history, int pid, int64_t seconds)
{
	const struct kunwind_who who = { .pid = pid, .live = true, .time = seconds * NSEC };
	const uint64_t address = 0x1010;
	struct kunwind_frame frame;

	if (!kunwind_history_stack(history, &who, &address, 1, &frame))
		abort();
	return frame.nr_functions ? kunwind_frame_function(&frame)->name : "";
}

/* One pid runs several programs in turn, each with another perf map or none. */
static void test_programs(void)
{
	struct kunwind_symbolizer *symbolizer = kunwind_symbolizer_new(NULL);
	struct kunwind_history *history = kunwind_history_new(symbolizer);
	const int pid = 1000000000 + getpid();	/* of no process */
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
	kunwind_history_exec(history, 1000 * NSEC, pid);
	kunwind_history_exec(history, 2000 * NSEC, pid);
	check(!*jit_name(history, pid, 1100), "perf map: without a file there is no name");
	write_map(path, "first", 1200);
	check(!strcmp(jit_name(history, pid, 1300), "first"),
	      "perf map: a file that appears later is used");
	check(!*jit_name(history, pid, 2100),
	      "perf map: a file that was written before the program began is not used");
	write_map(path, "second", 2200);
	check(!strcmp(jit_name(history, pid, 2300), "second"),
	      "perf map: after an exec, the file of the new program is used");
	kunwind_history_exit(history, 2400 * NSEC, pid);
	kunwind_history_fork(history, 2500 * NSEC, 1, pid, 0);
	kunwind_history_exec(history, 2700 * NSEC, pid);
	write_map(path, "third", 2800);
	check(!*jit_name(history, pid, 2600),
	      "perf map: a file that a later program wrote is not used");
	check(!strcmp(jit_name(history, pid, 2800), "third"),
	      "perf map: pid used again: the file of the new process is used");
	unlink(path);
	kunwind_history_free(history);
	kunwind_symbolizer_free(symbolizer);
}

/*
 * A running process of user @owner, whose perf map user @writer wrote. Returns
 * the name that user @viewer gets; "": no name.
 */
static const char *owned_name(uid_t owner, uid_t writer, uid_t viewer, bool link)
{
	struct kunwind_symbolizer *symbolizer = kunwind_symbolizer_new(NULL);
	struct kunwind_history *history = kunwind_history_new(symbolizer);
	static char name[32];
	char path[64], target[80];
	struct stat st;
	pid_t pid = fork();

	if (!pid) {
		if (setresuid(owner, owner, owner))
			_exit(1);
		pause();
	}
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
	snprintf(target, sizeof(target), "/proc/%d", pid);
	while (!stat(target, &st) && st.st_uid != owner)
		usleep(1000);
	snprintf(target, sizeof(target), "%s.target", path);
	write_map(link ? target : path, "jitted", 1200);
	if (chown(link ? target : path, writer, (gid_t)-1) || (link && symlink(target, path)) ||
	    seteuid(viewer))
		abort();
	kunwind_history_exec(history, 1000 * NSEC, pid);
	snprintf(name, sizeof(name), "%s", jit_name(history, pid, 1300));
	if (seteuid(0))
		abort();
	unlink(path);
	unlink(target);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	kunwind_history_free(history);
	kunwind_symbolizer_free(symbolizer);
	return name;
}

/* Copies the helper to where each user can run it: the tree may be below a directory of root's. */
static bool publish_helper(char *dir, char *helper, size_t size)
{
	char exe[4096] = "", command[9000];

	if (readlink("/proc/self/exe", exe, sizeof(exe) - 1) < 0 || !strrchr(exe, '/') || !mkdtemp(dir))
		return false;
	*strrchr(exe, '/') = 0;
	snprintf(helper, size, "%s/kunwind-symbolize-helper", dir);
	snprintf(command, sizeof(command), "cp '%s/kunwind-symbolize-helper' '%s'", exe, helper);
	return !chmod(dir, 0755) && !system(command) && !setenv("KUNWIND_SYMBOLIZE_HELPER", helper, 1);
}

static void test_map_owner(void)
{
	enum { NOBODY = 65534, OTHER = 65533, VIEWER = 65532 };
	char dir[] = "/tmp/kunwind-parts-test.XXXXXX", helper[80];

	if (geteuid()) {
		check(true, "perf map: owners # SKIP needs root");
		return;
	}
	if (!publish_helper(dir, helper, sizeof(helper)))
		abort();
	check(!*owned_name(0, NOBODY, 0, false) && !*owned_name(OTHER, NOBODY, VIEWER, false),
	      "perf map: a file of another user is not used");
	check(!strcmp(owned_name(NOBODY, NOBODY, 0, false), "jitted"),
	      "perf map: a file of the process's user is used");
	check(!strcmp(owned_name(NOBODY, 0, VIEWER, false), "jitted"),
	      "perf map: a file of root is used");
	check(!strcmp(owned_name(NOBODY, VIEWER, VIEWER, false), "jitted"),
	      "perf map: a file of the viewer is used");
	check(!*owned_name(0, 0, 0, true), "perf map: a symbolic link is not followed");
	unsetenv("KUNWIND_SYMBOLIZE_HELPER");
	unlink(helper);
	rmdir(dir);
}

/* Asks about this process with @comm and @time; is it known afterwards? */
static bool known_live(struct kunwind_history *history, const char *comm, int64_t time)
{
	const struct kunwind_who who = { .pid = getpid(), .live = true, .comm = comm, .time = time };

	kunwind_history_process(history, &who, 0);
	return kunwind_history_knows(history, who.pid);
}

static void test_live(void)
{
	struct kunwind_symbolizer *symbolizer = kunwind_symbolizer_new(NULL);
	struct kunwind_history *history = kunwind_history_new(symbolizer);

	check(!known_live(history, "another", INT64_MAX) && !known_live(history, "parts-tes", INT64_MAX) &&
	      !known_live(history, "parts-testx", INT64_MAX) &&
	      !known_live(history, "xarts-test", INT64_MAX) && known_live(history, "parts-test", INT64_MAX),
	      "live process: found after a question with another process name");
	kunwind_history_free(history);
	history = kunwind_history_new(symbolizer);
	check(!known_live(history, "", 1) && known_live(history, "", INT64_MAX),
	      "live process: found after a question about a time before its start");
	kunwind_history_free(history);
	kunwind_symbolizer_free(symbolizer);
}

static void test_kallsyms(void)
{
	struct kunwind_list *list = list_of("ffff0010 T one\nffff0020 d data\nffff0030 t two\t[module]\n"
					    "ffff0030 t alias\nffff0040 A absolute\n"
					    "ffff0050 W last\n", false);

	check(name_is(list, 0xffff0010, "one", 0xffff0010) && name_is(list, 0xffff002f, "one", 0xffff0010),
	      "kallsyms: a function extends to the next function, across data");
	check(name_is(list, 0xffff0038, "two", 0xffff0030),
	      "kallsyms: of two names for one address, the first is used");
	check(name_is(list, 0xffff0050, NULL, 0),
	      "kallsyms: the last function has no address, because its end is unknown");
	kunwind_list_free(list);
	list = list_of("81000000 T start\n81000800 T last\nc0000000 t first\t[one]\n"
		       "c0000010 t second\t[one]\nc0009000 t other\t[two]\nc0009100 t end\t[two]\n", false);
	check(name_is(list, 0x80ffffff, NULL, 0),
	      "kallsyms: an address below the first function has no name");
	check(name_is(list, 0x81001fff, "last", 0x81000800) && name_is(list, 0x81002000, NULL, 0) &&
	      name_is(list, 0xc0001fff, "second", 0xc0000010) && name_is(list, 0xc0002000, NULL, 0),
	      "kallsyms: the last function of the kernel or a module ends with the next page");
	check(module_is(list, 0x81000000, "") && module_is(list, 0xc0000001, "[one]") &&
	      module_is(list, 0xc0009001, "[two]"), "kallsyms: functions have their module");
	kunwind_list_free(list);
	list = list_of("1000 T one\tbpf\n2000 T two\n", false);
	check(name_is(list, 0x1000, "one", 0x1000) && module_is(list, 0x1000, ""),
	      "kallsyms: text after a name without brackets is not a module");
	kunwind_list_free(list);
	check(!list_of("0 T one\n0 T two\n", false),
	      "kallsyms: addresses that the kernel hides are not a list");
	check(!list_of("", false) && !list_of("no list\n", true),
	      "kallsyms and perf map: empty or other text is not a list");
	/* the sanitizer finds a read after the end of the text */
	check(!kunwind_list_parse(strdup("1 "), false) && !kunwind_list_parse(strdup("1 T"), false),
	      "kallsyms: a text that ends before or after the type is read only up to its end");
}

/* Adds an answer with one function, @name. */
static void keep(struct kunwind_cache *cache, struct kunwind_symbolizer_object *object, uint64_t address,
		 bool exact, const char *name)
{
	struct kunwind_frame frame = { .object = object, .object_address = address };
	struct kunwind_function function = { .name = name };

	if (!kunwind_answer_add(kunwind_answer_begin(cache), &function) ||
	    !kunwind_answer_keep(cache, &frame, exact))
		abort();
}

static bool kept(const struct kunwind_cache *cache, const struct kunwind_symbolizer_object *object,
		 uint64_t address, bool exact, const char *name)
{
	const struct kunwind_frame *frame = kunwind_cache_find(cache, object, address, exact);

	return name ? frame && !strcmp(frame->function[0].name, name) : !frame;
}

/* A back end. The path is a number: each address has so many functions. */
static void *open_number(void *data, const char *path, const char *build_id)
{
	(void)build_id;
	*(unsigned int *)data = (unsigned int)atoi(path);
	return *path >= '0' && *path <= '9' ? data : NULL;
}

static bool add_number(void *number, uint64_t address, struct kunwind_answer *answer)
{
	unsigned int i, nr = *(unsigned int *)number;
	char name[32];

	(void)address;
	for (i = 0; i < nr; i++) {
		struct kunwind_function function = { .name = name, .inlined = i + 1 < nr, .line = i };

		snprintf(name, sizeof(name), "f%u", i);
		if (!kunwind_answer_add(answer, &function))
			return false;
	}
	return nr;
}

static void test_many_functions(void)
{
	static const unsigned int many[] = { 1, 63, 64, 65, 66, 1000 };
	unsigned int data, i;
	const struct kunwind_backend backend = { .size = sizeof(backend), .data = &data,
						 .open = open_number, .resolve = add_number };
	const struct kunwind_backend *const backends[] = { &backend, NULL };
	const struct kunwind_symbolizer_options options = { .size = sizeof(options),
							    .backends = backends };
	struct kunwind_symbolizer *symbolizer = kunwind_symbolizer_new(&options);
	bool outermost = true, inner = true, why = true;

	for (i = 0; i < sizeof(many) / sizeof(*many); i++) {
		char path[16], last[16];
		struct kunwind_frame frame;

		snprintf(path, sizeof(path), "%u", many[i]);
		snprintf(last, sizeof(last), "f%u", many[i] - 1);
		kunwind_object_resolve(kunwind_symbolizer_object(symbolizer, path, "", 0), 0x1000, true,
				       &frame);
		outermost &= frame.nr_functions && !kunwind_frame_function(&frame)->inlined &&
			     !strcmp(kunwind_frame_function(&frame)->name, last);
		inner &= frame.nr_functions == (many[i] > 64 ? 64 : many[i]) &&
			 !strcmp(frame.function[0].name, "f0");
		why &= many[i] > 64 ? frame.why && strstr(frame.why, "inlined") : !frame.why;
	}
	check(outermost, "back end: the last of any number of functions is the outermost");
	check(inner, "back end: the 63 innermost inlined functions are kept");
	check(why, "back end: the frame reports that inlined functions are left out");
	kunwind_symbolizer_free(symbolizer);
}

/* Returns a pseudo-random address: consecutive ones would rarely collide. */
static uint64_t spread(uint64_t i)
{
	i = (i ^ i >> 13) * 0x2545f4914f6cdd1d;
	i = (i ^ i >> 29) * 0xd6e8feb86659fd93;
	return i >> 17;
}

/* Returns whether answers for one address in many objects are separate. */
static bool one_address(struct kunwind_symbolizer *symbolizer)
{
	enum { NR = 60000 };
	static struct kunwind_symbolizer_object *objects[NR];
	struct kunwind_cache *cache = kunwind_cache_new();
	bool good = true;
	char name[32];
	unsigned int i;

	for (i = 0; i < NR; i++) {
		snprintf(name, sizeof(name), "o%u", i);
		objects[i] = kunwind_symbolizer_object(symbolizer, name, "", 1);
		/* Only some objects: consecutive ones would rarely collide. */
		if (spread(i) % 8 == 0)
			keep(cache, objects[i], 0x1000, false, name);
	}
	for (i = 0; i < NR; i++) {
		snprintf(name, sizeof(name), "o%u", i);
		good &= kept(cache, objects[i], 0x1000, false, spread(i) % 8 ? NULL : name);
	}
	kunwind_cache_free(cache);
	return good;
}

/*
 * Adds 8,000 answers for addresses that follow from @base. Sets @good to false
 * if one of them is not found, or is found after a clear; @apart if an answer
 * for another object, or for another value of "exact", is found.
 */
static void some_answers(struct kunwind_symbolizer_object *a, struct kunwind_symbolizer_object *b,
			 uint64_t base, bool *good, bool *apart)
{
	struct kunwind_cache *cache = kunwind_cache_new();
	char name[32];
	unsigned int i;

	for (i = 0; i < 4000; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		keep(cache, a, spread(base + i), false, name);
		snprintf(name, sizeof(name), i % 2 ? "g%u" : "h%u", i);
		keep(cache, i % 2 ? a : b, spread(base + i), i % 2, name);
	}
	for (i = 0; i < 4000; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		*good &= kept(cache, a, spread(base + i), false, name);
		snprintf(name, sizeof(name), "g%u", i);
		*apart &= kept(cache, a, spread(base + i), true, i % 2 ? name : NULL);
		snprintf(name, sizeof(name), "h%u", i);
		*apart &= kept(cache, b, spread(base + i), false, i % 2 ? NULL : name);
	}
	kunwind_cache_clear(cache);
	*good &= kept(cache, a, spread(base + 1), false, NULL);
	kunwind_cache_free(cache);
}

static void test_answers(struct kunwind_symbolizer *symbolizer)
{
	struct kunwind_symbolizer_object *a = kunwind_symbolizer_object(symbolizer, "a", "", 1);
	struct kunwind_symbolizer_object *b = kunwind_symbolizer_object(symbolizer, "b", "", 1);
	struct kunwind_symbolizer_object *other = kunwind_symbolizer_object(symbolizer, "a", "", 2);
	bool good = true, apart = true;
	unsigned int round;

	check(a != other && a == kunwind_symbolizer_object(symbolizer, "a", "", 1),
	      "objects: one path with two inodes is two objects");
	/* Many rounds: only answers that collide can be confused. */
	for (round = 0; round < 100; round++)
		some_answers(a, b, round * 100003ULL, &good, &apart);
	check(good, "cache: answers are found, and not found after a clear");
	check(apart,
	      "cache: answers of two objects, and for exact and other addresses, are separate");
	check(one_address(symbolizer),
	      "cache: answers for one address in some of 60,000 objects are separate");
}

static bool build_id_is(struct kunwind_symbolizer *symbolizer, const char *id, const char *want)
{
	const struct kunwind_symbolizer_object *object = kunwind_symbolizer_object(symbolizer, "id", id, 0);

	return object && !strcmp(kunwind_object_build_id(object), want);
}

static void test_build_ids(struct kunwind_symbolizer *symbolizer)
{
	static const char *const bad[] = { "../evil2", "..", "ab/../cd", "abc", "ABCD", "0g", "ab cd ",
					   "/", "%s", "ab\n1", "\xc3\xa9" };
	char id[2 * WIRE_ID + 3];
	bool good = true;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		good &= build_id_is(symbolizer, bad[i], "");
	memset(id, 'f', sizeof(id) - 1);
	id[2 * WIRE_ID + 2] = '\0';
	good &= build_id_is(symbolizer, id, "");
	check(good, "objects: text that is not a build-id counts as no build-id");
	id[2 * WIRE_ID] = '\0';
	check(build_id_is(symbolizer, id, id) && build_id_is(symbolizer, "09af", "09af") &&
	      build_id_is(symbolizer, "00", "00"), "objects: a build-id of 1 to 64 bytes is kept");
}

/*
 * A caller that was built when the structure had fewer members passes only
 * those: the library must not read beyond @size.
 */
static void test_options(void)
{
	const size_t size = offsetof(struct kunwind_symbolizer_options, flags) + 4;
	struct kunwind_symbolizer_options *options = malloc(size);
	struct kunwind_symbolizer *symbolizer;

	options->size = size;
	options->flags = KUNWIND_NO_LOCAL;
	symbolizer = kunwind_symbolizer_new(options);
	check(symbolizer && symbolizer->options.flags == KUNWIND_NO_LOCAL &&
	      !symbolizer->options.debug_dirs, "options: a shorter structure of an older caller is accepted");
	kunwind_symbolizer_free(symbolizer);
	free(options);
}

enum lie {
	LIE_NONE = 0x1000,	/* no lie; each constant is the address of the question */
	LIE_NAME,		/* the name is longer than the packet */
	LIE_FILE,		/* the file's name is longer than the packet */
	LIE_BOTH,		/* the name leaves no byte for the file's name */
	LIE_NUMBER,		/* more functions than there are in the packet */
	LIE_HUGE,		/* the name has the largest length that does not mean "no name" */
};

/*
 * The helper. Each answer has the function "name" of "file". An answer that is
 * right also has 400 bytes of 'x' after it.
 */
static void be_helper(void)
{
	struct {
		struct wire_reply reply;
		struct wire_function function;
		char text[512];
	} packet;
	struct wire_request request;
	int fds[WIRE_FDS];
	unsigned int i;

	while (wire_receive(WIRE_SOCKET, &request, sizeof(request), fds) == sizeof(request)) {
		size_t text = strlen("namefile");

		for (i = 0; i < WIRE_FDS; i++)
			if (fds[i] >= 0)
				close(fds[i]);
		memset(&packet, 0, sizeof(packet));
		if (request.type != WIRE_RESOLVE) {
			packet.reply.flags = request.type == WIRE_HELLO ?
						     WIRE_VERSION : WIRE_HOLDS_CODE | WIRE_HOLDS_SYMTAB;
			wire_send(WIRE_SOCKET, &packet, sizeof(packet), NULL, 0);
			continue;
		}
		packet.reply.nr = request.address == LIE_NUMBER ? 2 : 1;
		packet.function.name_len = 4;
		packet.function.file_len = 4;
		memcpy(packet.text, "namefile", text);
		memset(packet.text + text, 'x', 400);
		/* Comes first: the 'x' stay in the library's buffer. */
		if (request.address == LIE_NONE)
			text += 400;
		else if (request.address == LIE_NAME)
			packet.function.name_len = 9;
		else if (request.address == LIE_FILE)
			packet.function.file_len = 5;
		else if (request.address == LIE_BOTH)
			packet.function.name_len = 8;
		else if (request.address == LIE_HUGE)
			packet.function.name_len = WIRE_NONE - 1;
		wire_send(WIRE_SOCKET, &packet, offsetof(typeof(packet), text) + text, NULL, 0);
	}
}

static void test_helper(const char *self)
{
	const struct kunwind_symbolizer_options options = { .size = sizeof(options), .helper = self };
	static const struct {
		uint64_t address;
		unsigned int functions;
		const char *name;
	} cases[] = {
		{ LIE_NONE, 1, "helper: a right answer is used" },
		{ LIE_NAME, 0, "helper: a name longer than the answer is not used" },
		{ LIE_FILE, 0, "helper: a file name longer than the answer is not used" },
		{ LIE_BOTH, 0, "helper: two names together longer than the answer are not used" },
		{ LIE_NUMBER, 1, "helper: more functions announced than sent: those sent are used" },
		{ LIE_HUGE, 0, "helper: a name of 4 GB is not used" },
	};
	struct kunwind_symbolizer *symbolizer = kunwind_symbolizer_new(&options);
	struct kunwind_symbolizer_object *object;
	struct kunwind_frame frame;
	struct stat st;
	unsigned int i;

	if (stat(self, &st))
		abort();
	object = kunwind_symbolizer_object(symbolizer, self, "", st.st_ino);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		kunwind_object_resolve(object, cases[i].address, true, &frame);
		check(frame.nr_functions == cases[i].functions &&
		      (!frame.nr_functions || (!strcmp(frame.function->name, "name") &&
					       !strcmp(frame.function->file, "file"))),
		      cases[i].name);
	}
	kunwind_symbolizer_free(symbolizer);
}

int main(int argc, char **argv)
{
	struct kunwind_symbolizer *symbolizer;
	char self[4096] = "";

	if (argc && !strcmp(argv[0], "kunwind-symbolize-helper")) {
		be_helper();
		return 0;
	}
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		abort();
	symbolizer = kunwind_symbolizer_new(NULL);
	test_perf_map();
	test_overlaps();
	test_programs();
	test_map_owner();
	test_live();
	test_kallsyms();
	test_answers(symbolizer);
	test_build_ids(symbolizer);
	test_many_functions();
	test_options();
	test_helper(self);
	kunwind_symbolizer_free(symbolizer);
	printf("1..%d\n", count);
	return failed != 0;
}
