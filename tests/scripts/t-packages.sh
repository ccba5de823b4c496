#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What the postinst and prerm of kunwind-dkms do and say for each state of a machine's
# kernels, and what debian/ repeats of the source. Runs the scripts in a mount namespace with fake
# kernels in /lib/modules, and fakes of dkms and modinfo in PATH. tests/install/packages tries the
# real ones. Prints TAP. Needs root.

cd "$(dirname "$0")/../.." || exit 1
. tests/vm/lib/tap.sh
. scripts/lib.sh
[ "$(id -u)" -eq 0 ] || { echo "1..0 # SKIP mounting wants root"; exit 0; }
[ -n "${in_namespace-}" ] || in_namespace=1 exec unshare --mount --propagation private tests/scripts/t-packages.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{bin,src,kernels,dkms}
mount --bind "$work/kernels" /lib/modules
mount --bind "$work/src" /usr/src
mkdir -p /etc/dkms && mount --bind "$work/dkms" /etc/dkms
export work PATH=$work/bin:$PATH
fake() { { echo '#!/bin/bash'; cat; } >"$work/bin/$1"; chmod +x "$work/bin/$1"; }
# A kernel 5.10 is excluded; for one with "broken" in its name nothing builds, for one with
# "bad-lttng" the probe does not.
fake dkms <<'END'
echo "$*" >>"$work/calls"
case $* in
status*) grep -qx "$3" "$work/known" 2>/dev/null && echo "$3/7: added"; exit 0 ;;
add*) echo "$3" >>"$work/known" ;;
remove*) sed -i "/^$3\$/d" "$work/known" ;;
*5.10*) exit 77 ;;
*broken* | *kunwind-lttng*bad-lttng*) exit 10 ;;
install*) [ "$4" = kunwind ] && module=kunwind || module=lttng-probe-kunwind
	mkdir -p "/lib/modules/${@: -1}/updates"; touch "/lib/modules/${@: -1}/updates/$module.ko" ;;
esac
END
fake modinfo <<'END'
# modinfo -k KERNEL -F FIELD MODULE
file=/lib/modules/$2/updates/$5.ko
[ -e "$file" ] || exit 1
case $4 in version) cat "$file" ;; *) echo "$file" ;; esac
END
# LTTng's modules; this file is absent where they cannot be built
fake kunwind-lttng-modules <<'END'
echo "lttng $*" >>"$work/calls"
[ -e "$work/lttng-works" ]
END
touch "$work/lttng-works"
machine() { # KERNEL...
	local kernel
	find "$work"/{kernels,src,dkms} -mindepth 1 -delete
	: >"$work/calls"; : >"$work/known"
	for kernel; do
		mkdir -p "/lib/modules/$kernel/build" && touch "/lib/modules/$kernel/build/Makefile"
	done
}
lttng() { # KERNEL VERSION: LTTng's modules, older than all that is built from now on
	mkdir -p "/lib/modules/$1/updates"
	echo "$2" >"/lib/modules/$1/updates/lttng-tracer.ko"
	touch -d '1 hour ago' "/lib/modules/$1/updates/lttng-tracer.ko"
}
lttng_source() { mkdir -p "/usr/src/lttng-modules-$1/src" && touch "/usr/src/lttng-modules-$1/src/Kbuild.common"; } # VERSION
for script in postinst prerm; do
	sed 's/#VERSION#/7/' "debian/kunwind-dkms.$script" >"$work/$script"
	chmod +x "$work/$script"
done
postinst() { "$work/postinst" "$@" >"$work/out" 2>&1; status=$?; }
modules() { (cd /lib/modules && find . -name '*kunwind.ko' | sort | xargs); }
calls() { grep -cE "$1" "$work/calls"; }

machine 6.1.0-9-amd64 6.1.0-10-amd64
postinst configure
is "$status $(modules)" "0 ./6.1.0-10-amd64/updates/kunwind.ko ./6.1.0-9-amd64/updates/kunwind.ko" "kunwind is built for all kernels with headers"
like "$(cat "$work/out")" "skipped lttng-probe-kunwind for 6.1.0-9-amd64: LTTng's modules are not installed for it" "without LTTng: the probe is skipped by name"
is "$(calls '^add ')" 2 "DKMS knows both modules"
: >"$work/calls"
postinst configure
is "$status $(calls '^add ')" "0 0" "configured again, they are not added again"

machine 5.10.0-1-amd64 6.1.0-9-broken 6.1.0-10-amd64
postinst configure
is "$status $(modules)" "0 ./6.1.0-10-amd64/updates/kunwind.ko" "a kernel that fails does not fail the package, and others are built"
like "$(cat "$work/out")" "skipped kunwind for 5.10.0-1-amd64: this kernel is not supported" "an unsupported kernel is named"
like "$(cat "$work/out")" "skipped kunwind for 6.1.0-9-broken: DKMS fails with status 10; see /var/lib/dkms/kunwind/7/build/make.log" \
	"a kernel on which kunwind does not compile is named"

machine 6.1.0-9-amd64 6.1.0-10-bad-lttng
lttng 6.1.0-9-amd64 2.13.9
lttng 6.1.0-10-bad-lttng 2.13.9
postinst configure
like "$status $(xargs -d '\n' <"$work/out")" "^0 .*skipped lttng-probe-kunwind for 6.1.0-9-amd64: the source of LTTng's modules 2.13.9 is not in /usr/src" \
	"LTTng without its source: the probe is skipped by name"
lttng_source 2.13.9
postinst configure
is "$status $(modules)" "0 ./6.1.0-10-bad-lttng/updates/kunwind.ko ./6.1.0-9-amd64/updates/kunwind.ko ./6.1.0-9-amd64/updates/lttng-probe-kunwind.ko" \
	"LTTng with its source: the probe is built; one that does not compile does not fail the package"
like "$(cat "$work/out")" "skipped lttng-probe-kunwind for 6.1.0-10-bad-lttng: DKMS fails .*/kunwind-lttng/7/build/make.log" "... and is named"

machine 6.1.0-9-amd64
lttng 6.1.0-9-amd64 2.13.9
lttng_source 2.13.9
postinst configure
: >"$work/calls"
postinst triggered /usr/src
is "$status $(calls '^(build|install) ') $(cat "$work/out")" "0 0 " "triggered: what is built is not built again, nothing is said"
mkdir -p /lib/modules/6.1.0-10-amd64/build && touch /lib/modules/6.1.0-10-amd64/build/Makefile
postinst triggered /usr/src
is "$status $(cat "$work/out")" "0 kunwind-dkms: built kunwind for 6.1.0-10-amd64" "triggered by new headers: kunwind is built for them"
touch -d '1 hour' /lib/modules/6.1.0-9-amd64/updates/lttng-tracer.ko
postinst triggered /usr/src
is "$status $(cat "$work/out")" "0 kunwind-dkms: built lttng-probe-kunwind for 6.1.0-9-amd64" "triggered by another LTTng: the probe is built again"

is "$(calls '^lttng update') $(calls '^lttng [^u]')" "3 0" "each time, the modules of LTTng are brought up to date first"
rm "$work/lttng-works"
touch -d '1 hour ago' /lib/modules/6.1.0-9-amd64/updates/lttng-tracer.ko
mkdir -p /lib/modules/6.1.0-11-amd64/build && touch /lib/modules/6.1.0-11-amd64/build/Makefile
postinst triggered /usr/src
is "$status $(cat "$work/out")" "0 kunwind-dkms: a kernel has no modules of LTTng; see /var/cache/kunwind/logs
kunwind-dkms: built kunwind for 6.1.0-11-amd64" "if that fails, it is said, and kunwind is built"
touch "$work/lttng-works"

machine
postinst configure
like "$status $(cat "$work/out")" "^0 .*no headers of a kernel are installed: apt install linux-headers-amd64" "without headers: which ones"
machine 6.1.0-9-amd64
touch /etc/dkms/no-autoinstall
postinst configure
is "$status $(modules) $(calls '^(build|install) ')" "0  0" "/etc/dkms/no-autoinstall: nothing is built"

machine 6.1.0-9-amd64
printf 'kunwind\nkunwind-lttng\n' >"$work/known"
"$work/prerm" upgrade 8
is "$? $(cat "$work/known")" "0 " "prerm: DKMS knows neither module any more"
is "$(grep ^remove "$work/calls" | xargs -d '\n')" "remove -m kunwind-lttng -v 7 --all remove -m kunwind -v 7 --all" "the module that uses the other goes first"
"$work/prerm" remove
is "$? $(calls '^remove')" "0 2" "prerm: what DKMS does not know is not removed"
is "$(grep ^lttng "$work/calls" | xargs -d '\n')" "lttng remove" "prerm: the modules of LTTng go with the package, not at an upgrade"
rm "$work/lttng-works"
"$work/prerm" remove >"$work/out"
is "$? $(grep -c "LTTng's modules stay" "$work/out")" "0 1" "prerm: modules of LTTng that cannot be removed do not keep the package"

# ------------------------------------------------------ what debian/ repeats of the source
is "$(sed -n '1s/^kunwind (\(.*\)-[^-]*) .*/\1/p' debian/changelog)" "$(source_version)" "debian/changelog has the version of the source"
is "$(sed -n 's/^## \([0-9.]*\).*/\1/p' CHANGELOG.md | head -n 1)" "$(source_version)" "CHANGELOG.md has it, too"
for map in libkunwind/libkunwind.map libkunwind/*/libkunwind-{symbolize,unwind,crash,ust}.map; do
	[ -e "$map" ] || continue
	library=${map##*/} library=${library%.map}
	is "$(sed -n 's/^ \(kunwind_[a-z_]*\)@.*/\1/p' "debian/${library}0.symbols" | sort)" \
		"$(sed -n 's/^\t\(kunwind_[a-z_]*\);/\1/p' "$map" | sort)" "debian/${library}0.symbols has the symbols of $map"
	is "$(sed -n 's,^usr/share/man/man3/,,p' "debian/$library-dev.install" | sort)" "$(ls "${map%/*}/man" | sort)" "$library-dev has the library's man pages"
done
is "$(grep -v '^#' debian/*lintian-overrides debian/source/lintian-overrides | sed 's/:.*//' | sort -u)" \
	"$(grep -l '^# .*\.$' debian/*lintian-overrides debian/source/lintian-overrides | sort)" "all files of lintian's overrides have reasons"
done_testing
