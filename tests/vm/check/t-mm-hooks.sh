#!/bin/bash
# SPDX-License-Identifier: MIT
#
# t-mm-hooks.sh - code that a registered process maps, moves and replaces, also by
# many threads at once, and files that are not ELF
# timeout: 150

# shellcheck source=tests/vm/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
progs=$PWD/build/vm-progs-device
make -s -C tests/vm/fixtures/device all >/dev/null || exit 1

check "the module loads" modprobe kunwind

"$progs/mm-hooks" "$progs" "$KUNWIND_TMP" >"$KUNWIND_TMP/out" 2>&1
status=$?
tap_from "$KUNWIND_TMP/out"
is "$status" 0 "code mapped, moved and replaced: each stack leads through the code that is mapped"

"$progs/moved" >"$KUNWIND_TMP/out" 2>&1
status=$?
tap_from "$KUNWIND_TMP/out"
is "$status" 0 "mremap over code: old table is not used"

# The thread "late" waits after the hook of mremap(), before it takes mmap_lock.
check "the module that delays mremap() of one thread loads" modprobe delay function=down_write_killable comm=late
"$progs/movers" stacks "$progs" >"$KUNWIND_TMP/out" 2>&1
status=$?
tap_from "$KUNWIND_TMP/out"
is "$status" 0 "mremap by many threads at once: no stack is wrong"
check "the delaying module is unloaded" rmmod delay

# kunwind_map events: one for each new mapping
tracing=/sys/kernel/tracing
echo >$tracing/trace
echo 1 >$tracing/events/kunwind/kunwind_map/enable
"$progs/tables" map "$progs"/{small,large,small,large,small}.so </dev/null >/dev/null
echo 0 >$tracing/events/kunwind/kunwind_map/enable
sed -n 's/.* kunwind_map: //p' $tracing/trace >"$KUNWIND_TMP/told"
is "$(grep -c 'small.so' "$KUNWIND_TMP/told") $(grep -c 'large.so' "$KUNWIND_TMP/told")" "3 2" \
	"each new mapping has an event kunwind_map"
is "$(sort "$KUNWIND_TMP/told" | uniq -d)" "" "no mapping has a second event kunwind_map after later mappings"

refused=$(awk '$1 == "object" && $2 == "refused" { print $3 }' /dev/kunwind | sort -u | tr '\n' ' ')
like "$refused" "not_elf" "the status names the reasons of refused files: $refused"
is "$(awk '$1 == "stat" && $2 == "processes" { print $3 }' /dev/kunwind)" 0 "no process is registered after the programs have ended"
check "the module is unloaded" rmmod kunwind
done_testing
