#!/bin/bash
# SPDX-License-Identifier: MIT
#
# k-selftests.sh - the kernel's selftests (x86, signal stacks) and stress-ng's
# stressors of fork, clone, exec and signals have the same results with kunwind
# as without the module
#
# With kunwind, the whole system is registered, and LTTng takes a stack at each
# system call, page fault and task switch.
#
# Each program runs twice without the module. If the two results differ, the
# program is listed and not compared: an emulated processor differs from a real
# one, and some tests are races. The test compares the exit status and the
# numbers of lines with OK, FAIL and SKIP. scripts/check-kernel-tests builds the
# selftests. Two selftests with a far return (retf) in user mode are left out:
# QEMU 7.2 reads the stack of a retf as the supervisor, which SMAP forbids. The
# kernel, also without kunwind, takes this for a bug of its own.
# timeout: 1800

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/../oracle/session.sh"
need lttng stress-ng
bin=$here/../../build/kernel-selftests
[ -d "$bin/" ] || { echo "1..0 # SKIP no kernel selftests: run scripts/check-kernel-tests"; exit 0; }
stat_of() { awk -F'\t' -v n="$1" '$1 == "stat" && $2 == n { print $3 }' /dev/kunwind; }

# ONLY="NAME...": run only these, for example sigreturn_64 or stress-fork
wanted() { [ -z "${ONLY:-}" ] || [[ " $ONLY " == *" $1 "* ]]; }

far_return="sysret_ss_attrs_64 test_syscall_vdso_32"
selftests() { # prints: name, status, OK, FAIL, SKIP
	local program name status
	for program in "$bin"/*; do
		name=${program##*/}
		[[ " $far_return " != *" $name "* ]] && wanted "$name" || continue
		(cd "$work" && timeout 120 "$program") >"$work/$name.$1.out" 2>&1 </dev/null
		status=$?
		printf '%s\t%s\t%s\t%s\t%s\n' "$name" $status "$(grep -cE '^\[OK\]|^ok ' "$work/$name.$1.out")" \
			"$(grep -cE '^\[FAIL\]|^not ok ' "$work/$name.$1.out")" \
			"$(grep -cE '^\[SKIP\]|# SKIP' "$work/$name.$1.out")"
	done
}

stressors="fork vfork vforkmany clone exec sigabrt sigchld sigfd sigfpe sigio signal signest
	sigpending sigpipe sigq sigrt sigsegv sigsuspend sigtrap"
# Prints: name, status, and the numbers of lines in which stress-ng reports a
# completed run, a failure, and a skipped stressor.
stressed() {
	local name status
	for name in $stressors; do
		wanted "stress-$name" || continue
		timeout 120 stress-ng --"$name" 2 --timeout 3s --verify --temp-path "$work" \
			>"$work/stress-$name.$1.out" 2>&1 </dev/null
		status=$?
		printf 'stress-%s\t%s\t%s\t%s\t%s\n' "$name" $status \
			"$(grep -c 'successful run completed' "$work/stress-$name.$1.out")" \
			"$(grep -cE 'fail:|unsuccessful|error:' "$work/stress-$name.$1.out")" \
			"$(grep -c 'skipped' "$work/stress-$name.$1.out")"
	done
}

absent=$SECONDS
for n in 1 2; do
	{ selftests absent-$n; stressed absent-$n; } >"$work/absent-$n.tsv"
done
diag "twice without the module: $((SECONDS - absent)) s"

check "the module loads" modprobe kunwind
check "kunwind system-wide on succeeds" kunwind system-wide on
lttng-sessiond --daemonize >/dev/null
whole_system() {
	lttng -q create test --output="$work/trace" &&
		lttng -q enable-channel -k all --overwrite --subbuf-size=1M --num-subbuf=4 &&
		lttng -q add-context -k -c all -t callstack-user &&
		session_events --syscall -a &&
		session_events 'sched_switch,sched_process_fork,x86_exceptions_page_fault_user' &&
		lttng -q start
}
whole_system
verdict $? "an LTTng session of system calls, page faults and task switches of all processes starts"
before=$(stat_of stacks)
with=$SECONDS
{ selftests with; stressed with; } >"$work/with.tsv"
diag "once with the module: $((SECONDS - with)) s"
taken=$(($(stat_of stacks) - before))
diag "stacks by reason: $(awk -F'\t' '$1 == "reason" && $3 > 0 { printf "%s %s; ", $2, $3 }' /dev/kunwind)"
session_end
[ "$taken" -gt $([ -n "${ONLY:-}" ] && echo 1000 || echo 100000) ]
verdict $? "stacks are taken while the programs run: $taken"

steady=0
while IFS=$'\t' read -r name result; do
	again=$(sed -n "s/^$name\t//p" "$work/absent-2.tsv")
	if [ "$result" != "$again" ]; then
		diag "$name: two results without kunwind: $result, then $again ($(sed -n "s/^$name\t//p" "$work/with.tsv") with it)"
		continue
	fi
	steady=$((steady + 1))
	is "$(sed -n "s/^$name\t//p" "$work/with.tsv")" "$result" \
		"$name: status, OK, FAIL, SKIP as without kunwind:$(printf ' %s' $result)"
done <"$work/absent-1.tsv"
[ $steady -ge $(($(wc -l <"$work/absent-1.tsv") * 9 / 10)) ]
verdict $? "at least nine tenths of the programs are compared: $steady of $(wc -l <"$work/absent-1.tsv")"
# sigreturn_32 is not in this list, because it fails in emulation.
for name in sigreturn_64 sigaltstack_64 unwind_vdso_32 sas stress-fork stress-exec stress-clone stress-vfork; do
	wanted $name || continue
	is "$(awk -F'\t' -v n=$name '$1 == n { print $2 }' "$work/with.tsv")" 0 "$name: exits with status 0 with kunwind"
done
[ -z "${KEEP_DIR:-}" ] || cp "$work"/*.tsv "$work"/*.out "$KEEP_DIR/"
check "the module is unloaded" rmmod kunwind
done_testing
