#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Each script that a person calls, and each runner of a suite of tests, prints its help
# for --help and -h, and refuses an option that it does not know, and does nothing else.
# A copy of the scripts runs with an empty cache and home; programs that install,
# download or build only record that they were called.

cd "$(dirname "$0")/../.." || exit 1
. tests/vm/lib/tap.sh

# Called by make, DKMS or another script, with arguments by position.
internal=" build-modules demo-app.py dkms-lttng-build install-modules module-symvers tap tracing-group vm-initramfs
	vm-stage "

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/bin" "$work/tree" "$work/made"/{cache,home,tmp}
cp -a --parents scripts tests/{vm/programs,steps}/list tests/*/run tests/steps/*.py tests/vm/lib "$work/tree/"
for program in apt-get dpkg git make mmdebstrap npm sudo qemu-system-x86_64; do
	printf '#!/bin/sh\necho "%s $*" >>"%s/made/called"; exit 1\n' "$program" "$work" >"$work/bin/$program"
done
chmod +x "$work/bin"/*

# run SCRIPT ARGUMENT: sets status, out, err, and made, which lists what the script made
run() {
	(cd "$work/tree" && PATH="$work/bin:$PATH" HOME=$work/made/home KUNWIND_CACHE=$work/made/cache TMPDIR=$work/made/tmp \
		timeout 60 "$1" "$2" </dev/null >"$work/out" 2>"$work/err")
	status=$? out=$(cat "$work/out") err=$(cat "$work/err")
	made=$(cd "$work/made" && find . -mindepth 2; cat called 2>/dev/null)
	rm -rf "$work/made"
	mkdir -p "$work/made"/{cache,home,tmp}
}

for script in scripts/* tests/*/run; do
	name=${script#scripts/}
	[ -f "$script" ] && [ -x "$script" ] && [[ ! $internal =~ [[:space:]]$name[[:space:]] ]] || continue
	# 1 is a result of a command, which scripts/vm returns, so it has a status of its own.
	refused=2
	[ "$name" != vm ] || refused=125
	run "$script" --help
	help=$out
	is "$status|$err|$made" "0||" "$name --help prints to standard output, and does nothing else"
	like "$help" "${name##*/}" "the help names $name"
	! grep -q "^#\|set -euo" <<<"$help"
	verdict $? "the help of $name has no code"
	run "$script" -h
	is "$status|$out|$err|$made" "0|$help||" "$name -h prints the same"
	run "$script" --nonsense
	is "$status|$out|$made" "$refused||" "$name refuses an unknown option, and does nothing else" || diag "$err"
	like "$err" "${name##*/}" "and says so"
done

# After an option of its own, and by a relative path in a directory that is not the tree's.
cd "$work/tree/scripts" || exit 1
is "$(./check-releases --only trixie --help)" "$("$work/tree/scripts/check-releases" --help)" \
	"--help after another option, by a relative path"
done_testing
