#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-hooks.sh - each required hook is refused in turn
#
# Without one of its required hooks, the module does not see some change of an
# address space or process, and a stack could be wrong. So the module registers
# no process and takes over no function: every stack is the kernel's own.
# refuse.ko makes ftrace refuse the hook on one function.
# timeout: 900
# long: only

# shellcheck source=tests/vm/oracle/session.sh
. "$(dirname "$0")/../oracle/session.sh"
build_progs
make -s -C tests/vm/fixtures/device all >/dev/null || exit 1
device=$PWD/build/vm-progs-device

stock=$("$progs/perfchain" stranger)
check "the module loads with all hooks" modprobe kunwind
mapfile -t required < <(awk -F'\t' '$1 == "hook" &&
	$2 !~ /^(stack_trace_save_user|perf_callchain_user|unwind_user)$/ { print $2 }' /dev/kunwind)
is "$(awk -F'\t' '$1 == "hook" && $3 != "on"' /dev/kunwind)" "" "all hooks are on"
like " ${required[*]} " " perf_event_mmap .* __x64_sys_mremap .* exit_files " \
	"the required hooks are known: ${required[*]}"
check "the module is unloaded with all hooks" rmmod kunwind

for function in "${required[@]}"; do
	modprobe refuse function="$function" || { not_ok "$function refused: refuse.ko loads"; continue; }
	dmesg -C
	check "$function refused: the module loads" modprobe kunwind
	is "$(awk -F'\t' -v h="$function" '$1 == "hook" && $2 == h { print $3 }' /dev/kunwind)" \
		refused "$function refused: the status reports the hook as refused"
	is "$(awk -F'\t' '$1 == "hook" && $2 ~ /save_user|callchain_user|unwind_user/ && $3 == "on"' /dev/kunwind)" \
		"" "$function refused: no function is taken over"
	is "$(dmesg | grep -c "kunwind: no process can be registered.*$function")" 1 \
		"$function refused: the log names it once"
	like "$("$device/moved" 2>&1)" "^moved: /dev/kunwind: Operation not supported$" \
		"$function refused: a program cannot register itself"
	check_fails 125 "$function refused: kunwind run fails" kunwind run -- true
	check_fails 1 "$function refused: system_wide cannot be switched on" \
		bash -c 'echo Y >/sys/module/kunwind/parameters/system_wide'
	like "$(kunwind doctor)" "required hooks.*$function is refused" \
		"$function refused: kunwind doctor names it"
	is "$("$progs/perfchain" stranger)" "$stock" "$function refused: an unregistered program's stack is the kernel's own"
	check "$function refused: the module is unloaded" rmmod kunwind
	rmmod refuse
done

# If another tracer is on the same functions, ftrace calls the handlers with
# preemption off. On PREEMPT_RT they cannot run like that: the module gives up.
tracing=/sys/kernel/tracing
check "the module loads before the function tracer starts" modprobe kunwind
printf '%s\n' "${required[@]}" >$tracing/set_ftrace_filter
echo function >$tracing/current_tracer
if is_rt; then
	"$device/moved" >/dev/null 2>&1
	like "$(awk -F'\t' '$1 == "hook" { print $3 }' /dev/kunwind)" "lost" \
		"PREEMPT_RT, function tracer on all hooked functions: the status reports a lost hook"
	like "$("$device/moved" 2>&1)" "^moved: /dev/kunwind: Operation not supported$" \
		"PREEMPT_RT, function tracer on all hooked functions: no process can be registered"
else
	check "function tracer on all hooked functions: stacks are true" "$device/moved"
	mkdir -p "$work/follow"
	check "function tracer on all hooked functions: mappings are followed" \
		"$device/mm-hooks" "$device" "$work/follow"
fi
echo nop >$tracing/current_tracer
echo >$tracing/set_ftrace_filter
check "the module is unloaded after the function tracer" rmmod kunwind

# all hooks again
check "the module loads with all hooks again" modprobe kunwind
is "$("$progs/perfchain" register | grep -v -- - | tr '\n' ' ')" "third second first main " \
	"all hooks on: stacks are true"
like "$(kunwind doctor)" "required hooks.*all are on" "kunwind doctor reports that all required hooks are on"
check "the module is unloaded" rmmod kunwind
done_testing
