/* SPDX-License-Identifier: MIT */
/*
 * dump.h - what a file says about the memory and the threads of a process
 *
 *   core.c       ELF cores of x86-64 and i386 Linux: of the kernel, of gcore
 *   links.c      the objects of a core that does not list its files
 *   minidump.c   minidumps of x86-64 Linux: of Breakpad, of Crashpad
 *   chunk.c      a text with registers, mappings and bytes of stacks
 *   report.c     a report of libkunwind-crash: frames, and no memory
 *   running.c    what kunwind stack has read of a process that runs
 *   files.c      modules from a list of mapped files
 *   text_hash.c  what minidumps have of files without a build-id
 *   image.c      ELF headers in the memory of the process: bias, build-id, package
 *   start.c      where the program began
 *   input.c      reads of the file
 *   dump.c       what the formats share: memory, mappings, modules
 *
 * The file may be hostile. All sizes, counts and places in it are checked, the numbers of
 * threads, modules, mappings and regions have limits, and the file is read in windows of
 * 64 KB, whatever its size. Nothing outside the file is opened. Addresses are those of the
 * process. No function here prints.
 *
 * Not supported: other processors, cores of x32, minidumps of 32-bit processes.
 */
#ifndef KUNWIND_DUMP_H
#define KUNWIND_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <kunwind/unwind.h>

#define DUMP_MOST_THREADS	65536
#define DUMP_MOST_MODULES	65536
#define DUMP_MOST_MAPPINGS	16384	/* of code */
#define DUMP_MOST_REGIONS	1048576
#define DUMP_MOST_FRAMES	1000000	/* of reports */
#define DUMP_BUILD_ID		64	/* bytes */
#define DUMP_NAME		64	/* bytes of the name of a thread or of a command */
#define DUMP_PATH		4096
#define DUMP_PACKAGE		512	/* bytes of a package note */

#define DUMP_VDSO	"[vdso]"	/* path of the vDSO */
#define DUMP_NO_MODULE		UINT32_MAX

enum dump_format { DUMP_CORE, DUMP_MINIDUMP, DUMP_CHUNK, DUMP_RUNNING, DUMP_REPORT };

/* Memory that the file has: [start, end) at an offset of the file. */
struct dump_region {
	uint64_t start, end, offset;
};

/* A mapping of code: [start, end). */
struct dump_mapping {
	uint64_t start, end;
	uint32_t module;	/* DUMP_NO_MODULE: code of no file */
};

/* The program headers of an ELF file that matter here. */
#define DUMP_MOST_LOADS	64
struct dump_image {
	bool wide;		/* ELF-64 */
	uint32_t nr, nr_notes;
	struct dump_load {
		uint64_t vaddr, offset, filesz;
		uint32_t flags;	/* PF_... */
	} load[DUMP_MOST_LOADS], note[4];	/* PT_LOAD, PT_NOTE */
};

/* An ELF file that was mapped. */
struct dump_module {
	uint64_t start, end;	/* of all its mappings */
	uint64_t image;		/* where the first byte of the file is, or would be */
	uint64_t bias;		/* address - bias = ELF virtual address, if biased */
	bool biased;
	bool has_header;	/* the dump has the page with its ELF header */
	bool deleted;		/* the file had no name any more */
	char *path;		/* "": not known */
	char *package;		/* JSON of its package note; NULL: none */
	uint32_t build_id_len;
	uint8_t build_id[DUMP_BUILD_ID];
};

/* Why a report has no end of a stack, or no stack. */
enum dump_why {
	DUMP_WHY_NONE, DUMP_WHY_CUT, DUMP_WHY_DEADLINE, DUMP_WHY_CRASHED, DUMP_WHY_NOT_PERMITTED,
	DUMP_WHY_NOT_STOPPED, DUMP_NR_WHY
};

/* A frame that the process has found itself. */
struct dump_frame {
	uint64_t ip, sp;
	uint8_t trust;
	bool exact;
};

struct dump_thread {
	uint32_t tid;
	bool known;		/* it has registers; of a report: frames */
	struct kunwind_registers regs;
	char name[DUMP_NAME];
	/* of a report */
	uint32_t first_frame, nr_frames;
	enum kunwind_reason reason;
	enum dump_why why;
	uint64_t missing;
	uint32_t first_own, nr_own;	/* of a process that runs: regions of this thread's moment */
};

struct dump_crash {
	uint32_t signal;	/* 0: not known, or no crash */
	int32_t code;		/* si_code */
	bool has_code, has_address;
	uint64_t address;	/* si_addr */
	uint32_t thread;	/* index */
	bool has_thread;
};

/* Of the auxiliary vector; 0: not known. */
struct dump_auxv {
	uint64_t entry, base, phdr, phnum, execfn, vdso;
};

struct dump_input;

struct dump_process {
	enum dump_format format;
	bool i386;
	bool truncated;		/* the file ends before what its headers promise */
	uint64_t missing;	/* bytes that are not there then */
	int32_t pid;		/* 0: not known */
	char command[DUMP_NAME];
	struct dump_crash crash;
	struct dump_auxv auxv;
	uint64_t start_sp;	/* stack pointer where the program began; 0: not known */

	struct dump_region *region;	/* sorted, disjoint after dump_open() */
	uint32_t nr_regions, room_regions;
	struct dump_region *own;	/* of single threads: sorted, disjoint for each */
	uint32_t nr_own, room_own;
	struct dump_mapping *mapping;	/* the same */
	uint32_t nr_mappings, room_mappings;
	struct dump_module *module;	/* sorted by start */
	uint32_t nr_modules, room_modules;
	struct dump_thread *thread;
	uint32_t nr_threads, room_threads;
	struct dump_frame *frame;
	uint32_t nr_frames, room_frames;

	struct dump_input *input;
	char error[160];	/* of dump_open() */
};

/*
 * Reads the headers of the dump in the file @fd, which stays the caller's. NULL: out of
 * memory. If dump->error is not empty, the file is no dump, or cannot be used.
 */
struct dump_process *dump_open(int fd);
void dump_free(struct dump_process *dump);

/* Copies memory of the process. Returns the number of bytes: fewer than @len if the rest is absent. */
size_t dump_memory(const struct dump_process *dump, uint64_t addr, void *buf, size_t len);

/* The same as it was when @thread was read, as far as this is known. */
size_t dump_thread_memory(const struct dump_process *dump, const struct dump_thread *thread, uint64_t addr,
			  void *buf, size_t len);

/* The same for a string of at most @size - 1 bytes. False: it is absent, or longer. */
bool dump_string(const struct dump_process *dump, uint64_t addr, char *text, size_t size);

/* Returns the mapping of code that holds @addr, or NULL. */
const struct dump_mapping *dump_find_mapping(const struct dump_process *dump, uint64_t addr);

/* Returns the module that holds @addr, or DUMP_NO_MODULE. */
uint32_t dump_find_module(const struct dump_process *dump, uint64_t addr);

/* ------------------------------------------------------------ for the formats */

/* Each adds one thing, zeroed. NULL: a limit is reached, or out of memory: dump->error says so. */
struct dump_thread *dump_add_thread(struct dump_process *dump);
struct dump_frame *dump_add_frame(struct dump_process *dump);
struct dump_module *dump_add_module(struct dump_process *dump, const char *path);
bool dump_add_mapping(struct dump_process *dump, uint64_t start, uint64_t end);
/* An empty region, and one that wraps, is left out. What is beyond the file's end counts as missing. */
bool dump_add_region(struct dump_process *dump, uint64_t start, uint64_t size, uint64_t offset);

/* Adds a region of the thread that is last in dump->own, by address. False: dump->error says why. */
bool dump_add_own(struct dump_process *dump, uint32_t thread, uint64_t start, uint64_t size, uint64_t offset);

/* Takes a module out that was added last. */
void dump_drop_module(struct dump_process *dump);

/* Makes regions readable by dump_memory(). Call it again after more were added. */
void dump_sort_regions(struct dump_process *dump);

/* Sets dump->error, unless it is set. Returns false. */
bool dump_fail(struct dump_process *dump, const char *format, ...)
	__attribute__((__format__(__printf__, 2, 3)));

/* Parsers of the formats. False: dump->error says why. */
bool dump_read_core(struct dump_process *dump);
bool dump_read_minidump(struct dump_process *dump);
bool dump_read_chunk(struct dump_process *dump);
bool dump_read_running(struct dump_process *dump);
bool dump_read_report(struct dump_process *dump);

/* Reads all of the file as a string, which the caller frees. NULL: too large, or it cannot be read. */
char *dump_read_text(struct dump_process *dump);

/* chunk.c: dump_read() for bytes that the file has as two hexadecimal digits each. */
bool dump_read_hex(struct dump_input *input, uint64_t offset, void *buf, size_t len);

/*
 * files.c: takes the next mapping of a file, by address. @last: path of the one before; NULL: none.
 * Code must have been added before. The second function ends the list.
 */
bool dump_add_file(struct dump_process *dump, const char *last, const char *path, uint64_t start,
		   uint64_t end, uint64_t offset);
bool dump_end_file(struct dump_process *dump, const char *last);

/* links.c: modules of a core without a list of files, by its ELF headers and ld.so's list. */
bool dump_read_links(struct dump_process *dump);

/* image.c: reads the ELF headers of a module in memory, as far as they are there. */
void dump_read_image(const struct dump_process *dump, struct dump_module *module);

/* Adds the mappings of code that the ELF headers of a module in memory name. */
bool dump_add_code(struct dump_process *dump, const struct dump_module *module);

/* Reads the program headers of a file. @read: its argument addr is an offset in the file. */
bool dump_image_parse(kunwind_read_memory *read, void *data, struct dump_image *image);

/* The address, less the bias, of an offset in the file, and back. NULL: no segment holds it. */
const struct dump_load *dump_image_at_offset(const struct dump_image *image, uint64_t offset);
const struct dump_load *dump_image_at_vaddr(const struct dump_image *image, uint64_t vaddr);

/*
 * text_hash.c: makes what a minidump has in place of a build-id. False: the file has no section
 * of this name.
 */
#define DUMP_TEXT_HASH	16	/* bytes */
bool dump_text_hash(kunwind_read_memory *read, void *data, uint8_t hash[DUMP_TEXT_HASH]);

/* Where the file is mapped at whose first byte is at @at. */
uint64_t dump_image_bias(const struct dump_image *image, uint64_t at);

/* Reads a 64-bit or 32-bit word of the process. */
bool dump_word(const struct dump_process *dump, uint64_t addr, uint64_t *value);

/* start.c: sets start_sp by the vector of @len bytes, which the kernel has put on the stack. */
void dump_find_start(struct dump_process *dump, const void *auxv, size_t len);
void dump_take_auxv(struct dump_process *dump, const uint8_t *auxv, size_t len);

/* ------------------------------------------------------------ input.c */

struct dump_input *dump_input_new(int fd);
void dump_input_free(struct dump_input *input);
uint64_t dump_input_size(const struct dump_input *input);
/* Reads exactly @len bytes of the file. */
bool dump_read(struct dump_input *input, uint64_t offset, void *buf, size_t len);

/* Numbers at a place in bytes, little-endian. */
static inline uint16_t dump_u16(const uint8_t *at)
{
	return (uint16_t)(at[0] | at[1] << 8);
}

static inline uint32_t dump_u32(const uint8_t *at)
{
	return dump_u16(at) | (uint32_t)dump_u16(at + 2) << 16;
}

static inline uint64_t dump_u64(const uint8_t *at)
{
	return dump_u32(at) | (uint64_t)dump_u32(at + 4) << 32;
}

#endif /* KUNWIND_DUMP_H */
