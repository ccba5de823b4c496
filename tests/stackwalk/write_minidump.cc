// SPDX-License-Identifier: MIT
// write_minidump.cc - run a program until a signal kills it, and write a minidump of it with
// Breakpad's writer
//
//   write-minidump OUTPUT PROGRAM [ARGUMENT]...
//
// Breakpad's own handler runs in the program. Here the program is any one: this process traces
// it, and hands what the handler would have to WriteMinidump(): the signal and the registers.
#include <cstdio>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/linux/handler/exception_handler.h"
#include "client/linux/minidump_writer/minidump_writer.h"

static google_breakpad::ExceptionHandler::CrashContext context;

static void fill(pid_t tid)
{
	struct user_regs_struct regs;
	greg_t *to = context.context.uc_mcontext.gregs;

	ptrace(PTRACE_GETSIGINFO, tid, nullptr, &context.siginfo);
	ptrace(PTRACE_GETREGS, tid, nullptr, &regs);
	context.tid = tid;
	to[REG_R8] = regs.r8;
	to[REG_R9] = regs.r9;
	to[REG_R10] = regs.r10;
	to[REG_R11] = regs.r11;
	to[REG_R12] = regs.r12;
	to[REG_R13] = regs.r13;
	to[REG_R14] = regs.r14;
	to[REG_R15] = regs.r15;
	to[REG_RDI] = regs.rdi;
	to[REG_RSI] = regs.rsi;
	to[REG_RBP] = regs.rbp;
	to[REG_RBX] = regs.rbx;
	to[REG_RDX] = regs.rdx;
	to[REG_RAX] = regs.rax;
	to[REG_RCX] = regs.rcx;
	to[REG_RSP] = regs.rsp;
	to[REG_RIP] = regs.rip;
	to[REG_EFL] = regs.eflags;
	to[REG_CSGSFS] = regs.cs;
}

// Whether the signal has no handler. A handler that returns would crash again.
static bool is_fatal(pid_t pid, int signal)
{
	char path[64], line[256];
	unsigned long caught = 0;
	FILE *file;

	if (!strchr("\3\4\5\6\7\10\13", signal))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "SigCgt: %lx", &caught);
	if (file)
		fclose(file);
	return !(caught >> (signal - 1) & 1);
}

// The process that the thread is in: a vfork()ed child is one of its own.
static pid_t process_of(pid_t tid)
{
	char path[64], line[256];
	int pid = tid;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "Tgid: %d", &pid);
	if (file)
		fclose(file);
	return pid;
}

// Lets all threads go, stopped: the writer attaches to them itself.
static void let_go(pid_t pid, pid_t crashed)
{
	char path[64];
	int status;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	DIR *dir = opendir(path);
	while (struct dirent *entry = dir ? readdir(dir) : nullptr) {
		pid_t tid = atoi(entry->d_name);

		if (tid <= 0)
			continue;
		if (tid != crashed) {
			syscall(SYS_tgkill, pid, tid, SIGSTOP);
			waitpid(tid, &status, __WALL);
		}
		ptrace(PTRACE_DETACH, tid, nullptr, SIGSTOP);
	}
	if (dir)
		closedir(dir);
}

// Runs the program until a signal kills it. Returns the thread, or -1.
static pid_t run(char **argv)
{
	pid_t pid = fork(), tid;
	int status, signal;

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
		execv(*argv, argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	ptrace(PTRACE_SETOPTIONS, pid, nullptr, PTRACE_O_TRACECLONE | PTRACE_O_TRACEVFORK | PTRACE_O_EXITKILL);
	ptrace(PTRACE_CONT, pid, nullptr, 0);
	while ((tid = waitpid(-1, &status, __WALL)) > 0) {
		if (!WIFSTOPPED(status))
			continue;
		signal = WSTOPSIG(status);
		if (status >> 16 || signal == SIGSTOP)
			signal = 0;
		if (signal && is_fatal(tid, signal))
			return tid;
		ptrace(PTRACE_CONT, tid, nullptr, signal);
	}
	return -1;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	pid_t tid = run(argv + 2);
	if (tid < 0)
		return 1;
	pid_t pid = process_of(tid);
	fill(tid);
	let_go(pid, tid);
	bool ok = google_breakpad::WriteMinidump(argv[1], pid, &context, sizeof(context));
	kill(pid, SIGKILL);
	return !ok;
}
