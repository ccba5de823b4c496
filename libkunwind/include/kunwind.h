/* SPDX-License-Identifier: MIT */
/*
 * kunwind.h - libkunwind: have call stacks of user programs taken by the kernel
 *
 * The kernel module kunwind walks user stacks by the unwind information of the
 * mapped objects, so no frame pointers are needed. This library registers
 * processes with it and asks it for stacks and figures. Link with -lkunwind.
 *
 * Errors are negative errno values; errno itself is left as it was. In common:
 *   -ENODEV      the module is not loaded (there is no /dev/kunwind)
 *   -EACCES      /dev/kunwind may not be opened (group tracing, or root)
 *   -EOPNOTSUPP  the kill switch is on (module parameter "enabled" is N), or a hook
 *                that stacks need is missing (kunwind doctor names it)
 *   -EMFILE, -ENFILE, -ENOMEM  as open(2)
 *
 * Every function may be called from any thread at any time. None is a
 * cancellation point, none takes a lock or allocates, and all but
 * kunwind_release() may be called from a signal handler.
 *
 * kunwind_callstack() and kunwind_callstack_regs() keep one descriptor of
 * /dev/kunwind (close-on-exec, valid in forked children too) from the first
 * stack on, for an open(2) would cost more than the walk. An open descriptor
 * keeps the module from being unloaded: kunwind_release() closes it. All other
 * functions open the device for the call only. A program that closes
 * descriptors that are not its own does no harm: the library notices and opens
 * another one.
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
 * @flags: 0 or KUNWIND_REGISTER_CHILDREN (processes forked from now on, too)
 *
 * From here on the kernel's savers of user stacks (LTTng's callstack-user,
 * perf -g, bpf_get_stack) give this process's true stacks. It lasts until
 * kunwind_unregister_self() or the end of the process, execve(2) included,
 * unless that gains privilege. Registering again is no error. The call sleeps
 * while tables of objects not seen before are built: some 10 to 100 ms for a
 * large one.
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
 * The right to do so is that of ptrace(2): the function opens /proc/PID/mem
 * and hands the descriptor to the module.
 *
 * Return: 0, or as kunwind_register_self(), and
 *   -ESRCH   no such process, or not one that the caller may ptrace, or it has no
 *	      memory of its own (kernel thread, zombie)
 *   -EACCES  registered by another user, without these flags
 *   -EAGAIN  its memory map stayed locked for register_timeout_ms
 */
int kunwind_register_pid(pid_t pid, unsigned int flags);

/**
 * kunwind_register_fd() - register a process by a descriptor of its memory
 * @mem_fd: of /proc/PID/mem, opened by the caller; or -1 for the caller
 * @nr_maps: out, may be NULL: executable mappings that it has now
 * @nr_ready: out, may be NULL: of these, how many have a table
 *
 * Return: as kunwind_register_pid(), and -EBADF: @mem_fd is something else.
 */
int kunwind_register_fd(int mem_fd, unsigned int flags,
			unsigned int *nr_maps, unsigned int *nr_ready);

/**
 * kunwind_unregister_self(), kunwind_unregister_pid() - the opposite
 * Return: 0, or
 *   -ENOENT  the process is not registered
 *   -EACCES  it was registered by another user
 *   -ESRCH   as kunwind_register_pid()
 */
int kunwind_unregister_self(void);
int kunwind_unregister_pid(pid_t pid);

/**
 * kunwind_auto() - register every process of the system, running or to come
 * @on: 0 drops again what only this registered; registrations by the functions
 *	above stay
 *
 * Waits for the processes that run, register_timeout_ms at most, and not for one
 * whose memory map stays locked: the module registers that one later.
 *
 * Return: 0, or
 *   -EPERM  no CAP_SYS_ADMIN in the initial user namespace
 *   -EINTR  a fatal signal came while it waited; the switch has been made
 */
int kunwind_auto(int on);

/**
 * kunwind_callstack() - the call stack of the caller
 * @addresses: filled innermost first; the first is the return address of this
 *	call in the calling function, each further one a return address
 * @capacity: of @addresses, in words, 1 to KUNWIND_MAX_FRAMES
 * @reason: out, may be NULL: why the stack ended (enum kunwind_reason);
 *	KUNWIND_COMPLETE means that the entry point was reached
 *
 * The calling process must be registered. A stack that ends early is no error.
 * Use return addresses minus one to look up functions and lines.
 *
 * Return: number of addresses stored, or
 *   -ENOENT  the process is not registered
 *   -EINVAL  @capacity out of range
 *   -EFAULT  @addresses cannot be written
 */
int kunwind_callstack(uint64_t *addresses, unsigned int capacity, unsigned int *reason);

/**
 * kunwind_callstack_regs() - the call stack that belongs to given registers
 * @regs: rax rdx rcx rbx rsi rdi rbp rsp r8 ... r15 rip: the numbers of the
 *	x86-64 psABI (figure 3.36); for instance a signal handler's ucontext
 * @valid: bit n is set when regs[n] is known; bits 7 (rsp) and 16 (rip) must be
 *
 * The first address is regs[16]. The stack must be one of this process.
 * Return: as kunwind_callstack(), and -EINVAL: rsp or rip not valid.
 */
int kunwind_callstack_regs(uint64_t *addresses, unsigned int capacity, unsigned int *reason,
			   const uint64_t regs[17], unsigned int valid);

/**
 * kunwind_callstack_trust() - the same, with how each address was found
 * @trust: filled, @capacity bytes: enum kunwind_trust of each address
 *
 * Code without unwind information (a JIT's, hand-written, musl's) is passed by
 * what proves itself; this tells where. A frame is as sure as the least sure of
 * those before it.
 * Return: as kunwind_callstack_regs(), and -E2BIG: the module is older than this call
 */
int kunwind_callstack_trust(uint64_t *addresses, uint8_t *trust, unsigned int capacity,
			    unsigned int *reason, const uint64_t regs[17], unsigned int valid);

/**
 * kunwind_jit_register() - hand in unwind information for code made at run time
 * @code, @len: the code, in executable memory of no file (or a memfd's), with its last
 *	protection
 * @eh_frame, @eh_frame_len: its CIEs and FDEs in memory, as given to
 *	__register_frame(); a length of zero in them ends them earlier
 * @refusal: out, may be NULL: enum kunwind_refusal, what is wrong with them
 *
 * They are read, checked and compiled before this returns, and may go then. Holds until
 * kunwind_jit_unregister(), until anything is mapped over any byte of the code or its
 * protection changes, until execve(2) or the end of the process's registration. A
 * child that is registered with it has the same.
 *
 * Return: number of functions described, or
 *   -ENOENT   the process is not registered
 *   -EINVAL   a length of 0, an address out of range
 *   -EFAULT   @eh_frame cannot be read, or @code is not in one executable mapping
 *   -EEXIST   some byte of the code has unwind information already, or is a file's
 *   -ENOEXEC  malformed: see @refusal
 *   -ENOSPC, -ENOMEM, -ETIME  out of a limit; no memory; it takes too long
 *   -ENOTTY   the module is older than this call
 */
int kunwind_jit_register(const void *code, size_t len, const void *eh_frame,
			 size_t eh_frame_len, unsigned int *refusal);

/**
 * kunwind_jit_unregister() - take it back, before the memory of the code is used otherwise
 * Return: 0, or -ENOENT: nothing is handed in for just this range; -EINVAL
 */
int kunwind_jit_unregister(const void *code, size_t len);

/**
 * kunwind_release() - close the descriptor that kunwind_callstack() keeps
 * For programs that want the module to be removable while they do not take
 * stacks. The next stack opens it again. Not while another thread is inside
 * kunwind_callstack(), which might then fail with -EBADF.
 */
void kunwind_release(void);

/**
 * kunwind_stats() - counters of the whole system since the module was loaded
 * Bytes, rows and counts: see struct kunwind_stats. What an older module does
 * not know reads as 0. Return: 0 or a negative errno.
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
