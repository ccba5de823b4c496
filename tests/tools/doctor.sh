#!/bin/bash
# SPDX-License-Identifier: MIT
#
# doctor.sh - what kunwind doctor says about the installed modules: the headers
# that are missing, and LTTng's modules; and about events of LTTng-UST. Runs it in a
# mount namespace with a made-up /lib/modules and /run/lttng, and with fakes of modinfo and
# apt-cache in PATH.

cd "$(dirname "$0")" || exit 1
# shellcheck source=tests/vm/lib/tap.sh
. ../vm/lib/tap.sh
[ "$(id -u)" -eq 0 ] || { echo "1..0 # SKIP mounting wants root"; exit 0; }
[ -n "${in_namespace-}" ] || in_namespace=1 exec unshare --mount --propagation private ./doctor.sh
[ ! -e /sys/module/kunwind ] || { echo "1..0 # SKIP kunwind is loaded"; exit 0; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kernel=$(uname -r)
mkdir -p "$work/bin" "$work/modules/$kernel"
mount --bind "$work/modules" /lib/modules
export work PATH=$work/bin:$PATH
# modinfo -k KERNEL -n|-F FIELD MODULE: as far as a file has the module's name
printf '#!/bin/sh\ncat "$work/modules/$2/$(eval echo \\${$#})" 2>/dev/null\n' >"$work/bin/modinfo"
printf '#!/bin/sh\n[ "$1" = --version ] || grep -qx "$*" "$work/archive"\n' >"$work/bin/apt-cache"
chmod +x "$work/bin/"*
# line REQUIREMENT: what doctor prints for it, without the requirement
line() { ../../tools/build/kunwind doctor --tsv | awk -F'\t' -v what="$1" '$2 == what { print $1 "|" $3 "|" $4 }'; }
none="FAIL|no kunwind.ko for this kernel"

echo "show linux-headers-$kernel" >"$work/archive"
is "$(line 'module installed')" "$none|sudo apt install dkms linux-headers-$kernel; sudo make install, in kunwind's source" \
	"no headers: their package is named"
echo "show linux-headers-${kernel}1" >"$work/archive"
is "$(line 'module installed')" "$none|boot the newest kernel: the archive has no linux-headers-$kernel (or run apt update)" \
	"no headers, and the archive has none: boot the newest kernel"
mkdir -p "$work/modules/$kernel/build"
touch "$work/modules/$kernel/build/Makefile"
is "$(line 'module installed')" "$none|sudo make install, in kunwind's source (then see: dkms status)" \
	"with headers: make install"
rm -r "$work/modules/$kernel/build"
printf '#!/bin/sh\nexit 1\n' >"$work/bin/apt-cache"
is "$(line 'module installed')" "$none|sudo apt install dkms linux-headers-$kernel; sudo make install, in kunwind's source" \
	"apt cannot be asked: the package of the headers is named"
echo "/lib/modules/$kernel/updates/dkms/kunwind.ko" >"$work/modules/$kernel/kunwind"
is "$(line 'module installed')" "ok|/lib/modules/$kernel/updates/dkms/kunwind.ko|" "an installed module is named"

setup="sudo scripts/setup lttng, in kunwind's source; also after each kernel update"
is "$(line lttng-modules)" "FAIL|none for this kernel|$setup" "no LTTng modules: the command that installs them"
is "$(line 'mappings in traces')" "FAIL|lttng-probe-kunwind is not installed|$setup" "no events of kunwind: the same command"
echo 2.15.0 >"$work/modules/$kernel/lttng-tracer"
is "$(line lttng-modules)" "ok|2.15.0, installed|" "LTTng modules"
mkdir -p "$work/modules/$kernel/updates/lttng"
echo "lttng-probe-timer lttng-probe-x" >"$work/modules/$kernel/updates/lttng/left-out"
is "$(line lttng-modules)" "ok|2.15.0, installed, without lttng-probe-timer lttng-probe-x|" "probes that were left out are named"

# ------------------------------------------------ events of LTTng-UST
build=$PWD/../../tools/build
mkdir "$work/alone" "$work/lib"
cp "$build/kunwind" "$work/alone"
library=$work/lib/libkunwind-ust-preload.so
touch "$library"
is "$("$work/alone/kunwind" doctor --tsv | grep -c "^ok.user-space stacks.$library")" 1 "the library for LTTng-UST, beside kunwind"
rm "$library"
is "$("$work/alone/kunwind" doctor --tsv | grep -c "^note.user-space stacks.*not installed.sudo make install")" 1 \
	"a kunwind without that library: a note, with what to do"
system=$(ldconfig -p | sed -n 's/.*liblttng-ust\.so\.1 .*=> //p' | head -n 1)
like "$(line liblttng-ust)" "^$([ -n "$system" ] && echo 'ok\|.*/liblttng-ust.so.1\|' || echo 'note.*apt install liblttng-ust1')$" \
	"LTTng-UST, as the dynamic loader knows it"
mkdir -p /run/lttng "$work/home/.lttng"
mount -t tmpfs -o mode=755 tmpfs /run/lttng
chmod -R 755 "$work"
# of an ordinary user, who has a daemon of the user's own or not
of_user() {
	LTTNG_HOME=$1 setpriv --reuid 65534 --regid 65534 --clear-groups "$work/alone/kunwind" doctor --tsv |
		awk -F'\t' '$2 == "user-space daemon" { print $1 "|" $3 }'
}
# listen PATH: as a session daemon does
listen() {
	python3 -c '
import os, socket, sys, time
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o666)
server.listen()
time.sleep(1000)' "$1" &
	listener=$!
	until [ -S "$1" ]; do sleep 0.1; done
	sleep 0.5
}
is "$(of_user "$work/home")" "note|not running; kunwind record --ust and lttng create start one" "no session daemon: a note"
listen "$work/home/.lttng/client-lttng-sessiond"
is "$(of_user "$work/home")" "ok|lttng-sessiond of this user is running" "a session daemon of the user"
is "$(of_user /nonexistent)" "note|not running; kunwind record --ust and lttng create start one" "one of another LTTNG_HOME"
kill $listener
listen /run/lttng/client-lttng-sessiond
is "$(of_user "$work/home")" "ok|root's lttng-sessiond is running" "root's session daemon, and the socket of one that has ended"
kill $listener

# ------------------------------------------------ installed by dpkg
mkdir "$work"/{usr,info}{,.work}
mount -t overlay -o "lowerdir=/usr/bin,upperdir=$work/usr,workdir=$work/usr.work" none /usr/bin
mount -t overlay -o "lowerdir=/var/lib/dpkg/info,upperdir=$work/info,workdir=$work/info.work" none /var/lib/dpkg/info
cp "$build/kunwind" /usr/bin/kunwind
rm -rf "$work/modules/$kernel"
echo "show linux-headers-$kernel" >"$work/archive"
printf '#!/bin/sh\n' >"$work/bin/apt-cache"
of_package() { /usr/bin/kunwind doctor --tsv | awk -F'\t' -v what="$1" '$2 == what { print $1 "|" $4 }'; }
is "$(of_package 'module installed')" "FAIL|sudo apt install dkms linux-headers-$kernel; sudo make install, in kunwind's source" \
	"in /usr, but not by dpkg: make install"
touch /var/lib/dpkg/info/kunwind.list
is "$(of_package 'module installed')" "FAIL|sudo apt install dkms linux-headers-$kernel; sudo apt install --reinstall kunwind-dkms" \
	"by dpkg: the package of the module"
is "$(of_package lttng-modules)" "FAIL|sudo kunwind-lttng-modules install" "by dpkg: the package's command for LTTng's modules"
is "$(of_package 'user-space stacks')" "note|sudo apt install --reinstall libkunwind-preload" "by dpkg: the package of the library"
is "$(/usr/bin/kunwind run --ust true 2>&1)" "kunwind run: /usr/bin/../lib/libkunwind-ust-preload.so: not found: sudo apt install --reinstall libkunwind-preload" \
	"kunwind run --ust says so, too"
mkdir "$work/local"
mount --bind "$work/local" /usr/local/bin
cp "$build/kunwind" /usr/local/bin
is "$(/usr/local/bin/kunwind doctor --tsv | grep -c "kunwind-dkms\|kunwind-lttng-modules\|libkunwind-preload,")" 0 \
	"a kunwind of make install beside the packages: no advice for packages"
mkdir -p "$work/libexec" /usr/libexec/kunwind
mount --bind "$work/libexec" /usr/libexec/kunwind
cp "$build/lttng" /usr/libexec/kunwind/lttng
is "$(of_package 'lttng --callstack')" "note|alias lttng=/usr/libexec/kunwind/lttng (kunwind record does not need it)" \
	"by dpkg: lttng beside kunwind is LTTng's own, and not taken for the front end"
done_testing
