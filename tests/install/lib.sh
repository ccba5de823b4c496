# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# A clean Debian, in which a test installs and removes. Sourced by the tests of this
# directory after tap.sh, root.sh and lib.sh. The root file system is that of
# "scripts/release-root clean"; an overlay takes the writes.
#
#   clean_root RELEASE "$0" "$@"   starts the test again in a mount namespace, and sets work and root

clean_root() {
	local release=$1
	shift
	if [ -z "${in_namespace-}" ]; then
		clean=$(scripts/release-root clean "$release") || exit 1
		in_namespace=1 clean=$clean exec unshare --mount --propagation private "$@"
	fi
	mkdir -p "$KUNWIND_CACHE/run"
	work=$(mktemp -d "$KUNWIND_CACHE/run/install.XXXXXX")
	root=$work/root
	trap 'umount -l "$root"; rm -rf "$work"' EXIT
	overlay_root "$clean" "$work" || exit 1
}

# in_root COMMAND: runs a line of shell in the chroot, in the tree if the test has one; its
# output goes to the file log
in_root() { run_in_root "$root" "cd '${in_tree:-${tree:-/}}' && $1" >"$work/log" 2>&1; }
runs() { # COMMAND [DESCRIPTION]
	diag "$(date +%T) $1"
	if in_root "$1"; then
		ok "${2:-$1}"
	else
		not_ok "${2:-$1}"
		diag "status $? of: $1"
		diag "$(tail -n 30 "$work/log")"
		return 1
	fi
}

# Prints files and directories that no package owns, and that neither apt nor dpkg
# writes.
foreign() {
	(cd "$root" && find . -xdev \( -path ./proc -o -path ./dev -o -path ./sys -o -path ./tmp -o -path ./run \
		-o -path ./var/cache -o -path ./var/lib/apt -o -path ./var/lib/dpkg -o -path ./var/log \
		-o -path ./root -o -name __pycache__ \) -prune -o -printf '/%P\n') | sort >"$work/all"
	# / has links to /usr/bin and others, and packages may name either path
	cat "$root"/var/lib/dpkg/info/*.list | sed -E 'p; s,^/(bin|lib|lib64|sbin)/,/usr/\1/,' | sort -u >"$work/owned"
	comm -23 "$work/all" "$work/owned"
}
newest_kernel() { cd "$root/boot" && basename -a vmlinuz-* | sed 's/^vmlinuz-//' | sort -V | tail -n 1; }
half_configured() { in_root 'dpkg --audit' || true; cat "$work/log"; }
# Prints how many files of a module the kernel has among its updates.
updates() { find "$root/lib/modules/$1/updates" -name "$2.ko*" 2>/dev/null | wc -l; } # KERNEL MODULE
