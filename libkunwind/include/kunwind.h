/* SPDX-License-Identifier: MIT */
/*
 * kunwind.h - libkunwind: call stacks of user programs, taken by the kernel
 *
 * The kernel module kunwind walks user stacks by the unwind information of the
 * mapped objects, so no frame pointers are needed. This library registers
 * processes with the module, and asks it for stacks and counters. Link with
 * -lkunwind.
 *
 * Errors are negative errno values; errno itself is not changed. Common errors:
 *   -ENODEV      the module is not loaded (there is no /dev/kunwind)
 *   -EACCES      the caller may not open /dev/kunwind (only root and the group
 *                tracing may)
 *   -EOPNOTSUPP  kunwind is switched off (module parameter "enabled" is N), or a
 *                hook that stacks need is missing (kunwind doctor names it).
 *                Only from functions that register, take stacks or pass unwind
 *                information. With a missing hook, the kunwind_callstack
 *                functions return no error; the reason is KUNWIND_DISABLED
 *   -EMFILE, -ENFILE, -ENOMEM  as open(2)
 *
 * Several threads may call all functions at once, except kunwind_release() (see
 * there). None is a cancellation point, takes a lock or allocates memory. All
 * except kunwind_release() may be called from a signal handler.
 *
 * The kunwind_callstack functions open a descriptor of /dev/kunwind for the
 * first stack, and keep it, because an open(2) would cost more than the walk.
 * It is close-on-exec, and valid in forked children too. While it is open, the
 * module cannot be unloaded: kunwind_release() closes it. All other functions
 * open the device for the call only. If the program closes the kept descriptor
 * by mistake, the library notices and opens another one.
 */
#ifndef KUNWIND_H
#define KUNWIND_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <kunwind/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * kunwind_register_self() - register the calling process
 * @flags: 0 or KUNWIND_REGISTER_CHILDREN (also processes forked from now on)
 *
 * From now on the kernel functions that save user stacks (for LTTng's
 * callstack-user, perf -g, bpf_get_stack) return the stacks that the module
 * walks. The registration lasts until kunwind_unregister_self() or the end of
 * the process. An execve(2) ends it only if the new program gains privilege or
 * its file is not readable (kunwind(4)). Registering again is no error. The
 * call sleeps while the module builds tables of objects that are new to it:
 * some 10 to 100 ms for a large one.
 *
 * Return: 0, or
 *   -EINVAL  unknown flag
 *   -ENOSPC, -ENOMEM  the limit of processes is reached; no memory
 */
int kunwind_register_self(unsigned int flags);

/**
 * kunwind_register_pid() - register another process
 * @pid: its process id, in the caller's pid namespace
 *
 * The caller needs permission to ptrace(2) the process: the function opens
 * /proc/PID/mem and passes the descriptor to the module.
 *
 * Return: 0, or as kunwind_register_self(), and
 *   -ESRCH   there is no such process, the caller may not ptrace it, or it has
 *	   no memory of its own (kernel thread, zombie)
 *   -EACCES  another user registered it, without these flags
 *   -EAGAIN  its memory map stayed locked for register_timeout_ms
 */
int kunwind_register_pid(pid_t pid, unsigned int flags);

/**
 * kunwind_register_fd() - register a process by a descriptor of its memory
 * @mem_fd: of /proc/PID/mem, opened by the caller; or -1 for the caller itself
 * @nr_maps: out, may be NULL: number of its executable mappings
 * @nr_ready: out, may be NULL: number of these that have a table
 *
 * Return: as kunwind_register_pid(), and -EBADF: @mem_fd is another file.
 */
int kunwind_register_fd(int mem_fd, unsigned int flags,
			unsigned int *nr_maps, unsigned int *nr_ready);

/**
 * kunwind_unregister_self(), kunwind_unregister_pid() - end a registration
 * Return: 0, or
 *   -ENOENT  the process is not registered
 *   -EACCES  another user registered it
 *   -ESRCH   as kunwind_register_pid()
 */
int kunwind_unregister_self(void);
int kunwind_unregister_pid(pid_t pid);

/**
 * kunwind_system_wide() - register all processes of the system, also future ones
 * @on: 0 ends the registrations that only this function made; registrations by
 *	the functions above stay
 *
 * The call waits until running processes are registered, at most
 * register_timeout_ms. It does not wait for a process whose memory map stays
 * locked: the module registers that one later.
 *
 * Return: 0, or
 *   -EPERM  no CAP_SYS_ADMIN in the initial user namespace
 *   -EINTR  a fatal signal came during the wait; the switch has been made
 */
int kunwind_system_wide(int on);

/**
 * kunwind_callstack() - the call stack of the caller
 * @addresses: out: innermost first. The first is the return address of this
 *	call in the calling function, each further one is a return address
 * @capacity: of @addresses, in words, 1 to KUNWIND_MAX_FRAMES
 * @reason: out, may be NULL: why the stack ended (enum kunwind_reason);
 *	KUNWIND_COMPLETE: the walk reached the entry point
 *
 * The calling process must be registered. A stack that ends early is no error.
 * Use return addresses minus one to look up functions and lines.
 *
 * Return: number of addresses stored, or
 *   -ENOENT  the process is not registered
 *   -EINVAL  @capacity is out of range
 *   -EFAULT  @addresses cannot be written
 */
int kunwind_callstack(uint64_t *addresses, unsigned int capacity, unsigned int *reason);

/**
 * kunwind_callstack_regs() - the call stack that belongs to given registers
 * @regs: rax rdx rcx rbx rsi rdi rbp rsp r8 ... r15 rip: the numbers of the
 *	x86-64 psABI (figure 3.36); for example of a signal handler's ucontext
 * @valid: bit n is set if regs[n] is known; bits 7 (rsp) and 16 (rip) must be
 *
 * The first address is regs[16]. The stack must be one of this process.
 * Return: as kunwind_callstack(), and
 *   -EINVAL  also if rsp or rip is not valid
 *   -EFAULT  also if @regs cannot be read
 */
int kunwind_callstack_regs(uint64_t *addresses, unsigned int capacity, unsigned int *reason,
			   const uint64_t regs[17], unsigned int valid);

/**
 * kunwind_callstack_trust() - the same, and how each address was found
 * @trust: out, room for @capacity bytes: enum kunwind_trust of each address
 *
 * Some code has no unwind information (that of JITs, assembly, musl). There the
 * module proves or guesses who the caller is; @trust shows this. A frame is at
 * most as sure as the least sure frame before it.
 * Return: as kunwind_callstack_regs(), and
 *   -E2BIG   the module is older than this function
 *   -EFAULT  also if @trust cannot be written
 */
int kunwind_callstack_trust(uint64_t *addresses, uint8_t *trust, unsigned int capacity,
			    unsigned int *reason, const uint64_t regs[17], unsigned int valid);

/**
 * kunwind_thread() - read the registers and the stack of another thread, without stopping it
 * @mem_fd: /proc/PID/task/TID/mem, open for reading; it needs no registration
 * @timeout_ms: how long to wait for a thread that runs, at most KUNWIND_MOST_TIMEOUT_MS; 0: not
 * @stack, @stack_len: where a thread that runs copies its stack, at most KUNWIND_MOST_STACK bytes
 * @thread: out: what struct kunwind_thread_stack says; no field of it is read
 *
 * The stack of a thread that sleeps (KUNWIND_THREAD_ASLEEP in state) is not copied: read it by
 * @mem_fd, and call this again. If turns and regs are the same, the thread has not run meanwhile.
 *
 * Return: 0, or
 *   -EAGAIN   it runs, and @timeout_ms is 0
 *   -ETIME    it has neither returned to user mode nor gone to sleep
 *   -ESRCH    it has ended, or has another program now
 *   -EDEADLK, -ENODATA, -ENOSPC, -ENOMEM, -EINTR  as KUNWIND_IOC_THREAD in kunwind/abi.h
 *   -ENOTTY   the module is older than this function
 */
int kunwind_thread(int mem_fd, unsigned int timeout_ms, void *stack, unsigned int stack_len,
		   struct kunwind_thread_stack *thread);

/**
 * kunwind_jit_register() - pass unwind information for code made at run time
 * @code, @len: the code, in executable memory of no file (or of a memfd), with
 *	its final protection
 * @eh_frame, @eh_frame_len: CIEs and FDEs in memory, as for __register_frame();
 *	a length of zero in them ends them earlier
 * @build_error: out, may be NULL: enum kunwind_build_error, what is wrong with them
 *
 * The module reads, checks and compiles them before this returns; the caller
 * may then free them. They are used until kunwind_jit_unregister(), until
 * anything is mapped over any byte of the code or its protection changes, until
 * execve(2), or until the registration of the process ends. A forked child that
 * is registered by its parent's registration uses them, too.
 *
 * Return: number of functions described, or
 *   -ENOENT   the process is not registered
 *   -EINVAL   a length is 0, or an address is out of range
 *   -EFAULT   @eh_frame cannot be read; @code is not in one executable mapping
 *   -EEXIST   some byte of the code has unwind information, or is a file's
 *   -ENOEXEC  malformed: see @build_error
 *   -ENOSPC, -ENOMEM, -ETIME  a limit is reached; no memory; it took too long
 *   -ENOTTY   the module is older than this function
 */
int kunwind_jit_register(const void *code, size_t len, const void *eh_frame,
			 size_t eh_frame_len, unsigned int *build_error);

/**
 * kunwind_jit_unregister() - end the use of what kunwind_jit_register() passed
 * Call this before the memory of the code is used for anything else.
 * Return: 0, or
 *   -ENOENT  nothing was passed for exactly this range
 *   -EINVAL  as kunwind_jit_register()
 */
int kunwind_jit_unregister(const void *code, size_t len);

/**
 * kunwind_release() - close the descriptor that kunwind_callstack() keeps
 * For programs that want to let the module be unloaded while they take no
 * stacks. The next stack opens the device again. Do not call this while another
 * thread is in a kunwind_callstack function: that function might open the
 * device again, or fail with -EBADF.
 */
void kunwind_release(void);

/**
 * kunwind_stats() - counters of the whole system since the module was loaded
 * struct kunwind_stats says what they count. Counters that an older module does
 * not have are 0. Return: 0 or a negative errno.
 */
int kunwind_stats(struct kunwind_stats *stats);

/**
 * kunwind_info() - the module's ABI version, limits and features
 * Return: 0 or a negative errno.
 */
int kunwind_info(struct kunwind_info *info);

/**
 * kunwind_reason_name() - short name of a value of enum kunwind_reason
 * Return: a constant such as "complete" or "no_rule"; "?" for unknown values.
 */
const char *kunwind_reason_name(unsigned int reason);

/**
 * kunwind_trust_name() - short name of a value of enum kunwind_trust
 * Return: a constant such as "cfi" or "fp"; "?" for unknown values.
 */
const char *kunwind_trust_name(unsigned int trust);

#ifdef __cplusplus
}
#endif

#endif /* KUNWIND_H */
