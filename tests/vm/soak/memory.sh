# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# The kernel's memory before and after, sourced by soak.sh, while nothing runs
# and the module is not loaded.
#
# What is compared: unreclaimable slab, vmalloc areas, percpu memory, stacks and
# page tables, by /proc/meminfo; and areas of vmalloc whose caller has no name,
# which is how those look that a module took which is gone: of them there are none.
# A page or two for each of some hundred loads would be seen; for less, kmemleak
# of the debug kernel (scripts/soak --debug) looks.

memory_fields="SUnreclaim VmallocUsed Percpu KernelStack PageTables"
# What a kernel keeps of its own accord (empty slabs, caches of each processor), in KB
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

memory_grown() { # BEFORE AFTER: what grew most, in KB
	awk 'NR == FNR { was[$1] = $2; next } { d = $2 - was[$1]; if (d > 32) printf "%d %s\n", d, $1 }' "$1" "$2" |
		sort -rn | head -n 6 | tr '\n' ';'
}

memory_compare() { # BEFORE AFTER
	local field was now
	for field in MemAvailable Slab SReclaimable; do
		diag "$field: $(awk -v f="$field:" '$1 == f { print $2 }' "$1.meminfo") KB before," \
			"$(awk -v f="$field:" '$1 == f { print $2 }' "$2.meminfo") KB after"
	done
	for field in $memory_fields; do
		was=$(awk -v f="$field:" '$1 == f { print $2 }' "$1.meminfo")
		now=$(awk -v f="$field:" '$1 == f { print $2 }' "$2.meminfo")
		[ -n "$was" ] && [ $((now - was)) -le "${memory_slack[$field]}" ]
		verdict $? "$field: $was KB before, $now KB after"
	done
	diag "slabs that grew (KB): $(memory_grown "$1.slabs" "$2.slabs")"
	diag "vmalloc areas that grew (KB): $(memory_grown "$1.areas" "$2.areas")"
	is "$(grep '^0x' "$2.areas")" "" "no vmalloc area is left of a module that is gone"
}
