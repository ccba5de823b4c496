# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Functions that the scripts of this directory share: messages, paths in the
# cache, one line of progress for each stage, this machine's kernels, and the
# VM's kernel.
#
# Sourced, never run. Everything that is downloaded or generated outside the
# tree is in one cache directory. The output of a stage goes to a log there,
# whose last lines are shown if the stage fails.

# depmod and modprobe are in sbin, which is not in the PATH of ordinary users.
PATH=$PATH:/usr/sbin:/sbin

KUNWIND_TREE=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
KUNWIND_CACHE=${KUNWIND_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/kunwind}
KUNWIND_LOGS=$KUNWIND_CACHE/logs

# Debian releases, besides this machine's, for which scripts/release-root makes
# root file systems.
KUNWIND_RELEASES="trixie sid"
release_dir() { printf '%s/release/%s\n' "$KUNWIND_CACHE" "$1"; }
# The copy of this tree that is built in that release's root file system.
release_tree_dir() { printf '%s/cache/tree/%s\n' "$(release_dir "$1")" "$(tree_hash)"; }
tree_hash() { printf '%s' "$KUNWIND_TREE" | sha1sum | cut -c1-12; }

say() { printf '%s\n' "$*"; }
warn() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() { warn "$*"; exit 1; }

# The path of the script that sources this file, in the tree. Others than those of this
# directory set it before.
KUNWIND_SCRIPT=${KUNWIND_SCRIPT:-scripts/${0##*/}}

# Prints a script's help: the comment at its head.
print_help() { sed -n '4,/^$/{/^$/!s/^# \{0,1\}//p}' "$KUNWIND_TREE/$KUNWIND_SCRIPT"; }

# bad_usage TEXT...: ends a script that was called wrongly.
bad_usage() {
	warn "$*"
	printf 'Try: %s --help\n' "$KUNWIND_SCRIPT" >&2
	exit 2
}

# operands ARGUMENT...: what follows a script's own options. Prints the help and ends
# the script if --help or -h is there, and ends it if there is any other option. Each
# script calls this before it does anything.
operands() {
	local argument
	for argument in "$@"; do
		case $argument in
		--help | -h) print_help; exit 0 ;;
		-*) bad_usage "unknown option: $argument" ;;
		esac
	done
}

# no_operands ARGUMENT...: the same for a script that takes only options.
no_operands() {
	operands "$@"
	[ $# -eq 0 ] || bad_usage "unknown argument: $1"
}

# stage LOG TEXT COMMAND...: prints TEXT when COMMAND starts, and its time when
# it ends. COMMAND's output goes to LOG, whose last lines are shown if COMMAND
# fails. COMMAND may be a function, and ends at its first failing line. Do not
# call stage in a condition: bash would silently ignore "set -e" there.
stage() {
	local log=$KUNWIND_LOGS/$1 text=$2 t0=$SECONDS status
	shift 2
	mkdir -p "$KUNWIND_LOGS"
	printf '  %s ... ' "$text"
	set +e
	(set -e; "$@") >"$log" 2>&1 </dev/null
	status=$?
	set -e
	if [ "$status" -eq 0 ]; then
		printf 'done (%d s)\n' $((SECONDS - t0))
		return 0
	fi
	printf 'FAILED\n'
	tail -n 25 "$log" | sed 's/^/    | /'
	printf '  whole log: %s\n' "$log"
	return "$status"
}

# Prints the version of this tree.
source_version() { sed -n 's/^.define KUNWIND_VERSION[[:space:]]*"\(.*\)"/\1/p' "$KUNWIND_TREE/kmod/uapi/kunwind.h"; }

# Prints the distribution, as "debian 12".
distribution() {
	(
		ID=unknown VERSION_ID=
		# shellcheck disable=SC1091
		[ -r /etc/os-release ] && . /etc/os-release
		printf '%s %s\n' "$ID" "$VERSION_ID"
	)
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo -- "$@"
	else
		echo "installing needs root: run this as root, or install sudo"
		return 1
	fi
}

apt_get() {
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
		-o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 "$@"
}

candidate() { apt-cache policy "$1" 2>/dev/null | awk '/Candidate:/ && $2 != "(none)" { print $2 }'; }

# Downloads a package in the given version, which is that of the kernel's
# headers. If the archive no longer has this version, downloads the present one.
fetch_deb() {
	local package=$1 version=$2 dir=$3
	mkdir -p "$dir"
	cd "$dir"
	rm -f "${package}"_*.deb
	# As root: apt would download as a user who cannot write to the cache.
	local fetch=(apt-get -q -o APT::Sandbox::User=root download)
	[ -n "$(candidate "$package")" ] || apt_get update
	"${fetch[@]}" "$package${version:+=$version}" || "${fetch[@]}" "$package" || {
		apt_get update && "${fetch[@]}" "$package"
	}
}

# Prints the kernels whose headers are installed, the oldest first. Modules can be
# built for these.
kernels_with_headers() {
	local build
	for build in /lib/modules/*/build; do
		[ ! -e "$build/Makefile" ] || basename "${build%/build}"
	done | sort -V
}

# Returns whether this system has the kernel, and not only its headers. In a
# container or chroot, uname -r is the kernel of another system.
has_kernel() { [ -d "/lib/modules/$1/kernel" ]; }

# Prints the kernel that needs modules: the running one, or the newest one of this
# system if the running one is another system's; nothing if this system has none.
kernel_in_use() {
	local dir
	if has_kernel "$(uname -r)" || [ -e "/lib/modules/$(uname -r)/build/Makefile" ]; then
		uname -r
		return
	fi
	for dir in /lib/modules/*/kernel; do
		[ ! -d "$dir" ] || basename "${dir%/kernel}"
	done | sort -V | tail -n 1
}

# What the kernel in use is in a message.
kernel_role() { # KERNEL
	[ "$1" = "$(uname -r)" ] && echo "the running kernel" || echo "this system's newest kernel"
}

# Prints the end of the names of the packages that follow a kernel's updates: amd64,
# cloud-amd64 or rt-amd64; for the second kernel of a release, such as Debian 12's
# 6.12, 6.12-amd64 and so on.
kernel_flavour() {
	local flavour series
	case $1 in
	*-cloud-amd64) flavour=cloud-amd64 ;;
	*-rt-amd64) flavour=rt-amd64 ;;
	*) flavour=amd64 ;;
	esac
	series=$(cut -d. -f1,2 <<<"$1")-$flavour
	[ -z "$(candidate "linux-headers-$series")" ] || flavour=$series
	printf '%s\n' "$flavour"
}

# Prints how the kernel KERNEL, for which no headers are installed, gets modules.
# COMMAND builds them. KERNEL is empty if this system has no kernel. Debian's archive
# drops a kernel's packages some time after its update.
headers_advice() { # KERNEL COMMAND
	local flavour
	[ -n "$1" ] || { printf 'apt install linux-headers-amd64, then %s\n' "$2"; return; }
	flavour=$(kernel_flavour "$1")
	if [ -n "$(candidate "linux-headers-$1")" ]; then
		printf 'apt install linux-headers-%s, then %s\n' "$1" "$2"
	elif [ -n "$(candidate "linux-headers-$flavour")" ]; then
		printf 'the archive has no linux-headers-%s: apt install %s %s, boot the newest kernel, then %s\n' \
			"$1" "linux-image-$flavour" "linux-headers-$flavour" "$2"
	else
		printf "install this kernel's headers (apt update; apt install linux-headers-%s), then %s\n" "$1" "$2"
	fi
}

has_lttng() { modinfo -k "$1" lttng-tracer >/dev/null 2>&1; }

# Prints the versions of a package that DKMS knows, the oldest first.
dkms_versions() { # PACKAGE
	{ dkms status -m "$1" 2>/dev/null || true; } | sed -n "s,^$1/\\([^,:/ ]*\\).*,\\1,p" | sort -uV
}

# Paths of the VM's parts for one kernel release. The headers of a kernel that
# was built here, or whose headers are not installed, are in the kernel's
# directory.
vm_headers_dir() {
	local own
	own=$(vm_kernel_dir "$1")/build
	[ -e "$own" ] || own=/usr/src/linux-headers-$1
	printf '%s\n' "$own"
}
vm_kernel_dir() { printf '%s/kernel/%s\n' "$KUNWIND_CACHE" "$1"; }
vm_lttng_dir() { printf '%s/lttng-modules/%s\n' "$KUNWIND_CACHE" "$1"; }
# All trees share the cache, so the name has a hash of the file that the
# initramfs is made from.
vm_initramfs() {
	printf '%s/initramfs/%s-%s.cpio.gz\n' "$KUNWIND_CACHE" "$1" \
		"$(sha1sum <"$KUNWIND_TREE/scripts/guest/initramfs-init" | cut -c1-12)"
}
# The layer with this tree's build. Each tree has its own.
vm_stage_dir() {
	printf '%s/stage/%s-%s\n' "$KUNWIND_CACHE" "$1" "$(tree_hash)"
}

# Prints the release of the VM's kernel, as "6.1.0-56-amd64": KUNWIND_VM_KERNEL,
# or the one of Debian's package linux-headers-amd64; nothing if that package is
# not installed. ROOT: another root file system, in which to look for the
# package.
vm_kernel_release() { # [ROOT]
	[ -z "${KUNWIND_VM_KERNEL:-}" ] || { printf '%s\n' "$KUNWIND_VM_KERNEL"; return; }
	# shellcheck disable=SC2016
	dpkg-query --admindir="${1:-}/var/lib/dpkg" -W -f '${Depends}\n' linux-headers-amd64 2>/dev/null |
		sed -n 's/^\(.*, \)\?linux-headers-\([^ ,]*\).*/\2/p' || true
}

# Prints the PREEMPT_RT kernel of the same version, as "6.1.0-56-rt-amd64".
# ROOT: as above.
vm_rt_release() { # [ROOT]
	KUNWIND_VM_KERNEL='' vm_kernel_release "${1:-}" | sed 's/-amd64$/-rt-amd64/'
}

# Prints the package with Debian's source of that kernel, and its version.
kernel_source() { # RELEASE
	local base
	base=$(cut -d. -f1,2 <<<"$1")
	# shellcheck disable=SC2016
	printf 'linux-source-%s %s\n' "$base" "$(dpkg-query -W -f '${Version}' "linux-headers-$1")"
}

# Downloads a kernel's source (140 MB), and unpacks all or the PARTs in TO/src.
fetch_kernel_source() { # PACKAGE VERSION TO [PART]...
	local package=$1 version=$2 to=$3
	shift 3
	rm -rf "$to"
	mkdir -p "$to/deb"
	cd "$to/deb"
	# As root: apt would download as a user who cannot write to the cache.
	apt-get -q -o APT::Sandbox::User=root download "$package=$version" ||
		apt-get -q -o APT::Sandbox::User=root download "$package"
	dpkg-deb --fsys-tarfile ./*.deb | tar -xf - "./usr/src/$package.tar.xz"
	cd "$to"
	tar -xf "deb/usr/src/$package.tar.xz" "${@/#/$package/}"
	rm -rf deb
	mv "$package" src
}
