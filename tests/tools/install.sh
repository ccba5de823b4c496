#!/bin/bash
# SPDX-License-Identifier: MIT
#
# install.sh - "make install-user" writes only below PREFIX, and "make
# uninstall-user" removes all of it
#
# A copy of the tree is installed, as a normal user if this test runs as root:
# files outside PREFIX then fail the installation, or are in the list of files.

cd "$(dirname "$0")" || exit 1
# shellcheck source=tests/vm/lib/tap.sh
. ../vm/lib/tap.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree prefix=$work/own/prefix
mkdir -p "$tree/kmod" "$prefix" "$work/home" "$work/tmp"
cp -a ../../Makefile ../../libkunwind ../../scripts ../../tools "$tree"
cp -a ../../kmod/core ../../kmod/uapi "$tree/kmod"
as_user=()
if [ "$(id -u)" = 0 ]; then
	chown -R 65534:65534 "$work"
	as_user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
fi
unset MAKEFLAGS MAKELEVEL MFLAGS PREFIX LIBDIR DESTDIR
export HOME=$work/home TMPDIR=$work/tmp

run() { # TARGET VARIABLE...
	"${as_user[@]}" make -s -C "$tree" "$@" >"$work/log" 2>&1 && return
	sed 's/^/# /' "$work/log"
	return 1
}
files_in() { (cd "$1" && find . ! -type d | sort); }
# Prints files outside PREFIX that are no part of the copied tree.
outside() { (cd "$work" && find . -path ./tree -prune -o -path ./own/prefix -prune -o ! -type d ! -path ./log -print); }

# a warning of a newer compiler
warning='static int never_called(void) { return 0; }'
echo "$warning" | tee -a "$tree/libkunwind/control/kunwind.c" "$tree/libkunwind/symbolize/find.c" "$tree/tools/main.c" \
	"$tree/tools/babeltrace2/plugin.c" >/dev/null
like "$(run lib | grep never_called)" "error: .never_called." "make lib: a warning is an error"
check "install-user succeeds as a normal user, in spite of warnings" run install-user PREFIX="$prefix"
is "$(outside)" "" "all files are below PREFIX"
files=$(files_in "$prefix")
for file in bin/kunwind bin/lttng lib/libkunwind.so lib/libkunwind-crash-preload.so include/kunwind/crash.h lib/libkunwind-ust-preload.so include/kunwind/ust.h libexec/kunwind/kunwind-show share/man/man1/kunwind.1 \
	share/kunwind/trace-compass.xml share/bash-completion/completions/kunwind share/zsh/site-functions/_kunwind \
	share/fish/vendor_completions.d/kunwind.fish lib/babeltrace2/plugins/babeltrace-plugin-kunwind.so; do
	like " ${files//$'\n'/ } " " ./$file " "PREFIX has $file"
done
# without the cache of scripts/setup: HOME is a new directory
check "a trace is written" /usr/bin/python3 -c '
import sys, ctf
trace = ctf.Trace()
trace.add(1, "tick", (1, 1, "app"), [0x1234])
trace.write(sys.argv[1])' "$work/trace"
check "the installed flamegraph draws a page" "$prefix/bin/kunwind" flamegraph -o - "$work/trace"
rm -rf "$work/trace"
is "$("$prefix/bin/kunwind" run --ust env | grep -c "^LD_PRELOAD=.*$prefix/lib/libkunwind-ust-preload.so\$")" 1 \
	"the installed kunwind finds the library for LTTng-UST"
is "$(grep udev <<<"$files")" "" "the udev rule, which only works in a system prefix, is left out"
if command -v man >/dev/null; then
	chmod 755 "$work"
	pages=$prefix/share/man
	missing() { # prints the pages that man does not show
		local page
		for page in ../../tools/man/*.? ../../libkunwind/man/*.? ../../libkunwind/*/man/*.?; do
			page=${page##*/}
			MANPAGER=cat man -M "$pages" "${page##*.}" "${page%.*}" 2>&1 | grep -q '^NAME' || echo "$page"
		done
	}
	is "$(missing)" "" "man shows every installed page"
	# as packages do (dh_compress)
	(cd "$pages" && for page in man?/*; do
		[ ! -L "$page" ] || { ln -s "$(readlink "$page").gz" "$page.gz" && rm "$page"; }
	done && gzip -n man?/*.[1-8])
	is "$(missing)" "" "man shows every compressed page"
	(cd "$pages" && rm man?/*.gz)
else
	skip "man shows every installed page" "no man"
fi
like "$(cat "$work/log")" "udev rule is not installed" "a line reports the missing udev rule"
like "$(cat "$work/log")" "BABELTRACE_PLUGIN_PATH=$prefix/lib" "a line reports where babeltrace2 finds the plug-in"
is "$(find "$prefix" -type l -lname '*/*')" "$prefix/bin/lttng" "links stay in their directory, except the front end's"
check "that link leads to the front end" grep -q KUNWIND_LTTNG_SEEN "$prefix/bin/lttng"
check "uninstall-user succeeds" run uninstall-user PREFIX="$prefix"
is "$(ls "$work/own")" "" "uninstall-user leaves no file or directory, and not PREFIX itself"
mkdir "$prefix" && chown --reference="$tree" "$prefix"
HOME=$prefix run uninstall-user PREFIX="$prefix"
is "$(ls "$work/own")" prefix "PREFIX is the user's home: it stays, also if it is empty"

mkdir -p "$prefix/bin" "$prefix/share/kunwind" && touch "$prefix/bin/other" "$prefix/share/kunwind/other"
chown -R --reference="$tree" "$prefix"
run install-user PREFIX="$prefix" && run uninstall-user PREFIX="$prefix"
is "$(files_in "$prefix")" $'./bin/other\n./share/kunwind/other' "uninstall-user keeps files of others"
# lttng-tools' own lttng
printf '#!/bin/sh\necho lttng-tools\n' >"$prefix/bin/lttng"
chown --reference="$tree" "$prefix/bin/lttng"
run install-user PREFIX="$prefix"
like "$(cat "$work/log")" "lttng-tools' own.*alias lttng=$prefix/libexec/kunwind/lttng" "a line reports where the front end is"
check "uninstall-user works without pkg-config" run uninstall-user PREFIX="$prefix" PKG_CONFIG=false
is "$(files_in "$prefix") $(sed -n 2p "$prefix/bin/lttng")" $'./bin/lttng\n./bin/other\n./share/kunwind/other echo lttng-tools' \
	"install-user and uninstall-user keep lttng-tools' own lttng"
rm -rf "$prefix"

check "install-user with DESTDIR succeeds" run install-user DESTDIR="$work/own/prefix/stage" PREFIX=/opt/kunwind
is "$(outside)" "" "all files are below DESTDIR"
is "$(files_in "$prefix/stage/opt/kunwind")" "$files" "the files below DESTDIR/PREFIX are those without DESTDIR"
is "$(cd "$prefix/stage" && find . ! -type d ! -path './opt/kunwind/*')" "" "no file is between DESTDIR and PREFIX"
run uninstall-user DESTDIR="$prefix/stage" PREFIX=/opt/kunwind
is "$(ls "$prefix/stage/opt")" "" "uninstall-user leaves nothing in DESTDIR/PREFIX, and not this directory"
mkdir -p "$prefix/stage/usr/lib" && chown -R --reference="$tree" "$prefix/stage/usr"
run uninstall-user DESTDIR="$prefix/stage" PREFIX=/usr/lib
is "$(ls "$prefix/stage/usr")" lib "a PREFIX that a package owns stays"
rm -rf "$prefix/stage"

check "install-user for a system prefix succeeds" run install-user DESTDIR="$prefix/stage" PREFIX=/usr/local
files=$(files_in "$prefix/stage")
for file in udev/rules.d/60-kunwind.rules sysusers.d/kunwind.conf systemd/system/kunwind-system-wide.service; do
	like "$files" "./usr/local/lib/$file" "a system prefix gets ${file##*/}"
done
like "$(cat "$prefix/stage/usr/local/lib/systemd/system/kunwind-system-wide.service")" "ExecStart=/usr/local/bin/kunwind system-wide on" \
	"the unit starts the installed kunwind"
is "$(grep -v '^./usr/local/' <<<"$files")" "" "PREFIX=/usr/local: no file is outside"
like "$(cat "$work/log")" "BABELTRACE_PLUGIN_PATH=/usr/local/lib" "PREFIX=/usr/local: a line reports where babeltrace2 finds the plug-in"
run uninstall-user DESTDIR="$prefix/stage" PREFIX=/usr/local
# what Debian's base-files makes below /usr/local, as far as kunwind uses it
is "$(cd "$prefix/stage/usr/local" && find . -mindepth 1 | sort | xargs)" "./bin ./include ./lib ./share ./share/man" \
	"uninstall-user leaves only the system's directories in /usr/local"
rm -rf "$prefix/stage"
check "install-user for PREFIX=/usr succeeds" run install-user DESTDIR="$prefix/stage" PREFIX=/usr
is "$(files_in "$prefix/stage" | grep plugin)" ".$(pkg-config --variable=libdir babeltrace2)/babeltrace2/plugins/babeltrace-plugin-kunwind.so" \
	"PREFIX=/usr: the plug-in goes to babeltrace2's directory"
libdir=/usr/lib/$(gcc -print-multiarch)
is "$(files_in "$prefix/stage" | grep -v "^.$libdir/" | grep -E '\.(so.*|a|pc)$')" "" "PREFIX=/usr: no library or .pc file is outside of $libdir"
is "$(PKG_CONFIG_PATH=$prefix/stage$libdir/pkgconfig pkg-config --variable=libdir libkunwind libkunwind-{symbolize,unwind,crash,ust} | xargs -n 1 | sort -u)" \
	"$libdir" "... and the .pc files name it"
is "$(ls "$prefix/stage/usr/bin")" kunwind "PREFIX=/usr: lttng-tools can have its /usr/bin/lttng"
like "$(cat "$work/log")" "alias lttng=/usr/libexec/kunwind/lttng" "... and a line reports where the front end is"
run uninstall-user DESTDIR="$prefix/stage" PREFIX=/usr
is "$(find "$prefix/stage" -name '*kunwind*')" "" "PREFIX=/usr: uninstall-user leaves no file or directory of kunwind"
is "$(find "$prefix/stage" ! -type d)" "" "PREFIX=/usr: uninstall-user leaves no file"
rm -rf "$prefix/stage"

# as a distribution builds: the code that runs after a crash is built again
rm -rf "$tree"/libkunwind/{unwind,crash}/build
check "install-user with LIBDIR and hardening flags succeeds" run install-user PREFIX="$prefix" LIBDIR="$prefix/lib64/here" \
	CPPFLAGS=-D_FORTIFY_SOURCE=2 CFLAGS="-O2 -g -fstack-protector-all"
is "$(files_in "$prefix" | grep -v '^./lib64/here/' | grep -E '\.(so.*|a|pc)$')" "" "LIBDIR: no library is elsewhere"
is "$("$prefix/bin/kunwind" run --ust env | grep -c "^LD_PRELOAD=.*$prefix/lib64/here/libkunwind-ust-preload.so\$")" 1 \
	"LIBDIR: kunwind finds the library for LTTng-UST there"
canaries() { nm -D "$prefix/lib64/here/$1" | awk '/__stack_chk_fail|_chk$|_chk@/ { print $2 }'; }
is "$(canaries libkunwind-unwind.so) $(canaries libkunwind-crash.so) $(canaries libkunwind-crash-preload.so)" "  " \
	"code that runs after a crash has no canaries"
run uninstall-user PREFIX="$prefix" LIBDIR="$prefix/lib64/here"
is "$(ls "$work/own")" "" "LIBDIR: uninstall-user leaves no file or directory"
for variable in DESTDIR PREFIX LIBDIR; do
	run uninstall-user "$variable=$work/a b" >/dev/null
	like "$? $(cat "$work/log")" "1 .*PREFIX, LIBDIR and DESTDIR must not contain blanks" "a $variable with a blank is refused"
done
run uninstall-user PREFIX="$prefix" LIBDIR=/usr/lib >/dev/null
like "$? $(cat "$work/log")" "1 .*LIBDIR must be a directory below PREFIX" "a LIBDIR outside of PREFIX is refused"
check "a relative PREFIX is refused" eval '! run install-user PREFIX=relative >/dev/null'
done_testing
