# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# A root file system of scripts/release-root, used without changing it. An overlay
# takes the writes. Sourced after lib.sh, by a process in a mount namespace of its
# own ("unshare --mount --propagation private").
#
#   overlay_root LOWER WORK           mounts WORK/root; the writes are in WORK/upper
#   run_in_root ROOT LINE [OPTION]... runs a line of shell in a chroot, as root, whose
#                                     mounts end with it. OPTION: another namespace (--net)

overlay_root() {
	mkdir -p "$2/upper" "$2/overlay" "$2/root"
	mount -t overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/overlay" root "$2/root"
	cp -L /etc/resolv.conf "$2/root/etc/resolv.conf"
	# dpkg need not wait for the disk: this root file system is thrown away.
	echo force-unsafe-io >"$2/root/etc/dpkg/dpkg.cfg.d/kunwind-tests"
}

run_in_root() {
	local root=$1 line=$2
	shift 2
	# shellcheck disable=SC2016
	unshare --mount --propagation private "$@" bash -c '
		root=$1 line=$2
		mount -t proc proc "$root/proc"
		mount --rbind /dev "$root/dev"
		mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
		exec chroot "$root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive TERM=dumb \
			PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
			${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
			bash -c "$line"' \
		- "$root" "$line" </dev/null
}
