# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# memory.sh - compare the kernel's memory before and after. Sourced by soak.sh
# and sampling.sh.
#
# Memory is measured while no load runs and the module is not loaded. By
# /proc/meminfo: unreclaimable slab, vmalloc areas, percpu memory, stacks and
# page tables. There must also be no vmalloc area whose caller has no name,
# because areas of an unloaded module look like that. A leak of a page or two
# for each of some hundred loads of the module is found. On the debug kernel
# (scripts/soak --debug), kmemleak finds each lost object instead of the first
# comparison: KASAN keeps freed objects in slabs, and kmemleak an object for
# each allocation.

# shellcheck source=tests/vm/lib/kmemleak.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/kmemleak.sh"

memory_fields="SUnreclaim VmallocUsed Percpu KernelStack PageTables"
# memory that a kernel keeps without a leak (empty slabs, per-CPU caches), in KB
declare -A memory_slack=([SUnreclaim]=1024 [VmallocUsed]=256 [Percpu]=128 [KernelStack]=512 [PageTables]=512)

memory_note() { # FILE
	local i
	sync
	for i in 1 2 3; do
		echo 3 >/proc/sys/vm/drop_caches
		sleep 2
	done
	cp /proc/meminfo "$1.meminfo"
	awk 'NR > 2 { print $1, $2 * $4 / 1024 }' /proc/slabinfo >"$1.slabs"
	awk '{ for (i = 3; i <= NF && $i !~ /[+]|^0x[0-9a-f]+$/; i++) ; print $i, $2 / 1024 }' /proc/vmallocinfo |
		sed 's/+0x[^ ]*//' | awk '{ s[$1] += $2 } END { for (c in s) print c, s[c] }' >"$1.areas"
}

memory_grown() { # BEFORE AFTER: prints what grew most, in KB
	awk 'NR == FNR { was[$1] = $2; next } { d = $2 - was[$1]; if (d > 32) printf "%d %s\n", d, $1 }' "$1" "$2" |
		sort -rn | head -n 6 | tr '\n' ';'
}

memory_compare() { # BEFORE AFTER
	local field was now found
	for field in MemAvailable Slab SReclaimable; do
		diag "$field: $(awk -v f="$field:" '$1 == f { print $2 }' "$1.meminfo") KB before," \
			"$(awk -v f="$field:" '$1 == f { print $2 }' "$2.meminfo") KB after"
	done
	for field in $memory_fields; do
		was=$(awk -v f="$field:" '$1 == f { print $2 }' "$1.meminfo")
		now=$(awk -v f="$field:" '$1 == f { print $2 }' "$2.meminfo")
		if [ "$field" = SUnreclaim ] && [ -e "$kmemleak" ]; then
			diag "$field: $was KB before, $now KB after; kmemleak decides"
			continue
		fi
		[ -n "$was" ] && [ $((now - was)) -le "${memory_slack[$field]}" ]
		verdict $? "memory has not leaked: $field: $was KB before, $now KB after"
	done
	diag "slabs that grew (KB): $(memory_grown "$1.slabs" "$2.slabs")"
	diag "vmalloc areas that grew (KB): $(memory_grown "$1.areas" "$2.areas")"
	is "$(grep '^0x' "$2.areas")" "" "no vmalloc area of an unloaded module is left"
	if [ -e "$kmemleak" ]; then
		found=$(kmemleak_ours) || found="not known: kmemleak has disabled itself"
		is "$found" "" "kmemleak finds no lost memory of kunwind"
	fi
}
