#!/bin/bash
# SPDX-License-Identifier: MIT
#
# scripts/module-symvers, by which DKMS builds lttng-probe-kunwind.ko against
# modules that it has not kept the Module.symvers of. The oracle is the
# Module.symvers that kbuild wrote for LTTng's modules in the cache.

cd "$(dirname "$0")/../.." || exit 1
. tests/vm/lib/tap.sh
. scripts/lib.sh

built=$(ls -1d "$KUNWIND_CACHE"/lttng-modules/*/src/src/lttng-tracer.ko 2>/dev/null | head -n 1)
built=${built:+${built%/*}/Module.symvers}
[ -n "$built" ] || { echo "1..0 # SKIP no LTTng modules in the cache (scripts/setup vm)"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# symbol and checksum, without the module's path
symbols() { awk -F'\t' '{ print $1, $2, $4 }' "$@" | sort; }
wanted() { awk -F'\t' -v module="$1" '$3 ~ module "$"' "$built" | symbols; }

tracer=${built%/*}/lttng-tracer.ko
mapfile -t modules < <(cut -f 3 "$built" | sort -u | sed 's/$/.ko/')
check "the oracle has modules and symbols" test "${#modules[@]}" -gt 3 -a "$(wanted /lttng-tracer | wc -l)" -gt 20
is "$(scripts/module-symvers "${modules[@]}" | symbols)" "$(symbols "$built")" "all modules: the symbols and checksums of kbuild"
is "$(scripts/module-symvers "$tracer" | symbols)" "$(wanted /lttng-tracer)" "one module: its own symbols"
is "$(scripts/module-symvers "$tracer" | cut -f 3 | sort -u)" "${tracer%.ko}" "the module is named, without .ko"
strip --strip-debug -o "$work/lttng-tracer.ko" "$tracer"
xz -k "$work/lttng-tracer.ko"
is "$(scripts/module-symvers "$work/lttng-tracer.ko.xz" | symbols)" "$(wanted /lttng-tracer)" "a stripped module, compressed by xz"
is "$(scripts/module-symvers "$work/lttng-tracer.ko.xz" | cut -f 3 | sort -u)" "$work/lttng-tracer" "its name has no .ko.xz"
if command -v zstd >/dev/null; then
	zstd -q "$work/lttng-tracer.ko"
	is "$(scripts/module-symvers "$work/lttng-tracer.ko.zst" | symbols)" "$(wanted /lttng-tracer)" "one compressed by zstd"
else
	skip "one compressed by zstd" "no zstd"
fi
# as of a kernel without CONFIG_MODVERSIONS
objcopy -R __kcrctab -R __kcrctab_gpl "$tracer" "$work/plain.ko"
is "$(scripts/module-symvers "$work/plain.ko" | symbols)" "$(wanted /lttng-tracer | awk '{ print "0x00000000", $2, "EXPORT_SYMBOL_GPL" }' | sort)" \
	"a module without checksums: all symbols, with 0"
is "$(scripts/module-symvers "$(find "${built%/*}/probes" -name 'lttng-probe-sched.ko')" | wc -l)" 0 "a module that exports nothing"
is "$(scripts/module-symvers "$tracer" "$(dirname "$tracer")/lttng-clock.ko" | grep -c 'lttng-clock')" "$(wanted /lttng-clock | wc -l)" \
	"a second module does not get the symbols of the first"
done_testing
