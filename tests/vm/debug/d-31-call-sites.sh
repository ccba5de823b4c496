#!/bin/bash
# SPDX-License-Identifier: MIT
#
# d-31-call-sites.sh - each call of kunwind.ko into the kernel that allocates
# memory fails, once and then every time
#
# The test finds the calls in the module's relocations. Fault injection filters
# by stack trace, so that only allocations below one of these calls fail.
# Allowed are a load that is refused with "Cannot allocate memory", a call that
# fails with an errno, and a stack that is too short. Not allowed are a wrong
# frame, a killed program, a complaint of the kernel, lost memory, and a module
# that cannot be unloaded.
#
# A load of the module takes most of a minute on this kernel. So a kprobe at
# each call first counts which calls the load, the unload and each part of the
# scene execute. The test then tries a call only with the load or the parts that
# execute it.
# vm: --debug
# timeout: 3000

. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/lib.sh"
progs=$PWD/build/vm-progs
lib=build/vm-progs-lib
make -s -C tests/vm/fixtures/lib all >/dev/null || exit 1
params=/sys/module/kunwind/parameters
module=$(modinfo -n kunwind)

# Functions of the kernel that allocate memory, also to register something, or
# that fault in pages; and calls by pointer, such as the read of a file.
# Functions that allocate nothing themselves (seq_printf(),
# copy_from_user_nofault(), queueing) are not in the list, because below them
# only the debug kernel's checkers allocate.
allocating='^(__(k[vmz]*alloc.*|alloc_percpu|get_user_.*|x86_indirect_thunk_.*)|k[vmz]*alloc_(trace|node).*|kmem_cache_alloc.*|vmalloc.*|vzalloc.*|kstrdup.*|kmemdup.*|alloc_workqueue.*|misc_register|(un)?register_(ftrace_function|shrinker)|ftrace_set_filter.*|tracepoint_probe_.*|shrinker_.*alloc.*|single_open.*|smpboot_.*|kthread_create.*|filp_open|get_user_pages.*|fixup_user_fault|fault_in_.*|_copy_(from|to)_user|check_zeroed_user|kvfree_call_rcu)$'

# Prints "OFFSET FUNCTION CALLER" for each call in .text. OFFSET is that of the
# instruction after the call. Functions and calls have addresses of 16 digits,
# so sort merges them.
sites() {
	local text offset function caller
	text=$(readelf -SW "$module" | sed -n 's/^ *\[ *\([0-9]*\)\] \.text .*/\1/p')
	{
		readelf -sW "$module" | awk -v text="$text" '$4 == "FUNC" && $7 == text { print $2, 0, $8 }'
		readelf -rW "$module" | awk -v want="$allocating" '
			/^Relocation section/ { text = /\.rela\.text'"'"'/ }
			text && $3 ~ /PLT32|PC32/ && $5 ~ want { print $1, 1, $5 }'
	} | sort | awk '$2 { print $1, $3, caller; next } { caller = $3 }' |
		while read -r offset function caller; do echo $((16#$offset + 4)) "$function" "$caller"; done
}

text_base() { cat /sys/module/kunwind/sections/.text; }

# Only allocations below the call that ends at OFFSET fail, TIMES of them.
fail_below() { # OFFSET TIMES
	local dir start end
	# without memory for a trampoline ftrace works, but the kernel warns
	extent arch_ftrace_update_trampoline
	times=$2
	for dir in failslab fail_page_alloc; do
		echo 0 >$debugfs/$dir/verbose
		echo N >$debugfs/$dir/ignore-gfp-wait
		echo 32 >$debugfs/$dir/stacktrace-depth
		printf '0x%x' $((base + $1)) >$debugfs/$dir/require-start
		printf '0x%x' $((base + $1 + 1)) >$debugfs/$dir/require-end
		echo "$start" >$debugfs/$dir/reject-start
		echo "$end" >$debugfs/$dir/reject-end
		echo 1 >$debugfs/$dir/interval
		echo 100 >$debugfs/$dir/probability
		echo "$2" >$debugfs/$dir/times
	done
	echo 0 >$debugfs/fail_page_alloc/min-order
}
# The number of allocations that have failed since fail_below().
failed() { echo $((2 * times - $(cat $debugfs/failslab/times) - $(cat $debugfs/fail_page_alloc/times))); }

# ------------------------------------------------------------ the scene

# Succeeds if perfchain's own stack is the true one or its innermost frames.
true_stack() {
	local got
	got=$("$progs/perfchain" "$1" 2>/dev/null | grep -v -- - | tr '\n' ' ')
	case "third second first main " in
	"$got"*) return 0 ;;
	esac
	echo "stack: $got"
	return 1
}

# A program's calls may fail, but the program is not killed.
lives() {
	local status=0
	"$@" >/dev/null 2>&1 || status=$?
	[ $status -lt 124 ] || { echo "$1: status $status"; return 1; }
}

# Together these parts use everything that the module does for processes.
parts=(register system jit status)

part_register() {
	true_stack register && lives $storm leaf
}

# Without system_wide a process that is not registered gets the kernel's own stacks.
part_system() {
	local status=0
	kunwind system-wide on >/dev/null 2>&1 || return 0
	echo 0 >$params/max_whole_kb
	lives perl -e 'exit(system("/bin/true") >> 8)' || status=1
	true_stack stranger || status=1
	echo 6144 >$params/max_whole_kb
	kunwind system-wide off >/dev/null 2>&1
	return $status
}

part_jit() {
	lives timeout 120 $lib/jit-storm 1
}

part_status() {
	echo 1 >$tracefs/events/kunwind/enable
	lives $storm leaf || return 1
	echo 0 >$tracefs/events/kunwind/enable
	cat /dev/kunwind
	return 0
} >/dev/null 2>&1

# Drops the tables, so that the next part builds them again.
forget() {
	local i
	for ((i = 0; i < 20; i++)); do
		echo 2 >/proc/sys/vm/drop_caches
		grep -q '^object' /dev/kunwind 2>/dev/null || return 0
		sleep 0.1
	done
}

# ----------------------------------------------- which part executes which call

declare -A executes=() counted=() hit=()
count_begin() {
	local anchor at site
	echo 0 >/proc/sys/debug/kprobes-optimization
	# Offsets are from a global function: many static names are not unique.
	read -r at anchor < <(awk '$4 == "[kunwind]" && $2 ~ /[tT]/ && $3 ~ /^kunwind_/ { print $1, $3 }' \
		/proc/kallsyms | sort | head -n 1)
	at=$((16#$at - base))
	for site in "${list[@]}"; do
		site=${site%% *}
		[ "$site" -gt "$at" ] &&
			echo "p:sites/at_$site kunwind:$anchor+$((site - at))" 2>/dev/null >>$tracefs/kprobe_events ||
			unknown+=("$site")
	done
	echo 1 >$tracefs/events/sites/enable
	echo 0 >$tracefs/tracing_on
}

# Notes for PART each call that was executed since the last count.
count() { # PART
	local name hits
	while read -r name hits _; do
		name=${name#at_}
		[ "$hits" = "${counted[$name]:-0}" ] || executes[$name]+="$1 "
		counted[$name]=$hits
	done < <(sed -n 's/^ *at_/at_/p' $tracefs/kprobe_profile)
}

count_end() {
	echo 0 >$tracefs/events/sites/enable
	echo >$tracefs/kprobe_events
	echo 1 >$tracefs/tracing_on
}

# ------------------------------------------------------------------ one call

note() { # OFFSET: adds the allocations that failed below it to the totals
	local n
	n=$(failed)
	[ "$n" -eq 0 ] || hit[$1]=$((${hit[$1]:-0} + n))
	injected=$((injected + n))
}

# Loads the module for this call alone. It is not loaded before and afterwards.
try_load() { # OFFSET TIMES
	local status=0 text part
	fail_below "$1" "$2"
	if ! text=$(modprobe kunwind 2>&1); then
		[[ $text == *"Cannot allocate memory"* ]] || { echo "load: $text"; status=1; }
	else
		[ "$(text_base)" = "$base" ] || moved=$((moved + 1))
		# The module works without that memory: stacks must be true.
		[ "$(failed)" -eq 0 ] || for part in "${parts[@]}"; do "part_$part" || status=1; done
		unload || status=1
	fi
	note "$1"
	stop_failing
	return $status
}

try_part() { # OFFSET TIMES PART
	local status=0
	fail_below "$1" "$2"
	"part_$3" || status=1
	note "$1"
	stop_failing
	forget
	return $status
}

# Lets the call fail once, in the first part where this makes an allocation
# fail; then always, in each part.
in_parts() { # OFFSET
	local part status=0 before=${hit[$1]:-0} run=()
	for part in "${parts[@]}"; do
		[[ " ${executes[$1]:-} " != *" $part "* ]] || run+=("$part")
	done
	for part in ${run[@]+"${run[@]}"}; do
		try_part "$1" 1 "$part" || status=1
		[ "${hit[$1]:-0}" -eq "$before" ] || break
	done
	[ "${hit[$1]:-0}" -ne "$before" ] || return $status
	for part in "${run[@]}"; do
		try_part "$1" 100000 "$part" || status=1
	done
	return $status
}

# One test for each call, or for those from number FROM to TO: a run can continue
# another.
try_all() { # EXECUTED-BY COMMAND: COMMAND OFFSET tries one call
	local by=$1 i offset function caller status before
	for ((i = ${FROM:-0}; i < ${#list[@]} && i <= ${TO:-i}; i++)); do
		read -r offset function caller <<<"${list[i]}"
		[[ ${executes[$offset]:-} =~ $by ]] || continue
		before=$injected
		status=0
		"$2" "$offset" >"$KUNWIND_TMP/said" || status=1
		verdict $status "call $i, $function in $caller: safe when $((injected - before)) allocations fail ($2)"
		[ $status -eq 0 ] || diag "$(cat "$KUNWIND_TMP/said")"
	done
}

in_load() { # OFFSET
	local before=${hit[$1]:-0}
	try_load "$1" 1 || return 1
	[ "${hit[$1]:-0}" -eq "$before" ] || try_load "$1" 100000
}

check "the module loads" modprobe kunwind
base=$(text_base)
mapfile -t list < <(sites)
like "${#list[@]}" '^[1-9][0-9]+$' "the module's relocations have at least ten calls that allocate"
unknown=()
count_begin
check "the module is unloaded without kprobes" unload
count unload
check "the module loads with a kprobe at each call" modprobe kunwind
count load
for part in "${parts[@]}"; do
	check "no allocation fails: $part" "part_$part"
	forget
	count $part
done
check "the module is unloaded with a kprobe at each call" unload
count unload
count_end
for site in ${unknown[@]+"${unknown[@]}"}; do
	executes[$site]="load ${parts[*]} "
done
diag "${#list[@]} calls, ${#executes[@]} of which are executed"

injected=0 moved=0
try_all load in_load
check "the module loads after all tries of its load" modprobe kunwind
[ "$(text_base)" = "$base" ] || moved=$((moved + 1))
base=$(text_base)
try_all "$(IFS="|"; echo "${parts[*]}")" in_parts
diag "$injected allocations failed, below ${#hit[@]} calls"
for site in "${list[@]}"; do
	offset=${site%% *}
	[ -n "${hit[$offset]:-}" ] || diag "no allocation failed below: $site, executed by: ${executes[$offset]:-none}"
done
[ -n "${FROM:-}${TO:-}" ] || [ "${#hit[@]}" -ge $((${#list[@]} / 3)) ]
verdict $? "allocations failed below at least a third of the calls"
is "$moved" 0 "the module was loaded at the same address each time"
is "$("$progs/perfchain" register | grep -v -- - | tr '\n' ' ')" "third second first main " "stacks are whole when allocations succeed again"
check "the module is unloaded at the end" unload
no_leaks "once unloaded"
done_testing
