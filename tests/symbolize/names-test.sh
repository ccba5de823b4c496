#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Names as their languages write them, and names of stubs that call other files.
#
#   names-test.sh SYMBOLIZE

symbolize=$1
# shellcheck source=tests/symbolize/lib.sh
. "$(dirname "$0")/lib.sh"

# A name of the symbol table, a tab, and the name that is to be printed.
cat >"$work/table" <<'END'
plain	plain
_start_of_c	_start_of_c
__do_it	__do_it
_Z4sortIiEvT_	sort<int>(int)
_ZNK2ns5Class6methodERKSs	ns::Class::method(std::string const&) const
_ZN2ns9containerIiLi3EE3putIlEEPlT_	ns::container<int, 3>::put<long>(long)
_ZZ4mainENKUlvE_clEv	main::{lambda()#1}::operator()() const
_Z4workv.cold	work() [clone .cold]
_RNvCs1234_7mycrate3foo	mycrate::foo
_RINvNtCs1234_3std3mem8align_ofdE	std::mem::align_of::<f64>
_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3newCs15kBYyAo9fc_7mycrate	<std::path::PathBuf>::new
_ZN4core3ptr13drop_in_place17h0123456789abcdefE	core::ptr::drop_in_place
_ZN43_$LT$Test$u20$as$u20$core..fmt..Display$GT$3fmt17h0123456789abcdefE	<Test as core::fmt::Display>::fmt
_D4test3fooAa	test.foo
_D8demangle4testFiZv	demangle.test(int)
_Dmain	D main
_Data_of_c	_Data_of_c
camlStdlib__List__map_481	Stdlib.List.map_481
camlDune__exe__Main.fun_1	Dune.exe.Main.fun_1
camlStdlib.$3e$3e_12	Stdlib.>>_12
camlot__x	camlot__x
gopkg.in/yaml%2ev3.Unmarshal	gopkg.in/yaml.v3.Unmarshal
100%rest	100%rest
END
awk -F '\t' '{ printf "\t.globl \"%s\"\n\t.type \"%s\", @function\n\"%s\":\n\t.skip 16, 0x90\n\t.size \"%s\", 16\n",
	$1, $1, $1, $1 }' "$work/table" >"$work/names.s"
gcc -shared -nostdlib -Wl,--build-id -o "$work/names.so" "$work/names.s" || exit 1
cut -f 1 "$work/table" | while read -r raw; do
	nm "$work/names.so" | awk -v raw="$raw" '$3 == raw { print "0x" $1 }'
done >"$work/addresses"
"$symbolize" -n "$work/names.so" "$(build_id "$work/names.so")" <"$work/addresses" 2>/dev/null |
	tail -n +2 | cut -f 2 >"$work/ours"
is "$(diff <(cut -f 2 "$work/table") "$work/ours")" "" "each name is as its language writes it, without return type and hash"

# Stubs, compared with objdump.
cat >"$work/calls.c" <<'END'
#include <stdlib.h>
#include <string.h>
int compare(const void *a, const void *b) { return memcmp(a, b, 4); }
int main(int argc, char **argv)
{
	void *(*volatile taken)(size_t) = malloc;

	free(taken(1));
	qsort(argv, (size_t)argc, sizeof(*argv), compare);
	return strlen(argv[0]) > 1000 ? system(argv[0]) : 0;
}
END
stubs() { # NAME FLAGS...
	local name=$1 program=$work/$1
	shift
	gcc -O1 -fno-builtin -Wl,--build-id -o "$program" "$work/calls.c" "$@" 2>/dev/null || { skip "$name" "cannot be built"; return; }
	objdump -d --no-show-raw-insn "$program" | awk '
		/^[0-9a-f]+ <.*@plt>:$/ { name = $2; gsub(/[<>:]/, "", name); next }
		/^$/ { name = "" }
		name != "" && /^ *[0-9a-f]+:/ { sub(/:.*/, ""); sub(/^ */, ""); print "0x" $0 "\t" name }' >"$work/theirs"
	cut -f 1 "$work/theirs" >"$work/addresses"
	"$symbolize" -n "$program" "$(build_id "$program")" <"$work/addresses" 2>/dev/null |
		tail -n +2 | cut -f 1,2 >"$work/ours"
	is "$(diff "$work/theirs" "$work/ours" | head -n 4)$([ -s "$work/theirs" ] || echo none)" "" "$name: stubs have the names that objdump gives"
}
stubs pie
stubs no-pie -no-pie
stubs tracked -fcf-protection=full -Wl,-z,ibtplt
stubs tracked-no-pie -fcf-protection=full -Wl,-z,ibtplt -no-pie
# Stubs that only push the number of their relocation, after the first one of .plt. objdump names none of them.
program=$work/tracked
readelf -SW "$program" | sed 's/^ *\[ *[0-9]*\] *//' | awk '$1 == ".plt" { print $3, $5 }' | {
	read -r start size
	for ((i = 16; i < 16#$size; i += 16)); do printf '0x%x\n' $((16#$start + i)); done
} >"$work/addresses"
is "$("$symbolize" -n "$program" "$(build_id "$program")" <"$work/addresses" 2>/dev/null | tail -n +2 | cut -f 2)" \
	"$(readelf -rW "$program" | awk '/\.rela\.plt/ { on = 1 } on && /JUMP_SLO/ { sub(/@.*/, "", $5); print $5 "@plt" }')" \
	"tracked: a stub that pushes a number has the name of that relocation"
stubs now -Wl,-z,now
stubs lld -fuse-ld=lld
stubs gold -fuse-ld=gold
stubs i386-pie -m32
stubs i386 -m32 -no-pie
g++ -x c++ -O1 -Wl,--build-id -o "$work/cxx" - <<<'int main(int argc, char **) { delete new int[argc > 5 ? 3 : 4]; }' &&
	objdump -d --no-show-raw-insn "$work/cxx" | awk '/^[0-9a-f]+ <_Znam@plt>:$/ { print "0x" $1; exit }' >"$work/addresses"
is "$("$symbolize" -n "$work/cxx" "$(build_id "$work/cxx")" <"$work/addresses" 2>/dev/null | tail -n +2 | cut -f 2)" \
	"operator new[](unsigned long)@plt" "a stub for a function of C++ has its name and @plt"
done_testing
