/* SPDX-License-Identifier: MIT */
/*
 * kunwind/unwind.h - libkunwind-unwind: call stacks in user space
 *
 * The unwinder of the kernel module kunwind as a library. It needs no module,
 * no frame pointers and no debug information. It walks the stack of the calling
 * thread, from a signal handler, too, or any other stack whose registers and
 * bytes the caller has: of a core file, of another process, a copied chunk.
 * Each frame has a trust, and each walk ends with a reason. Link with
 * -lkunwind-unwind.
 *
 *	struct kunwind_unwinder *unwinder = kunwind_unwinder_new(0, 0);
 *	...
 *	struct kunwind_stack_walk walk;
 *	struct kunwind_stack_frame frame;
 *
 *	kunwind_walk_begin_here(&walk, unwinder);
 *	while (kunwind_walk_next(&walk, &frame))
 *		printf("%#lx\n", frame.ip);
 *	if (kunwind_walk_reason(&walk) != KUNWIND_COMPLETE)
 *		...
 *
 * Context. The functions kunwind_unwinder_...() allocate memory, open files and
 * take locks. No two of them may run at once for the same unwinder. The
 * functions kunwind_walk_...() are async-signal-safe: they take no lock,
 * allocate nothing, access no thread-local variable, keep errno, install no
 * signal handler, and do not fault, whatever the registers and the stack are.
 * Any number of threads may walk at once with one unwinder, also while it is
 * refreshed. They need some 4 KB of stack, 8 KB in code without CFI.
 *
 * Errors are negative errno values.
 */
#ifndef KUNWIND_UNWIND_H
#define KUNWIND_UNWIND_H

#include <stddef.h>
#include <stdint.h>
#include <kunwind/kunwind_reasons.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An address space, as its walks know it: mappings and unwind tables. */
struct kunwind_unwinder;

/*
 * Copies up to @len bytes at @addr to @buf, and returns how many; 0: the byte at @addr
 * cannot be read. It is called by kunwind_walk_next() and kunwind_walk_addresses() only.
 */
typedef size_t kunwind_read_memory(void *data, uint64_t addr, void *buf, size_t len);

/* Flags of kunwind_unwinder_new(). */
#define KUNWIND_UNWINDER_TABLES	(1U << 0)	/* build the tables of all objects at once */
#define KUNWIND_UNWINDER_THREAD	(1U << 1)	/* the same in a thread of the library */
#define KUNWIND_UNWINDER_OTHER	(1U << 2)	/* not this process: kunwind_unwinder_map() */
#define KUNWIND_UNWINDER_GUESS	(1U << 3)	/* go on by guesses, which frame.trust marks */

/**
 * kunwind_unwinder_new() - make an unwinder, of the calling process by default
 * @flags: KUNWIND_UNWINDER_...
 * @memory: most bytes that all tables may take; 0: 256 MB. Objects that do not
 *	fit have no table
 *
 * Without KUNWIND_UNWINDER_TABLES and _THREAD, a walk reads single entries of an object's
 * .eh_frame by its .eh_frame_hdr, and this function takes about 1 ms. It then builds
 * tables only for objects that have CFI and no .eh_frame_hdr (static programs). Objects
 * without CFI (musl's libc, Go's programs) are unwound by their instructions.
 * With tables, walks are faster, and objects without CFI have tables, too. To build them
 * takes 10 ms for python3, 400 ms for clang. Until the thread of _THREAD has a table,
 * walks do without it. With KUNWIND_UNWINDER_OTHER, tables are always built.
 *
 * Return: the unwinder, to be freed with kunwind_unwinder_free(); NULL: no
 * memory, or an unknown flag.
 */
struct kunwind_unwinder *kunwind_unwinder_new(unsigned int flags, size_t memory);

/**
 * kunwind_unwinder_refresh() - read the mappings again
 *
 * Call this after dlopen(3) or dlclose(3), or after code was mapped otherwise, and after
 * kunwind_unwinder_map(). Where libc has _dl_find_object() (glibc 2.35 and later), walks
 * notice by themselves what dlopen() and dlclose() have changed. A refresh then only makes
 * walks faster. Tables of objects that stay are kept.
 *
 * Return: 0, or -ENOMEM: all is as before.
 */
int kunwind_unwinder_refresh(struct kunwind_unwinder *unwinder);

/**
 * kunwind_unwinder_map() - add a mapping of code, with KUNWIND_UNWINDER_OTHER
 * @start, @end: addresses: [start, end)
 * @offset: of the file at @start, bytes
 * @path: the file, readable here; NULL: code of no file, as JIT compilers make it
 *
 * Only executable mappings matter. The next kunwind_unwinder_refresh() reads the file.
 *
 * Return: 0; -ENOMEM; -EINVAL: the unwinder is of the calling process, start is not below
 * end, or the mapping overlaps another one.
 */
int kunwind_unwinder_map(struct kunwind_unwinder *unwinder, uint64_t start, uint64_t end,
			 uint64_t offset, const char *path);

/* A file of code that is mapped in another address space. */
struct kunwind_image {
	uint64_t at;			/* where the first byte of the file, its ELF header, is mapped */
	const char *path;		/* of kunwind_module; NULL: not known */
	kunwind_read_memory *read;	/* reads the file: @addr is an offset in it */
	void *data;			/* argument of @read; another one for each file */
};

/**
 * kunwind_unwinder_map_image() - add a mapping of code by a function that reads its file
 * @start, @end: addresses: [start, end)
 *
 * As kunwind_unwinder_map(), except that @image->read reads the file, and only when the
 * first walk meets the file's code. That walk builds the table, so it allocates memory, and
 * no other walk may run at the same time. The bias and the build-id of the module are set
 * then, too.
 *
 * Return: as kunwind_unwinder_map().
 */
int kunwind_unwinder_map_image(struct kunwind_unwinder *unwinder, uint64_t start, uint64_t end,
			       const struct kunwind_image *image);

/**
 * kunwind_unwinder_start() - say where the program began, with KUNWIND_UNWINDER_OTHER
 * @entry, @interpreter: AT_ENTRY and AT_BASE of the auxiliary vector; 0: not known
 * @sp: the stack pointer at the first instruction, where argc is; 0: not known
 *
 * Without it, the stack of a program that is still in code without CFI before main() is not
 * known to be complete. It holds from the next kunwind_unwinder_refresh() on.
 *
 * Return: 0; -EINVAL: the unwinder is of the calling process.
 */
int kunwind_unwinder_start(struct kunwind_unwinder *unwinder, uint64_t entry,
			   uint64_t interpreter, uint64_t sp);

/*
 * Frees the unwinder, tables and modules. No walk may use it any more. @unwinder may be
 * NULL.
 */
void kunwind_unwinder_free(struct kunwind_unwinder *unwinder);

/* A walk under way. The caller provides the memory, and need not initialize it. */
struct kunwind_stack_walk {
	uint64_t opaque[512];
};

/* The mapping of code that a frame is in. Valid until kunwind_unwinder_free(). */
struct kunwind_module {
	uint64_t start, end;		/* of the mapping: [start, end) */
	uint64_t bias;			/* address - bias = ELF virtual address */
	uint64_t image;			/* where the first byte of the file is mapped; 0: not known */
	const char *path;		/* of the file; NULL: not known */
	uint32_t build_id_len;		/* bytes; 0: the file has none */
	uint8_t build_id[20];
};

struct kunwind_stack_frame {
	uint64_t ip;			/* address of the next instruction of the frame */
	uint64_t sp;			/* stack pointer of the frame */
	const struct kunwind_module *module;	/* NULL: not known */
	uint8_t trust;			/* enum kunwind_trust: how ip was found. A frame is only as sure
					 * as the least sure of itself and the frames before it */
	uint8_t exact;			/* 1: the frame was interrupted at ip: look ip up. 0: ip follows a
					 * call: look ip - 1 up */
};

/**
 * kunwind_walk_begin_ucontext() - begin at the code that a signal has interrupted
 * @ucontext: third argument of a handler that was installed with SA_SIGINFO, of this
 *	thread
 *
 * The first frame is the interrupted one: the handler itself is not in the stack.
 */
void kunwind_walk_begin_ucontext(struct kunwind_stack_walk *walk,
				 struct kunwind_unwinder *unwinder, const void *ucontext);

/**
 * kunwind_walk_begin_here() - begin in the calling function
 *
 * The function must not return before the walk has ended.
 */
void kunwind_walk_begin_here(struct kunwind_stack_walk *walk, struct kunwind_unwinder *unwinder);

/*
 * Registers of a thread. 32-bit code has the low halves of the registers with the same
 * number: eax is r[0].
 */
#define KUNWIND_NR_REGISTERS	17
struct kunwind_registers {
	uint64_t r[KUNWIND_NR_REGISTERS]; /* rax rdx rcx rbx rsi rdi rbp rsp r8 ... r15 rip: DWARF's
					   * numbers */
	uint32_t valid;			/* bit n: r[n] is known; rsp (7) and rip (16) must be */
	uint32_t flags;			/* KUNWIND_REGISTERS_... */
	uint64_t fs_base;		/* of the thread; 0: not known. Only some stacks of Go need it */
};
#define KUNWIND_REGISTERS_CALLED	(1U << 0)	/* rip follows a call that has not returned */
#define KUNWIND_REGISTERS_I386		(1U << 1)	/* the code is 32-bit code */

/**
 * kunwind_walk_begin_regs() - begin with given registers
 * @regs: not needed after the call
 * @read: reads the stack, and code that is not in a file; NULL: the memory of this
 *	process, for another thread of it that does not run
 * @data: argument of @read
 *
 * Return: 0; -EINVAL: rip or rsp is not valid, or a flag is unknown.
 */
int kunwind_walk_begin_regs(struct kunwind_stack_walk *walk, struct kunwind_unwinder *unwinder,
			    const struct kunwind_registers *regs, kunwind_read_memory *read,
			    void *data);

/**
 * kunwind_walk_next() - get the next frame, the innermost first
 *
 * Return: 1: *@frame is set; 0: the walk has ended, kunwind_walk_reason() says why.
 */
int kunwind_walk_next(struct kunwind_stack_walk *walk, struct kunwind_stack_frame *frame);

/**
 * kunwind_walk_addresses() - get the addresses of the next frames
 * @addresses: out: room for @most; the ip of each frame
 *
 * Faster than kunwind_walk_next(), for callers that need no more.
 * Return: their number. If it is below @most, the walk has ended.
 */
size_t kunwind_walk_addresses(struct kunwind_stack_walk *walk, uint64_t *addresses, size_t most);

/*
 * Returns why the walk has ended; KUNWIND_BUFFER_FULL: it has not. Only KUNWIND_COMPLETE
 * means that the stack is complete. The names are those of kunwind(3).
 */
enum kunwind_reason kunwind_walk_reason(const struct kunwind_stack_walk *walk);

/**
 * kunwind_walk_missing() - find out which memory a walk needs to go on
 *
 * Return: 0, or, if the walk has ended because memory could not be read, the address of
 * the first byte that it needs. If @read can provide it now, kunwind_walk_next() goes on
 * after the last frame that it has returned.
 */
uint64_t kunwind_walk_missing(const struct kunwind_stack_walk *walk);

#ifdef __cplusplus
}
#endif

#endif /* KUNWIND_UNWIND_H */
