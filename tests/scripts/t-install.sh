#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What "make install", "make uninstall", "scripts/setup lttng" and
# kunwind-lttng-modules do and say for each state of a machine's kernels. Runs them in a mount namespace with fake
# kernels in /lib/modules, and fakes of uname, dkms, apt-cache and others in PATH.
# tests/install tries the real ones. Prints TAP. Needs root.

cd "$(dirname "$0")/../.." || exit 1
. tests/vm/lib/tap.sh
[ "$(id -u)" -eq 0 ] || { echo "1..0 # SKIP mounting wants root"; exit 0; }
[ -n "${in_namespace-}" ] || in_namespace=1 exec unshare --mount --propagation private tests/scripts/t-install.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{bin,archive,installed,dkms,src,dkmslib,run,kernels}
mount --bind "$work/kernels" /lib/modules
mount --bind "$work/src" /usr/src
mkdir -p /var/lib/dkms && mount --bind "$work/dkmslib" /var/lib/dkms
mkdir -p /run/udev && mount --bind "$work/run" /run/udev
export work PATH=$work/bin:$PATH KUNWIND_CACHE=$work/cache HOME=$work
fake() { { echo '#!/bin/bash'; cat; } >"$work/bin/$1"; chmod +x "$work/bin/$1"; }
fake uname <<'END'
case $1 in -r) cat "$work/running" ;; *) /usr/bin/uname "$@" ;; esac
END
# A kernel 5.10 is excluded, one with "broken" in its name does not build.
fake dkms <<'END'
echo "$*" >>"$work/calls"
case "$1 ${@: -1}" in
status*) cat "$work/dkms/$3" 2>/dev/null ;;
"install 5.10"*) exit 77 ;;
install*broken*) exit 10 ;;
install*) mkdir -p "/lib/modules/${@: -1}/updates/dkms"; [ "$4" = kunwind ] && set -- kunwind || set -- lttng-probe-kunwind
esac
exit 0
END
fake apt-cache <<'END'
echo "  Candidate: $([ -e "$work/archive/$2" ] && echo 1 || echo '(none)')"
END
fake modinfo <<'END'
# modinfo -k KERNEL [-F FIELD] MODULE, or modinfo -F signer FILE
case $1 in
-F) cat "$3.signer" 2>/dev/null ;;
*) found=$(find "/lib/modules/$2" -name "${@: -1}.ko" | grep .) && case $3 in -F) echo 2.13.9 ;; *) echo "$found" ;; esac ;;
esac
END
fake getent <<'END'
[ -e "$work/group" ] && echo tracing:x:1:
END
fake groupadd <<'END'
echo "groupadd $*" >>"$work/calls"; touch "$work/group"
END
fake udevadm <<'END'
echo "udevadm $*" >>"$work/calls"; echo "no udevd" >&2; exit 1
END
fake depmod <<'END'
echo "depmod $*" >>"$work/calls"
END
# All packages are installed; only "owned" directories are a package's.
fake dpkg-query <<'END'
case $1 in
-S) grep -qx "$2" "$work/owned" 2>/dev/null ;;
*) [[ $* == *lttng-modules-dkms* ]] && cat "$work/lttng-package" 2>/dev/null || echo installed ;;
esac
END

# machine RUNNING KERNEL...: the kernels that have headers ("+headers"), are of this
# system ("+own"), or both
machine() {
	local kernel
	find "$work"/{kernels,src,dkms,archive,dkmslib} -mindepth 1 -delete
	echo "$1" >"$work/running"
	: >"$work/calls"
	rm -f "$work/owned" "$work/lttng-package"
	shift
	for kernel in "$@"; do
		case $kernel in
		*+own*) mkdir -p "/lib/modules/${kernel%%+*}/kernel" ;;
		esac
		case $kernel in
		*+headers*) mkdir -p "/lib/modules/${kernel%%+*}/build/scripts"; touch "/lib/modules/${kernel%%+*}/build/Makefile" ;;
		esac
	done
}
archive() { local name; for name; do touch "$work/archive/$name"; done; }
install_modules() { scripts/install-modules "${1:-install}" "" 7 >"$work/out" 2>&1; status=$?; last=$(tail -n 1 "$work/out"); }
# says STATUS EXPRESSION DESCRIPTION: "make install" ends with that status and last line
says() {
	install_modules
	like "$status $last" "^$1 (install-modules: )?$2\$" "$3" || diag "$(cat "$work/out")"
}

machine 6.1.0-9-amd64 6.1.0-9-amd64+own+headers
says 0 "Next: modprobe kunwind; kunwind doctor" "a module for the running kernel"
machine 6.1.0-9-amd64 6.1.0-9-amd64+own 6.1.0-10-amd64+headers
archive linux-headers-6.1.0-9-amd64 linux-headers-amd64
says 1 'no module for the running kernel 6.1.0-9-amd64 \(it was built for 6.1.0-10-amd64\): apt install linux-headers-6.1.0-9-amd64, then make install' \
	"running kernel without headers: their package is named"
machine 6.1.0-9-amd64 6.1.0-9-amd64+own 6.1.0-10-amd64+headers
archive linux-headers-6.1.0-10-amd64 linux-headers-amd64
says 1 '.*no linux-headers-6.1.0-9-amd64: apt install linux-image-amd64 linux-headers-amd64, boot the newest kernel, then make install' \
	"... that the archive does not have: boot the newest kernel"
for flavour in cloud rt; do
	machine 6.1.0-9-$flavour-amd64 6.1.0-9-$flavour-amd64+own 6.1.0-9-amd64+own+headers
	archive linux-headers-6.1.0-9-amd64 linux-headers-amd64 linux-headers-$flavour-amd64
	says 1 ".*apt install linux-image-$flavour-amd64 linux-headers-$flavour-amd64, boot the newest kernel, then make install" \
		"$flavour kernel: the packages of its flavour"
done
machine 6.12.9+deb12-amd64 6.12.9+deb12-amd64+own 6.1.0-9-amd64+own+headers
archive linux-headers-amd64 linux-headers-6.12-amd64
says 1 '.*apt install linux-image-6.12-amd64 linux-headers-6.12-amd64, boot the newest kernel, then make install' \
	"the release's second kernel: the packages of that one"
machine 6.1.0-9-amd64 6.1.0-9-amd64+own
says 1 '.*apt update; apt install linux-headers-6.1.0-9-amd64\), then make install' "apt has no lists: apt update"
machine 6.18.44-other 6.1.0-9-amd64+own+headers 6.1.0-10-amd64+headers 6.1.0-11-amd64+own
says 1 "no module for this system's newest kernel 6.1.0-11-amd64 \(it was built for 6.1.0-9-amd64 6.1.0-10-amd64\): .*" \
	"chroot whose newest kernel has no headers"
machine 6.18.44-other 6.1.0-10-amd64+own+headers 6.1.0-9-amd64+own+headers 6.1.0-11-rt-amd64+headers
says 0 "Next: boot one of 6.1.0-9-amd64 6.1.0-10-amd64; 6.18.44-other, which runs, is not one of this system's kernels. Then: modprobe kunwind; kunwind doctor" \
	"chroot: the kernels to boot, in the order of their versions, without those that are not there"
machine 6.18.44-other 6.1.0-9-amd64+headers 6.1.0-11-rt-amd64+headers
says 0 "Next: boot one of 6.1.0-9-amd64 6.1.0-11-rt-amd64; .*" "container that has headers only: their kernels"
machine 6.1.0-9-amd64 6.1.0-9-amd64+headers
says 0 "Next: modprobe kunwind; kunwind doctor" "container with the headers of the running kernel"
machine 6.18.44-other
says 1 'no module was built, because no headers .*: apt install linux-headers-amd64, then make install' "container without headers: which ones"
machine 6.18.44-cloud-amd64
says 1 'no module was built, because no headers .*: apt install linux-headers-amd64, then make install' "... also if the other system is a cloud's"
machine 6.18.44-other 6.1.0-9-cloud-amd64+own
archive linux-headers-6.1.0-9-cloud-amd64 linux-headers-amd64
says 1 "no module for this system's newest kernel 6.1.0-9-cloud-amd64: apt install linux-headers-6.1.0-9-cloud-amd64, then make install" \
	"chroot without headers: those of its own kernel"
machine 5.10.0-1-amd64 5.10.0-1-amd64+own+headers 6.1.0-9-amd64+headers
says 1 '.*does not support the running kernel 5.10.0-1-amd64 \(it was built for 6.1.0-9-amd64\): .*' "unsupported running kernel"
machine 6.1.0-9-amd64 6.1.0-9-amd64+own+headers 6.1.0-8-broken+headers
says 1 'the build failed for 6.1.0-8-broken \(built for 6.1.0-9-amd64\): .*' "a build that fails"
machine 6.1.0-9-amd64 6.1.0-9-amd64+own
mv "$work/bin/dkms" "$work/no-dkms"
command -v dkms >/dev/null || {
	says 1 '.*DKMS is not installed.*: apt install dkms linux-headers-amd64, then make install' "without DKMS"
}
mv "$work/no-dkms" "$work/bin/dkms"

# "make install" itself, as far as the modules go: its last line, and its status
make_install() { make install-modules DESTDIR= >"$work/out" 2>&1; status=$?; last=$(tail -n 1 "$work/out"); }
machine 6.1.0-9-amd64 6.1.0-9-amd64+own
archive linux-headers-6.1.0-9-amd64
make_install
like "$status $last" '^2 Makefile:[0-9]*: \*\*\* no module for the running kernel 6.1.0-9-amd64: apt install linux-headers-6.1.0-9-amd64, then make install\.' \
	"make fails, and the advice is in its last line"
machine 6.1.0-9-amd64 6.1.0-9-amd64+own+headers
make_install
is "$status $last" "0 Next: modprobe kunwind; kunwind doctor" "an earlier failure is forgotten"

machine 6.1.0-9-amd64 6.1.0-9-amd64+own+headers
mkdir -p /lib/modules/6.1.0-9-amd64/updates/lttng && touch /lib/modules/6.1.0-9-amd64/updates/lttng/lttng-tracer.ko
install_modules
like "$(xargs <"$work/calls")" "install --force -m kunwind-lttng -v 7 -k 6.1.0-9-amd64" "with LTTng's modules: kunwind's events are built"
machine 6.1.0-9-amd64 6.1.0-9-amd64+own+headers
printf 'kunwind/5, 6.1.0-9-amd64, x86_64: installed\nkunwind/6: added\n' >"$work/dkms/kunwind"
mkdir -p /usr/src/kunwind-{5,6,lttng-5,other}
install_modules
like "$(xargs <"$work/calls")" "remove -m kunwind -v 5 --all.*remove -m kunwind -v 6 --all.*add -m kunwind -v 7" "other versions leave DKMS"
is "$(cd /usr/src && ls | xargs)" "kunwind-7 kunwind-lttng-7 kunwind-other" "and /usr/src, and nothing else does"
machine 6.1.0-9-amd64 6.1.0-9-amd64+own+headers
echo 'kunwind/7: added' >"$work/dkms/kunwind"
mkdir -p /usr/src/kunwind-7 /usr/src/kunwind-lttng-7
install_modules uninstall
is "$status $(ls /usr/src) $(grep -c remove "$work/calls")" "0  1" "uninstall: the source and the modules go"
is "$(grep -E 'DKMS|LTTng.s modules' "$work/out")" "" "uninstall: nothing is kept, and none is named"
touch /var/lib/dkms/mok.key
mkdir -p /lib/modules/6.1.0-9-amd64/updates/lttng
install_modules uninstall
like "$(xargs -d '\n' <"$work/out")" "LTTng's modules stay; scripts/setup --undo lttng .*DKMS keeps .*/var/lib/dkms" "uninstall: what stays is named"

# ------------------------------------------------------------------- the makefiles
headers() { make -s help | sed -n 's/.*KDIR=DIR *kernel headers (\(.*\))$/\1/p'; }
machine 6.18.44-other
mkdir -p /usr/src/linux-headers-6.1.0-{9,10}{,-rt,-cloud}-amd64
is "$(headers)" /usr/src/linux-headers-6.1.0-10-amd64 "make modules: the newest headers, not -rt or -cloud"
rm -r /usr/src/linux-headers-6.1.0-{9,10}-amd64
is "$(headers)" /usr/src/linux-headers-6.1.0-10-rt-amd64 "make modules: others only if there is nothing else"
rm -r /usr/src/*
like "$(make modules 2>&1 | tail -n 1)" "no kernel headers .*: apt install linux-headers-amd64, or set KDIR" "make modules: without any, the last line names them"
echo 'modules: ; echo "$(M)" >$(M)/kmod/kunwind.ko; touch $(M)/kmod/a.o' >"$work/src/Makefile"
for tree in "$work/plain" "$work/a clone  of it"; do
	mkdir -p "$tree/kmod" "$tree/scripts"
	cp scripts/build-modules "$tree/scripts"
	touch "$tree/Kbuild"
	"$tree/scripts/build-modules" /usr/src modules >/dev/null
	is "$? $(wc -w <"$tree/kmod/kunwind.ko")" "0 1" "modules are built in ${tree##*/}, by a path without blanks"
done
"$tree/scripts/build-modules" /usr/src clean
is "$? $(ls "$tree/kmod")" "0 " "make clean removes them there"
is "$(ls /tmp/kunwind-modules.* 2>/dev/null)" "" "the copy is removed"

# ------------------------------------------------------------- group and udev rule
rm -f "$work/group"; : >"$work/calls"
scripts/tracing-group >"$work/out" 2>&1
is "$? $(cat "$work/calls" "$work/out")" "0 groupadd --system tracing" "the group is made; without udevd, udev is not called"
: >"$work/calls"
scripts/tracing-group
is "$(cat "$work/calls")" "" "a group that exists is not made"
/usr/bin/python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' /run/udev/control
scripts/tracing-group 2>/dev/null
is "$? $(cat "$work/calls")" "0 udevadm control --reload" "with udevd, it reads the rules; its failure does no harm"

# ----------------------------------------------------------- scripts/setup lttng
# Puts a finished build of LTTng's modules into the cache, so that none is built.
built_lttng() { # VERSION LEFT-OUT KERNEL...
	local version=$1 left_out=$2 kernel dir
	shift 2
	for kernel; do
		dir=$KUNWIND_CACHE/lttng-modules/$kernel
		rm -rf "$dir"
		mkdir -p "$dir/src" "$dir/root/usr/lib/modules/$kernel/updates/lttng/probes"
		echo "PACKAGE_VERSION=\"$version\"" >"$dir/src/dkms.conf"
		touch "$dir/src/a.c" "$dir/src/a.o" "$dir/root/usr/lib/modules/$kernel/updates/lttng/lttng-tracer.ko" \
			"$dir/root/usr/lib/modules/$kernel/updates/lttng/probes/lttng-probe-sched.ko"
		printf '%s' "$left_out" >"$dir/left-out"
		touch "$dir/built"
	done
}
setup() { scripts/setup "$@" >"$work/out" 2>&1; status=$?; last=$(tail -n 1 "$work/out"); }
machine 6.1.0-9-amd64 6.1.0-9-amd64+own+headers 6.1.0-10-rt-amd64+headers
built_lttng 2.13.9 $'lttng-probe-a\nlttng-probe-b\n' 6.1.0-9-amd64 6.1.0-10-rt-amd64
setup lttng
is "$status $last" "0 Next: make install" "setup lttng before make install" || diag "$(cat "$work/out")"
is "$(cd /lib/modules && ls -1d */updates/lttng/*.ko */updates/lttng/probes/*.ko | xargs)" "6.1.0-10-rt-amd64/updates/lttng/lttng-tracer.ko 6.1.0-10-rt-amd64/updates/lttng/probes/lttng-probe-sched.ko 6.1.0-9-amd64/updates/lttng/lttng-tracer.ko 6.1.0-9-amd64/updates/lttng/probes/lttng-probe-sched.ko" \
	"LTTng's modules go to each kernel that has headers"
like "$(cat "$work/out")" "do not compile for 6.1.0-9-amd64: lttng-probe-a lttng-probe-b" "what is left out is said"
is "$(cat /lib/modules/6.1.0-9-amd64/updates/lttng/left-out)" "lttng-probe-a lttng-probe-b" "and recorded in one line"
is "$(ls /usr/src/lttng-modules-2.13.9 | xargs)" "a.c dkms.conf" "the source is there for DKMS, without objects"
like "$(xargs <"$work/calls")" "depmod 6.1.0-9-amd64" "depmod runs"

# after make install, with DKMS's key, and a new kernel
echo 'kunwind/7: added' >"$work/dkms/kunwind"
echo 'kunwind-lttng/7: added' >"$work/dkms/kunwind-lttng"
touch /var/lib/dkms/mok.key /lib/modules/6.1.0-9-amd64/kernel/kunwind.ko
for kernel in 6.1.0-9-amd64 6.1.0-10-rt-amd64; do
	printf '#!/bin/sh\necho "sign $4" >>%s\ntouch "$4.signer"; echo key >"$4.signer"\n' "$work/calls" \
		>"/lib/modules/$kernel/build/scripts/sign-file"
	chmod +x "/lib/modules/$kernel/build/scripts/sign-file"
done
: >"$work/calls"
setup lttng
is "$status $last" "0 Next: modprobe kunwind; kunwind doctor" "setup lttng after make install" || diag "$(cat "$work/out")"
is "$(grep '^install' "$work/calls" | sort | xargs -d '\n')" "install --force -m kunwind -v 7 -k 6.1.0-10-rt-amd64 install --force -m kunwind-lttng -v 7 -k 6.1.0-10-rt-amd64 install --force -m kunwind-lttng -v 7 -k 6.1.0-9-amd64" \
	"DKMS builds what is missing, and only that"
is "$(grep -c '^sign' "$work/calls")" 4 "modules that have no signature get it, in all directories"
: >"$work/calls"
setup lttng
is "$(grep -c '^sign' "$work/calls")" 0 "signed modules are not signed again"

machine 6.16.0-1-amd64 6.16.0-1-amd64+own+headers
built_lttng 2.13.9 "" 6.16.0-1-amd64
setup lttng
like "$status $(xargs -d '\n' <"$work/out")" "^1 .*LTTng's modules 2.13.9 must not be used on 6.16.0-1-amd64" "LTTng that does not fit a kernel is not installed"
is "$(find /lib/modules -name '*.ko')" "" "and no module is there"
built_lttng 2.13.21 "" 6.16.0-1-amd64
setup lttng
is "$status $(find /lib/modules -name 'lttng-tracer.ko' | wc -l) $(find /lib/modules -name left-out)" "0 1 " "one that fits is; nothing is left out"
machine 6.1.0-9-amd64 6.1.0-9-amd64+own 6.1.0-10-amd64+headers
built_lttng 2.13.9 "" 6.1.0-10-amd64
setup lttng
like "$status $last" "^1 .*not for the running kernel 6.1.0-9-amd64: .*then scripts/setup lttng" "running kernel without headers: setup lttng fails, and says how to get them"
machine 6.18.44-other 6.1.0-10-amd64+own+headers
setup lttng
like "$status $last" "^0 Next: boot one of these kernels; 6.18.44-other, which runs, is not" "container or chroot: setup lttng says what to boot"
is "$(ls "$KUNWIND_CACHE/lttng-modules/6.1.0-10-amd64/src" | xargs)" "a.c dkms.conf" "objects of the build do not stay in the cache"
machine 6.18.44-other 6.1.0-10-amd64+headers 6.1.0-9-cloud-amd64+own
archive linux-headers-cloud-amd64
setup lttng
like "$status $last" "^1 .*not for this system's newest kernel 6.1.0-9-cloud-amd64: .*linux-headers-cloud-amd64, boot" \
	"chroot whose kernel has no headers: setup lttng fails, and says how to get them"
machine 6.18.44-other
setup lttng
like "$status $last" "^1 .*: apt install linux-headers-amd64, then scripts/setup lttng" "container without headers: setup lttng names them"
echo half-configured >"$work/lttng-package"
setup lttng
like "$status $last" "^1 .*apt purge lttng-modules-dkms, then scripts/setup lttng" "Debian's package that did not compile: setup lttng says how to remove it"

machine 6.1.0-9-amd64 6.1.0-9-amd64+own+headers 6.1.0-8-amd64+own
built_lttng 2.13.9 "" 6.1.0-9-amd64
mkdir -p /lib/modules/6.1.0-{7,8}-amd64/updates/lttng
setup lttng
is "$(cd /lib/modules && ls -1d */updates/lttng | xargs; ls /lib/modules | xargs)" "6.1.0-8-amd64/updates/lttng 6.1.0-9-amd64/updates/lttng
6.1.0-8-amd64 6.1.0-9-amd64" "modules of kernels that were removed go, those of older kernels stay"

# A build from source, by a make that cannot compile what $work/bad names.
source_lttng() { # KERNEL
	dir=$KUNWIND_CACHE/lttng-modules/$1
	rm -rf "$dir"
	mkdir -p "$dir/src/src/probes"
	echo 'PACKAGE_VERSION="2.13.9"' >"$dir/src/dkms.conf"
	echo 'obj-m += lttng-probe-a.o lttng-probe-ab.o lttng-probe-b.o lttng-probe-c.o' >"$dir/src/src/probes/Kbuild"
}
fake make <<'END'
for word; do case $word in M=*) m=${word#M=} ;; INSTALL_MOD_PATH=*) to=${word#*=} ;; esac; done
[ -d "$m/probes" ] || exec /usr/bin/make "$@"
echo "make $*" >>"$work/calls"
if [ -z "${to-}" ]; then
	status=0
	for object in $(cat "$work/bad"); do
		[ "$object" = lttng-tracer.o ] || grep -qw "$object" "$m/probes/Kbuild" || continue
		[ "$object" = lttng-tracer.o ] && dir=$m || dir=$m/probes
		echo "make[3]: *** [scripts/Makefile.build:250: $dir/$object] Error 1"
		status=2
	done
	exit $status
fi
kernel=${2#/lib/modules/} kernel=${kernel%/build}
[[ $kernel != *broken* ]] || exit 2
to=$to/lib/modules/$kernel/updates/lttng
mkdir -p "$to/probes" && touch "$to/lttng-tracer.ko"
for object in $(sed 's/.*+=//' "$m/probes/Kbuild"); do touch "$to/probes/${object%.o}.ko"; done
END
machine 6.1.0-9-amd64 6.1.0-9-amd64+own+headers
source_lttng 6.1.0-9-amd64
echo lttng-probe-a.o lttng-probe-c.o >"$work/bad"
setup lttng
is "$status $(cd /lib/modules/6.1.0-9-amd64/updates/lttng && ls probes | xargs) $(cat /lib/modules/6.1.0-9-amd64/updates/lttng/left-out)" \
	"0 lttng-probe-ab.ko lttng-probe-b.ko lttng-probe-a lttng-probe-c" "probes that do not compile are left out, and no others" ||
	diag "$(cat "$work/out")"
like "$(grep modules_install "$work/calls")" "CONFIG_MODULE_COMPRESS_XZ= .*modules_install" "modules are installed without compression"
: >"$work/calls"
rm -r /lib/modules/6.1.0-9-amd64/updates
setup lttng
is "$status $(grep -c '^make' "$work/calls")" "0 0" "a second time, the build in the cache is installed"
machine 6.1.0-9-amd64 6.1.0-9-amd64+own+headers
source_lttng 6.1.0-9-amd64
echo lttng-tracer.o >"$work/bad"
setup lttng
is "$([ "$status" -ne 0 ] && echo failed) $(find /lib/modules -name '*.ko')" "failed " "if another module does not compile, nothing is installed"
setup lttng
is "$([ "$status" -ne 0 ] && echo failed) $(grep -c '^make' "$work/calls")" "failed 2" "and the next run tries it again"

# ----------------------------------------------- the package's kunwind-lttng-modules
# As in the package: the files that it needs, and no others.
package=$work/package/scripts
mkdir -p "$package" "$work/package/sbin"
cp scripts/{dkms-kernels.conf,kunwind-lttng-modules,lib.sh,lttng.sh} "$package"
is "$(sed -n 's,^scripts/\(.*\) usr/share/kunwind-dkms/scripts$,\1,p' debian/kunwind-dkms.install | sort)" "$(ls "$package")" \
	"the package has these files"
ln -s ../scripts/kunwind-lttng-modules "$work/package/sbin/"
lttng_modules() { "$work/package/sbin/kunwind-lttng-modules" "$@" >"$work/out" 2>&1; status=$?; last=$(tail -n 1 "$work/out"); }
for words in "" "nonsense" "install now" "--nonsense"; do
	# shellcheck disable=SC2086
	lttng_modules $words
	is "$status $last" "2 Try: kunwind-lttng-modules --help" "kunwind-lttng-modules $words: wrong usage"
done
lttng_modules --help
like "$status $(cat "$work/out")" "^0 Builds LTTng's kernel modules" "kunwind-lttng-modules --help"
machine 6.1.0-9-amd64 6.1.0-9-amd64+own+headers
rm -rf "$KUNWIND_CACHE/lttng-modules"
lttng_modules update
is "$status $(find /lib/modules -name '*.ko')$(cat "$work/out")" "0 " "update: nothing is built, said or fetched if the administrator has not asked for LTTng"
source_lttng 6.1.0-9-amd64
echo lttng-probe-a.o >"$work/bad"
lttng_modules install
is "$status $last" "0 Next: apt install kunwind-dkms" "install: without kunwind-dkms's modules, they are next"
is "$(cat /lib/modules/6.1.0-9-amd64/updates/lttng/left-out)" "lttng-probe-a" "a probe is left out for this kernel"
mkdir -p /lib/modules/6.1.0-{10,11-broken,12}-amd64/build/scripts
touch /lib/modules/6.1.0-{10,11-broken,12}-amd64/build/Makefile
: >"$work/bad"
lttng_modules update
is "$status $(cd /lib/modules && ls -1d */updates/lttng/probes/lttng-probe-a.ko | xargs)" \
	"1 6.1.0-10-amd64/updates/lttng/probes/lttng-probe-a.ko 6.1.0-12-amd64/updates/lttng/probes/lttng-probe-a.ko" \
	"update: new kernels get the modules from the source that was kept, with all probes; one that fails does not stop others"
like "$(cat "$work/out")" "6.1.0-11-broken-amd64 has no modules of LTTng. Try: kunwind-lttng-modules install" "... and is named"
: >"$work/calls"
rm -r /lib/modules/6.1.0-11-broken-amd64
lttng_modules update
is "$status $(grep -c ^make "$work/calls")" "0 0" "a second update builds nothing"
lttng_modules remove
is "$status $(find /lib/modules /usr/src -name '*lttng*'; find "$KUNWIND_CACHE" -name '*lttng*')" "0 " "remove: no module, source or build remains"
lttng_modules remove
like "$status $(cat "$work/out")" "^0 kunwind-lttng-modules install has installed no modules of LTTng: nothing to undo" "a second remove has nothing to do"
chmod 755 "$work"
is "$(setpriv --reuid 65534 --clear-groups "$package/kunwind-lttng-modules" remove 2>&1)" "kunwind-lttng-modules: needs root: sudo kunwind-lttng-modules remove" \
	"without root's rights: says so"
rm "$work/bin/make"

machine 6.1.0-9-amd64 6.1.0-9-amd64+own+headers 6.1.0-8-amd64+own
mkdir -p /lib/modules/6.1.0-{8,9}-amd64/updates/{lttng/probes,dkms} /usr/src/lttng-modules-2.13.{8,9} /var/lib/dkms/kunwind-lttng/7/6.1.0-8-amd64
rmdir /lib/modules/6.1.0-8-amd64/updates/dkms
touch /lib/modules/6.1.0-8-amd64/modules.order
echo "/usr/src/lttng-modules-2.13.8/dkms.conf" >"$work/owned"
echo 'kunwind-lttng/7: added' >"$work/dkms/kunwind-lttng"
setup --undo lttng
is "$status $(find /lib/modules -name 'lttng*')" "0 " "--undo removes LTTng's modules of all kernels" || diag "$(cat "$work/out")"
is "$(find /lib/modules -name updates)" /lib/modules/6.1.0-9-amd64/updates "and empty directories, but not others"
is "$(ls /usr/src)" lttng-modules-2.13.8 "the source of Debian's package stays, ours goes"
is "$(grep -v status "$work/calls" | xargs -d '\n')" "unbuild -m kunwind-lttng -v 7 -k 6.1.0-8-amd64 depmod 6.1.0-8-amd64" \
	"kunwind's events go where they were built; depmod runs where a kernel is"
setup --undo lttng
like "$status $(cat "$work/out")" "^0 .*nothing to undo" "a second --undo has nothing to do"
setup --undo build
is "$status" 2 "--undo is for lttng only"
done_testing
