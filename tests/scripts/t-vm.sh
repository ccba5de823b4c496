#!/bin/bash
# SPDX-License-Identifier: MIT
#
# scripts/vm from outside: what a caller may rely on. Runs on the host and
# boots some VMs; prints TAP.
#
#   [RELEASES="NAME..."] t-vm.sh    tries --release NAME as well. scripts/check-releases does,
#                                   because the tree is built in each release for it

cd "$(dirname "$0")/../.." || exit 1
. tests/vm/lib/tap.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
vm() { timeout 900 "$OLDPWD/scripts/vm" "$@"; }

# One VM, several questions. The caller's directory is below /tmp, which is
# the VM's own: it must be there all the same.
mkdir "$work/here" "$work/out" "$work/shared dir"
echo host >"$work/here/file"
echo shared >"$work/shared dir/file"
cd "$work/here" || exit 1
OLDPWD=$(cd "$OLDPWD" && pwd)
vm --share "$work/shared dir" --out "$work/out" -- bash -c '
	echo "cwd $PWD"; echo "file $(cat file)"; echo "shared $(cat "$1/file")"
	echo guest >file; echo guest >"$1/file"; echo "args $2|$3"; echo "then $(cat file)"
	echo kept >"$4/kept"; echo to-stderr >&2; read -r line || echo "stdin empty"
	exit 42' - "$work/shared dir" 'a  b' '$HOME "q"' "$work/out" >"$work/stdout" 2>"$work/stderr"
is $? 42 "the exit status is the command's"
wanted="cwd $work/here
file host
shared shared
args a  b|\$HOME \"q\"
then guest
stdin empty"
is "$(cat "$work/stdout")" "$wanted" "standard output is the command's, in the caller's directory"
is "$(cat "$work/stderr")" "to-stderr" "standard error is apart"
is "$(cat "$work/here/file" "$work/shared dir/file")" "host
shared" "the host's files are as they were"
is "$(cat "$work/out/kept")" kept "--out survives"
like "$(cat "$work/out/dmesg.txt" 2>/dev/null)" "Linux version" "--out has the kernel's log"

vm --release bookworm -- bash -c 'echo fine; echo "WARNING: CPU: 0 PID: 1 at kernel/made-up.c" >/dev/kmsg' \
	>"$work/stdout" 2>"$work/stderr"
is $? 1 "--release bookworm is this machine's, and a complaint of the kernel fails a command that succeeded"
like "$(cat "$work/stderr")" "made-up.c" "and is shown"

vm -- bash -c 'echo 1 >/proc/sys/kernel/sysrq; echo before; sleep 1; echo c >/proc/sysrq-trigger; sleep 60' \
	>"$work/stdout" 2>"$work/stderr"
is $? 125 "a panic is not the command's end"
is "$(cat "$work/stdout")" before "what the command wrote before it is there"
like "$(cat "$work/stderr")" "the VM's kernel panicked.*sysrq triggered crash" "the panic is shown"

vm --timeout 20 -- sleep 500 >"$work/stdout" 2>"$work/stderr"
is $? 124 "a timeout is 124"
like "$(cat "$work/stderr")" "not done after 20 s" "and says so"

# where the VM waits for the host, its time must not run ahead to the next timeout
vm --icount --mem 1024 -- bash -c 'nproc; grep -c ^MemTotal:.*kB /proc/meminfo; sleep 6; echo slept' \
	2>&1 | while read -r line; do echo "$SECONDS $line"; done >"$work/stdout"
is "$(cut -d ' ' -f 2- "$work/stdout")" "1
1
slept" "--icount gives one processor"
[ "$(awk 'NR > 1 { s = $1 - before } { before = $1 } END { print s + 0 }' "$work/stdout")" -ge 5 ]
is $? 0 "--icount: six seconds of the VM take no less on the host"

vm --nonsense -- true >"$work/stdout" 2>"$work/stderr"
is $? 125 "an unknown option is refused"
vm --release nowhere -- true >"$work/stdout" 2>"$work/stderr"
is $? 125 "an unknown release is refused"
vm --rt --debug -- true >"$work/stdout" 2>"$work/stderr"
is $? 125 "two kernels at once are refused"
vm --root / --release sid -- true >"$work/stdout" 2>"$work/stderr"
is $? 125 "--root and --release at once are refused"
mkdir -p "$work/no kernel/boot"
vm --root "$work/no kernel" -- true >"$work/stdout" 2>"$work/stderr"
like "$? $(cat "$work/stderr")" "^125 .*boot has no kernel" "a root without a kernel is refused"
vm </dev/null >"$work/stdout" 2>"$work/stderr"
is $? 125 "no command and no terminal is refused"
vm --help >"$work/stdout" 2>"$work/stderr"
is "$? $(wc -c <"$work/stderr")" "0 0" "--help goes to standard output"

. "$OLDPWD/scripts/lib.sh"
for release in ${RELEASES:-}; do
	# sid's own file names the release that it will become.
	codename=$(. "$(release_dir "$release")/root/usr/lib/os-release"; echo "$VERSION_CODENAME")
	echo here >"$work/here/file"
	vm --release "$release" -- bash -c '
		. /etc/os-release; echo "$VERSION_CODENAME"; echo "$PWD $(cat file)"
		cmp -s "$1/README.md" README.md && echo same || echo other
		[ -e "$1/scripts/vm" ] && echo tree; echo "$(uname -r)" >/kernel
		dpkg -S "/usr/src/linux-headers-$(uname -r)" >/dev/null && echo "its kernel"
		modprobe kunwind && modprobe lttng-probe-kunwind && echo modules' - "$OLDPWD" \
		>"$work/stdout" 2>"$work/stderr"
	is $? 0 "--release $release" || diag "$(cat "$work/stderr")"
	is "$(cat "$work/stdout")" "$codename
$work/here here
other
tree
its kernel
modules" "$release: its own root and kernel, our directories, and modules built in it"
done
done_testing
