#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What DKMS does with kunwind's packages when a kernel is installed that they are
# not for. Runs Debian's dkms from the cache (scripts/setup test) in a mount
# namespace with fake kernels in /lib/modules, on the packages as install-modules
# lays them, with a build that only copies an object. Prints TAP. Needs root.
#
# KUNWIND_DKMS: another dkms, such as that of a later Debian.

cd "$(dirname "$0")/../.." || exit 1
. tests/vm/lib/tap.sh
. scripts/lib.sh

program=${KUNWIND_DKMS:-$KUNWIND_CACHE/dkms/usr/sbin/dkms}
[ -e "$program" ] || { echo "1..0 # SKIP no $program (scripts/setup test)"; exit 0; }
[ "$(id -u)" -eq 0 ] || { echo "1..0 # SKIP dkms wants to be root"; exit 0; }
[ -n "${in_namespace-}" ] || in_namespace=1 exec unshare --mount --propagation private tests/scripts/t-dkms.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/log
dkms() {
	bash "$program" --sourcetree "$work/dest/usr/src" --dkmstree "$work/tree" "$@" >"$log" 2>&1
}
# what "dkms autoinstall", as a new kernel's package runs it, ends with, and what it installs
autoinstall() { # KERNEL
	local status=0
	dkms autoinstall --kernelver "$1" || status=$?
	echo "$status $(find "/lib/modules/$1/updates" -name '*.ko*' -printf '%f\n' 2>/dev/null |
		sed 's/\.ko.*//' | sort | xargs)"
}
kernel() { # RELEASE [OPTION THAT IT LACKS]
	local build=/lib/modules/$1/build
	mkdir -p "$build/include"
	sed "s/^${2:-none}=.*/# ${2-} is not set/" "$config" >"$build/.config"
}

config=$(ls -1d /usr/src/linux-headers-*-amd64/.config | tail -n 1)
scripts/install-modules install "$work/dest" 1 || exit 1
mkdir "$work/tree" "$work/kernels"
mount --bind "$work/kernels" /lib/modules
echo 'const char x[] __attribute__((section(".modinfo"), used)) = "license=MIT";' |
	gcc -c -x c - -o "$work/object"
# a build takes a minute, and here it is only of interest whether it is begun
build_by() { # PACKAGE COMMAND
	sed -i "s,^MAKE\[0\]=.*,MAKE[0]=\"$2\"," "$work/dest/usr/src/$1-1/dkms.conf"
}
build_by kunwind "cp $work/object kmod/kunwind.ko"
build_by kunwind-lttng "cp $work/object lttng-probes/lttng-probe-kunwind.ko"
for package in kunwind kunwind-lttng; do
	check "dkms takes $package" dkms add -m "$package" -v 1
done

current=6.1.0-56-amd64
kernel 5.10.0-1-amd64
is "$(autoinstall 5.10.0-1-amd64)" "0 " "kernel 5.10: passed over, no failure"
kernel 7.3.0-1-amd64
is "$(autoinstall 7.3.0-1-amd64)" "0 " "kernel 7.3: passed over, no failure"
kernel 6.1.0-1-amd64 CONFIG_DYNAMIC_FTRACE_WITH_ARGS
is "$(autoinstall 6.1.0-1-amd64)" "0 " "kernel without an option that the module needs: passed over, no failure"
for release in "$current" 6.1.0-56-rt-amd64 6.12.107+deb13-amd64 7.2.13+deb14-amd64; do
	kernel "$release"
	is "$(autoinstall "$release")" "0 kunwind" "kernel $release: installed"
done
kernel 6.1.0-57-amd64
mkdir /lib/modules/6.1.0-57-amd64/kernel
touch /lib/modules/6.1.0-57-amd64/modules.{order,builtin,builtin.modinfo}
cp "$work/object" /lib/modules/6.1.0-57-amd64/kernel/lttng-tracer.ko
depmod 6.1.0-57-amd64
is "$(autoinstall 6.1.0-57-amd64)" "0 kunwind lttng-probe-kunwind" \
	"kernel with LTTng's modules: both installed"
kernel 5.10.0-2-amd64
is "$(autoinstall 5.10.0-2-amd64)" "0 " "kernel 5.10 after others: passed over, no failure"

dkms install -m kunwind -v 1 -k 5.10.0-1-amd64
is $? 77 "asked for by name, a kernel that it is not for: status 77"
dkms install -m kunwind -v 1 -k "$current-2" -a i686
is $? 77 "asked for by name, another architecture: status 77"

# what the verdicts rest on: a module that is tried and fails is a failure
build_by kunwind false
kernel 6.1.0-60-amd64
like "$(autoinstall 6.1.0-60-amd64)" '^[1-9][0-9]* *$' "a build that fails is a failure of autoinstall"
done_testing
